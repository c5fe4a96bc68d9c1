"""How a ratio comes about, and how it is written down."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from benchmarks.docs import BEGIN, END, refreshed
from benchmarks.measurement import Case, Measurement, Size, compared
from benchmarks.peers import if_installed
from benchmarks.report import FIGURE, RESULTS, TABLE, Report
from benchmarks.run import run
from benchmarks.table import digits, markdown, seconds
from benchmarks.timing import in_turn, repeated

SECONDS = np.array([[1.0, 2.0], [2.0, 8.0], [1.0, 3.0]])
LINE = compared("rounds", "a round", "a peer", SECONDS, goal=3.0)


def test_the_ratio_is_the_median_of_ratios() -> None:
    """Theirs over ours, repetition by repetition; the seconds are medians of their own."""
    assert (LINE.ratio, LINE.ours, LINE.theirs, LINE.repetitions) == (3.0, 1.0, 3.0, 3)
    assert (LINE.low, LINE.high) == (2.5, 3.5)


@pytest.mark.parametrize(("goal", "met"), [(3.0, True), (3.1, False), (None, None)])
def test_a_goal_is_the_least_ratio(goal: float | None, met: bool | None) -> None:
    """A goal is reached from itself on; without one there is no verdict."""
    assert compared("rounds", "a round", "a peer", SECONDS, goal=goal).met is met


def test_everybody_begins_in_turn() -> None:
    """Each takes one turn in every repetition, and whoever begins changes."""
    calls: list[str] = []

    def turn(name: str, took: float) -> float:
        calls.append(name)
        return took

    found = in_turn([lambda: turn("a", 1.0), lambda: turn("b", 2.0)], repetitions=3)
    assert "".join(calls) == "abbaab"
    assert found.tolist() == [[1.0, 2.0]] * 3


def test_a_budget_ends_the_repetitions() -> None:
    """However small the budget, one repetition takes place, and no second one."""
    assert in_turn([lambda: 1.0], repetitions=5, budget=0.0).shape == (1, 1)


def test_a_short_call_is_repeated() -> None:
    """A call that is over at once is made many times in one turn, and each counts for its share."""
    calls: list[int] = []
    took = repeated(lambda: calls.append(1))()
    assert len(calls) > 10
    assert 0 <= took < 1


def test_a_missing_peer_is_named() -> None:
    """A peer that is not installed has a line that says so, in the table too."""
    (line,) = if_installed("no_such_module_anywhere", "rounds", "a round", "a peer", list)
    assert line.ratio is None
    assert "not installed" in line.note
    assert "not installed" in markdown([line], Report.begun(Path(), Size.TINY).surroundings, interrupted=False)


def test_the_report_can_be_read_again(tmp_path: Path) -> None:
    """What was written is what is read; all three files are there, and the JSON says where and with what."""
    report = Report.begun(tmp_path, Size.TINY)
    report.add([LINE, Measurement("start", "import", "a peer", note="not installed")])
    assert report.write() == [RESULTS, TABLE, FIGURE]
    assert Report.read(tmp_path / RESULTS) == report
    content = json.loads((tmp_path / RESULTS).read_text())
    assert content["measurements"][0]["met"] is True
    assert content["machine"]["cores"] >= 1
    assert {"numpy", "highspy", "numba"} <= set(content["versions"])
    assert (tmp_path / TABLE).read_text() == report.markdown()
    assert (tmp_path / FIGURE).read_bytes().startswith(b"\x89PNG")


def test_an_interrupt_keeps_what_was_measured(tmp_path: Path) -> None:
    """The cases before the interrupt are on disk, the ones after it are not run, and the report says so."""

    def interrupted() -> list[Measurement]:
        raise KeyboardInterrupt

    report, later = Report.begun(tmp_path, Size.TINY), pytest.fail
    cases = [Case("rounds", "first", lambda: [LINE]), Case("rounds", "second", interrupted)]
    assert not run([*cases, Case("rounds", "third", lambda: later("was run"))], report)
    assert Report.read(tmp_path / RESULTS).measurements == [LINE]
    report.write()
    assert "interrupted" in (tmp_path / TABLE).read_text()
    assert json.loads((tmp_path / RESULTS).read_text())["interrupted"] is True


def test_a_case_that_fails_leaves_the_earlier_ones(tmp_path: Path) -> None:
    """An error is not swallowed, and what was measured before it is on disk."""

    def failing() -> list[Measurement]:
        raise ArithmeticError("no")

    with pytest.raises(ArithmeticError):
        run(
            [Case("rounds", "first", lambda: [LINE]), Case("rounds", "second", failing)],
            Report.begun(tmp_path, Size.TINY),
        )
    assert Report.read(tmp_path / RESULTS).measurements == [LINE]


def test_missed_goals_and_stopped_peers_show() -> None:
    """A missed goal is bold in both kinds of table, a stopped peer's ratio has a sign before it."""
    missed = compared("allocation", "capacity 1", "a peer", SECONDS, goal=9.0, stopped=True)
    swept = compared("allocation-sweep", "capacity 1", "a peer", SECONDS, goal=9.0, along=5.0)
    text = markdown([missed, swept], Report.begun(Path(), Size.TINY).surroundings, interrupted=False)
    assert "**no**" in text
    assert ">3 (" in text
    assert "| 5 | **3** |" in text
    assert "at least 1 in 0 of 1" in text


@pytest.mark.parametrize(
    ("value", "text"), [(0.01234, "0.0123"), (1.0, "1"), (99.96, "100"), (1234.0, "1230"), (0.0, "0")]
)
def test_three_digits(value: float, text: str) -> None:
    """Numbers have three digits and no exponent."""
    assert digits(value) == text


def test_times_have_a_fitting_unit() -> None:
    """From nanoseconds to seconds; nothing for what was not measured."""
    assert [seconds(x) for x in (2.0, 3e-3, 4e-6, 5e-9, None)] == ["2 s", "3 ms", "4 µs", "5 ns", ""]


def test_a_part_with_many_lines_is_drawn(tmp_path: Path) -> None:
    """Many peers on many works share a panel, and a sweep has one of its own."""
    from benchmarks.figure import draw

    many = [compared("allocation", f"k = {k}", f"peer {p}", SECONDS, goal=1.0) for k in range(6) for p in range(5)]
    swept = [compared("allocation-sweep", "capacity 1", "peer", SECONDS, along=float(k)) for k in (2, 20, 200)]
    draw(many + swept, tmp_path / "many.png")
    assert (tmp_path / "many.png").stat().st_size > 10_000


def test_the_page_is_refreshed_between_its_marks() -> None:
    """What stands around the marks stays, what stands between them is replaced, and doing it twice changes nothing."""
    report = Report.begun(Path(), Size.TINY)
    report.measurements = [LINE]
    page = refreshed(f"before\n{BEGIN}\nold\n{END}\nafter\n", report, "figure.png")
    assert page.startswith("before\n")
    assert page.endswith(f"{END}\nafter\n")
    assert "old" not in page
    assert "a peer" in page
    assert refreshed(page, report, "figure.png") == page
    with pytest.raises(ValueError, match="marks"):
        refreshed("a page without marks", report, "figure.png")
