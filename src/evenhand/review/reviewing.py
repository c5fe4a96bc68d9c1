"""Reviewing: which pair a reviewer sees next, and what becomes of the answer.

Nothing is kept here that is not in the ledger or in the queue: the lots (repeat, control) are drawn from the desk's
seed, the reviewer and how many answers they have given; sides from the seed, the reviewer and the pair. So a page that
is loaded again, by whichever process, goes on with the same pair.
"""

from __future__ import annotations

import hashlib
import math
import time
from collections.abc import Mapping, Set
from typing import Any

import numpy as np

from evenhand.desk.commands import GiveReview
from evenhand.desk.desk import Desk
from evenhand.desk.queue import MOST_WAITING
from evenhand.desk.review_book import Given, ReviewBook
from evenhand.errors import InvalidInput
from evenhand.ledger.waiting_pairs import Answered, WaitingPair
from evenhand.metrics.verdicts import Pairs
from evenhand.records.review_metadata import ANSWERS, DECLINED
from evenhand.review.display import features_of, rows_of, shown_and_hidden
from evenhand.review.item import Item
from evenhand.review.random_control import draw_control

INSTRUCTION = "2"
"""The version of the question and the help on the page; raised whenever their meaning changes."""

FIRST_OF_ALL = 10.0
"""The priority of a random control, and of a pair that came back: above any other's: whoever asks next gets it."""

TAKEN_BACK = "taken back"
"""Why a pair waits again."""

COUNT_SECONDS = 5.0
"""How many pairs wait is counted again after this: it is read by people."""

AHEAD, AHEAD_OF = 5, 60
"""So many pairs a page has at hand for when the service cannot be reached, drawn from so many that wait."""

TRIES = 20
"""So often another pair is asked for when one turns out to have been answered."""


