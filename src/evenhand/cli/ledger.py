"""`evenhand ledger list`, `verify`, `replay` and `export`; the other actions have files of their own."""

from __future__ import annotations

import argparse
import os
import sys
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from evenhand._internal.counted import counted
from evenhand.cli._database_options import add_database, database_of, names_database
from evenhand.cli._options import command
from evenhand.cli.ledger_erase import add_erase
from evenhand.cli.ledger_heads import add_heads
from evenhand.cli.ledger_import import add_import
from evenhand.cli.ledger_open import add_open
from evenhand.errors import DamagedLedger, EvenhandError, InvalidInput, UnknownRecord

if TYPE_CHECKING:
    from evenhand.adapters.dsjson_lines import Form
    from evenhand.desk.replay import Replayed
    from evenhand.ledger.ledger import Ledger
    from evenhand.ledger.verification.heads_file import KeptHeads

FORMATS: dict[str, Form | None] = {"jsonl": None, "dsjson": "cb", "dsjson-ccb": "ccb", "dsjson-slates": "slates"}
"""Formats of an export: the ledger itself, or a form of DSJSON."""

MOST_LISTED = 20
"""Maximum number of events listed in one line."""

Known = tuple[int, str] | None
"""The seq and hash of an event, as noted before."""


def add_ledger(parser: argparse.ArgumentParser) -> None:
    """The options of `evenhand ledger ...`."""
    actions = parser.add_subparsers(dest="action", required=True)
    listing = command(actions, "list", "all desks, with their number of events and the time of the last")
    listing.set_defaults(run=run_list)
    verify = command(actions, "verify", "check every hash and link of a ledger, or of an exported one")
    verify.add_argument("desk", nargs="?", help="a desk's name (all desks); or a file, if it has a suffix or a slash")
    verify.add_argument("--file", type=Path, help="a file written by `ledger export`, instead of a desk")
    verify.add_argument("--known", metavar="SEQ:HASH", help="an event as noted before: detects a ledger cut short")
    verify.add_argument("--heads", type=Path, metavar="FILE", help="signed heads as kept elsewhere, one a line")
    verify.set_defaults(run=run_verify)
    replay = command(actions, "replay", "make every decision again from the first event on, and compare")
    replay.add_argument("desk", help="a desk's name")
    replay.set_defaults(run=run_replay)
    fit = command(actions, "fit", "whether the reviewers' answers of a desk follow a metric")
    fit.add_argument("desk", help="a desk's name")
    fit.set_defaults(run=run_fit)
    export = command(actions, "export", "write a ledger as lines of JSON")
    export.add_argument("desk", help="a desk's name")
    export.add_argument("--format", choices=FORMATS, default="jsonl", help="all but jsonl: for Vowpal Wabbit")
    export.add_argument("--output", type=Path, help="the file (standard output)")
    export.add_argument("--even-if-damaged", action="store_true", help="write what there is of a damaged ledger")
    export.set_defaults(run=run_export)
    erase = command(actions, "erase", "erase what a ledger says about a person; its hashes stay right")
    add_erase(erase)
    importing = command(actions, "import", "a warm start from past decisions, outcomes and reviews")
    add_import(importing)
    opening = command(actions, "open", "a new desk, with settings from options and files")
    add_open(opening)
    add_heads(actions)
    for action in (listing, verify, replay, fit, export, erase, importing, opening):
        add_database(action)


def opened_ledger(options: argparse.Namespace) -> closing[Ledger]:
    """The ledger that the options name, which must exist."""
    from evenhand.ledger.ledger import open_ledger

    return closing(open_ledger(database_of(options), make=False, reads=True))


def run_list(options: argparse.Namespace) -> int:
    """Print all desks; the status is 1 if one cannot be read."""
    status = 0
    with opened_ledger(options) as ledger:
        for name in ledger.names():
            try:
                print(_summary(ledger, name))
            except DamagedLedger as error:
                print(f"{name}  {error}")
                status = 1
    return status


def _summary(ledger: Ledger, name: str) -> str:
    from evenhand.ledger.verify import head_and_stray

    head, stray = head_and_stray(ledger, name)
    if stray is not None:
        raise stray
    with ledger.reading(name) as view:
        last = view.after(head.seq - 1, 1)
    if not last:
        raise DamagedLedger(f"its last event, {head.seq}, is missing; verify it")
    return f"{name}  {counted(head.seq, 'event')}  {counted(head.decisions, 'decision')}  last {last[0].event.time}"


