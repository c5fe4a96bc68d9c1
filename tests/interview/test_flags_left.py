"""Flags left in an interview: a proved number that falls as answers come in, before anybody is treated unfairly."""

from __future__ import annotations

import copy
import io
import itertools
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import evenhand as eh
from evenhand.cli.interview_terminal import InterviewOptions, interview_in_terminal
from evenhand.metrics import VersionSpace
from tests.support.interviewed import exact, people
from tests.support.simulation import same

QUANTILE = 0.05


def begun(d: int, *, seed: int, error_rate: float | None = 0.0) -> eh.Interview:
    """An interview of a bandit with VersionSpace about people on the sphere."""
    learner = VersionSpace(d, epsilon=0.01, quantile=QUANTILE, error_rate=error_rate, seed=seed)
    return eh.Interview(eh.FairBandit(d, metric=learner, seed=seed), people(100, d, seed), enough=0.0, seed=seed)


@pytest.mark.parametrize(("d", "questions", "seed"), [(3, 24, 0), (3, 24, 1), (5, 50, 2)])
def test_it_falls_with_every_answer(d: int, questions: int, seed: int) -> None:
    """Each answer about the median halves what is left, so four or five answers take away a flag; none adds one.

    No answer holds more than a bit: no questions could lower it faster than by log 2 / log(1 / quantile) each. Margin:
    one flag, for the confidence of the estimate.
    """
    interview = begun(d, seed=seed)
    interview.max_questions = questions
    reviewer = exact(interview.candidates, np.diag(np.linspace(0.1, 0.6, d)))
    left = [interview.flags_left]
    for question in interview:
        interview.answer(reviewer(question))
        left.append(interview.flags_left)
    known = [number for number in left if number is not None]
    assert len(known) == questions + 1
    assert all(later <= earlier for earlier, later in itertools.pairwise(known))
    assert known[0] - known[-1] == pytest.approx(questions * math.log(2) / math.log(1 / QUANTILE), abs=1.0)
    assert interview.flags_left == interview.bandit.flags_left


def test_without_a_theorem_there_is_no_number() -> None:
    """BayesPoint has none, nor has VersionSpace when it learns error rates."""
    assert eh.Interview(eh.FairBandit(2, seed=0, reviewer_error=1e-3), people(10, 2), seed=0).flags_left is None
    assert begun(2, seed=0, error_rate=None).flags_left is None


def test_saved_and_loaded_it_goes_on_to_the_bit(tmp_path: Path) -> None:
    """The same number, the same next questions and the same learner, random stream and all."""
    interview = begun(3, seed=1)
    reviewer = exact(interview.candidates, np.diag([0.6, 0.3, 0.1]))
    for at in range(9):
        question = interview.question
        assert question is not None
        interview.answer(reviewer(question))
        if at in (0, 4):
            interview.save(tmp_path / "interview.eh")
            interview = eh.Interview.load(tmp_path / "interview.eh")
    twin = begun(3, seed=1)
    for _ in range(9):
        question = twin.question
        assert question is not None
        twin.answer(reviewer(question))
    assert interview.flags_left == twin.flags_left
    assert same(interview.bandit.state(), twin.bandit.state())


def test_an_undone_answer_gives_the_number_back() -> None:
    """To the bit, as if it had never been given."""
    interview = begun(2, seed=2)
    interview.answer("unfair")
    before, state = interview.flags_left, copy.deepcopy(interview.bandit.state())
    interview.answer("acceptable")
    interview.undo()
    assert interview.flags_left == before
    assert same(interview.bandit.state(), state)


FEATURES = (eh.Number("income", low=0, high=100_000), eh.Category("purpose", levels=("car", "home", "study")))
PEOPLE = "income,purpose,member\n52000,home,yes\n31000,car,no\n87000,study,yes\n12000,home,no\n"


def test_the_terminal_shows_it(tmp_path: Path) -> None:
    """Beside the other meters, and as a sentence at the end; another learner cannot continue the interview."""
    eh.Schema([*FEATURES, eh.YesNo("member")]).save(tmp_path / "schema.json")
    (tmp_path / "people.csv").write_text(PEOPLE)
    files = (tmp_path / "schema.json", tmp_path / "people.csv", tmp_path / "desk.eh")
    options = InterviewOptions(*files, metric="VersionSpace", reviewer_error=0.0, epsilon=0.01, seed=1)
    screen = io.StringIO()
    interview = interview_in_terminal(options, io.StringIO("u\nq\n"), screen)
    assert f"  proved         at most {interview.flags_left} decisions can ever be flagged" in screen.getvalue()
    assert f"At most {interview.flags_left} more decisions can ever be flagged, if each" in screen.getvalue()
    for change in ({"metric": "BayesPoint"}, {"reviewer_error": 0.1}):
        with pytest.raises(eh.errors.InvalidInput, match=r"as in .*; leave it out"):
            interview_in_terminal(replace(options, **change), io.StringIO(""), screen)