class Reviewing:
    """The review page's side of one desk. Its methods block and may be called from any thread."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self.book = ReviewBook(desk.ledger, desk.name)
        seed = desk.settings.seed.to_bytes(16)
        self._secret = hashlib.sha256(b"evenhand review items" + seed).digest()
        self._counted = (0, -math.inf)
        self._back: set[str] = set()
        """Answers that were taken back, and whose pair this process has put back into the queue."""

    # Which pair.

    def next(self, reviewer: str) -> Item | None:
        """The pair to put before this reviewer now; the same until it is answered. None when nothing waits."""
        self.book.refresh()
        number, rules = self.book.count(reviewer), self.book.rules
        lease_ended = time.time() - rules.lease
        for undone in self.book.taken_back(reviewer, lease_ended):
            why = "again" if undone.repeat_of is None else "repeat"
            if why == "repeat" or self._claimed(undone, reviewer):
                return self._earlier(undone, reviewer, number, why, undone.repeat_of, undone.review)
        self._put_back(lease_ended)
        lot = self._lot(reviewer, number, "kind")
        if lot < rules.repeats:
            repeated = self._to_repeat(reviewer, number)
            if repeated is not None:
                return self._earlier(repeated, reviewer, number, "repeat", repeated.review, None)
        elif lot < rules.repeats + rules.controls:
            self._put_control(reviewer, number)
        return self._leased(reviewer, number)

    def _earlier(
        self, given: Given, reviewer: str, number: int, why: str, repeat_of: str | None, again_of: str | None
    ) -> Item:
        left, right = self._sides(given.pair, reviewer, given.decision, repeat_of)
        if again_of is not None and right == given.left:
            left, right = right, left  # what was taken back stands as it stood
        known: dict[str, Any] = {
            "place": given.place,
            "repeat_of": repeat_of,
            "again_of": again_of,
            "hidden": self.book.rules.hidden,
            "ids": self.book.rules.ids,
        }
        return Item(reviewer, number, given.decision, left, right, why, **known)

    def _claimed(self, undone: Given, reviewer: str) -> bool:
        """Whether a pair whose answer was taken back is kept for its reviewer again; a skipped one may be elsewhere."""
        place, now = (undone.decision, undone.pair, undone.place), time.time()
        return self.desk.ledger.pairs.claim(self.desk.name, *place, reviewer, now, now + self.book.rules.lease)

    def _to_repeat(self, reviewer: str, number: int) -> Given | None:
        """One of this person's judgements, some answers ago, that was not asked about a second time yet."""
        mine = list(self.book.standing(reviewer))
        compared = {given.repeat_of for given in mine}
        old = mine[: max(0, len(mine) - self.book.rules.repeat_after)]
        fit = [g for g in old if g.repeat_of is None and g.answer not in DECLINED and g.review not in compared]
        return fit[int(self._lot(reviewer, number, "repeat") * len(fit))] if fit else None

    def _leased(self, reviewer: str, number: int) -> Item | None:
        for _ in range(TRIES):
            found = self.desk.queue(1, reviewer=reviewer, lease=self.book.rules.lease)
            if not found:
                return None
            waiting = found[0]
            self.book.refresh()
            pair = frozenset((waiting.first, waiting.second))
            if not any(self._took(given, waiting.copy, reviewer) for given in self.book.on(waiting.decision, pair)):
                return self._item(waiting, reviewer, number)
            # Answered between being put into the queue and being leased.
            self.desk.ledger.pairs.settle(self.desk.name, [Answered(waiting.decision, frozenset({pair}), reviewer)])
        return None

    @staticmethod
    def _took(given: Given, place: int, reviewer: str) -> bool:
        own = given.reviewer == reviewer
        return given.answer not in DECLINED and given.repeat_of is None and (own or given.place == place)

    def _item(self, waiting: WaitingPair, reviewer: str, number: int) -> Item:
        left, right = self._sides({waiting.first, waiting.second}, reviewer, waiting.decision)
        named = waiting.reason if waiting.reason in ("random control", TAKEN_BACK) else "most telling"
        why = "planned overlap" if waiting.copy and named == "most telling" else named
        known = (waiting.reason, waiting.priority, waiting.copy)
        rules = self.book.rules
        return Item(reviewer, number, waiting.decision, left, right, why, *known, hidden=rules.hidden, ids=rules.ids)

    def ahead(self, reviewer: str) -> list[Item]:
        """Some pairs to go on with while the service cannot be reached: waiting, judged by nobody, kept for nobody.

        By lot, so that two who go on at the same time seldom answer on the same pair; if they do, the later answer's
        record says that it came late.
        """
        self.book.refresh()
        number = self.book.count(reviewer) + 1
        found = self.desk.queue(AHEAD_OF)
        free = [waiting for waiting in found if self._is_new(waiting, reviewer)]
        order = sorted(free, key=lambda one: self._lot(reviewer, number, f"{one.decision} {one.first} {one.second}"))
        return [self._item(waiting, reviewer, number + i) for i, waiting in enumerate(order[:AHEAD])]

    def _is_new(self, waiting: WaitingPair, reviewer: str) -> bool:
        pair = frozenset((waiting.first, waiting.second))
        given = self.book.on(waiting.decision, pair)
        return not any(one.reviewer == reviewer or self._took(one, waiting.copy, reviewer) for one in given)

    def _put_control(self, reviewer: str, number: int) -> None:
        """A pair by lot from all decisions goes to the head of the queue, one that nobody has answered on."""
        drawn = draw_control(
            self.desk.ledger,
            self.desk.name,
            lambda purpose: self._lot(reviewer, number, purpose),
            lambda decision, pair: not self.book.on(decision, pair),
        )
        if drawn is not None:
            event, i, j = drawn
            control = self._waiting_pair(event.id, event.body, i, j, "random control", 0)
            self.desk.ledger.pairs.put(self.desk.name, [control], MOST_WAITING, replace=True)

    def _put_back(self, until: float) -> None:
        """Pairs whose answer was taken back by this moment, and not given again, wait for anybody."""
        for given in self.book.left_open(until):
            if given.review not in self._back:
                body = self.desk.event(given.decision).body
                i, j = sorted(body["candidates"].index(name) for name in given.pair)
                waiting = self._waiting_pair(given.decision, body, i, j, TAKEN_BACK, given.place)
                self.desk.ledger.pairs.put(self.desk.name, [waiting], MOST_WAITING)
                self._back.add(given.review)

    def _waiting_pair(
        self, decision: str, body: Mapping[str, Any], i: int, j: int, reason: str, place: int
    ) -> WaitingPair:
        """A pair for the head of the queue."""
        metric = self.desk.projection.bandit.metric
        pairs = Pairs.of(np.array([body["contexts"][i], body["contexts"][j]]))
        gap = abs(body["probabilities"][i] - body["probabilities"][j])
        mean, sd = (float(value[0]) for value in metric.moments(pairs))
        chance = float(metric.chance_unfair(pairs, np.array([gap]))[0])
        distance = max(mean, 0.0) ** 0.5
        doubt = (max(mean + sd, 0.0) ** 0.5 - max(mean - sd, 0.0) ** 0.5) / 2
        first, second = body["candidates"][i], body["candidates"][j]
        return WaitingPair(decision, first, second, reason, gap, distance, doubt, chance, FIRST_OF_ALL, place)

    def _lot(self, reviewer: str, number: int, purpose: str) -> float:
        """A number from 0 to 1 by lot, always the same for the same reviewer, number and purpose."""
        said = f"{purpose}\n{number}\n{reviewer}".encode()
        digest = hashlib.blake2b(said, digest_size=7, key=self._secret).digest()
        return int.from_bytes(digest) / 2**56

    def _sides(self, pair: Set[str], reviewer: str, decision: str, repeat_of: str | None = None) -> tuple[str, str]:
        """Who stands on the left, by lot: of this pair before this reviewer always the same, of a repeat drawn anew."""
        one, other = sorted(pair)
        swapped = self._lot(reviewer, 0, f"sides {[decision, one, other, repeat_of]}") < 0.5
        return (other, one) if swapped else (one, other)

    # What is shown of it.

    def shown(self, item: Item) -> dict[str, Any]:
        """An item for the page: no distance, nobody else's answer, and not why it is asked."""
        body = self.desk.event(item.decision).body
        left, right = features_of(body, [item.left, item.right], self.desk.settings)
        odds = [body["probabilities"][body["candidates"].index(name)] for name in (item.left, item.right)]
        return {
            "item": item.sealed(self._secret),
            "draft": item.draft(self._secret),
            "names": [item.left, item.right] if item.ids else None,
            "rows": rows_of(left, right, self.desk.settings, item.hidden),
            "withheld": bool(shown_and_hidden(left, self.desk.settings, item.hidden)[1]),
            "odds": odds,
            "gap": abs(odds[0] - odds[1]),
            "digits": 1,
            "instruction": INSTRUCTION,
        }

    # What becomes of the answer.

    def opened(self, note: str, reviewer: str) -> Item:
        """The item that a page sends back."""
        return Item.unsealed(self._secret, note, reviewer)

    def command(self, item: Item, answer: str, remarks: Mapping[str, Any]) -> GiveReview:
        """The review to be recorded: of the pair if it was judged, else of no pair; all circumstances with it."""
        if answer not in ANSWERS:
            raise InvalidInput(f"the answer is {answer!r}; allowed are {', '.join(ANSWERS)}")
        self.book.refresh()
        pair = [item.left, item.right]
        return GiveReview(
            item.decision,
            "partial",
            unfair=[pair] if answer == "unfair" else [],
            fair=[pair] if answer == "acceptable" else [],
            reviewer=item.reviewer,
            circumstances={**self._circumstances(item), "answer": answer, **remarks},
            actor=item.reviewer,
            idempotency_key=item.key,
        )

    def _circumstances(self, item: Item) -> dict[str, Any]:
        body = self.desk.event(item.decision).body
        features = features_of(body, [item.left, item.right], self.desk.settings)[0]
        shown, hidden = shown_and_hidden(features, self.desk.settings, item.hidden)
        odds = {name: body["probabilities"][body["candidates"].index(name)] for name in (item.left, item.right)}
        told: dict[str, Any] = {
            "item": item.key,
            "pair": [item.left, item.right],
            "sides": {"left": item.left, "right": item.right},
            "shown": shown,
            "hidden": hidden,
            "ids_shown": item.ids,
            "odds": odds,
            "queue": {"reason": item.why, "detail": item.detail, "score": item.score, "place": item.place},
            "instruction": INSTRUCTION,
        }
        if item.repeat_of is not None:
            told |= {"repeat": True, "repeat_of": item.repeat_of}
        if item.again_of is not None:
            told |= {"again_of": item.again_of}
        if item.why == "repeat":
            return told
        others = (g for g in self.book.on(item.decision, item.pair) if g.reviewer != item.reviewer)
        late = any(self._took(given, item.place, item.reviewer) for given in others)
        return {**told, "late": True} if late else told

    def settle(self, item: Item, answer: str) -> None:
        """The queue after an answer: the pair waits no more, or waits for others. Done twice, it is done once."""
        pairs = self.desk.ledger.pairs
        if item.why == "repeat":
            return
        if answer in DECLINED:
            pairs.decline(self.desk.name, item.decision, item.pair, item.reviewer)
            return
        pairs.settle(self.desk.name, [Answered(item.decision, frozenset({item.pair}), item.reviewer)])

    # How far it has come.

    def today(self, reviewer: str) -> list[Given]:
        """Answers of today, UTC, that this reviewer has given and not taken back, the oldest first."""
        day = time.strftime("%Y-%m-%d", time.gmtime())
        return [given for given in self.book.standing(reviewer) if given.time.startswith(day)]

    def waiting(self, *, now: bool = False) -> int:
        """How many pairs wait on this desk, as of a moment ago or of now."""
        number, at = self._counted
        if now or time.monotonic() - at > COUNT_SECONDS:
            number = self.desk.ledger.pairs.count(self.desk.name)
            self._counted = (number, time.monotonic())
        return number