def run_replay(options: argparse.Namespace) -> None:
    """Print that every decision came out the same, or raise DamagedLedger."""
    from evenhand.desk.replay import replay

    with opened_ledger(options) as ledger:
        result = replay(ledger, options.desk)
    if not result.is_same:
        raise DamagedLedger(_what_differs(result))
    same = result.decisions - len(result.erased)
    how = "the same to the bit" if result.rounding == 0 else f"the same up to rounding (at most {result.rounding:.0e})"
    print(f"desk {result.desk}: {counted(same, 'decision')} replayed from {counted(result.lines, 'event')}, {how}")
    if result.erased:
        shown = ", ".join(map(str, result.erased[:MOST_LISTED])) + (", ..." if result.erased[MOST_LISTED:] else "")
        print(
            f"{counted(len(result.erased), 'decision')} cannot be made again, as people were erased whom they were "
            f"about or had learned from: events {shown}"
        )


def run_fit(options: argparse.Namespace) -> None:
    """Print how well a metric explains the answers of a desk, one sentence a line."""
    from evenhand.desk.explain.explanation import metric_of
    from evenhand.desk.replay import projected

    with opened_ledger(options) as ledger:
        metric = metric_of(*projected(ledger, options.desk))
    print(f"desk {options.desk}, up to event {metric.state}:")
    for sentence in metric.fit:
        print(f"  {sentence}")
    if metric.promise is not None:
        print(f"  {metric.promise}")


def _what_differs(result: Replayed) -> str:
    """Snapshots first: decisions made from a wrong one differ for that reason."""
    sentences = []
    if result.snapshots:
        others = f", nor do {len(result.snapshots) - 1} others" if result.snapshots[1:] else ""
        sentences.append(f"the snapshot at event {result.snapshots[0]} does not follow from the ledger{others}")
    if result.differences:
        seq, what = result.differences[0]
        sentences.append(
            f"{len(result.differences)} of {result.decisions} decisions come out differently, the first is event "
            f"{seq}: {what}"
        )
    if result.snapshots:
        sentences.append("delete the snapshots, and the desk projects its ledger again")
    sentences.append("another version of evenhand may be the reason; for ProjectedVolume or Guarded another processor")
    return "; ".join(sentences)


def run_export(options: argparse.Namespace) -> int:
    """Write a ledger's events, each checked; DamagedLedger, and no file, at the first that is wrong.

    Even if damaged: all that can be read is written, what is wrong is printed, and the status is 1.
    """
    from evenhand.adapters.dsjson_ledger import to_dsjson
    from evenhand.cli._output import write_lines
    from evenhand.ledger.verify import to_jsonl

    found: list[DamagedLedger] = []
    with opened_ledger(options) as ledger:
        if options.format == "jsonl":
            lines = to_jsonl(ledger, options.desk, damaged=found.append if options.even_if_damaged else None)
        elif options.even_if_damaged:
            raise InvalidInput("--even-if-damaged needs --format jsonl: other formats need an intact ledger")
        else:
            lines = to_dsjson(ledger, options.desk, FORMATS[options.format] or "cb")
        write_lines(lines, options.output)
    for error in found:
        print(f"{error}; it was written as it is", file=sys.stderr)
    return 1 if found else 0


def run_verify(options: argparse.Namespace) -> int:
    """Print that ledgers are intact, or what is wrong: then the status is 1."""
    from evenhand.ledger.verification.heads_file import KeptHeads

    known, files = _read_known(options.known), [] if options.heads is None else [options.heads]
    file = _file_to_verify(options)
    if file is not None:
        _verify_file(file, known, KeptHeads(files))
        return 0
    if options.desk is None and known is not None:
        raise InvalidInput("--known is an event of one desk; name the desk")
    with opened_ledger(options) as ledger:
        kept = KeptHeads([*files, *_heads_beside(ledger)])
        if options.desk is not None:
            _verify_desk(ledger, options.desk, known, kept)
            return 0
        return _verify_all(ledger, kept)


def _heads_beside(ledger: Ledger) -> list[Path]:
    """The file of heads beside the database, if there is one."""
    from evenhand.ledger.signed_heads import heads_file

    file = heads_file(ledger)
    return [] if file is None or not file.exists() else [file]


def _read_known(text: str | None) -> Known:
    if text is None:
        return None
    seq, _, digest = text.partition(":")
    if not (seq.isascii() and seq.isdecimal()) or int(seq) < 1 or len(digest) != 64:
        raise InvalidInput(f"--known must be SEQ:HASH, as verify prints it, got {text!r}")
    return int(seq), digest.lower()


