"""Each part runs from the command line at a tiny size, and leaves table, JSON and figure behind."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from benchmarks.bandit_peers import ENTRIES
from benchmarks.measurement import Size
from benchmarks.report import FIGURE, RESULTS, TABLE, Report

from benchmarks import __main__ as command


@pytest.mark.parametrize(
    "part", [pytest.param(part, marks=pytest.mark.process if part == "start" else ()) for part in command.PARTS]
)
def test_a_part_runs(part: str, tmp_path: Path) -> None:
    """Every line has a positive ratio between its quartiles, or says why it has none; it ends well."""
    assert command.main(["--size", "tiny", "--only", part, "--output", str(tmp_path)]) == 0
    lines = Report.read(tmp_path / RESULTS).measurements
    assert {line.part for line in lines} == {part}
    for line in lines:
        if line.ratio is None or line.low is None or line.high is None:
            assert "not installed" in line.note
        else:
            assert 0 < line.low <= line.ratio <= line.high
    assert (tmp_path / TABLE).exists()
    assert (tmp_path / FIGURE).exists()


def test_missing_peers_are_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Without a single bandit library the round is still measured, and every one of them has a line that says so."""
    for module in ("vowpalwabbit", "coba", "mabwiser", "river"):
        monkeypatch.setitem(sys.modules, module, None)
    assert command.main(["--size", "tiny", "--only", "rounds", "--output", str(tmp_path)]) == 0
    lines = Report.read(tmp_path / RESULTS).measurements
    absent = {line.peer for line in lines if "not installed" in line.note}
    assert absent == {entry.name for entry in ENTRIES if entry.module != "numpy"}
    assert next(line.peer for line in lines if line.ratio is not None) == "LinUCB in bare numpy"


@pytest.mark.parametrize(("words", "size"), [([], "full"), (["--quick"], "quick"), (["--size", "tiny"], "tiny")])
def test_a_run_is_full_by_default(words: list[str], size: str) -> None:
    """Without a word on it everything is measured."""
    assert Size(command._parse(words).size) is Size(size)


def test_the_goals_are_on_the_full_sizes() -> None:
    """A full run has the sizes that the goals speak of, a quick one is a part of it."""
    titles = {
        size: {case.title for name in command.PARTS for case in command._cases(name, size)}
        for size in (Size.QUICK, Size.FULL)
    }
    for wanted in (
        "capacity 1, k = 1000",
        "capacity None, k = 1000",
        "k = 20, d = 50",
        "k = 1000, d = 20",
        "T = 100,000",
    ):
        assert any(wanted in title for title in titles[Size.FULL]), wanted
    assert len(titles[Size.QUICK]) < len(titles[Size.FULL])


def test_programs_are_reached_by_name(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A program of its own is run with an empty command line when it is asked for, and nothing else is."""
    seen: list[list[str]] = []
    monkeypatch.setattr("benchmarks.learners.main", lambda: seen.append(list(sys.argv)))
    before = list(sys.argv)
    assert command.main(["--only", "learners", "--output", str(tmp_path)]) == 0
    assert seen == [["benchmarks.learners"]]
    assert sys.argv == before
    assert not list(tmp_path.iterdir())


def test_an_unknown_name_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    """The message names what there is."""
    with pytest.raises(SystemExit):
        command.main(["--only", "everything"])
    assert "allocation-sweep" in capsys.readouterr().err


@pytest.mark.parametrize(("words", "last"), [([], ["service"]), (["--quick"], [])])
def test_a_full_run_ends_with_the_service(monkeypatch: pytest.MonkeyPatch, words: list[str], last: list[str]) -> None:
    """After all parts were measured; a quick one leaves it out."""
    done: list[str] = []

    def measured(parts: list[str], size: Size, output: Path) -> bool:
        done.extend(parts)
        return True

    monkeypatch.setattr(command, "_measured", measured)
    monkeypatch.setattr(command, "_run_program", lambda module: done.append(module.rpartition(".")[2]))
    assert command.main(words) == 0
    assert done == [*command.PARTS, *last]
