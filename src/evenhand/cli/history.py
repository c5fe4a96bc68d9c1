"""`evenhand history show`, `evaluate`, `warm-up` and `export`: a table of past decisions."""

from __future__ import annotations

import argparse
import csv
import io
import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from evenhand.cli._options import at_least, command, output_file
from evenhand.cli._output import write_lines
from evenhand.errors import InvalidInput

if TYPE_CHECKING:
    from evenhand.bandit import FairBandit
    from evenhand.history import PastLog

MOST_PRINTED = 100
"""Maximum number of refused rows printed."""


def add_history(parser: argparse.ArgumentParser) -> None:
    """The options of `evenhand history ...`."""
    actions = parser.add_subparsers(dest="action", required=True)
    show = command(actions, "show", "read a table: rounds, refused rows, chances, and what cannot be estimated")
    _add_table(show)
    show.set_defaults(run=run_show)
    evaluate = command(actions, "evaluate", "what evenhand and others would have earned, as a page with figures")
    _add_table(evaluate)
    evaluate.add_argument("--output", type=output_file, default=Path("history.html"), help="the page (%(default)s)")
    evaluate.add_argument(
        "--train", type=float, default=0.5, metavar="SHARE", help="first rounds to learn from (%(default)s)"
    )
    evaluate.add_argument(
        "--desk",
        type=Path,
        action="append",
        default=[],
        metavar="FILE.eh",
        help="a saved bandit or interview that knows nothing of later rounds: evaluated; the first has the metric",
    )
    evaluate.add_argument(
        "--scale",
        type=float,
        default=0.5,
        metavar="S",
        help="without --desk and --verdicts, unfair pairs are counted by S times the Euclidean distance (%(default)s)",
    )
    evaluate.add_argument("--tolerance", type=float, default=0.05, help="gaps may exceed distances by (%(default)s)")
    evaluate.add_argument("--seed", type=at_least(0, "seed"), default=0, help="of folds and bootstrap (%(default)s)")
    evaluate.set_defaults(run=run_evaluate)
    warm = command(actions, "warm-up", "a bandit that has learned from the past, saved to a file")
    _add_table(warm)
    warm.add_argument("--output", type=output_file, required=True, metavar="FILE.eh", help="the bandit")
    warm.add_argument("--seed", type=at_least(0, "seed"), default=0, help="(%(default)s)")
    warm.set_defaults(run=run_warm_up)
    export = command(actions, "export", "JSON lines for `evenhand ledger import`, the warm start of a desk")
    _add_table(export)
    export.add_argument("--output", type=Path, help="(standard output)")
    export.set_defaults(run=run_export)


