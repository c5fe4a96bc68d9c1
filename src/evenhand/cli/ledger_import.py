"""`evenhand ledger import`: past decisions into a desk, which is created if needed."""

from __future__ import annotations

import argparse
import os
import tempfile
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evenhand._internal.counted import counted
from evenhand.cli._database_options import database_to_make
from evenhand.cli._desk_settings import add_settings, settings_of
from evenhand.errors import InvalidInput

if TYPE_CHECKING:
    from evenhand.desk.desk import Desk
    from evenhand.desk.imports.past_file import PastFile
    from evenhand.ledger.ledger import Ledger

MOST_PRINTED = 100
"""Maximum number of refused lines printed."""

FEATURE_SETTINGS = ("n_features", "features", "schema")
"""Settings that say what a candidate is: one of them replaces the others."""


def add_import(parser: argparse.ArgumentParser) -> None:
    """The options of `evenhand ledger import`."""
    parser.add_argument("desk", help="the desk that is to learn from them; created if there is none")
    parser.add_argument("file", type=Path, help="JSON lines: an exported ledger, or past decisions")
    add_settings(parser, also=", and takes precedence over those in the file")
    parser.add_argument(
        "--even-if-damaged", action="store_true", help="import an exported ledger with changed or missing lines"
    )
    parser.add_argument(
        "--format", choices=("jsonl", "dsjson"), default="jsonl", help="dsjson: decisions logged by Vowpal Wabbit"
    )
    parser.set_defaults(run=run_import)


def run_import(options: argparse.Namespace) -> int:
    """Import past decisions; print how many, and what was wrong with the others: then the status is 1."""
    from evenhand.desk.imports.past_file import PastFile

    if not os.path.isfile(options.file):
        raise InvalidInput(f"there is no file {options.file}")
    if options.format == "dsjson":
        return _run_dsjson(options)
    return _run(PastFile.read(options.file, even_if_damaged=options.even_if_damaged), options)


def _run(past: PastFile, options: argparse.Namespace) -> int:
    from evenhand.desk.imports.importing import import_jsonl
    from evenhand.ledger.ledger import open_ledger

    with closing(open_ledger(database_to_make(options))) as ledger, _desk_to_fill(ledger, past, options) as desk:
        desk.catch_up()
        before = desk.projection.skipped
        report = import_jsonl(desk, past)
        desk.catch_up()
        skipped = desk.projection.skipped - before
    print(f"desk {options.desk}: {report}")
    if skipped:
        print(f"{skipped} of the imported events were skipped: the desk could not learn from them")
    for number, error in report.refused[:MOST_PRINTED]:
        print(f"line {number}: {error}")
    if len(report.refused) > MOST_PRINTED:
        print(f"and {len(report.refused) - MOST_PRINTED} more lines")
    return 1 if report.refused or skipped else 0


def _run_dsjson(options: argparse.Namespace) -> int:
    """Import decisions in DSJSON, which are written as lines of past decisions first, each with its number."""
    from evenhand.adapters.dsjson_import import write_past
    from evenhand.desk.imports.past_file import PastFile

    own = settings_of(options)
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "past.jsonl"
        found = write_past(options.file, target, own.get("features"))
        print(f"{options.file}: {found}")
        past = PastFile.read(target)
        past.settings = {"features": list(found.names), "capacity": found.capacity}
        return _run(past, options)


def _desk_to_fill(ledger: Ledger, past: PastFile, options: argparse.Namespace) -> Desk:
    """The existing desk, or a new one with settings from the options and the file."""
    from evenhand.desk.desk import Desk

    own = settings_of(options)
    names_features = not own.keys().isdisjoint(FEATURE_SETTINGS)
    of_file = {name: v for name, v in past.settings.items() if not (names_features and name in FEATURE_SETTINGS)}
    if options.desk in ledger.names():
        desk = Desk.open(ledger, options.desk, **({**of_file, **own} if past.has_own_settings else own))
        if not past.has_own_settings and not names_features:
            _check_same_features(of_file, desk)
        return desk
    if not of_file and not own:
        raise InvalidInput(
            f"there is no desk {options.desk!r}, and no settings to create one: pass --set schema=FILE, "
            "--set features=NAME,NAME or --set n_features=N, "
            'or begin the file with a line such as {"settings": {"n_features": 3, "capacity": 1}}'
        )
    desk = Desk.open(ledger, options.desk, **{**of_file, **own})
    print(
        f"desk {desk.name}: created, {counted(desk.settings.n_features, 'feature')}, capacity {desk.settings.capacity}"
    )
    return desk


def _check_same_features(settings: dict[str, Any], desk: Desk) -> None:
    """InvalidInput if the file is from a desk with other features; not every file says."""
    own = desk.settings.to_dict()
    for name in FEATURE_SETTINGS:
        there = settings.get(name)
        if there is not None and own[name] is not None and there != own[name]:
            desk.close()
            shown = "another schema" if name == "schema" else f"{name} {_shown(there)}"
            here = "one of its own" if name == "schema" else _shown(own[name])
            raise InvalidInput(
                f"the file is of a desk with {shown}, but desk {desk.name!r} has {here}; if the numbers mean the "
                "same nevertheless, pass --set features=... as this desk has them"
            )


def _shown(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
