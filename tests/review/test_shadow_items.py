"""Reviewers of a desk in shadow mode are asked about its proposals and about what was done, and see whose it is."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from evenhand.desk import Desk
from evenhand.review.agreement import agreement
from evenhand.review.item import Item
from evenhand.review.review_sessions import ReviewSessions
from tests.support.review_steps import submit
from tests.support.shadow_play import RULE, SHADOW, proposed

QUIET = {"controls": 0.0, "repeats": 0.0}


@pytest.fixture
def desk() -> Iterator[Desk]:
    """A desk in shadow mode with three decisions, one of a system that draws."""
    with Desk.open("memory:", "loans", **SHADOW, reviewing=QUIET) as desk:
        for seed, more in enumerate(({}, {"probabilities": [0.7, 0.1, 0.1, 0.1]}, {})):
            proposed(desk, seed, action={**RULE, **more})
        desk.catch_up(wait=True)
        yield desk


def session(reviewing: ReviewSessions, reviewer: str, n: int) -> list[Item]:
    """The items of n answers."""
    found = []
    for _ in range(n):
        item = reviewing.next(reviewer)
        assert item is not None
        found.append(item)
        submit(reviewing, item, "unfair")
    return found


def test_both_are_asked_about_and_shown_as_they_are(desk: Desk) -> None:
    """Whose it is, and the probabilities of that one; a rule that chooses or not is shown as one."""
    reviewing = ReviewSessions(desk)
    items = session(reviewing, "Kim", 8)
    assert {item.subject for item in items} == {"desk", "system"}
    assert len({item.key for item in items}) == 8
    for item in items:
        shown, body = reviewing.display(item), desk.event(item.decision).body
        treated = body["probabilities"]
        if item.subject == "system":
            treated = body["action"].get("probabilities", [1.0, 0.0, 0.0, 0.0])
        expected = [treated[body["candidates"].index(name)] for name in (item.left, item.right)]
        assert (shown["subject"], shown["probabilities"]) == (item.subject, expected)
        assert item.why == ("most telling" if item.subject == "desk" else "system in force")
        assert shown["is_drawn"] == (item.subject == "desk" or "probabilities" in body["action"])
    reviews = desk.events(kinds=["review"])
    assert [event.body["subject"] for event in reviews] == [item.subject for item in items]
    for event, item in zip(reviews, items, strict=True):
        shown_then = event.body["circumstances"]["probabilities"]
        assert [shown_then[item.left], shown_then[item.right]] == reviewing.display(item)["probabilities"]
    desk.catch_up(wait=True)
    assert desk.projection.history.taught == 8
    assert desk.projection.skipped == 0


def test_all_pairs_come_once_to_each_reviewer(desk: Desk) -> None:
    """Each question once: no pair of either subject is lost, and none is asked twice."""
    waiting = {(one.decision, frozenset((one.first, one.second)), one.subject) for one in desk.queue(100)}
    reviewing = ReviewSessions(desk)
    items = session(reviewing, "Kim", len(waiting))
    assert {(item.decision, item.pair, item.subject) for item in items} == waiting
    assert reviewing.next("Kim") is None


def test_an_answer_taken_back_comes_again_with_its_subject(desk: Desk) -> None:
    """The same pair of the same subject, and the new answer replaces the old one."""
    reviewing = ReviewSessions(desk)
    item = next(one for one in iter(lambda: reviewing.next("Kim"), None) if _is_of_system(reviewing, one))
    event = submit(reviewing, item, "unfair")
    desk.withdraw(event.id, actor="Kim")
    again = reviewing.next("Kim")
    assert again is not None
    assert (again.decision, again.pair, again.subject, again.again_of) == (item.decision, item.pair, "system", event.id)
    assert submit(reviewing, again, "acceptable").body["subject"] == "system"


def _is_of_system(reviewing: ReviewSessions, item: Item) -> bool:
    """Whether an item is about the system; else it is answered."""
    if item.subject == "desk":
        submit(reviewing, item, "acceptable")
    return item.subject == "system"


def test_answers_on_different_subjects_are_not_compared(desk: Desk) -> None:
    """Two reviewers who judge the same pair, one of them as the system treated it, neither agree nor disagree."""
    (first, *_) = desk.events(kinds=["decision"])
    pair = [("person 0", "person 1")]
    desk.review(first.id, "partial", unfair=pair, subject="system", reviewer="Kim")
    desk.review(first.id, "partial", fair=pair, reviewer="Lee")
    reviewing = ReviewSessions(desk)
    reviewing.book.refresh()
    assert agreement(reviewing.book.standing(), reviewing.book.whole()).pairs == 0
    desk.review(first.id, "partial", fair=pair, subject="system", reviewer="Lee")
    reviewing.book.refresh()
    assert agreement(reviewing.book.standing(), reviewing.book.whole()).pairs == 1
