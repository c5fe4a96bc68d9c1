"""Stores: results whole or not at all, with all that made them beside them."""

from __future__ import annotations

import json
import platform
from pathlib import Path
from typing import BinaryIO

import numpy as np
import polars as pl
import pytest

from evenhand.errors import InvalidInput
from evenhand.lab.store import Case, Store, grid, versions
from evenhand.version import __version__
from tests.support.small_experiments import seeds, walk


def _fill(store: Store, cases: list[Case]) -> None:
    for case in cases:
        store.put(case, walk(**case.settings), seconds=0.25)


def test_a_key_names_settings_and_nothing_else() -> None:
    """Equal settings have equal keys in whatever order they are written; another value, name or version another."""
    case = Case("walk", {"steps": 3, "seed": 1})
    assert case.key == Case("walk", {"seed": 1, "steps": 3}).key
    others = [Case("walk", {"steps": 3, "seed": 2}), Case("run", {"steps": 3, "seed": 1}), Case("walk", {"steps": 3})]
    assert len({case.key, *(other.key for other in others)}) == 4


def test_settings_are_plain_values() -> None:
    """NumPy's numbers, which JSON cannot hold, are refused by a sentence that shows them."""
    with pytest.raises(InvalidInput, match=r"settings of walk must be plain values.*np\.int64\(3\)"):
        _ = Case("walk", {"steps": np.int64(3)}).key


def test_a_key_changes_with_the_version(monkeypatch: pytest.MonkeyPatch) -> None:
    """Results of an older version are not taken for those of this one."""
    case = Case("walk", {"seed": 1})
    before = case.key
    monkeypatch.setattr("evenhand.lab.store.__version__", "0.0.0.other")
    assert case.key != before


def test_what_is_put_can_be_read_by_anybody(tmp_path: Path) -> None:
    """The table has results and settings as columns, readable by polars; JSON beside it has settings and versions."""
    store, (case, *_) = Store(tmp_path), seeds(2, steps=3)
    assert not store.has(case)
    store.put(case, walk(**case.settings), seconds=0.25)
    assert store.has(case)
    table = pl.read_parquet(tmp_path / "cases" / f"{case.key}.parquet")
    assert table.columns == ["round", "height", "steps", "seed", "case"]
    assert table["height"].to_list() == walk(steps=3, seed=0)["height"]
    assert table["case"].unique().to_list() == [case.key]
    record = json.loads((tmp_path / "cases" / f"{case.key}.json").read_text())
    assert record["settings"] == {"steps": 3, "seed": 0}
    assert record["seconds"] == 0.25
    assert record["evenhand"] == __version__
    assert record["python"] == platform.python_version()
    assert record["libraries"]["numpy"] == np.__version__
    assert store.records([case]) == [record]
    assert {name: record[name] for name in versions()} == versions()


def test_results_are_gathered_in_the_order_of_the_cases(tmp_path: Path) -> None:
    """Whatever order they were finished in; and the gathered table is a file as well."""
    store, cases = Store(tmp_path), seeds(4, steps=2)
    _fill(store, cases[::-1])
    assert store.gather(cases)["seed"].to_list() == [0, 0, 1, 1, 2, 2, 3, 3]
    assert store.gather(cases[::-1])["seed"].to_list() == [3, 3, 2, 2, 1, 1, 0, 0]
    assert pl.read_parquet(tmp_path / "results.parquet")["seed"].to_list() == [3, 3, 2, 2, 1, 1, 0, 0]


def test_settings_may_differ_in_kind(tmp_path: Path) -> None:
    """None beside a number, a whole number beside a fraction, a setting that some cases lack: all gather."""
    store = Store(tmp_path)
    cases = [*grid("mixed", capacity=[None, 1], scale=[1, 0.5]), Case("mixed", {"capacity": 2})]
    for case in cases:
        store.put(case, {"height": [1.0]}, seconds=0.0)
    table = store.gather(cases)
    assert table["capacity"].to_list() == [None, None, 1, 1, 2]
    assert table["scale"].to_list() == [1.0, 0.5, 1.0, 0.5, None]


def test_a_write_that_was_cut_short_is_no_result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A table that breaks off midway leaves no case, no draft, and the older file as it was."""
    store, (case, *_) = Store(tmp_path), seeds(1)

    def break_off(frame: pl.DataFrame, file: BinaryIO) -> None:
        file.write(b"PAR1 and no more")
        raise KeyboardInterrupt

    store.note("run", {"old": True})
    with monkeypatch.context() as patch:
        patch.setattr(pl.DataFrame, "write_parquet", break_off)
        with pytest.raises(KeyboardInterrupt):
            store.put(case, walk(**case.settings), seconds=0.0)
    assert not store.has(case)
    assert [path.name for path in (tmp_path / "cases").iterdir()] == [f"{case.key}.json"]
    with pytest.raises(TypeError):
        store.note("run", {"old": object()})
    assert json.loads((tmp_path / "run.json").read_text()) == {"old": True}


def test_drafts_of_a_killed_process_are_ignored(tmp_path: Path) -> None:
    """What a kill leaves behind, a draft and settings without a table, counts as nothing and hinders nothing."""
    store, cases = Store(tmp_path), seeds(2, steps=2)
    _fill(store, cases[:1])
    (tmp_path / "cases" / f".{cases[1].key}.parquet.abc").write_bytes(b"PAR1 half of a table")
    (tmp_path / "cases" / f"{cases[1].key}.json").write_text("{}")
    assert not store.has(cases[1])
    _fill(store, cases[1:])
    assert store.gather(cases)["seed"].to_list() == [0, 0, 1, 1]
    assert store.records(cases)[1]["settings"] == {"steps": 2, "seed": 1}


def test_a_result_must_not_bear_the_name_of_a_setting(tmp_path: Path) -> None:
    """Settings would overwrite it; so it is refused, and nothing is written."""
    store = Store(tmp_path / "results")
    with pytest.raises(InvalidInput, match="results of walk have the names of settings: case, reward"):
        store.put(Case("walk", {"reward": "bounded"}), {"reward": [0.5], "case": [1]}, seconds=0.0)
    assert not (tmp_path / "results").exists()
