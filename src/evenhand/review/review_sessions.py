"""ReviewSessions: which pair a reviewer sees next, and what becomes of the answer.

All state is in the ledger and the queue. Draws (repeat, control, sides) depend only on a secret of the desk, the
reviewer, the pair and the number of answers, so a reloaded page continues with the same pair, whichever process serves
it.
"""

from __future__ import annotations

import hashlib
import math
import time
from collections.abc import Mapping, Sequence, Set
from functools import cached_property
from typing import Any

import numpy as np

from evenhand._internal.checks import check_one_of
from evenhand.desk.commands import GiveReview
from evenhand.desk.desk import Desk
from evenhand.desk.event_records import ReviewAnswer
from evenhand.desk.lottery import key_for
from evenhand.desk.obvious import are_far_apart
from evenhand.desk.queue import MOST_WAITING
from evenhand.desk.remaining import erased_in
from evenhand.desk.review_rules import Ask
from evenhand.desk.shadow import action_of, treatment_of
from evenhand.errors import InvalidInput
from evenhand.ledger.event import Event
from evenhand.ledger.waiting_pairs import FIRST_PLACE, Answered, Subject, WaitingPair, subject_at
from evenhand.metrics.verdicts import Pairs
from evenhand.records.decision import PROBABILITY_TOLERANCE
from evenhand.records.review_metadata import COMPARED, DECLINED, JUDGEMENTS, PASSED, RATED
from evenhand.review.differences import learned_ranks, learned_sizes
from evenhand.review.display import features_of, rows_of, shown_and_hidden
from evenhand.review.encryption import Encryption
from evenhand.review.item import Item
from evenhand.review.review_book import ReviewBook

INSTRUCTION: dict[Ask, str] = {"verdicts": "3", "ratings": "ratings 1", "comparisons": "comparisons 1"}
"""Version of each question and the help on the page; raised whenever their meaning changes."""

OF_ASK: dict[Ask, tuple[str, ...]] = {"verdicts": JUDGEMENTS, "ratings": (RATED,), "comparisons": tuple(COMPARED)}
"""Answers to each question, beside those that pass the pair."""

TOP_PRIORITY = 10.0
"""Priority of random controls and returned pairs: above all others, so that the next reviewer gets them."""

TAKEN_BACK = "taken back"
"""Why a pair waits again."""

COUNT_SECONDS = 5.0
"""How long the number of waiting pairs is cached."""

AHEAD, AHEAD_OF = 5, 60
"""Number of pairs that a page holds for when the service is unreachable, and of the waiting pairs they are drawn from.
"""

CONTROL_DRAWS = 10
"""Maximum number of draws of a control: a pair may be answered already, or have equal probabilities."""

TRIES = 20
"""Maximum number of leases when pairs turn out to be answered already."""


