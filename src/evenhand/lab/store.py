"""Cases and the folder that keeps their results: one Parquet file a case, settings and timings beside it."""

from __future__ import annotations

import hashlib
import json
import os
import platform
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from itertools import product
from pathlib import Path
from typing import Any

import polars as pl

from evenhand._internal.atomic_write import atomic_write
from evenhand.errors import InvalidInput
from evenhand.version import __version__

Columns = Mapping[str, Sequence[Any]]


@dataclass(frozen=True)
class Case:
    """One run of an experiment, identified by its settings, so that it is never run twice."""

    experiment: str
    settings: Mapping[str, Any]
    """Names and plain values, a seed among them."""
    label: str = ""
    """The contender's name in tables and figures: a column of the results, not an argument of the run."""

    @property
    def key(self) -> str:
        """A short name that changes when a setting or the version changes."""
        try:
            text = json.dumps([self.experiment, __version__, dict(self.settings)], sort_keys=True)
        except TypeError:
            raise InvalidInput(
                f"settings of {self.experiment} must be plain values that JSON can hold, got {dict(self.settings)}"
            ) from None
        return hashlib.blake2b(text.encode(), digest_size=10).hexdigest()

    @property
    def columns(self) -> dict[str, Any]:
        """What is added to each row of the case's results."""
        return {**self.settings, "case": self.key} | ({"label": self.label} if self.label else {})


def grid(experiment: str, *, label: str = "", **settings: Any) -> list[Case]:
    """A case for every combination of settings; a list, tuple or range has several values, anything else is one.

    >>> [dict(case.settings) for case in grid("example", d=[2, 3], k=5, seed=range(2))]
    [{'d': 2, 'k': 5, 'seed': 0}, {'d': 2, 'k': 5, 'seed': 1}, {'d': 3, 'k': 5, 'seed': 0}, {'d': 3, 'k': 5, 'seed': 1}]
    """
    choices = [value if isinstance(value, (list, tuple, range)) else [value] for value in settings.values()]
    return [Case(experiment, dict(zip(settings, values, strict=True)), label) for values in product(*choices)]


def labelled(experiment: str, contenders: Mapping[str, Mapping[str, Any]], **settings: Any) -> list[Case]:
    """The cases of each contender: its own settings and the common ones, with its name as label."""
    return [case for label, own in contenders.items() for case in grid(experiment, label=label, **own, **settings)]


def in_worlds(experiment: str, worlds: Sequence[str], *, reveal_at: int, **settings: Any) -> list[Case]:
    """The cases of each world; the direction hider shows what it hid at round `reveal_at`."""
    hides: dict[str, Any] = {"reveal_at": reveal_at}
    return [
        case
        for world in worlds
        for case in grid(experiment, world=world, **settings, **(hides if world == "direction-hider" else {}))
    ]


class Store:
    """The folder of one experiment: `cases/KEY.parquet`, `cases/KEY.json`, and `results.parquet` with all cases."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._cases = folder / "cases"

    def has(self, case: Case) -> bool:
        """Whether the case is finished: its table is written last."""
        return (self._cases / f"{case.key}.parquet").exists()

    def put(self, case: Case, columns: Columns, seconds: float) -> None:
        """Keep the results of a case; settings become columns, so no result may have a setting's name."""
        if taken := sorted(case.columns.keys() & columns.keys()):
            raise InvalidInput(f"results of {case.experiment} have the names of settings: {', '.join(taken)}")
        self._cases.mkdir(parents=True, exist_ok=True)
        record = {"experiment": case.experiment, "settings": dict(case.settings), "seconds": seconds} | versions()
        table = pl.DataFrame(dict(columns)).with_columns(
            **{name: pl.lit(value) for name, value in case.columns.items()}
        )
        _write_json(self._cases / f"{case.key}.json", record)
        _write_table(self._cases / f"{case.key}.parquet", table)

    def gather(self, cases: Sequence[Case]) -> pl.DataFrame:
        """The results of these cases in one table, in the order of the cases, also written to `results.parquet`."""
        tables = [pl.read_parquet(self._cases / f"{case.key}.parquet") for case in cases]
        table = pl.concat(tables, how="diagonal_relaxed")
        _write_table(self.folder / "results.parquet", table)
        return table

    def records(self, cases: Sequence[Case]) -> list[dict[str, Any]]:
        """What is kept beside each result: settings, seconds and versions."""
        return [json.loads((self._cases / f"{case.key}.json").read_text()) for case in cases]

    def note(self, name: str, record: Mapping[str, Any]) -> None:
        """Keep a record beside the results, as JSON."""
        self.folder.mkdir(parents=True, exist_ok=True)
        _write_json(self.folder / f"{name}.json", record)


def versions() -> dict[str, Any]:
    """The versions of evenhand, Python and the numerical libraries."""
    libraries = {name: metadata.version(name) for name in ("numpy", "scipy", "numba", "highspy")}
    return {"evenhand": __version__, "python": platform.python_version(), "libraries": libraries}


def run_record(store: Store, cases: Sequence[Case], options: Mapping[str, Any]) -> dict[str, Any]:
    """The record of a finished run, for `run.json`.

    Cases finished by an earlier run count with the versions and seconds of that run.
    """
    kept = store.records(cases)
    seconds = [float(one["seconds"]) for one in kept]
    common, varied = common_and_varied(cases)
    return {
        "options": dict(options),
        "cases": len(cases),
        "seeds": _distinct(case.settings["seed"] for case in cases if "seed" in case.settings),
        "common_settings": common,
        "varied_settings": varied,
        "made_with": _distinct({name: one[name] for name in ("evenhand", "python", "libraries")} for one in kept),
        "machine": {"cores": os.cpu_count(), "processor": platform.machine(), "system": platform.system()},
        "seconds_of_work": round(sum(seconds), 3),
        "seconds_of_longest_case": round(max(seconds, default=0.0), 3),
    }


def common_and_varied(cases: Sequence[Case]) -> tuple[dict[str, Any], dict[str, list[Any]]]:
    """Settings shared by all cases, with their value, and the others but the seed, with all their values.

    >>> common_and_varied(grid("example", d=[2, 3], k=5, seed=range(4)))
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
    """Each value once, in order of first occurrence; compared as JSON, since lists cannot be hashed."""
    return list({json.dumps(value, sort_keys=True): value for value in values}.values())


def _write_json(path: Path, record: Mapping[str, Any]) -> None:
    with atomic_write(path) as file:
        file.write(json.dumps(record, indent=1).encode())


def _write_table(path: Path, table: pl.DataFrame) -> None:
    with atomic_write(path) as file:
        table.write_parquet(file)
