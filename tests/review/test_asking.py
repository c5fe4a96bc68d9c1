"""A desk that asks for ratings or comparisons: what a reviewer is shown, and what is recorded."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from evenhand.desk import Desk, Event
from evenhand.errors import EvenhandError, InvalidInput
from evenhand.review.agreement import agreement, consistency
from evenhand.review.item import Item
from evenhand.review.review_sessions import ReviewSessions
from tests.support.review_steps import REMARKS, next_item, opened, submit


@pytest.fixture
def desk() -> Iterator[Desk]:
    """A desk that asks for ratings from 0 to 4."""
    with opened("memory:", reviewing={"ask": "ratings", "scale": [0, 4]}) as desk:
        yield desk


def rate(reviewing: ReviewSessions, item: Item, ratings: list[float]) -> Event:
    """Rate the two of an item, as the service does."""
    (event,) = reviewing.desk.execute([reviewing.command(item, "rated", REMARKS, ratings)])
    if isinstance(event, EvenhandError):
        raise event
    reviewing.settle(item, "rated")
    return event


def test_no_chances_are_shown(desk: Desk) -> None:
    """Who rates or compares people must not see how the desk treats them; nor does the record say they did."""
    reviewing = ReviewSessions(desk)
    for ask, scale in (("ratings", [0, 4]), ("comparisons", None)):
        desk.change_settings(reviewing={"ask": ask})
        item = next_item(reviewing, "Kim")
        shown = reviewing.display(item)
        assert (shown["ask"], shown["scale"]) == (ask, scale)
        assert shown["probabilities"] is shown["gap"] is None
        assert shown["instruction"] == f"{ask} 1"
    event = submit(reviewing, item, "left")
    assert "probabilities" not in event.body["circumstances"]


def test_an_answer_goes_with_the_question(desk: Desk) -> None:
    """A verdict is no answer where ratings were asked for; ratings come in twos and on the scale that was shown."""
    reviewing = ReviewSessions(desk)
    item = next_item(reviewing, "Kim")
    for answer, ratings in (("unfair", None), ("left", None), ("rated", None), ("rated", [3]), ("unsure", [3, 4])):
        with pytest.raises(InvalidInput):
            reviewing.command(item, answer, REMARKS, ratings)
    with pytest.raises(InvalidInput, match="must be within the scale 0 to 4, got 5"):
        rate(reviewing, item, [5, 1])
    assert reviewing.next("Kim") == item


def test_a_rated_pair_leaves_the_queue_and_another_waits(desk: Desk) -> None:
    """Every pair is rated once, then nothing is left; each event has both scores by candidate."""
    reviewing, count = ReviewSessions(desk), desk.ledger.pairs.count("loans")
    for turn in range(count):
        item = next_item(reviewing, "Kim")
        event = rate(reviewing, item, [turn % 5, 2])
        assert event.body["ratings"] == {item.left: turn % 5, item.right: 2}
        assert event.body["scale"] == [0, 4]
    assert reviewing.next("Kim") is None
    desk.catch_up(wait=True)
    assert desk.projection.history.taught == count


def test_scale_and_question_are_those_that_were_shown(desk: Desk) -> None:
    """An item that a page holds is answered as it was asked, whatever the desk asks meanwhile."""
    reviewing = ReviewSessions(desk)
    token = reviewing.display(next_item(reviewing, "Kim"))["item"]
    desk.change_settings(reviewing={"ask": "verdicts", "scale": [1, 9]})
    item = reviewing.decrypt(token, "Kim")
    assert rate(reviewing, item, [0, 4]).body["scale"] == [0, 4]
    assert next_item(reviewing, "Kim").ask == "verdicts"


def test_items_of_earlier_versions_are_verdicts(desk: Desk) -> None:
    """An item without the fields of today asks what all items asked then."""
    record: dict[str, Any] = next_item(ReviewSessions(desk), "Kim").to_dict()
    del record["ask"], record["scale"]
    item = Item.from_dict(record)
    assert (item.ask, item.scale) == ("verdicts", (1, 5))


def test_implied_judgements_are_compared(desk: Desk) -> None:
    """Agreement and consistency are those of the verdicts that ratings imply."""
    desk.change_settings(overlap=1.0, reviewing={"repeats": 0.5, "repeat_after": 1, "scale": [0, 4]})
    reviewing = ReviewSessions(desk)
    for _ in range(12):
        rate(reviewing, next_item(reviewing, "Kim"), [2, 2])
    reviewing.book.refresh()
    judged = consistency(reviewing.book.compared("Kim"))
    assert judged.repeats > 0
    assert judged.share == 1.0
    answers = list(reviewing.book.standing())
    assert {one.answer for one in answers} <= {"unfair", "acceptable"}
    assert agreement(answers).pairs == 0  # Lee has rated nobody


def test_a_rating_can_be_taken_back(desk: Desk) -> None:
    """Withdrawn, the pair comes again on the same sides, and the new rating replaces the old one."""
    reviewing = ReviewSessions(desk)
    item = next_item(reviewing, "Kim")
    event = rate(reviewing, item, [1, 3])
    desk.withdraw(event.id, actor="Kim")
    again = next_item(reviewing, "Kim")
    assert (again.left, again.right, again.again_of) == (item.left, item.right, event.id)
    replaced = rate(reviewing, again, [3, 3])
    assert replaced.body["circumstances"]["again_of"] == event.id
