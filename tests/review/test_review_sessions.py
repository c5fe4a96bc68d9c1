"""Which pair a reviewer sees next, and what becomes of the answer."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evenhand.desk import Desk, Event, GiveReview, Withdraw
from evenhand.errors import AlreadyRecorded, EvenhandError, IdempotencyConflict, InvalidInput
from evenhand.ledger.waiting_pairs import QueuePosition
from evenhand.review.agreement import consistency
from evenhand.review.encryption import QueueCursors
from evenhand.review.interview_sessions import InterviewSessions
from evenhand.review.item import Item
from evenhand.review.review_sessions import ReviewSessions
from tests.support.ledgers import POSTGRESQL
from tests.support.review_steps import REMARKS, next_item, opened, submit


@pytest.fixture(params=["memory:", "sqlite"])
def url(request: pytest.FixtureRequest, tmp_path: Any) -> str:
    """Where the ledger is."""
    return "memory:" if request.param == "memory:" else f"sqlite:///{tmp_path}/ledger.db"


@pytest.fixture(params=["memory", "sqlite", POSTGRESQL])
def every_url(request: pytest.FixtureRequest, tmp_path: Any) -> str:
    """The same, and a real PostgreSQL."""
    known = {"memory": "memory:", "sqlite": f"sqlite:///{tmp_path}/ledger.db"}
    return known.get(request.param) or str(request.getfixturevalue("postgresql"))


@pytest.fixture
def desk(url: str) -> Iterator[Desk]:
    """A desk with pairs waiting."""
    with opened(url) as desk:
        yield desk


def test_the_same_pair_until_it_is_answered(desk: Desk) -> None:
    """Asked again, also by another process, a reviewer gets the same pair on the same sides."""
    first, second = ReviewSessions(desk), ReviewSessions(desk)
    assert first.next("Kim") == first.next("Kim") == second.next("Kim")


def test_two_reviewers_share_all_pairs_and_no_pair_twice(desk: Desk) -> None:
    """Everything that waits is answered once, whoever asks; then nothing is left."""
    reviewing, seen = ReviewSessions(desk), []
    waiting = desk.ledger.pairs.count("loans")
    for turn in range(waiting):
        item = next_item(reviewing, ("Kim", "Lee")[turn % 2])
        submit(reviewing, item, ("unfair", "acceptable", "unsure")[turn % 3])
        seen.append((item.decision, item.pair))
        if turn % 5 == 0:
            desk.catch_up()  # settles once more what was settled
    assert len(set(seen)) == waiting == len(seen)
    assert reviewing.next("Kim") is reviewing.next("Lee") is None


def test_what_is_skipped_goes_to_somebody_else(desk: Desk) -> None:
    """A skipped pair comes to another reviewer and never again to the one who skipped it."""
    reviewing = ReviewSessions(desk)
    skipped: set[tuple[str, frozenset[str]]] = set()
    while (item := reviewing.next("Kim")) is not None:
        submit(reviewing, item, "skip" if len(skipped) % 2 else "conflict")
        skipped.add((item.decision, item.pair))
    found = set()
    while (item := reviewing.next("Lee")) is not None:
        submit(reviewing, item, "acceptable")
        found.add((item.decision, item.pair))
    assert found == skipped
    desk.catch_up()
    assert desk.ledger.pairs.count("loans") == 0


@pytest.mark.parametrize("answer", ["unfair", "acceptable", "unsure", "skip", "conflict"])
def test_what_an_answer_becomes(desk: Desk, answer: str) -> None:
    """A judgement is a review of the pair; anything else names no pair; the metadata is always complete."""
    reviewing = ReviewSessions(desk)
    item = next_item(reviewing, "Kim")
    body = submit(reviewing, item, answer).body
    pair = [[item.left, item.right]]
    assert body["unfair"] == (pair if answer == "unfair" else [])
    assert body["fair"] == (pair if answer == "acceptable" else [])
    reported = body["circumstances"]
    assert reported["answer"] == answer
    assert reported["pair"] == [item.left, item.right]
    assert reported["queue"]["reason"] == "most telling"
    assert reported["shown"] == ["a", "b"]


def test_an_item_is_answered_once(desk: Desk) -> None:
    """The same answer sent again is the same line; another answer to the same item is refused."""
    reviewing = ReviewSessions(desk)
    item = next_item(reviewing, "Kim")
    assert submit(reviewing, item, "unfair") == submit(reviewing, item, "unfair")
    with pytest.raises(IdempotencyConflict):
        submit(reviewing, item, "acceptable")


def test_nobody_answers_twice_on_one_pair(desk: Desk) -> None:
    """Two items of one pair, one at hand and one from the queue: whichever comes second is refused, whatever it says;
    what was skipped may be answered, and the first one sent again is still the same line."""
    reviewing = ReviewSessions(desk)
    submit(reviewing, next_item(reviewing, "Kim"), "unsure")
    ahead = reviewing.ahead("Kim")
    at_hand = {(item.decision, item.pair): item for item in ahead}
    assert at_hand
    while at_hand and (item := reviewing.next("Kim")) is not None:
        first = submit(reviewing, item, "unfair")
        other = at_hand.pop((item.decision, item.pair), None)
        if other is not None and other.key != item.key:
            for answer in ("acceptable", "unfair", "unsure"):
                with pytest.raises(AlreadyRecorded):
                    submit(reviewing, other, answer)
        assert submit(reviewing, item, "unfair") == first
    judged = [(recorded.decision, recorded.pair) for recorded in reviewing.book.standing("Kim")]
    assert len(judged) == len(set(judged))


def two_items(reviewing: ReviewSessions, reviewer: str) -> tuple[Item, Item]:
    """Two items of one pair, as on two devices: one that waits at hand there, and one from the queue here."""
    item = next_item(reviewing, reviewer)
    return item, replace(item, number=item.number + 1)


@pytest.mark.parametrize("answers", [("unfair", "acceptable"), ("unsure", "unfair"), ("acceptable", "skip")])
def test_two_devices_at_once_give_one_answer(every_url: str, answers: tuple[str, str]) -> None:
    """Both were drawn up before either was recorded: whichever comes second is refused, in one batch or another."""
    name = f"race-{uuid.uuid4().hex[:8]}"
    with opened(every_url, 6, name=name) as desk, Desk.open(desk.ledger, name) as other:
        for apart in (False, True):
            here, there = (
                ReviewSessions(at).command(item, answer, REMARKS)
                for at, item, answer in zip((desk, other), two_items(ReviewSessions(desk), "Kim"), answers, strict=True)
            )
            first, second = [*desk.execute([here]), *other.execute([there])] if apart else desk.execute([here, there])
            assert isinstance(first, Event)
            assert isinstance(second, AlreadyRecorded)


def test_devices_race_and_one_wins(every_url: str) -> None:
    """Eight threads answer on one pair at the same moment, each with a desk of its own: one line is recorded."""
    with opened(every_url, 4, name=(name := f"race-{uuid.uuid4().hex[:8]}")) as desk:
        reviewing = ReviewSessions(desk)
        item = next_item(reviewing, "Kim")
        items = [replace(item, number=item.number + i) for i in range(8)]
        commands = [reviewing.command(one, ("unfair", "acceptable")[i % 2], REMARKS) for i, one in enumerate(items)]
        desks = [Desk.open(desk.ledger, name) for _ in items]
        ready, found = threading.Barrier(8), list[Event | EvenhandError]()

        def race(at: Desk, command: GiveReview) -> None:
            ready.wait(20)
            found.extend(at.execute([command]))

        threads = [threading.Thread(target=race, args=both) for both in zip(desks, commands, strict=True)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for one in desks:
            one.close()
        assert [type(result).__name__ for result in found].count("Event") == 1
        assert sum(isinstance(result, AlreadyRecorded) for result in found) == 7
        assert len(desk.events(kinds=["review"])) == 1


def test_an_answer_from_elsewhere_is_once_too(desk: Desk) -> None:
    """Whoever answers on a pair by name, over HTTP, has answered; another answer supersedes it, or is refused."""
    item = next_item(ReviewSessions(desk), "Kim")
    pair = (item.left, item.right)
    stated: Any = {"reviewer": "Kim", "pair": pair}
    recorded = desk.review(item.decision, "partial", unfair=[pair], answer="unfair", **stated)
    with pytest.raises(AlreadyRecorded, match=recorded.id):
        desk.review(item.decision, "partial", fair=[pair], answer="acceptable", **stated)
    with pytest.raises(AlreadyRecorded):
        submit(ReviewSessions(desk), item, "acceptable")
    again = desk.review(item.decision, "partial", fair=[pair], answer="acceptable", supersedes=recorded.id, **stated)
    assert desk.review(item.decision, "partial", fair=[pair], answer="acceptable", reviewer="Lee", pair=pair)
    desk.withdraw(again.id)
    assert desk.review(item.decision, "partial", answer="unsure", **stated)


def test_a_repeat_counts_as_first_answered(url: str) -> None:
    """After the page said that a pair came twice, undoing and answering as before makes nobody steadier."""
    with opened(url, 20, reviewing={"repeats": 0.5, "repeat_after": 1}) as desk:
        reviewing = ReviewSessions(desk)
        while (item := next_item(reviewing, "Kim")).why != "repeat":
            submit(reviewing, item, "unfair")
        recorded = submit(reviewing, item, "acceptable")
        reviewing.book.refresh()
        found = [consistency(reviewing.book.compared("Kim"))]
        desk.execute([Withdraw(recorded.id, actor="Kim")])
        again = next_item(reviewing, "Kim")
        assert (again.why, again.again_of) == ("repeat", recorded.id)
        submit(reviewing, again, "unfair")
        reviewing.book.refresh()
        found.append(consistency(reviewing.book.compared("Kim")))
        assert [(one.repeats, one.same) for one in found] == [(1, 0), (1, 0)]
        assert found[1] == consistency(reviewing.book.compared())


def test_undo_shows_the_pairs_again_in_their_order(desk: Desk) -> None:
    """After three undos the three pairs come again, the first first; then the queue goes on."""
    reviewing = ReviewSessions(desk)
    items, lines = [], []
    for answer in ("unfair", "skip", "unsure"):
        items.append(next_item(reviewing, "Kim"))
        lines.append(submit(reviewing, items[-1], answer))
    for line, item in zip(reversed(lines), reversed(items), strict=True):
        desk.execute([Withdraw(line.id, actor="Kim")])
        assert next_item(reviewing, "Kim").pair == item.pair
    again = []
    for line in lines:
        item = next_item(reviewing, "Kim")
        assert (item.why, item.again_of) == ("again", line.id)
        submit(reviewing, item, "acceptable")
        again.append(item.pair)
    assert again == [item.pair for item in items]
    assert next_item(reviewing, "Kim").pair not in again
    while (other := reviewing.next("Lee")) is not None:
        assert other.pair not in again
        submit(reviewing, other, "acceptable")


def test_hidden_repeats(url: str) -> None:
    """Some pairs come again after a while, look like any other, teach nothing, and are compared."""
    with opened(url, 20, reviewing={"repeats": 0.3, "repeat_after": 3}) as desk:
        reviewing = ReviewSessions(desk)
        items = []
        for _ in range(40):
            items.append(next_item(reviewing, "Kim"))
            submit(reviewing, items[-1], "unfair")
        repeats = [item for item in items if item.why == "repeat"]
        assert 4 <= len(repeats) <= 20
        for repeat in repeats:
            (first,) = [
                i for i in items if i.why != "repeat" and (i.decision, i.pair) == (repeat.decision, repeat.pair)
            ]
            assert items.index(repeat) - items.index(first) > 3
        assert len({(item.decision, item.pair) for item in repeats}) == len(repeats)
        shown = [reviewing.display(item) for item in (items[0], repeats[0])]
        assert shown[0].keys() == shown[1].keys()
        assert len(shown[0]["item"]) == len(shown[1]["item"])
        marked = [e for e in desk.events(kinds=["review"]) if e.body["circumstances"].get("repeat")]
        assert len(marked) == len(repeats)


def test_random_controls_come_from_all_decisions(url: str) -> None:
    """Controls are drawn from every decision, also from those of which no pair waits."""
    with opened(url, 30, pairs_per_decision=0, reviewing={"controls": 0.5}) as desk:
        reviewing, decisions = ReviewSessions(desk), set()
        for number in range(60):
            item = reviewing.next(f"reviewer {number}")
            if item is not None:
                assert item.why == "random control"
                submit(reviewing, item, "acceptable")
                decisions.add(item.decision)
        assert len(decisions) >= 10


def test_a_control_that_waits_already_moves_up(url: str) -> None:
    """Where every pair waits or was answered, the planned share of controls is asked for all the same."""
    with opened(url, 30, pairs_per_decision=6, reviewing={"controls": 0.5}) as desk:
        reviewing, whys = ReviewSessions(desk), []
        for number in range(60):
            item = next_item(reviewing, f"reviewer {number}")
            submit(reviewing, item, "acceptable")
            whys.append(item.why)
        assert 20 <= whys.count("random control") <= 40


def test_planned_overlap(url: str) -> None:
    """With overlap 1 every pair is answered by exactly two people, and one of the two answers says it was planned."""
    with opened(url, 6, overlap=1.0) as desk:
        reviewing = ReviewSessions(desk)
        stated: dict[tuple[str, frozenset[str]], list[Item]] = {}
        for reviewer in ("Kim", "Lee", "Ada"):
            while (item := reviewing.next(reviewer)) is not None:
                submit(reviewing, item, "unfair")
                desk.catch_up()
                stated.setdefault((item.decision, item.pair), []).append(item)
        assert stated
        for items in stated.values():
            assert [item.reviewer for item in items] == ["Kim", "Lee"]
            assert sorted(item.why for item in items) == ["most telling", "planned overlap"]


def test_sides_are_random(desk: Desk) -> None:
    """Neither the first nor the likelier of two stands on the same side always."""
    reviewing = ReviewSessions(desk)
    firsts = []
    for number in range(desk.ledger.pairs.count("loans")):
        item = next_item(reviewing, f"reviewer {number}")
        submit(reviewing, item, "unfair")
        firsts.append(item.left < item.right)
    assert 0.2 < np.mean(firsts) < 0.8


def test_sides_are_drawn_for_each_reviewer_and_repeat() -> None:
    """Two people do not see a pair on the same sides always, nor does one who is asked a second time."""
    with opened("memory:", 12, overlap=1.0, reviewing={"repeats": 0.5, "repeat_after": 1}) as desk:
        reviewing = ReviewSessions(desk)
        lefts: dict[str, dict[tuple[str, frozenset[str]], list[str]]] = {"Kim": {}, "Lee": {}}
        for reviewer in [*lefts] * 60:
            item = next_item(reviewing, reviewer)
            lefts[reviewer].setdefault((item.decision, item.pair), []).append(item.left)
            submit(reviewing, item, "unfair")
    twice = [seen[0] == seen[1] for by in lefts.values() for seen in by.values() if len(seen) > 1]
    both = [lefts["Kim"][pair][0] == lefts["Lee"][pair][0] for pair in lefts["Kim"].keys() & lefts["Lee"].keys()]
    for same in (twice, both):
        assert len(same) >= 15
        assert 0.2 < np.mean(same) < 0.8


def test_a_late_answer_is_kept_and_marked(url: str) -> None:
    """Whoever answers after the lease ended, and after somebody else did, is recorded, and the record says so."""
    with opened(url, 6, reviewing={"lease": 1.0}) as desk:
        reviewing = ReviewSessions(desk)
        item = next_item(reviewing, "Kim")
        desk.ledger.pairs.lease("loans", 1, "Kim", 0.0, 0.5)  # the lease ends in 1970
        other = next_item(reviewing, "Lee")
        assert other.pair == item.pair
        submit(reviewing, other, "unfair")
        late = submit(reviewing, item, "acceptable")
        assert late.body["circumstances"]["late"] is True


def test_items_are_encrypted(desk: Desk) -> None:
    """An item reveals nothing to the browser, cannot be changed, and is for one reviewer on one desk."""
    reviewing = ReviewSessions(desk)
    item = next_item(reviewing, "Kim")
    token = reviewing.display(item)["item"]
    assert reviewing.decrypt(token, "Kim") == item
    assert ReviewSessions(desk).decrypt(token, "Kim") == item, "in another process, too"
    with pytest.raises(InvalidInput, match="this reviewer"):
        reviewing.decrypt(token, "Lee")
    for at in (0, len(token) // 2, len(token) - 2):
        changed = token[:at] + ("A" if token[at] != "A" else "B") + token[at + 1 :]
        with pytest.raises(InvalidInput, match="this desk"):
            reviewing.decrypt(changed, "Kim")
    with Desk.open(desk.ledger, "other", features=["a", "b"], seed=5) as other:
        for elsewhere in (ReviewSessions(other), InterviewSessions(desk)):
            with pytest.raises(InvalidInput, match="this desk"):
                elsewhere.decrypt(token, "Kim")
    for odd in ("", "AAAA", "not base64!", "\u00e9"):
        with pytest.raises(InvalidInput, match="this desk"):
            reviewing.decrypt(odd, "Kim")


def test_items_outlive_the_process(tmp_path: Path) -> None:
    """The key is the database's own: random, not the desk's seed, the same for all processes and after a restart."""
    items = []
    for place in ("one", "other"):
        with opened(f"sqlite:///{tmp_path}/{place}.db", 4) as desk:
            items.append(ReviewSessions(desk).display(next_item(ReviewSessions(desk), "Kim")))
    with Desk.open(f"sqlite:///{tmp_path}/one.db", "loans") as desk:
        again = ReviewSessions(desk)
        assert again.decrypt(items[0]["item"], "Kim") == next_item(again, "Kim")
        assert again.display(next_item(again, "Kim"))["draft"] == items[0]["draft"] != items[1]["draft"]
        with pytest.raises(InvalidInput, match="this desk"):
            again.decrypt(items[1]["item"], "Kim")


def test_cursors_of_the_queue(desk: Desk) -> None:
    """A cursor returns to its place, for the desk that issued it only."""
    cursors, place = QueueCursors(desk.ledger, "loans"), QueuePosition(1.25, "dec_1", "a", "b")
    cursor = cursors.cursor(place)
    assert QueueCursors(desk.ledger, "loans").place(cursor) == place
    for wrong in (QueueCursors(desk.ledger, "jobs").cursor(place), cursor[:-1], ""):
        with pytest.raises(InvalidInput, match="after must be the `next` of a page of this queue"):
            cursors.place(wrong)


def test_hidden_attributes_are_recorded_and_not_shown(url: str) -> None:
    """What the settings hide is not in the rows, and the record says it was hidden, also after the settings change."""
    with opened(url, 6, reviewing={"hidden": ["b"]}) as desk:
        reviewing = ReviewSessions(desk)
        item = next_item(reviewing, "Kim")
        assert [row["name"] for row in reviewing.display(item)["rows"]] == ["a"]
        assert reviewing.display(item)["withheld"] is True
        desk.change_settings(reviewing={"hidden": []})
        reported = submit(reviewing, item, "unfair").body["circumstances"]
        assert (reported["shown"], reported["hidden"]) == (["a"], ["b"])
        after = reviewing.display(next_item(reviewing, "Kim"))
        assert [row["name"] for row in after["rows"]] == ["a", "b"]
        assert after["withheld"] is False


def test_a_misspelt_attribute_is_not_hidden_silently() -> None:
    """At opening and later: a name that no candidate has is refused, or a protected attribute would be shown."""
    names: dict[str, Any] = {"features": ["income", "gender"], "capacity": 1, "seed": 1}
    with pytest.raises(InvalidInput, match="hidden has unknown attributes gendre"):
        Desk.open("memory:", "typo", **names, reviewing={"hidden": ["gendre"]})
    with Desk.open("memory:", "right", **names, reviewing={"hidden": ["gender"]}) as desk:
        with pytest.raises(InvalidInput, match="the attributes are income, gender"):
            desk.change_settings(reviewing={"hidden": ["gendre"]})
        assert desk.settings.reviewing.hidden == ("gender",)
    with pytest.raises(InvalidInput, match="hidden has unknown attributes gender; the attributes are feature 1"):
        Desk.open("memory:", "typo", n_features=2, reviewing={"hidden": ["gender"]})
    with Desk.open("memory:", "right", n_features=2, reviewing={"hidden": ["feature 2"]}) as desk:
        with pytest.raises(InvalidInput, match="the attributes are feature 1, feature 2"):
            desk.change_settings(reviewing={"hidden": ["feature 3"]})
        assert desk.change_settings(reviewing={"lease": 60}).body["settings"]["reviewing"]["hidden"] == ["feature 2"]


def test_pairs_at_hand(desk: Desk) -> None:
    """They wait, are not before the reviewer, were not judged, and stay free for others; each can be answered."""
    reviewing = ReviewSessions(desk)
    submit(reviewing, next_item(reviewing, "Kim"), "unfair")
    now = next_item(reviewing, "Kim")
    ahead = reviewing.ahead("Kim")
    pairs = [(item.decision, item.pair) for item in ahead]
    judged = [(recorded.decision, recorded.pair) for recorded in reviewing.book.standing()]
    assert len(set(pairs)) == len(ahead) == 5
    assert not {(now.decision, now.pair), *judged} & set(pairs)
    free = {(pair.decision, frozenset((pair.first, pair.second))) for pair in desk.queue(1000)}
    assert set(pairs) <= free
    for item in (now, *ahead):
        assert "late" not in submit(reviewing, item, "acceptable").body["circumstances"]
    after = next_item(reviewing, "Kim")
    assert (after.decision, after.pair) not in pairs


def test_a_draft_is_known_by_the_pair_and_reveals_nothing(desk: Desk) -> None:
    """The same while the pair is before somebody, another for everybody else and for every other pair."""
    first, second = ReviewSessions(desk), ReviewSessions(desk)
    kim, again, lee = (
        first.display(next_item(first, "Kim")),
        second.display(next_item(second, "Kim")),
        first.display(next_item(first, "Lee")),
    )
    assert kim["draft"] == again["draft"] != lee["draft"]
    assert kim["item"] != again["item"]
    submit(first, next_item(first, "Kim"), "unsure")
    assert first.display(next_item(first, "Kim"))["draft"] != kim["draft"]
