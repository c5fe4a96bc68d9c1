"""An interview that is put down and taken up again goes on as if it had not been."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import evenhand as eh
from evenhand import errors
from evenhand._internal.archive import write_archive
from tests.support.interviewed import Reviewer, interviewed, people, standard
from tests.support.simulation import same


def _answer(interview: eh.Interview, reviewer: Reviewer, n: int) -> None:
    for _ in range(n):
        question = interview.question
        assert question is not None
        interview.answer("unsure" if question.number % 7 == 0 else reviewer(question), reviewer="Ada")


@pytest.mark.parametrize("mid_question", [False, True], ids=["between questions", "with a question open"])
def test_taken_up_equals_never_put_down(tmp_path: Path, mid_question: bool) -> None:
    """Save, load, go on to the end: the same questions, meter, forecast and state, to the bit."""
    interview, reviewer = standard(3, seed=1)
    _answer(interview, reviewer, 12)
    if mid_question:
        assert interview.question is not None
    interview.save(tmp_path / "desk.eh")
    loaded = eh.Interview.load(tmp_path / "desk.eh")
    assert same(interview.state(), loaded.state())
    interviewed(interview, reviewer)
    interviewed(loaded, reviewer)
    assert interview.answers == loaded.answers
    assert interview.unknown == loaded.unknown
    assert interview.expected_unfair_pairs == loaded.expected_unfair_pairs
    plan = eh.interview.ReviewPlan(decisions=10)
    assert interview.forecast(plan=plan, draws=2) == loaded.forecast(plan=plan, draws=2)
    assert loaded.plan == interview.plan
    assert same(interview.state(), loaded.state())


def test_an_answer_from_before_can_be_taken_back_after(tmp_path: Path) -> None:
    """Undo works across a stop."""
    interview, reviewer = standard(3, seed=1)
    _answer(interview, reviewer, 5)
    interview.save(tmp_path / "desk.eh")
    loaded = eh.Interview.load(tmp_path / "desk.eh")
    assert loaded.undo() == interview.undo()
    assert same(interview.state(), loaded.state())


def test_the_bandit_of_a_loaded_interview_goes_live(tmp_path: Path) -> None:
    """Its probabilities are those of the bandit that was interviewed."""
    interview, reviewer = standard(3, seed=1)
    interviewed(interview, reviewer).save(tmp_path / "desk.eh")
    contexts = people(4, 3, seed=8)
    loaded = eh.Interview.load(tmp_path / "desk.eh")
    here, there = (each.bandit.decide(contexts).probabilities for each in (interview, loaded))
    assert np.array_equal(here, there)


def test_invalid_files_are_refused(tmp_path: Path) -> None:
    """A bandit's file, a cut one, one of a later version, one whose content makes no sense: a sentence each."""
    interview, _ = standard(3, seed=1)
    path = tmp_path / "desk.eh"
    interview.bandit.save(path)
    with pytest.raises(errors.DamagedFile, match="must be a saved Interview, got a saved FairBandit"):
        eh.Interview.load(path)
    interview.save(path)
    path.write_bytes(path.read_bytes()[:500])
    with pytest.raises(errors.DamagedFile, match="is not a saved Interview"):
        eh.Interview.load(path)
    write_archive(path, kind="Interview", version=99, content={})
    with pytest.raises(errors.NewerFile, match="written by a newer evenhand"):
        eh.Interview.load(path)
    content = interview.state()
    content["answers"] = [{"judgement": "perhaps"}]
    write_archive(path, kind="Interview", version=1, content=content)
    with pytest.raises(errors.DamagedFile, match="cannot be read as a saved Interview"):
        eh.Interview.load(path)


PROGRAM = """
from tests.support.interviewed import interviewed, standard
from tests.interview.test_put_down import fingerprint
print(fingerprint(interviewed(*standard(3, seed=3, max_questions=15))))
"""


def fingerprint(interview: eh.Interview) -> str:
    """A digest of all that was asked and judgement."""
    return hashlib.sha256(repr(interview.answers).encode()).hexdigest()


@pytest.mark.process
def test_same_seed_in_another_process_is_the_same_interview() -> None:
    """An interview is a function of its seed and the answers."""
    here = fingerprint(interviewed(*standard(3, seed=3, max_questions=15)))
    root = Path(__file__).parents[2]
    environment = {**os.environ, "PYTHONHASHSEED": "123", "PYTHONPATH": os.pathsep.join([str(root), *sys.path])}
    there = subprocess.run(
        [sys.executable, "-c", PROGRAM], cwd=root, env=environment, capture_output=True, text=True, check=True
    )
    assert there.stdout.strip() == here