def _add_table(parser: argparse.ArgumentParser) -> None:
    """The table, its columns, and past verdicts."""
    parser.add_argument("table", help="a .csv, .tsv, .parquet, .jsonl file, or with --table the URL of a database")
    parser.add_argument("--table", dest="table_name", metavar="NAME", help="the table of a database")
    parser.add_argument("--chosen", required=True, metavar="COLUMN", help="whether the candidate was chosen")
    parser.add_argument("--outcome", required=True, metavar="COLUMN", help="what came of it; blank if not known yet")
    parser.add_argument("--yes", default="", metavar="WORD,...", help="other words for yes in these two columns")
    parser.add_argument("--no", default="", metavar="WORD,...", help="other words for no, such as declined")
    parser.add_argument("--missing", default="", metavar="CODE,...", help="codes for missing values: --missing=-9,9999")
    parser.add_argument("--decimal", choices=(".", ","), help="if numbers are written as $1,250.00 (.) or 1.250,00 (,)")
    parser.add_argument("--encoding", default="utf-8", help="of text files, such as cp1252 (%(default)s)")
    parser.add_argument("--candidate", metavar="COLUMN", help="ids")
    rounds = parser.add_mutually_exclusive_group(required=True)
    rounds.add_argument("--round", metavar="COLUMN", help="the round of each candidate")
    rounds.add_argument(
        "--window", metavar="LENGTH", help="rounds by --time: day, week, month, quarter, year, 14d, 12h"
    )
    rounds.add_argument("--every", type=at_least(1, "every"), metavar="N", help="N rows in a row are a round")
    parser.add_argument("--time", metavar="COLUMN", help="when the candidate applied")
    parser.add_argument(
        "--time-format", metavar="FORMAT", help="of times that are not in ISO form, such as %%d.%%m.%%Y"
    )
    parser.add_argument("--probability", metavar="COLUMN", help="the chance the candidate had, if recorded")
    parser.add_argument("--capacity", metavar="N|COLUMN", help="chosen at most in a round (the share chosen so far)")
    parser.add_argument("--outcome-range", type=float, nargs=2, metavar=("LOW", "HIGH"), help="others are refused")
    parser.add_argument("--outcome-unit", type=float, default=1.0, metavar="U", help="outcomes are divided by it")
    parser.add_argument("--schema", type=Path, help="the features, a JSON file (proposed from the other columns)")
    parser.add_argument(
        "--ignore", default="", metavar="COLUMN,...", help="not to use, such as what was known only after the decision"
    )
    parser.add_argument("--clip", action="store_true", help="count values beyond a range as its end")
    parser.add_argument("--refused", type=Path, metavar="FILE.csv", help="all refused rows, with the reasons")
    parser.add_argument("--verdicts", type=Path, help="past reviews or complaints: a file with a row for each pair")
    parser.add_argument(
        "--verdict-columns",
        default="first,second,unfair,reviewer,gap",
        metavar="FIRST,SECOND[,UNFAIR[,REVIEWER[,GAP]]]",
        help="its columns; those that the file lacks are left out (%(default)s)",
    )


def read_log(options: argparse.Namespace) -> PastLog:
    """The log that the options describe; refused rows are printed one by one."""
    from evenhand.history import LogColumns, read
    from evenhand.interview.people import load_schema

    capacity: Any = options.capacity
    if capacity is not None and capacity.isdecimal():
        capacity = int(capacity)
    names = ("chosen", "outcome", "candidate", "round", "time", "time_format", "window", "every", "probability")
    limits = None if options.outcome_range is None else tuple(options.outcome_range)
    settings = {name: getattr(options, name) for name in (*names, "outcome_unit", "decimal")}
    words: dict[str, Any] = {name: _names(getattr(options, name)) for name in ("yes", "no", "missing")}
    columns = LogColumns(**settings, **words, capacity=capacity, outcome_range=limits)
    schema = None if options.schema is None else load_schema(options.schema)
    ignore = _names(options.ignore)
    on_invalid: Any = "clip" if options.clip else "skip"
    about: dict[str, Any] = {"table": options.table_name, "encoding": options.encoding, "on_invalid": on_invalid}
    log = read(options.table, columns, schema, ignore=ignore, **about)
    if options.verdicts is not None:
        log = _with_verdicts(log, options)
    if options.refused is not None:
        _write_refused(log, options.refused)
    return log


def _write_refused(log: PastLog, path: Path) -> None:
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(("row", "candidate", "reasons"))
    rows.writerows((row.place, row.id, "; ".join(row.reasons)) for row in log.refused)
    write_lines([text.getvalue().rstrip("\n")], path)


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())


def _with_verdicts(log: PastLog, options: argparse.Namespace) -> PastLog:
    from evenhand.history import VerdictColumns
    from evenhand.history.tables import read_raw

    present = read_raw(options.verdicts, encoding=options.encoding).columns
    names = ("first", "second", "unfair", "reviewer", "gap")
    given = dict(zip(names, (name.strip() for name in options.verdict_columns.split(",")), strict=False))
    kept = {name: column for name, column in given.items() if name in ("first", "second") or column in present}
    if len(given) < 2:
        raise InvalidInput(f"verdict-columns must name at least two columns, got {options.verdict_columns!r}")
    return log.with_verdicts(options.verdicts, VerdictColumns(**kept), encoding=options.encoding)


