"""Store: where results lie. One Parquet file a case, its settings and timings beside it, each written whole or not."""

from __future__ import annotations

import json
import os
import platform
import uuid
from collections.abc import Callable, Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

import polars as pl

from evenhand.errors import InvalidInput
from evenhand.lab.case import Case
from evenhand.version import __version__

Columns = Mapping[str, Sequence[Any]]


class Store:
    """The folder of one experiment: `cases/KEY.parquet`, `cases/KEY.json`, and `results.parquet` once gathered."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._cases = folder / "cases"

    def has(self, case: Case) -> bool:
        """Whether the case was finished: its table is written last."""
        return (self._cases / f"{case.key}.parquet").exists()

    def put(self, case: Case, columns: Columns, seconds: float) -> None:
        """Keep what a case gave; settings become columns of its table, so no result may bear a setting's name."""
        added = {**case.settings, "case": case.key}
        if taken := sorted(added.keys() & columns.keys()):
            raise InvalidInput(f"{case.experiment} has results called like its settings: {', '.join(taken)}")
        self._cases.mkdir(parents=True, exist_ok=True)
        record = {"experiment": case.experiment, "settings": dict(case.settings), "seconds": seconds} | versions()
        table = pl.DataFrame(dict(columns)).with_columns(**{name: pl.lit(value) for name, value in added.items()})
        _write(self._cases / f"{case.key}.json", lambda draft: draft.write_text(json.dumps(record, indent=1)))
        _write(self._cases / f"{case.key}.parquet", table.write_parquet)

    def gather(self, cases: Sequence[Case]) -> pl.DataFrame:
        """All results of these cases in one table, in the order of the cases, also written to `results.parquet`."""
        tables = [pl.read_parquet(self._cases / f"{case.key}.parquet") for case in cases]
        table = pl.concat(tables, how="diagonal_relaxed")
        _write(self.folder / "results.parquet", table.write_parquet)
        return table

    def records(self, cases: Sequence[Case]) -> list[dict[str, Any]]:
        """What was kept beside each result: settings, seconds and versions."""
        return [json.loads((self._cases / f"{case.key}.json").read_text()) for case in cases]

    def note(self, name: str, record: Mapping[str, Any]) -> None:
        """Keep a record beside the results, as JSON."""
        self.folder.mkdir(parents=True, exist_ok=True)
        _write(self.folder / f"{name}.json", lambda draft: draft.write_text(json.dumps(record, indent=1)))


def versions() -> dict[str, Any]:
    """What ran: versions of evenhand, Python and the numerical libraries."""
    libraries = {name: metadata.version(name) for name in ("numpy", "scipy", "numba", "highspy")}
    return {"evenhand": __version__, "python": platform.python_version(), "libraries": libraries}


def _write(path: Path, write: Callable[[Path], object]) -> None:
    """Write beside, then move over: a killed process leaves an old file or a new one, never half of one."""
    draft = path.with_name(f".{path.name}.{uuid.uuid4().hex}")
    try:
        write(draft)
        with draft.open("rb") as written:
            os.fsync(written.fileno())  # else a power cut may keep the new name and lose what it names
        os.replace(draft, path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
