"""`evenhand size`: what to expect of a desk, before it runs."""

from __future__ import annotations

import re
from argparse import Namespace
from pathlib import Path

import pytest

from evenhand.cli.main import main
from evenhand.cli.size import answers_needed
from evenhand.interview import Forecast, sizing
from evenhand.schema import Number, Schema, YesNo

PLAN = ("--candidates", "4", "--reviews", "1", "--decisions-a-week", "3", "--weeks", "2", "--worlds", "3")


def run(*arguments: str) -> int:
    """The exit status."""
    try:
        return main(["size", *arguments])
    except SystemExit as ended:
        return int(ended.code or 0)


@pytest.fixture
def schema(tmp_path: Path) -> str:
    """Two numbers and a yes or no."""
    path = tmp_path / "schema.json"
    Schema([Number("age", low=18, high=90), Number("debt", low=0, high=1e4), YesNo("member")]).save(path)
    return str(path)


def _numbers(line: str) -> list[int]:
    return [int(number.replace(",", "")) for number in re.findall(r"[\d,]*\d", line)]


def test_it_tells_structure_unfair_pairs_answers_times_and_an_interview(
    schema: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """A line for each, weeks that add up to no less than the first, and nothing on standard error."""
    assert run(schema, *PLAN) == 0
    written = capsys.readouterr()
    lines = {line.split("  ")[0]: line for line in written.out.splitlines()}
    assert lines["features"].endswith("3 in 3 columns, 6 unknowns of the metric")
    assert "full: any two features may interact" in lines["structure"]
    assert lines["reviews"].endswith("1 of the 6 pairs of a decision")
    assert "of 3 simulated worlds" in written.out
    assert "50% interval" in written.out
    (_, first, low, high), (whole, *_) = _numbers(lines["week 1"]), _numbers(lines["together"])
    assert low <= first <= high
    assert whole >= first
    assert re.search(r"\d+ ms a decision, \d+ ms to learn a review", lines["time"])
    assert "after 20 questions" in lines["interview"]
    assert lines["answers"]
    assert written.err == ""


def test_people_of_a_file_take_the_place_of_made_up_ones(
    schema: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Their number is printed; fewer than candidates are refused in a sentence."""
    path = tmp_path / "people.csv"
    path.write_text("age,debt,member\n" + "".join(f"{20 + n},{n * 1000},{n % 2}\n" for n in range(6)))
    assert run(schema, *PLAN, "--people", str(path)) == 0
    assert f"people      6, {path}" in capsys.readouterr().out
    assert run(schema, *PLAN, "--people", str(path), "--candidates", "7") == 2
    assert "people must be at least as many as the candidates, 7, got 6" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("nowhere.json", *PLAN), "nowhere.json cannot be read: No such file or directory"),
        ((*PLAN, "--candidates", "1"), "candidates must be a whole number >= 2, got 1"),
        ((*PLAN, "--reviews", "-1"), "reviews must be a whole number >= 0, got -1"),
        ((*PLAN, "--reviews", "7"), "reviews must be <= 6, the pairs of a decision, got 7"),
        ((*PLAN, "--seconds", "0"), "seconds must be a number > 0, got 0"),
        ((*PLAN, "--epsilon", "2"), "epsilon must be"),
    ],
)
def test_bad_input_gets_a_sentence(
    schema: str, arguments: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit status 2, the sentence last, no traceback."""
    given = arguments if arguments[0].endswith(".json") else (schema, *arguments)
    assert run(*given) == 2
    assert message in capsys.readouterr().err.splitlines()[-1]


def test_an_interrupt_ends_it_cleanly(
    schema: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Ctrl-C between two worlds: exit status 130, one word, no advice."""

    def interrupted(*_: object) -> bool:
        raise KeyboardInterrupt

    monkeypatch.setattr(sizing.Budget, "next", interrupted)
    assert run(schema, *PLAN, "--worlds", "5") == 130
    written = capsys.readouterr()
    assert (written.out, written.err) == ("", "\nstopped\n")


def test_the_time_is_kept(schema: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """With no time at all three worlds are simulated of a hundred, and two interviews."""
    monkeypatch.setattr(sizing.Budget, "used", property(lambda budget: 2.0))
    assert run(schema, *PLAN, "--worlds", "100") == 0
    written = capsys.readouterr().out
    assert "of 3 simulated worlds" in written
    assert "the same 2 worlds" in written


@pytest.mark.parametrize(
    ("counts", "sentence"),
    [
        ((0, 0, 0, 0, 0, 0), "none: fewer than one unfair pair a week is expected from the start"),
        ((2, 1, 0, 0, 0, 0), "about 10, in 1 week, until fewer than one unfair pair a week is expected"),
        ((2, 1, 0, 0, 1, 0), "more than 30: in 3 weeks fewer than one unfair pair a week is not to be expected"),
        ((0, 0, 1, 0, 0, 0), "about 20, in 2 weeks, until fewer than one unfair pair a week is expected"),
    ],
)
def test_answers_are_needed_until_no_later_week_has_an_unfair_pair(counts: tuple[int, ...], sentence: str) -> None:
    """Two decisions a week, five answers each, three weeks: a quiet week before a bad one does not count."""
    options = Namespace(decisions_a_week=2, reviews=5, weeks=3)
    assert answers_needed(options, Forecast((counts,))) == sentence
    options.reviews = 0
    assert answers_needed(options, Forecast((counts,))).startswith("none")
