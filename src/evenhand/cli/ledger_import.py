"""`evenhand ledger import`: past decisions into a desk, which is made if it is not there."""

from __future__ import annotations

import argparse
import os
from contextlib import closing
from typing import TYPE_CHECKING, Any

from evenhand.cli.database_options import database_to_make
from evenhand.errors import InvalidInput

if TYPE_CHECKING:
    from evenhand.desk.desk import Desk
    from evenhand.desk.imports.past_file import PastFile
    from evenhand.ledger.ledger import Ledger

MOST_TOLD = 100
"""So many refused lines are listed."""

WHAT = {"n_features", "features", "schema"}
"""Settings that say what a candidate is: one of them takes the place of the others."""


def run_import(options: argparse.Namespace) -> int:
    """Take in past decisions; say how many, and what was wrong with the others: then the status is 1."""
    from evenhand.desk.imports.importing import import_jsonl
    from evenhand.desk.imports.past_file import PastFile
    from evenhand.ledger.ledger import open_ledger

    if not os.path.isfile(options.file):
        raise InvalidInput(f"there is no file {options.file}")
    past = PastFile.read(options.file, even_if_damaged=options.even_if_damaged)
    with closing(open_ledger(database_to_make(options))) as ledger, _desk_to_fill(ledger, past, options) as desk:
        desk.catch_up()
        before = desk.projection.skipped
        told = import_jsonl(desk, past)
        desk.catch_up()
        skipped = desk.projection.skipped - before
    print(f"desk {options.desk}: {told}")
    if skipped:
        print(f"{skipped} of the lines taken in were passed over: the desk could not learn from them")
    for number, error in told.refused[:MOST_TOLD]:
        print(f"line {number}: {error}")
    if len(told.refused) > MOST_TOLD:
        print(f"and {len(told.refused) - MOST_TOLD} lines more")
    return 1 if told.refused or skipped else 0


def _desk_to_fill(ledger: Ledger, past: PastFile, options: argparse.Namespace) -> Desk:
    """The desk that is to learn: the one that is there, or a new one with settings from the options and the file."""
    from evenhand.desk.desk import Desk

    given = dict(_setting(text) for text in options.settings)
    told, is_wanted = past.settings, past.is_wanted
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