class ReviewSessions:
    """The review page's side of one desk. Methods block, and may be called from any thread."""

    def __init__(self, desk: Desk, keys: Sequence[bytes] = (), book: ReviewBook | None = None) -> None:
        self.desk = desk
        self.book = book or ReviewBook(desk.ledger, desk.name)
        self._encryption = Encryption(desk.ledger, desk.name, "review item", keys)
        self._counted = (0, -math.inf)
        self._returned: set[str] = set()
        """Withdrawn answers whose pair this process has put back into the queue."""

    @cached_property
    def _draw_key(self) -> bytes:
        return key_for(self.desk.ledger, self.desk.name, "review items")

    # Which pair.

    def next(self, reviewer: str) -> Item | None:
        """The reviewer's current pair: the same until it is answered, None when nothing waits."""
        self.book.refresh()
        number, rules = self.book.count(reviewer), self.book.rules
        lease_ended = time.time() - rules.lease
        for undone in self.book.taken_back(reviewer, lease_ended):
            why = "again" if undone.repeat_of is None else "repeat"
            if why == "repeat" or self._claim(undone, reviewer):
                return self._earlier(undone, reviewer, number, why, undone.repeat_of, undone.review)
        self._return_pairs(lease_ended)
        draw = self._draw(reviewer, number, "kind")
        if draw < rules.repeats:
            repeated = self._to_repeat(reviewer, number)
            if repeated is not None:
                return self._earlier(repeated, reviewer, number, "repeat", repeated.review, None)
        elif draw < rules.repeats + rules.controls:
            self._queue_control(reviewer, number)
        return self._lease(reviewer, number)

    def _earlier(
        self, earlier: ReviewAnswer, reviewer: str, number: int, why: str, repeat_of: str | None, again_of: str | None
    ) -> Item:
        left, right = self._sides(earlier.pair, reviewer, earlier.decision, repeat_of)
        if again_of is not None and right == earlier.left:
            left, right = right, left  # a withdrawn answer's pair keeps its sides
        known: dict[str, Any] = {"place": earlier.place, "repeat_of": repeat_of, "again_of": again_of}
        return Item(reviewer, number, earlier.decision, left, right, why, **known, **self._display_rules())

    def _display_rules(self) -> dict[str, Any]:
        rules = self.book.rules
        return {"hidden": rules.hidden, "ids": rules.ids, "ask": rules.ask, "scale": rules.scale}

    def _claim(self, undone: ReviewAnswer, reviewer: str) -> bool:
        """Lease a withdrawn answer's pair to its reviewer again; a skipped one may be leased to somebody else."""
        place, now = (undone.decision, undone.pair, undone.place), time.time()
        return self.desk.ledger.pairs.claim(self.desk.name, *place, reviewer, now, now + self.book.rules.lease)

    def _to_repeat(self, reviewer: str, number: int) -> ReviewAnswer | None:
        """One of this reviewer's earlier judgements that was not repeated yet."""
        mine = list(self.book.standing(reviewer))
        compared = {one.repeat_of for one in mine}
        old = mine[: max(0, len(mine) - self.book.rules.repeat_after)]
        fit = [o for o in old if o.repeat_of is None and o.answer not in DECLINED and o.review not in compared]
        fit = [one for one in fit if not self.book.has_erased(one)]
        return fit[int(self._draw(reviewer, number, "repeat") * len(fit))] if fit else None

    def _lease(self, reviewer: str, number: int) -> Item | None:
        for _ in range(TRIES):
            found = self.desk.queue(1, reviewer=reviewer, lease=self.book.rules.lease)
            if not found:
                return None
            waiting = found[0]
            self.book.refresh()
            pair = frozenset((waiting.first, waiting.second))
            if not pair.isdisjoint(erased_in(self.desk.event(waiting.decision).body)):
                self.desk.ledger.pairs.remove(self.desk.name, waiting)  # queued while it was erased
                continue
            if not any(self._took(one, waiting.copy, reviewer) for one in self._on(waiting)):
                return self._item(waiting, reviewer, number)
            # Answered between being queued and being leased.
            answered = Answered(waiting.decision, frozenset({pair}), reviewer, waiting.subject)
            self.desk.ledger.pairs.settle(self.desk.name, [answered])
        return None

    def _on(self, waiting: WaitingPair) -> list[ReviewAnswer]:
        """Answers on a waiting pair."""
        return self.book.on(waiting.decision, frozenset((waiting.first, waiting.second)), waiting.subject)

    @staticmethod
    def _took(answer: ReviewAnswer, place: int, reviewer: str) -> bool:
        """Whether an answer took this place of its pair, or is the reviewer's own."""
        own = answer.reviewer == reviewer
        return answer.answer not in DECLINED and answer.repeat_of is None and (own or answer.place == place)

    def _item(self, waiting: WaitingPair, reviewer: str, number: int) -> Item:
        left, right = self._sides({waiting.first, waiting.second}, reviewer, waiting.decision)
        named = waiting.reason if waiting.reason in ("random control", TAKEN_BACK) else "most telling"
        why, is_second = named, waiting.copy > FIRST_PLACE[waiting.subject]
        if named == "most telling" and (is_second or waiting.subject == "system"):
            why = "planned overlap" if is_second else "system in force"
        known = (waiting.reason, waiting.priority, waiting.copy)
        return Item(reviewer, number, waiting.decision, left, right, why, *known, **self._display_rules())

    def ahead(self, reviewer: str) -> list[Item]:
        """Pairs to continue with while the service is unreachable: waiting, unanswered, leased to nobody.

        Drawn at random, so that two reviewers seldom answer on the same pair; if they do, the later record says so.
        """
        self.book.refresh()
        number = self.book.count(reviewer) + 1
        free = [waiting for waiting in self.desk.queue(AHEAD_OF) if self._is_new(waiting, reviewer)]
        order = sorted(free, key=lambda one: self._draw(reviewer, number, f"{one.decision} {one.first} {one.second}"))
        return [self._item(waiting, reviewer, number + i) for i, waiting in enumerate(order[:AHEAD])]

    def _is_new(self, waiting: WaitingPair, reviewer: str) -> bool:
        answers = self._on(waiting)
        return not any(one.reviewer == reviewer or self._took(one, waiting.copy, reviewer) for one in answers)

    def _queue_control(self, reviewer: str, number: int) -> None:
        """Put a random pair from all decisions, unanswered and unequal, at the head of the queue."""
        for attempt in range(CONTROL_DRAWS):
            with self.desk.ledger.reading(self.desk.name) as view:
                drawn = int(self._draw(reviewer, number, f"decision {attempt}") * view.head.decisions)
                found = view.by_number([drawn])
            for event in (row.event for row in found.values()):
                pair = _unequal_pair(event, self._draw(reviewer, number, f"pair {attempt}"))
                names = frozenset(event.body["candidates"][place] for place in pair or ())
                is_whole = names.isdisjoint(erased_in(event.body))
                is_obvious = pair is not None and are_far_apart(event.body, *pair, self.desk.settings)
                if pair is not None and is_whole and not is_obvious and not self.book.on(event.id, names):
                    control = self._waiting_pair(event.id, event.body, *pair, "random control", 0)
                    self.desk.ledger.pairs.put(self.desk.name, [control], MOST_WAITING, replace=True)
                    return

    def _return_pairs(self, until: float) -> None:
        """Queue the pairs whose answers were withdrawn by this moment and not replaced."""
        for answer in self.book.left_open(until):
            if answer.review not in self._returned:
                body = self.desk.event(answer.decision).body
                i, j = sorted(body["candidates"].index(name) for name in answer.pair)
                waiting = self._waiting_pair(answer.decision, body, i, j, TAKEN_BACK, answer.place)
                self.desk.ledger.pairs.put(self.desk.name, [waiting], MOST_WAITING)
                self._returned.add(answer.review)

    def _waiting_pair(
        self, decision: str, body: Mapping[str, Any], i: int, j: int, reason: str, place: int
    ) -> WaitingPair:
        """A pair for the head of the queue."""
        metric = self.desk.projection.bandit.metric
        pairs = Pairs.of(np.array([body["contexts"][i], body["contexts"][j]]))
        treated = self._treatment(decision, body, subject_at(place))[0]
        gap = abs(treated[i] - treated[j])
        mean, sd = (float(value[0]) for value in metric.moments(pairs))
        chance = float(metric.chance_unfair(pairs, np.array([gap]))[0])
        distance = max(mean, 0.0) ** 0.5
        spread = (max(mean + sd, 0.0) ** 0.5 - max(mean - sd, 0.0) ** 0.5) / 2
        first, second = body["candidates"][i], body["candidates"][j]
        return WaitingPair(decision, first, second, reason, gap, distance, spread, chance, TOP_PRIORITY, place)

    def _draw(self, reviewer: str, number: int, purpose: str) -> float:
        """A number in [0, 1), always the same for the same reviewer, number and purpose."""
        text = f"{purpose}\n{number}\n{reviewer}".encode()
        return int.from_bytes(hashlib.blake2b(text, digest_size=7, key=self._draw_key).digest()) / 2**56

    def _sides(self, pair: Set[str], reviewer: str, decision: str, repeat_of: str | None = None) -> tuple[str, str]:
        """Left and right at random: for one reviewer and pair always the same, but drawn anew for a repeat."""
        one, other = sorted(pair)
        swapped = self._draw(reviewer, 0, f"sides {[decision, one, other, repeat_of]}") < 0.5
        return (other, one) if swapped else (one, other)

    # How it is displayed.

    def display(self, item: Item) -> dict[str, Any]:
        """An item for the page: no distance, no answers of others, and not why it is shown.

        Probabilities are shown where the question is about their gap; a rating or a comparison is about the people.
        """
        body = self.desk.event(item.decision).body
        left, right = features_of(body, [item.left, item.right], self.desk.settings)
        treated, is_drawn = self._treatment(item.decision, body, item.subject)
        probabilities = list(_probabilities(body, treated, item).values()) if item.ask == "verdicts" else None
        return {
            "ask": item.ask,
            "scale": list(item.scale) if item.ask == "ratings" else None,
            "item": self._encryption.encrypt(item.to_dict(), item.reviewer),
            "draft": self._encryption.digest(item.key),
            "names": [item.left, item.right] if item.ids else None,
            "rows": self._rows(left, right, item),
            "withheld": bool(shown_and_hidden(left, self.desk.settings, item.hidden)[1]),
            "subject": item.subject if body.get("shadow") else None,
            "is_drawn": is_drawn,
            "probabilities": probabilities,
            "gap": None if probabilities is None else abs(probabilities[0] - probabilities[1]),
            "in_shares": body.get("mode") == "shares",
            "digits": 1,
            "instruction": _instruction(item, body),
        }

    def _rows(self, left: Mapping[str, Any], right: Mapping[str, Any], item: Item) -> list[dict[str, Any]]:
        """The rows of a pair; `share` says which come first."""
        settings = self.desk.settings
        rows = rows_of(left, right, settings, item.hidden)
        if settings.reviewing.order == "range" or settings.schema is None:
            return rows
        matrix = self.desk.projection.bandit.metric.get_mahalanobis_matrix()
        differing = [row["name"] for row in rows if row["differs"]]
        shares = learned_ranks(differing, learned_sizes(left, right, settings.schema, matrix))
        return [{**row, "share": shares.get(row["name"], 0.0)} for row in rows]

    def _treatment(self, decision: str, body: Mapping[str, Any], subject: Subject) -> tuple[list[float], bool]:
        """How the candidates were treated by the subject; and whether these are probabilities, or who was chosen."""
        if subject == "desk":
            return body["probabilities"], True
        with self.desk.ledger.reading(self.desk.name) as view:
            action = action_of(body, view.about([decision]))
        if action is None:
            raise InvalidInput(f"what the system in force did instead of decision {decision} is not known")
        return treatment_of(action, body["candidates"]), "probabilities" in action

    # What becomes of the answer.

    def decrypt(self, token: str, reviewer: str) -> Item:
        """The item that a page returns; InvalidInput if it is not this reviewer's."""
        return Item.from_dict(self._encryption.decrypt(token, reviewer))

    def command(
        self, item: Item, answer: str, remarks: Mapping[str, Any], ratings: Sequence[float] | None = None
    ) -> GiveReview:
        """The review to record, with its metadata: of the pair if it was judged, rated or compared, else of no pair.

        ratings: of the person on the left and of the one on the right, where the answer is "rated".
        """
        check_one_of("answer", answer, (*OF_ASK[item.ask], *PASSED))
        self.book.refresh()
        return GiveReview(
            item.decision,
            **_answer_fields(item, answer, ratings),
            subject=None if item.subject == "desk" else item.subject,
            reviewer=item.reviewer,
            circumstances={**self._metadata(item), "answer": answer, **remarks},
            actor=item.reviewer,
            idempotency_key=item.key,
        )

    def _metadata(self, item: Item) -> dict[str, Any]:
        body = self.desk.event(item.decision).body
        features = features_of(body, [item.left, item.right], self.desk.settings)[0]
        shown, hidden = shown_and_hidden(features, self.desk.settings, item.hidden)
        metadata: dict[str, Any] = {
            "item": item.key,
            "pair": [item.left, item.right],
            "sides": {"left": item.left, "right": item.right},
            "shown": shown,
            "hidden": hidden,
            "ids_shown": item.ids,
            "queue": {"reason": item.why, "detail": item.detail, "score": item.score, "place": item.place},
            "instruction": _instruction(item, body),
        }
        if item.ask == "verdicts":
            treated = self._treatment(item.decision, body, item.subject)[0]
            metadata |= {"probabilities": _probabilities(body, treated, item)}
        if item.repeat_of is not None:
            metadata |= {"repeat": True, "repeat_of": item.repeat_of}
        if item.again_of is not None:
            metadata |= {"again_of": item.again_of}
        if item.why != "repeat":
            answers = self.book.on(item.decision, item.pair, item.subject)
            others = (one for one in answers if one.reviewer != item.reviewer)
            if any(self._took(one, item.place, item.reviewer) for one in others):
                metadata |= {"late": True}
        return metadata

    def settle(self, item: Item, answer: str) -> None:
        """Update the queue after an answer; idempotent. A declined pair waits for others."""
        pairs = self.desk.ledger.pairs
        if item.why == "repeat":
            return
        if answer in DECLINED:
            pairs.decline(self.desk.name, item.decision, item.pair, item.reviewer, item.subject)
            return
        answered = Answered(item.decision, frozenset({item.pair}), item.reviewer, item.subject)
        pairs.settle(self.desk.name, [answered])

    # Progress.

    def today(self, reviewer: str) -> list[ReviewAnswer]:
        """This reviewer's answers of today, UTC, without withdrawn ones, oldest first."""
        day = time.strftime("%Y-%m-%d", time.gmtime())
        return [answer for answer in self.book.standing(reviewer) if answer.time.startswith(day)]

    def waiting(self, *, now: bool = False) -> int:
        """The number of waiting pairs, cached for some seconds unless `now`."""
        number, at = self._counted
        if now or time.monotonic() - at > COUNT_SECONDS:
            number = self.desk.ledger.pairs.count(self.desk.name)
            self._counted = (number, time.monotonic())
        return number


