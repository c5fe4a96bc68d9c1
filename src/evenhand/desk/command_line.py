"""`evenhand ledger verify`, `replay`, `export` and `import`: their options, and what they do."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from evenhand.desk.database_options import add_database, database_of, database_to_make
from evenhand.errors import DamagedLedger, EvenhandError, InvalidInput, LedgerUnavailable, NewerFile

if TYPE_CHECKING:
    from evenhand.desk.desk import Desk
    from evenhand.desk.ledger import Ledger

MOST_TOLD = 100
"""So many refused lines are listed."""

WHAT = {"n_features", "features", "schema"}
"""Settings that say what a candidate is: one of them takes the place of the others."""


def add_ledger(parser: argparse.ArgumentParser) -> None:
    """The options of `evenhand ledger ...`."""
    actions = parser.add_subparsers(dest="action", required=True)
    verify = actions.add_parser("verify", help="check every hash and every link of a ledger, or of an exported one")
    verify.add_argument("desk", help="a desk's name, or a file that `ledger export` wrote")
    verify.add_argument("--known", metavar="SEQ:HASH", help="a line as noted before: tells if lines were cut off")
    verify.set_defaults(run=run_verify)
    replay = actions.add_parser("replay", help="make every decision again from the first line on")
    replay.add_argument("desk", help="a desk's name")
    replay.set_defaults(run=run_replay)
    export = actions.add_parser("export", help="write a ledger as lines of JSON")
    export.add_argument("desk", help="a desk's name")
    export.add_argument("--format", choices=("jsonl", "dsjson"), default="jsonl", help="dsjson: for Vowpal Wabbit")
    export.add_argument("--output", type=Path, help="the file (standard output)")
    export.set_defaults(run=run_export)
    importing = actions.add_parser("import", help="a warm start from past decisions, outcomes and reviews")
    importing.add_argument("desk", help="the name of the desk that is to learn from them; made if it is not there")
    importing.add_argument("file", type=Path, help="JSON lines: an exported ledger, or past decisions")
    importing.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        dest="settings",
        help="a setting of a new desk, as features=income,debt or capacity=2 or epsilon=0.05; may be given more than "
        "once, and goes before those in the file",
    )
    importing.set_defaults(run=run_import)
    for action in (verify, replay, export, importing):
        add_database(action)


def end(parser: argparse.ArgumentParser, error: EvenhandError) -> NoReturn:
    """Leave a command that failed: with the sentence alone and status 1, or with the usage and status 2.

    2 is for what was asked wrongly. A verdict, a database that does not answer or belongs to a newer version: 1.
    """
    if isinstance(error, (DamagedLedger, LedgerUnavailable, NewerFile)):
        parser.exit(1, f"{error}\n")
    parser.error(str(error))


@contextmanager
def _ledger(options: argparse.Namespace, *, make: bool = False) -> Iterator[Ledger]:
    from evenhand.desk.ledger import open_ledger

    ledger = open_ledger(database_to_make(options) if make else database_of(options), make=make)
    try:
        yield ledger
    finally:
        ledger.close()


def run_verify(options: argparse.Namespace) -> None:
    """Say that a ledger is whole, or raise DamagedLedger with the line that is not."""
    from evenhand.desk.export import verify_lines
    from evenhand.desk.verify import verify

    if options.database is None and options.data is None and Path(options.desk).is_file():
        known = _known(options.known)
        try:
            # Not universal newlines: a line ends where `ledger export` ended it.
            with open(options.desk, encoding="utf-8", newline="\n") as file:
                last = verify_lines(file, known=known)
        except UnicodeDecodeError:
            raise DamagedLedger(f"{options.desk} is no exported ledger, or was changed: it is no UTF-8") from None
        print(f"{last.seq} lines, every hash and link is right; the last is {last.seq}:{last.hash}")
        return
    with _ledger(options) as ledger:
        found = verify(ledger, options.desk, known=_known(options.known))
    print(
        f"desk {found.desk}: {found.seq} lines, {found.decisions} decisions, every hash and link is right; "
        f"the last is {found.seq}:{found.hash}"
    )


def _known(text: str | None) -> tuple[int, str] | None:
    if text is None:
        return None
    seq, _, digest = text.partition(":")
    if not (seq.isascii() and seq.isdecimal()) or int(seq) < 1 or len(digest) != 64:
        raise InvalidInput(f"--known is {text!r}; allowed is SEQ:HASH, as verify prints it")
    return int(seq), digest.lower()


def run_replay(options: argparse.Namespace) -> None:
    """Say that every decision came out the same, or raise DamagedLedger."""
    from evenhand.desk.replay import replay

    with _ledger(options) as ledger:
        told = replay(ledger, options.desk)
    if not told.is_same:
        first = told.differences[0]
        raise DamagedLedger(
            f"{len(told.differences)} of {told.decisions} decisions come out otherwise, the first is line {first.seq}: "
            f"{first.what}; another version of evenhand or another processor may be the reason"
        )
    print(f"desk {told.desk}: {told.decisions} decisions made again from {told.lines} lines, the same to the bit")


def run_export(options: argparse.Namespace) -> None:
    """Write a ledger's lines."""
    from evenhand.desk.dsjson import to_dsjson
    from evenhand.desk.export import to_jsonl

    with _ledger(options) as ledger:
        lines = (to_jsonl if options.format == "jsonl" else to_dsjson)(ledger, options.desk)
        if options.output is None:
            for line in lines:
                sys.stdout.write(line + "\n")
            return
        with open(options.output, "w", encoding="utf-8", newline="\n") as file:
            for line in lines:
                file.write(line + "\n")


