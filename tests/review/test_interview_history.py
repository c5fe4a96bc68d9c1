"""An interview after a restart: what was asked is read from the ledger, and the last answers can be taken back."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from evenhand.desk import Desk, Event, Ledger, Withdraw
from evenhand.review.interview_sessions import InterviewSessions

PEOPLE = [[0.1, 0.4], [0.6, 0.2], [0.3, 0.3], [0.9, 0.1], [-0.5, 0.4], [-0.2, -0.7]]


def opened(ledger: Ledger, name: str) -> Desk:
    """A desk with one decision, about the people to be asked about."""
    desk = Desk.open(ledger, name, n_features=2, seed=4, epsilon=0.02, metric="BayesPoint")
    desk.decide(PEOPLE)
    desk.catch_up(wait=True)
    return desk


def next_question(interviewing: InterviewSessions, reviewer: str = "Kim") -> dict[str, Any]:
    """The question before a reviewer: which two, with which probabilities, who of them on the left."""
    interviewing.desk.catch_up(wait=True)
    reported = interviewing.next(reviewer)
    content = interviewing.decrypt(reported["item"], reviewer)
    return {name: content[name] for name in ("x", "y", "left")} | {
        name: reported[name] for name in ("probabilities", "rows")
    }


def submit(interviewing: InterviewSessions, answer: str, reviewer: str = "Kim") -> str:
    """Answer the question before a reviewer; the id of the line."""
    content = interviewing.decrypt(interviewing.next(reviewer)["item"], reviewer)
    (line,) = interviewing.desk.execute([interviewing.command(content, answer, {})])
    assert isinstance(line, Event)
    interviewing.desk.catch_up(wait=True)
    interviewing.answered(content, answer, line.id)
    return line.id


def test_undo_after_a_restart_brings_the_questions_again(ledger: Ledger, name: str) -> None:
    """Latest first, one by one, the same two on the same sides with the same probabilities; then it goes on."""
    with opened(ledger, name) as desk:
        before = InterviewSessions(desk)
        questions, lines = [], []
        for answer in ("unfair", "acceptable", "unsure", "unfair"):
            questions.append(next_question(before))
            lines.append(submit(before, answer))
        after = InterviewSessions(desk)
        for line, question in zip(reversed(lines[1:]), reversed(questions[1:]), strict=True):
            desk.withdraw(line, actor="Kim")
            assert next_question(after) == question
            assert next_question(InterviewSessions(desk)) == question, (
                "also if it restarts once more between undo and asking"
            )
        for question in questions[1:]:
            again = InterviewSessions(desk)
            assert next_question(again) == question
            submit(again, "acceptable")
        assert next_question(InterviewSessions(desk)) not in questions
        assert [event.body["unfair"] for event in desk.events(kinds=["answer"])[4:]] == [False] * 3


@pytest.mark.parametrize("seed", range(3))
def test_it_stands_as_if_it_had_never_stopped(ledger: Ledger, name: str, seed: int) -> None:
    """After any answers and undos, those that stand and those to be asked again are what a process remembers."""
    rng = np.random.default_rng(seed)
    with opened(ledger, name) as desk:
        steady = InterviewSessions(desk)
        for _ in range(16):
            recorded = steady._conversations["Kim"].history.answered if "Kim" in steady._conversations else []
            if recorded and rng.random() < 0.4:
                desk.withdraw(recorded[-1][0], actor="Kim")
            else:
                submit(steady, ("unfair", "acceptable", "skip")[rng.integers(3)])
            steady.next("Kim")
            restarted = InterviewSessions(desk)
            restarted.next("Kim")
            one, other = (interviewing._conversations["Kim"] for interviewing in (steady, restarted))
            assert other.history.answered == one.history.answered
            assert other.history.again == one.history.again


def test_what_somebody_was_unsure_of_rests_after_a_restart(ledger: Ledger, name: str) -> None:
    """The pair that is known least would be asked about at once again; it is left alone, as before."""
    with opened(ledger, name) as desk:
        before = InterviewSessions(desk)
        first = next_question(before)
        submit(before, "unsure")
        assert next_question(before)["rows"] != first["rows"]
        pair = [first["x"], first["y"]]
        now = next_question(InterviewSessions(desk))
        assert [now["x"], now["y"]] not in (pair, pair[::-1])


def test_questions_about_others_do_not_come_again(ledger: Ledger, name: str) -> None:
    """Of other reviewers, of people who are not asked about any more, and of lines that nobody asked for."""
    with opened(ledger, name) as desk:
        before = InterviewSessions(desk)
        mine, theirs = submit(before, "unfair"), submit(before, "unfair", "Lee")
        odd = desk.answer(
            PEOPLE[0], PEOPLE[1], gap=0.3, unfair=True, reviewer="Kim", circumstances={"question": {"x": 1}}
        )
        desk.execute([Withdraw(theirs, actor="Lee"), Withdraw(odd.id, actor="Kim")])
        desk.catch_up(wait=True)
        after = InterviewSessions(desk)
        after.next("Kim")
        assert [line for line, _ in after._conversations["Kim"].history.answered] == [mine]
        assert after._conversations["Kim"].history.again == []
        strangers = [[-x, -y] for x, y in PEOPLE]
        for _ in range(100):
            desk.decide(strangers)
        desk.withdraw(mine, actor="Kim")
        desk.catch_up(wait=True)
        gone = InterviewSessions(desk)
        gone.next("Kim")
        assert gone._conversations["Kim"].history.answered == []
        assert gone._conversations["Kim"].history.again == []
