"""An interview's "unsure": it stands in the ledger, and everything else is as if it did not."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from evenhand.desk import Desk, Ledger, Withdraw
from evenhand.desk.imports.importing import import_jsonl
from evenhand.desk.replay import replay
from evenhand.errors import EvenhandError, InvalidInput
from evenhand.ledger.verify import to_jsonl, verify
from evenhand.review.interview_sessions import InterviewSessions

X, Y = [0.5, 0.0], [0.0, 0.5]


def play(desk: Desk, *, unsure: bool) -> NDArray[np.float64]:
    """Decisions with answers between them, perhaps some of them unsure; the probabilities of all decisions (n, k)."""
    probabilities: list[list[float]] = []
    for number in range(6):
        made = desk.decide([[0.1 * number, 0.4], [0.6, 0.05 * number], [0.3, 0.3]])
        probabilities.append(list(made.probabilities.values()))
        if unsure:
            desk.answer(X, Y, gap=0.3, unfair=None, reviewer="Kim")
        desk.answer(X, Y, gap=0.05 + 0.05 * number, unfair=number % 2 == 0, reviewer="Lee")
        desk.catch_up(wait=True)
    return np.array(probabilities)


def test_it_teaches_nothing(ledger: Ledger, name: str) -> None:
    """Decisions and the learned matrix are the same to the bit with and without such answers; the ledger replays."""
    with (
        Desk.open(ledger, name, n_features=2, seed=4) as reported,
        Desk.open("memory:", name, n_features=2, seed=4) as not_,
    ):
        assert np.array_equal(play(reported, unsure=True), play(not_, unsure=False))
        assert reported.metric().matrix == not_.metric().matrix
        assert reported.projection.skipped == 0
        answers = [event.body["unfair"] for event in reported.events(kinds=["answer"])]
        assert answers.count(None) == 6
        assert len(answers) == 12
    assert verify(ledger, name).seq == 19
    assert replay(ledger, name).is_same


def test_it_can_be_taken_back(ledger: Ledger, name: str) -> None:
    """As any other answer can."""
    with Desk.open(ledger, name, n_features=2, seed=4) as desk:
        recorded = desk.answer(X, Y, gap=0.3, unfair=None, reviewer="Kim")
        assert desk.withdraw(recorded.id).kind == "withdrawal"
        with pytest.raises(EvenhandError, match="withdrawn before"):
            desk.withdraw(recorded.id)


def test_a_verdict_is_true_false_or_none() -> None:
    """Anything else is refused, and nothing is added."""
    with Desk.open("memory:", "loans", n_features=2) as desk:
        with pytest.raises(InvalidInput, match="None for unsure"):
            desk.answer(X, Y, gap=0.3, unfair="unsure")  # type: ignore[arg-type]
        assert desk.head.seq == 1


def test_nothing_is_imported_of_it(tmp_path: Path) -> None:
    """Another desk that learns from an exported ledger takes in what was judged."""
    with Desk.open("memory:", "loans", n_features=2, seed=4) as desk, Desk.open("memory:", "new", n_features=2) as new:
        desk.answer(X, Y, gap=0.3, unfair=None, reviewer="Kim")
        desk.answer(X, Y, gap=0.3, unfair=True, reviewer="Kim")
        path = tmp_path / "ledger.jsonl"
        path.write_text("".join(f"{line}\n" for line in to_jsonl(desk.ledger, "loans")))
        reported = import_jsonl(new, path)
        assert (reported.added, reported.refused) == (1, [])
        assert [event.body["unfair"] for event in new.events(kinds=["answer"])] == [True]


def test_the_interview_records_it() -> None:
    """The event holds the question, the reviewer and the answer; taken back, the question comes again."""
    with Desk.open("memory:", "loans", n_features=2, seed=4, epsilon=0.05) as desk:
        desk.decide([[0.1, 0.4], [0.6, 0.2], [0.3, 0.3], [0.9, 0.1]])
        desk.catch_up(wait=True)
        interviewing = InterviewSessions(desk)
        question = interviewing.next("Kim")
        content = interviewing.decrypt(question["item"], "Kim")
        (line,) = desk.execute([interviewing.command(content, "unsure", {"note": "cannot tell"})])
        assert not isinstance(line, EvenhandError)
        assert (line.kind, line.body["unfair"], line.body["reviewer"]) == ("answer", None, "Kim")
        stated = line.body["circumstances"]
        assert (stated["answer"], stated["note"], stated["question"]) == ("unsure", "cannot tell", content["question"])
        then = interviewing.answered(content, "unsure", line.id)
        assert then["meter"]["unknown"] == question["meter"]["unknown"]
        desk.execute([Withdraw(line.id, actor="Kim")])
        desk.catch_up()
        again = interviewing.decrypt(interviewing.next("Kim")["item"], "Kim")
        assert again["question"] == content["question"]
