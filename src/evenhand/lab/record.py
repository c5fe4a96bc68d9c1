"""What a reader needs to know of a run: what was set, what was varied, what ran it and how long it took."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from evenhand.lab.case import Case
from evenhand.lab.store import Store


def run_record(store: Store, cases: Sequence[Case], options: Mapping[str, Any]) -> dict[str, Any]:
    """The record of a finished run, for `run.json`. options: how it was asked for.

    Cases that an earlier run finished count with the versions and the seconds that they were made with.
    """
    kept = store.records(cases)
    made_with = _distinct({name: one[name] for name in ("evenhand", "python", "libraries")} for one in kept)
    seconds = [float(one["seconds"]) for one in kept]
    common, varied = common_and_varied(cases)
    return {
        "options": dict(options),
        "cases": len(cases),
        "seeds": _distinct(case.settings["seed"] for case in cases if "seed" in case.settings),
        "common_settings": common,
        "varied_settings": varied,
        "made_with": made_with,
        "machine": {"cores": os.cpu_count(), "processor": platform.machine(), "system": platform.system()},
        "seconds_of_work": round(sum(seconds), 3),
        "seconds_of_longest_case": round(max(seconds, default=0.0), 3),
    }


def common_and_varied(cases: Sequence[Case]) -> tuple[dict[str, Any], dict[str, list[Any]]]:
    """Settings that all cases share, with their value, and the others but the seed, with every value they take.

    >>> from evenhand.lab.case import grid
    >>> common_and_varied(grid("example", d=[2, 3], k=[5], seed=range(4)))
    ({'k': 5}, {'d': [2, 3]})
    """
    names = _distinct(name for case in cases for name in case.settings if name != "seed")
    common, varied = {}, {}
    for name in names:
        values = _distinct(case.settings[name] for case in cases if name in case.settings)
        if len(values) == 1 and all(name in case.settings for case in cases):
            common[name] = values[0]
        else:
            varied[name] = values
    return common, varied


def _distinct(values: Iterable[Any]) -> list[Any]:
    """Each value once, in the order of their first coming; compared as JSON, as lists have no hash."""
    return list({json.dumps(value, sort_keys=True): value for value in values}.values())
