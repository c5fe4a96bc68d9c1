"""Running experiments: what is written, what is recorded, what is shown."""

from __future__ import annotations

import io
import json
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from rich.console import Console

from evenhand.errors import InvalidInput
from evenhand.lab import runner
from evenhand.lab.runner import named, run_experiment, run_experiments
from evenhand.lab.store import Case, common_and_varied, grid, versions
from tests.support.small_experiments import DRIFT


def _screen(*, terminal: bool = False) -> Console:
    return Console(file=io.StringIO(), force_terminal=terminal, width=120, legacy_windows=False)


def _shown(console: Console) -> str:
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_a_run_leaves_results_figure_and_record(tmp_path: Path) -> None:
    """In a folder of the experiment's name: a table of all cases, a picture, and what made them."""
    findings = run_experiment(DRIFT, tmp_path, quick=True, console=_screen())
    folder = tmp_path / "drift"
    assert sorted(path.name for path in folder.iterdir()) == ["cases", "figure.png", "results.parquet", "run.json"]
    table = pl.read_parquet(folder / "results.parquet")
    assert table["round"].to_list() == list(range(1, 9)) * 4
    assert (folder / "figure.png").read_bytes().startswith(b"\x89PNG")
    assert findings.table["slope"][0] == pytest.approx(0.5, abs=0.5)


def test_the_record_says_what_made_the_results(tmp_path: Path) -> None:
    """Settings that all cases share and those that vary, seeds, versions, machine, options and timings."""
    varied = replace(DRIFT, sweep=lambda quick: grid("drift", steps=[4], drift=[0.5, 1.0], seed=range(3)))
    run_experiment(varied, tmp_path, quick=True, jobs=1, console=_screen())
    record = json.loads((tmp_path / "drift" / "run.json").read_text())
    assert record["experiment"] == "drift"
    assert record["claim"] == DRIFT.claim
    assert record["options"] == {"quick": True, "jobs": 1, "cluster": None}
    assert record["cases"] == 6
    assert record["common_settings"] == {"steps": 4}
    assert record["varied_settings"] == {"drift": [0.5, 1.0]}
    assert record["seeds"] == [0, 1, 2]
    assert record["made_with"] == [versions()]
    assert record["machine"]["cores"] == os.cpu_count()
    assert 0 <= record["seconds_of_longest_case"] <= record["seconds_of_work"]
    assert record["seconds"] > 0
    assert record["finished"].endswith("UTC")


def test_the_record_distinguishes_versions(tmp_path: Path) -> None:
    """Cases that an earlier run made with other libraries are recorded with those."""
    run_experiment(DRIFT, tmp_path, quick=True, console=_screen())
    path = sorted((tmp_path / "drift" / "cases").glob("*.json"))[0]
    older = json.loads(path.read_text())
    older["libraries"]["numpy"] = "1.26.0"
    path.write_text(json.dumps(older))
    run_experiment(DRIFT, tmp_path, quick=True, console=_screen())
    made_with = json.loads((tmp_path / "drift" / "run.json").read_text())["made_with"]
    assert sorted(entry["libraries"]["numpy"] for entry in made_with) == sorted(["1.26.0", np.__version__])


def test_settings_that_some_cases_lack_vary() -> None:
    """A setting is common only if every case has it, with one value; True and 1 are two values."""
    cases = [Case("x", {"a": 1, "b": [1], "c": 1}), Case("x", {"a": 1, "b": [1], "c": True, "d": 0})]
    assert common_and_varied(cases) == ({"a": 1, "b": [1]}, {"c": [1, True], "d": [0]})


def test_a_second_run_runs_no_case_again(tmp_path: Path) -> None:
    """The same command finds everything finished; the full version adds its own cases and gathers those alone."""
    run_experiment(DRIFT, tmp_path, quick=True, console=_screen())

    def refuse(**settings: object) -> dict[str, list[float]]:
        raise AssertionError(f"{settings} was run again")

    run_experiment(replace(DRIFT, run=refuse), tmp_path, quick=True, console=_screen())
    run_experiment(DRIFT, tmp_path, quick=False, console=_screen())
    assert pl.read_parquet(tmp_path / "drift" / "results.parquet")["steps"].unique().to_list() == [16]
    assert len(list((tmp_path / "drift" / "cases").glob("*.parquet"))) == 8


def test_progress_and_time_left_are_shown_on_a_terminal(tmp_path: Path) -> None:
    """The bar counts cases and says how long is left."""
    console = _screen(terminal=True)
    run_experiment(DRIFT, tmp_path, quick=True, console=console)
    shown = _shown(console)
    assert "4/4" in shown
    assert "left" in shown
    assert "0:00:00" in shown


def test_verdicts_are_printed_as_they_are_written(tmp_path: Path) -> None:
    """Square brackets are an interval, not a style; the verdict says whether it holds."""
    console = _screen()
    run_experiment(DRIFT, tmp_path, quick=True, console=console)
    shown = _shown(console)
    assert "stays in [bold] & <climbs>" in shown
    assert "0.5 in [0, 1]" in shown
    assert "holds" in shown


def test_experiments_go_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Names run in their order, each once; "all" is every experiment; an unknown name is refused with the list."""
    other = replace(DRIFT, name="other")
    monkeypatch.setattr(runner, "EXPERIMENTS", {"drift": DRIFT, "other": other})
    assert named(["other", "drift", "other"]) == [other, DRIFT]
    assert named(["all"]) == [DRIFT, other]
    for names in (["nonsense"], ["all", "nonsense"]):
        with pytest.raises(InvalidInput, match="unknown experiment 'nonsense'; there are drift, other, all"):
            run_experiments(names, tmp_path, quick=True, jobs=1, console=_screen())
    assert list(run_experiments(["all"], tmp_path, quick=True, jobs=1, console=_screen())) == ["drift", "other"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["drift", "other"]
