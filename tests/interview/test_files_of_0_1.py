"""An interview that version 0.1 saved: it loads, and goes on as 0.1 itself did."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import evenhand as eh

FILES = Path(__file__).parents[1] / "data" / "v0_1" / "interviews"
"""interview.eh was saved by 0.1 after 8 answers; interview.json is what 0.1 asked next, and where it stood then."""


def test_an_interview_of_0_1_goes_on_as_it_did(tmp_path: Path) -> None:
    """Loaded, and saved and loaded again, it asks the same questions (0.1 wrote "odds") and undoes answers."""
    expected = json.loads((FILES / "interview.json").read_text())
    eh.Interview.load(FILES / "interview.eh").save(tmp_path / "again.eh")
    interview = eh.Interview.load(tmp_path / "again.eh")
    assert len(interview.answers) == expected["answers"]
    for step in expected["next"]:
        question = interview.question
        assert question is not None
        recorded = step["question"]
        assert (question.number, list(question.pair)) == (recorded["number"], recorded["pair"])
        assert list(question.probabilities) == pytest.approx(recorded["odds"])
        assert question.gap == pytest.approx(recorded["gap"])
        interview.answer(step["answer"], reviewer="Ada")
    assert interview.unknown == pytest.approx(expected["unknown"], rel=1e-6)
    assert interview.expected_unfair_pairs == pytest.approx(expected["expected"], rel=1e-6)
    last = interview.answers[-1].question
    assert interview.undo() == last
