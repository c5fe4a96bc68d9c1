"""Pairs whose answer was taken back: whom they go to, and when."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evenhand.desk import Desk, Withdraw
from evenhand.desk.review_rules import ReviewRules
from evenhand.review.item import Item
from evenhand.review.review_sessions import ReviewSessions
from tests.support.review_steps import next_item, opened, submit


@pytest.fixture(params=["memory:", "sqlite"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where the ledger is."""
    return "memory:" if request.param == "memory:" else f"sqlite:///{tmp_path}/ledger.db"


@pytest.fixture
def let_leases_end(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Moves the clock beyond all leases."""

    def move() -> None:
        later = time.time() + 2 * ReviewRules.lease
        monkeypatch.setattr(time, "time", lambda: later)

    return move


def undone_long_ago(
    desk: Desk, reviewing: ReviewSessions, let_leases_end: Callable[[], None], answer: str = "unfair"
) -> Item:
    """A pair that Kim answered and took back, longer ago than a lease lasts; Kim has seen it again, and went home."""
    item = next_item(reviewing, "Kim")
    desk.execute([Withdraw(submit(reviewing, item, answer).id, actor="Kim")])
    again = next_item(reviewing, "Kim")
    assert (again.why, again.pair) == ("again", item.pair)
    let_leases_end()
    return again


@pytest.mark.parametrize("answer", ["unfair", "unsure", "skip"])
def test_an_undone_pair_goes_to_others_when_its_lease_ends(
    url: str, answer: str, let_leases_end: Callable[[], None]
) -> None:
    """Before that it is kept for whoever undid it; then somebody else answers it, and it waits no more."""
    with opened(url, 6) as desk:
        reviewing = ReviewSessions(desk)
        waiting = desk.ledger.pairs.count("loans")
        undone = undone_long_ago(desk, reviewing, let_leases_end, answer)
        desk.catch_up()
        assert desk.ledger.pairs.count("loans") == waiting - (answer != "skip")
        seen = []
        while (item := reviewing.next("Lee")) is not None:
            submit(reviewing, item, "acceptable")
            desk.catch_up()
            seen.append((item.decision, item.pair))
        assert seen.count((undone.decision, undone.pair)) == 1
        assert len(seen) == waiting
        assert reviewing.next("Kim") is ReviewSessions(desk).next("Ada") is None


def test_an_undone_pair_is_not_lost_where_there_is_nobody_else(url: str, let_leases_end: Callable[[], None]) -> None:
    """Whoever undid it gets it from the queue like anybody else."""
    with opened(url, 6) as desk:
        reviewing = ReviewSessions(desk)
        undone = undone_long_ago(desk, reviewing, let_leases_end)
        item = next_item(reviewing, "Kim")
        assert (item.why, item.decision, item.pair) == ("taken back", undone.decision, undone.pair)
        submit(reviewing, item, "acceptable")
        assert next_item(reviewing, "Kim").pair != item.pair


def test_an_undone_pair_that_others_have_answered_meanwhile(url: str, let_leases_end: Callable[[], None]) -> None:
    """The answer of whoever undid it and comes back late is kept and marked."""
    with opened(url, 6) as desk:
        reviewing = ReviewSessions(desk)
        undone = undone_long_ago(desk, reviewing, let_leases_end)
        item = next_item(reviewing, "Lee")
        assert (item.decision, item.pair) == (undone.decision, undone.pair)
        submit(reviewing, item, "unfair")
        assert submit(reviewing, undone, "acceptable").body["circumstances"]["late"] is True


@pytest.mark.parametrize("overlap", [0.0, 1.0])
def test_a_skipped_pair_is_kept_for_whoever_undid_skipping(url: str, overlap: float) -> None:
    """While its lease lasts nobody else gets the place; answered, it is gone, and each place is answered once."""
    with opened(url, 6, overlap=overlap) as desk:
        reviewing = ReviewSessions(desk)
        waiting = desk.ledger.pairs.count("loans")
        item = next_item(reviewing, "Kim")
        desk.execute([Withdraw(submit(reviewing, item, "skip").id, actor="Kim")])
        again = next_item(reviewing, "Kim")
        assert (again.why, again.pair) == ("again", item.pair)
        seen = []
        while (other := reviewing.next("Lee")) is not None:
            assert (other.decision, other.pair, other.place) != (item.decision, item.pair, item.place)
            submit(reviewing, other, "acceptable")
            seen.append((other.decision, other.pair))
        assert "late" not in submit(reviewing, again, "unfair").body["circumstances"]
        desk.catch_up()
        assert seen.count((item.decision, item.pair)) == overlap
        while (own := reviewing.next("Kim")) is not None:
            assert (own.decision, own.pair) != (item.decision, item.pair)
            submit(reviewing, own, "acceptable")
        assert desk.ledger.pairs.count("loans") == 0
        assert reviewing.book.count("Kim") + reviewing.book.count("Lee") == waiting + 1


@pytest.mark.parametrize("answers", [False, True])
def test_a_skipped_pair_that_is_before_somebody_else_is_not_asked_for_again(url: str, *, answers: bool) -> None:
    """Whoever undoes skipping then gets another pair, so that no answer comes late."""
    with opened(url, 6) as desk:
        reviewing = ReviewSessions(desk)
        item = next_item(reviewing, "Kim")
        skipped = submit(reviewing, item, "skip")
        taken = next_item(reviewing, "Lee")
        assert taken.pair == item.pair
        if answers:
            submit(reviewing, taken, "unfair")
        desk.execute([Withdraw(skipped.id, actor="Kim")])
        other = next_item(reviewing, "Kim")
        assert (other.decision, other.pair) != (item.decision, item.pair)
        assert "late" not in submit(reviewing, other, "unfair").body["circumstances"]


def test_undoing_an_answer_leaves_the_second_place_to_somebody_else(url: str) -> None:
    """Of a pair with two places whoever answers, undoes and answers again takes one."""
    with opened(url, 6, overlap=1.0) as desk:
        reviewing = ReviewSessions(desk)
        item = next_item(reviewing, "Kim")
        waiting = desk.ledger.pairs.count("loans")
        desk.execute([Withdraw(submit(reviewing, item, "unfair").id, actor="Kim")])
        again = next_item(reviewing, "Kim")
        assert again.pair == item.pair
        submit(reviewing, again, "acceptable")
        desk.catch_up()
        assert desk.ledger.pairs.count("loans") == waiting - 1
        assert next_item(reviewing, "Kim").pair != item.pair


def test_what_was_replaced_is_not_asked_again(url: str) -> None:
    """A review that its reviewer superseded has its new answer already."""
    with opened(url, 6) as desk:
        reviewing = ReviewSessions(desk)
        item = next_item(reviewing, "Kim")
        first = submit(reviewing, item, "unfair")
        fields: Any = {"fair": [(item.left, item.right)], "reviewer": "Kim", "actor": "Kim", "supersedes": first.id}
        desk.review(item.decision, "partial", **fields)
        assert next_item(reviewing, "Kim").pair != item.pair


def test_an_undone_pair_stands_as_it_stood(url: str) -> None:
    """Whoever takes an answer back sees the two on the sides where they were, however often."""
    with opened(url, 8) as desk:
        reviewing = ReviewSessions(desk)
        for turn in range(12):
            item = next_item(reviewing, "Kim")
            for _ in range(2):
                desk.execute([Withdraw(submit(reviewing, item, ("unfair", "skip")[turn % 2]).id, actor="Kim")])
                again = next_item(ReviewSessions(desk), "Kim")
                assert (again.left, again.right, again.why) == (item.left, item.right, "again")
                item = again
            submit(reviewing, item, "acceptable")


def test_the_pair_that_was_next_keeps_its_sides(url: str) -> None:
    """Undone and answered again, the answer is followed by the pair that had followed it before, on the same sides."""
    with opened(url, 12) as desk:
        reviewing = ReviewSessions(desk)
        for _ in range(8):
            undone = submit(reviewing, next_item(reviewing, "Kim"), "unfair")
            following = next_item(reviewing, "Kim")
            desk.execute([Withdraw(undone.id, actor="Kim")])
            submit(reviewing, next_item(reviewing, "Kim"), "acceptable")
            after = next_item(reviewing, "Kim")
            assert (after.decision, after.left, after.right) == (following.decision, following.left, following.right)
            metadata = reviewing.command(after, "unfair", {}).circumstances
            assert metadata is not None
            assert metadata["sides"] == {"left": after.left, "right": after.right}