def _print_log(log: PastLog, options: argparse.Namespace, file: TextIO | None = None) -> None:
    """What was read: counts, refused rows, and the features if they were proposed."""
    print(str(log).partition("\n")[0], file=file)
    for row in log.refused[:MOST_PRINTED]:
        print(f"refused: {row}", file=file)
    if len(log.refused) > MOST_PRINTED:
        more = f"and {len(log.refused) - MOST_PRINTED} more rows"
        print(f"refused: {more}; --refused FILE.csv writes all of them", file=file)
    if options.schema is None or options.action == "show":
        print(log.schema, file=file)


def run_show(options: argparse.Namespace) -> None:
    """Print what a table holds, its schema, and what can be estimated."""
    from evenhand.history import overlap_of
    from evenhand.history.propensities import propensities_of

    log = read_log(options)
    _print_log(log, options)
    overlap = overlap_of(log, propensities_of(log, seed=0))
    print(f"chances from {overlap.lowest:.3g} to {overlap.highest:.3g}")
    print("\n".join(overlap.statements))


def run_evaluate(options: argparse.Namespace) -> None:
    """Evaluate policies on the later rounds, after learning from the first; print a table and write the page."""
    from evenhand.baselines import fixed_euclidean
    from evenhand.history import default_policies, equal_probabilities, evaluate

    log = read_log(options)
    _print_log(log, options)
    past, recent = log.split(options.train)
    policies = default_policies(past, seed=options.seed)
    own = {f"evenhand, {path.name}": _taught(path, past) for path in options.desk}
    learned = next(iter(own.values()), policies["evenhand"] if past.verdicts else None)
    metric = fixed_euclidean(log.n_features, scale=options.scale) if learned is None else learned
    policies = {**own, **policies, "equal probabilities": equal_probabilities()}
    result = evaluate(recent, policies, metric=metric, tolerance=options.tolerance, seed=options.seed)
    if learned is None:
        result = replace(result, metric=f"{options.scale:g} times the Euclidean distance")
    result.save_report(options.output, title=f"Past decisions in {Path(options.table).name}, evaluated")
    print(result)
    print(f"written: {options.output}")


def _taught(path: Path, past: PastLog) -> FairBandit:
    """A saved bandit that has learned from the past; says so, and if it may know too much."""
    bandit = _saved(path)
    known = getattr(bandit.reward, "n_outcomes", 0)
    if known:
        print(f"{path} knew {known} outcomes already; if later rounds are among them, it looks too good")
    print(f"{path}: {past.warm_up(bandit)}")
    return bandit


def _saved(path: Path) -> FairBandit:
    """The bandit of a file, or of an interview."""
    from evenhand.bandit import FairBandit
    from evenhand.errors import DamagedFile
    from evenhand.interview import Interview

    try:
        return FairBandit.load(path)
    except DamagedFile:
        return Interview.load(path).bandit
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read: {error.strerror}") from None


def run_warm_up(options: argparse.Namespace) -> None:
    """Save a bandit that has learned from the outcomes and verdicts of the past."""
    from evenhand.history.policies import untaught

    log = read_log(options)
    _print_log(log, options)
    bandit = untaught(log, seed=options.seed)
    print(log.warm_up(bandit))
    bandit.save(options.output)
    if log.schema is not None and options.schema is None:
        beside = options.output.with_suffix(".schema.json")
        log.schema.save(beside)
        print(f"written: {beside}, the proposed schema")
    print(f"written: {options.output}")


def run_export(options: argparse.Namespace) -> None:
    """Write past decisions with outcomes or verdicts as JSON lines."""
    log = read_log(options)
    _print_log(log, options, sys.stderr if options.output is None else None)
    content = {} if log.schema is None else {"schema": log.schema.to_dict()}
    settings = {"settings": {**content, "capacity": int(log.capacities.max())}}
    lines = (json.dumps(record, allow_nan=False) for record in (settings, *log.records()))
    write_lines(lines, options.output)
