"""A desk's own decisions as a log, to evaluate other settings on: the chances are those it played."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from evenhand.desk.event_records import decision_of, is_repeat, review_of
from evenhand.desk.opening import settings_in
from evenhand.errors import InvalidInput
from evenhand.history import PastLog, PastVerdict, RefusedRow
from evenhand.ledger.event import Row
from evenhand.ledger.ledger import Ledger
from evenhand.records.decision import Decision, Review

CHUNK = 500


def past_log(ledger: Ledger, desk: str) -> PastLog:
    """The decisions of a desk with their probabilities, outcomes and standing reviews, for `evenhand.history.evaluate`.

    Candidates are named by decision and id. Decisions that somebody overrode, since nobody knows with which chances,
    and those with somebody who was erased are left out, and named in `refused`. The desk learned meanwhile: each
    decision's probabilities are right given what came before, which is all that estimates need.
    """
    kept: list[tuple[Row, Decision, list[Row]]] = []
    refused = []
    for row, later in _decisions(ledger, desk):
        if "erased" in row.event.body:
            refused.append(RefusedRow(f"decision {row.id}", "", ("somebody in it was erased",)))
        elif any(each.kind == "override" for each in later):
            refused.append(RefusedRow(f"decision {row.id}", "", ("somebody overrode it: its chances are unknown",)))
        else:
            kept.append((row, decision_of(row.event.body), later))
    if not kept:
        raise InvalidInput(f"desk {desk!r} must have at least 1 decision that was neither overridden nor erased, got 0")
    with ledger.reading(desk) as view:
        schema = settings_in(view).schema
    log = PastLog.of(
        [decision.contexts for _, decision, _ in kept],
        [decision.chosen for _, decision, _ in kept],
        [_outcomes(row, decision, later) for row, decision, later in kept],
        probabilities=[np.clip(decision.probabilities, 0.0, 1.0) for _, decision, _ in kept],
        capacity=[min(d.capacity or d.n_candidates, d.n_candidates) for _, d, _ in kept],
    )
    return replace(
        log,
        schema=schema,
        names=tuple(row.id for row, *_ in kept),
        ids=tuple(f"{row.id}/{name}" for row, *_ in kept for name in row.event.body["candidates"]),
        refused=tuple(refused),
        verdicts=tuple(verdict for each in kept for verdict in _verdicts(*each)),
    )


def _decisions(ledger: Ledger, desk: str) -> Iterator[tuple[Row, list[Row]]]:
    """Every decision, in order, with what came of it and was not withdrawn."""
    with ledger.reading(desk) as view:
        head, withdrawn = view.head, {review for _, review in view.withdrawals()}
    for at in range(0, head.decisions, CHUNK):
        with ledger.reading(desk) as view:
            found = view.by_number(range(at, min(at + CHUNK, head.decisions)))
            about = view.about([row.id for row in found.values()])
        later: dict[str, list[Row]] = defaultdict(list)
        for row in about:
            if row.seq not in withdrawn:
                later[row.target or ""].append(row)
        for number in sorted(found):
            yield found[number], later[found[number].id]


def _outcomes(row: Row, decision: Decision, later: Sequence[Row]) -> dict[int, float]:
    place = {name: i for i, name in enumerate(row.event.body["candidates"])}
    rewards = [each.event.body["rewards"] for each in later if each.kind == "outcome"]
    found = {place[name]: float(reward) for values in rewards for name, reward in values.items()}
    return {i: reward for i, reward in found.items() if i in decision.chosen}


def _verdicts(row: Row, decision: Decision, later: Sequence[Row]) -> Iterator[PastVerdict]:
    """What reviews say of pairs; one bit on a whole decision says of no pair in particular."""
    names = row.event.body["candidates"]
    for each in later:
        if each.kind != "review" or is_repeat(each.event.body) or "erased" in each.event.body:
            continue
        review = review_of(each.event.body, names).as_verdicts(decision.probabilities)
        for unfair, pairs in ((True, review.unfair), (False, _fair(review, decision.n_candidates))):
            for i, j in pairs:
                ids = (f"{row.id}/{names[i]}", f"{row.id}/{names[j]}")
                yield PastVerdict(*ids, unfair, decision.gap(i, j), review.reviewer)


def _fair(review: Review, k: int) -> tuple[tuple[int, int], ...]:
    if review.kind == "complete":
        return tuple(pair for pair in combinations(range(k), 2) if pair not in review.unfair)
    return review.fair