def _answer_fields(item: Item, answer: str, ratings: Sequence[float] | None) -> dict[str, Any]:
    """The fields of a review that hold the answer."""
    pair = [item.left, item.right]
    if (answer == RATED) != (ratings is not None):
        raise InvalidInput(f"ratings must come with the answer {RATED!r}, and with no other, got {ratings!r}")
    if ratings is not None:
        if len(ratings) != 2:
            raise InvalidInput(f"ratings must be two, of the left and of the right, got {len(ratings)}")
        return {"kind": "ratings", "ratings": dict(zip(pair, ratings, strict=True)), "scale": item.scale}
    if answer in COMPARED:
        return {"kind": "comparisons", "comparisons": [{"pair": pair, "answer": COMPARED[answer]}]}
    unfair, fair = ([pair] if answer == judgement else [] for judgement in JUDGEMENTS)
    return {"kind": "partial", "unfair": unfair, "fair": fair}


def _instruction(item: Item, body: Mapping[str, Any]) -> str:
    """Which question and help the reviewer sees: about chances, or about shares."""
    return f"{INSTRUCTION[item.ask]} shares" if body.get("mode") == "shares" else INSTRUCTION[item.ask]


def _probabilities(body: Mapping[str, Any], treated: Sequence[float], item: Item) -> dict[str, float]:
    """How the pair was treated, left first; treated: all candidates of the decision."""
    return {name: treated[body["candidates"].index(name)] for name in (item.left, item.right)}


def _unequal_pair(event: Event, draw: float) -> tuple[int, int] | None:
    """The places of two candidates of a decision with different probabilities; None if there are none."""
    probabilities = np.array(event.body["probabilities"])
    first, second = np.triu_indices(len(probabilities), 1)
    unequal = np.flatnonzero(np.abs(probabilities[first] - probabilities[second]) > PROBABILITY_TOLERANCE)
    if not len(unequal):
        return None
    at = unequal[int(draw * len(unequal))]
    return int(first[at]), int(second[at])