def _file_to_verify(options: argparse.Namespace) -> Path | None:
    """The file to verify; None for a desk.

    An argument in a desk's place is a file only if it looks like one: a desk must not go unchecked because there is a
    file of its name.
    """
    if options.file is not None:
        if options.desk is not None or names_database(options):
            raise InvalidInput("--file is verified by itself; leave out the desk, --data and --database")
        return Path(options.file)
    path = None if options.desk is None or names_database(options) else Path(options.desk)
    if path is None or not (path.suffix or len(path.parts) > 1) or not os.path.isfile(path):
        return None
    if len(path.parts) == 1 and _is_desk(options):
        raise InvalidInput(
            f"there is a file {options.desk} and a desk of that name; use --file {options.desk} for the file, and "
            "--data or --database for the desk"
        )
    return path


def _is_desk(options: argparse.Namespace) -> bool:
    try:
        with opened_ledger(options) as ledger:
            return options.desk in ledger.names()
    except EvenhandError:  # no ledger, or none that can be read: then it is the file
        return False


def _verify_file(path: Path, known: Known, kept: KeptHeads) -> None:
    from evenhand.ledger.verification.verify_history import LinesFit
    from evenhand.ledger.verify import verify_lines

    check = LinesFit(kept)
    try:
        # Not universal newlines: a line ends where `ledger export` ended it.
        with open(path, encoding="utf-8", newline="\n") as file:
            last = verify_lines(file, known=known, watch=check.add)
    except UnicodeDecodeError:
        raise DamagedLedger(f"{path} is not an exported ledger, or was changed: it is not UTF-8") from None
    except OSError as error:
        raise InvalidInput(f"the file {path} cannot be read: {error.strerror}") from None
    fitted = check.finish()
    lines = counted(last.seq, "line")
    print(f"{lines}, every hash and link is right; the last is {last.seq}:{last.hash}{_with_heads(fitted)}")


def _with_heads(fitted: int) -> str:
    return f"; {counted(fitted, 'signed head fits', 'signed heads fit')}" if fitted else ""


def _verify_desk(ledger: Ledger, desk: str, known: Known, kept: KeptHeads) -> None:
    from evenhand.desk.projection.snapshots import check_snapshots
    from evenhand.ledger.verification.verify_history import verify_history

    found, fitted, gone, without_token = verify_history(ledger, desk, known=known, kept=kept)
    check_snapshots(ledger, desk)
    erased = f"; {gone} contents were erased" if gone else ""
    counts = f"{counted(found.seq, 'event')}, {counted(found.decisions, 'decision')}"
    print(
        f"desk {desk}: {counts}, every hash and link is right{erased}; "
        f"the last is {found.seq}:{found.hash}{_with_heads(fitted)}"
    )
    if without_token:
        most = sorted(without_token.items(), key=lambda one: -one[1])
        shown = ", ".join(f"{actor!r} ({events})" for actor, events in most[:MOST_LISTED])
        print(f"desk {desk}: events by actors who have no token: {shown}{', ...' if most[MOST_LISTED:] else ''}")


def _verify_service(ledger: Ledger, kept: KeptHeads) -> None:
    """Tokens, and the events that record them and the signing keys."""
    from evenhand.ledger.ledger import SERVICE
    from evenhand.ledger.service_stream import check_tokens
    from evenhand.ledger.tree import has_trees
    from evenhand.ledger.verification.verify_history import verify_history

    if not has_trees(ledger):
        return  # of an earlier version, and only read: nothing was recorded
    fitted = 0
    if ledger.heads([SERVICE]) or SERVICE in kept.desks:
        fitted = verify_history(ledger, SERVICE, kept=kept).heads
    tokens = check_tokens(ledger)
    if tokens or fitted:
        print(f"{counted(tokens, 'token')}, each as it was recorded{_with_heads(fitted)}")


def _verify_all(ledger: Ledger, kept: KeptHeads) -> int:
    from evenhand.ledger.ledger import SERVICE

    names, damaged = sorted({*ledger.names(), *kept.desks} - {SERVICE}), 0
    for name in names:
        try:
            _verify_desk(ledger, name, None, kept)
        except (DamagedLedger, UnknownRecord) as error:
            damaged += 1
            print(error, file=sys.stderr)
    try:
        _verify_service(ledger, kept)
    except (DamagedLedger, UnknownRecord) as error:
        damaged += 1
        print(error, file=sys.stderr)
    if not names:
        print("there is no desk yet")
    return 1 if damaged else 0