def run_import(options: argparse.Namespace) -> int:
    """Take in past decisions; say how many, and what was wrong with the others: then the status is 1."""
    from evenhand.desk.importing import import_jsonl

    if not options.file.is_file():
        raise InvalidInput(f"there is no file {options.file}")
    with _ledger(options, make=True) as ledger, _desk_to_fill(ledger, options) as desk:
        desk.fold()
        before = desk.state.passed_over
        told = import_jsonl(desk, options.file)
        desk.fold()
        passed_over = desk.state.passed_over - before
    print(f"desk {options.desk}: {told}")
    if passed_over:
        print(f"{passed_over} of the lines taken in were passed over: the desk could not learn from them")
    for number, error in told.refused[:MOST_TOLD]:
        print(f"line {number}: {error}")
    if len(told.refused) > MOST_TOLD:
        print(f"and {len(told.refused) - MOST_TOLD} lines more")
    return 1 if told.refused or passed_over else 0


def _desk_to_fill(ledger: Ledger, options: argparse.Namespace) -> Desk:
    """The desk that is to learn: the one that is there, or a new one with settings from the options and the file."""
    from evenhand.desk.desk import Desk
    from evenhand.desk.importing import settings_of

    given = dict(_setting(text) for text in options.settings)
    told, is_wanted = settings_of(options.file)
    if not WHAT.isdisjoint(given):
        told = {name: value for name, value in told.items() if name not in WHAT}
    if options.desk in ledger.names():
        desk = Desk.open(ledger, options.desk, **({**told, **given} if is_wanted else given))
        if not is_wanted and WHAT.isdisjoint(given):
            _check_same_features(told, desk)
        return desk
    if not told and not given:
        raise InvalidInput(
            f"there is no desk {options.desk!r}, and nothing says how to make one: give --set features=NAME,NAME or "
            '--set n_features=N, or begin the file with a line such as {"settings": {"n_features": 3, "capacity": 1}}'
        )
    desk = Desk.open(ledger, options.desk, **{**told, **given})
    print(f"desk {desk.name}: made, with {desk.settings.n_features} features and capacity {desk.settings.capacity}")
    return desk


def _check_same_features(told: dict[str, Any], desk: Desk) -> None:
    """InvalidInput if a file says that its numbers are of other features than the desk's; not every file says."""
    here = desk.settings.to_dict()
    for what in ("n_features", "features", "schema"):
        there = told.get(what)
        if there is not None and here[what] is not None and there != here[what]:
            shown = "another schema" if what == "schema" else f"{what} {_shown(there)}"
            own = "" if what == "schema" else f" {_shown(here[what])}"
            desk.close()
            raise InvalidInput(
                f"the file is of a desk with {shown}, but desk {desk.name!r} has{own or ' one of its own'}; if its "
                "numbers mean the same all the same, say so with --set features=... as this desk has them"
            )


def _shown(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _setting(text: str) -> tuple[str, Any]:
    """A setting from NAME=VALUE: the value as JSON, or else as it stands, features at their commas."""
    import json

    name, is_there, value = text.partition("=")
    if not is_there:
        raise InvalidInput(f"--set is {text!r}; allowed is NAME=VALUE, as in --set capacity=2")
    try:
        return name, json.loads(value)
    except json.JSONDecodeError:
        return name, value.split(",") if name == "features" else value
