"""Interviews of a desk with many features: people who differ in a few, one of them made up."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from evenhand.desk import Desk, Event, Ledger
from evenhand.errors import InvalidInput
from evenhand.review.interview_sessions import InterviewSessions
from tests.support.wide_people import WIDE, wide_people


def opened(ledger: Ledger, name: str, **rules: Any) -> Desk:
    """A desk of 24 features with one decision about thirty people."""
    settings: dict[str, Any] = {"structure": "diagonal", "metric": "BayesPoint", "epsilon": 0.05, "seed": 4}
    desk = Desk.open(ledger, name, schema=WIDE, reviewing=rules, **settings)
    desk.decide([{"id": f"person {i}", "features": row} for i, row in enumerate(wide_people(30))])
    desk.catch_up(wait=True)
    return desk


@pytest.fixture
def desk(ledger: Ledger, name: str) -> Iterator[Desk]:
    """Without rules of its own."""
    with opened(ledger, name) as desk:
        yield desk


def submit(interviewing: InterviewSessions, answer: str) -> Event:
    """Answer the question before Kim; the event."""
    content = interviewing.decrypt(interviewing.next("Kim")["item"], "Kim")
    (event,) = interviewing.desk.execute([interviewing.command(content, answer, {})])
    assert isinstance(event, Event)
    interviewing.desk.catch_up(wait=True)
    interviewing.answered(content, answer, event.id)
    return event


def differing(page: dict[str, Any]) -> list[str]:
    """The attributes marked as different."""
    return [row["name"] for row in page["rows"] if row["differs"]]


def test_two_who_differ_in_a_few_features(desk: Desk) -> None:
    """The page gets all rows, those that differ marked, and is told to fold the others."""
    interviewing = InterviewSessions(desk)
    for _ in range(4):
        page = interviewing.next("Kim")
        question = interviewing.decrypt(page["item"], "Kim")["question"]
        assert page["is_partial"] is True
        assert sorted(differing(page)) == sorted(question["replaced"])
        assert 1 <= len(differing(page)) <= 3
        assert len(page["rows"]) == 24
        submit(interviewing, "acceptable")


def test_the_event_has_the_made_up_person(desk: Desk) -> None:
    """Both contexts as they were shown, and of whom the second was made; the desk learns from exactly these."""
    interviewing = InterviewSessions(desk)
    event = submit(interviewing, "unfair")
    question = event.body["circumstances"]["question"]
    contexts = desk.events(kinds=["decision"])[0].body["contexts"]
    x, y = np.array(event.body["x"]), np.array(event.body["y"])
    assert x.tolist() in contexts
    assert y.tolist() not in contexts
    row, other = WIDE.decode([x, y])
    assert {name for name in WIDE.names if row[name] != other[name]} == set(question["replaced"])


def test_undo_after_a_restart(desk: Desk) -> None:
    """The questions come again, latest first, about the same two people."""
    before = InterviewSessions(desk)
    pages, events = [], []
    for answer in ("unfair", "acceptable", "unsure"):
        pages.append(before.next("Kim"))
        events.append(submit(before, answer))
    after = InterviewSessions(desk)
    for event, page in zip(reversed(events), reversed(pages), strict=True):
        desk.withdraw(event.id, actor="Kim")
        desk.catch_up(wait=True)
        again = after.next("Kim")
        assert again["again_of"] == event.id
        assert [again[key] for key in ("rows", "probabilities")] == [page[key] for key in ("rows", "probabilities")]
    submit(after, "acceptable")
    restarted = InterviewSessions(desk).next("Kim")
    assert restarted["rows"] == pages[1]["rows"]


def test_hidden_attributes_never_differ(ledger: Ledger, name: str) -> None:
    """Nobody could see it: two people differ in what is shown only."""
    hidden = [name for name in WIDE.names if name not in ("age", "member")]
    with opened(ledger, name, hidden=hidden) as desk:
        interviewing = InterviewSessions(desk)
        for _ in range(3):
            event = submit(interviewing, "acceptable")
            first, second = WIDE.decode([event.body["x"], event.body["y"]])
            assert {name for name in WIDE.names if first[name] != second[name]} <= {"age", "member"}


@pytest.mark.parametrize(("differ_in", "most"), [(1, 1), (5, 5), (0, 24)])
def test_the_number_is_a_rule_of_reviewing(ledger: Ledger, name: str, differ_in: int, most: int) -> None:
    """0 asks about real people."""
    with opened(ledger, name, differ_in=differ_in) as desk:
        page = InterviewSessions(desk).next("Kim")
        assert len(differing(page)) <= most
        assert page["is_partial"] == (differ_in > 0)


def test_a_desk_without_a_schema_asks_about_real_people_unless_told(ledger: Ledger, name: str) -> None:
    """Columns may belong together, which nobody but a schema knows."""
    contexts = np.random.default_rng(0).uniform(-0.2, 0.2, size=(12, 10))
    for suffix, rules, most in (("-a", {}, 10), ("-b", {"differ_in": 2}, 2)):
        with Desk.open(ledger, name + suffix, n_features=10, metric="BayesPoint", seed=1, reviewing=rules) as desk:
            desk.decide(contexts)
            desk.catch_up(wait=True)
            page = InterviewSessions(desk).next("Kim")
            assert len(differing(page)) <= most
            assert page["is_partial"] == bool(rules)


def test_the_rule_is_checked(ledger: Ledger, name: str) -> None:
    """A whole number from 0, or None."""
    with pytest.raises(InvalidInput, match=r"reviewing\.differ_in must be"):
        opened(ledger, name, differ_in=-1)
