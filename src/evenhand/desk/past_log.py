"""Decisions in a desk's ledger as a log, to evaluate other settings on: its own, or those of the system in force."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from evenhand._internal.arrays import Floats
from evenhand._internal.checks import check_one_of
from evenhand.desk.event_records import decision_of, decisions_with_events, indices_of, is_repeat, review_of
from evenhand.desk.opening import settings_in
from evenhand.desk.shadow import action_of, treatment_of
from evenhand.errors import InvalidInput
from evenhand.history import PastLog, PastVerdict, RefusedRow
from evenhand.ledger.event import Row
from evenhand.ledger.ledger import Ledger
from evenhand.ledger.waiting_pairs import SUBJECTS, Subject
from evenhand.records.decision import Decision, Review


def past_log(ledger: Ledger, desk: str, *, of: Subject = "desk") -> PastLog:
    """Decisions in a desk's ledger with chances, outcomes and standing reviews, for `evenhand.history.evaluate`.

    of: "desk" for its own live decisions, with the probabilities it played; "system" for what the system in force did
    while the desk was in shadow mode, with probabilities if that told them for every decision. Candidates are named by
    decision and id. Decisions that somebody overrode, since nobody knows with which chances, those with somebody who
    was erased, and those of which nobody said what was done are left out, and named in `refused`. Leaving out overrides
    biases estimates if people override some draws rather than others. The desk learned
    meanwhile: each decision's probabilities are right given what came before, so estimates are, too. Intervals take the
    rounds as independent, which they nearly are where a desk learns slowly.
    """
    check_one_of("of", of, SUBJECTS)
    kept: list[_Kept] = []
    refused = []
    for row, later in decisions_with_events(ledger, desk, range(ledger.head(desk).decisions)):
        body = row.event.body
        if bool(body.get("shadow")) != (of == "system"):
            continue
        action = action_of(body, later) if of == "system" else None
        if "erased" in body:
            refused.append(RefusedRow(f"decision {row.id}", "", ("somebody in it was erased",)))
        elif body.get("mode") == "shares":
            refused.append(RefusedRow(f"decision {row.id}", "", ("it gave shares: nobody was chosen",)))
        elif any(each.kind == "override" for each in later):
            refused.append(RefusedRow(f"decision {row.id}", "", ("somebody overrode it: its chances are unknown",)))
        elif of == "system" and action is None:
            refused.append(RefusedRow(f"decision {row.id}", "", ("nobody said yet what was really done",)))
        else:
            kept.append(_kept(row, action, later))
    if not kept:
        raise InvalidInput(f"desk {desk!r} must have at least 1 decision of the {of} that can be used, got 0")
    with ledger.reading(desk) as view:
        schema = settings_in(view).schema
    known = all(each.is_known for each in kept)
    log = PastLog.of(
        [each.decision.contexts for each in kept],
        [each.chosen for each in kept],
        [_outcomes(each) for each in kept],
        probabilities=[np.clip(each.treatment, 0.0, 1.0) for each in kept] if known else None,
        capacity=[each.capacity for each in kept] if of == "desk" else None,
    )
    return replace(
        log,
        schema=schema,
        names=tuple(each.row.id for each in kept),
        ids=tuple(f"{each.row.id}/{name}" for each in kept for name in each.row.event.body["candidates"]),
        refused=tuple(refused),
        verdicts=tuple(verdict for each in kept for verdict in _verdicts(each, of)),
    )


class _Kept(NamedTuple):
    """A decision, how its candidates were really treated, and what came of it."""

    row: Row
    decision: Decision
    chosen: tuple[int, ...]
    treatment: Floats
    """(k,), probabilities, or 1 and 0 where they are not known."""
    is_known: bool
    later: list[Row]

    @property
    def capacity(self) -> int:
        """How many could be chosen."""
        k = self.decision.n_candidates
        return min(math.ceil(self.decision.capacity or k), k)


def _kept(row: Row, action: Mapping[str, Any] | None, later: list[Row]) -> _Kept:
    decision, names = decision_of(row.event.body), row.event.body["candidates"]
    if action is None:
        return _Kept(row, decision, decision.chosen, decision.probabilities, True, later)
    chosen = tuple(sorted(indices_of(action["chosen"], names)))
    return _Kept(row, decision, chosen, np.array(treatment_of(action, names)), "probabilities" in action, later)


def _outcomes(kept: _Kept) -> dict[int, float]:
    place = {name: i for i, name in enumerate(kept.row.event.body["candidates"])}
    rewards = [each.event.body["rewards"] for each in kept.later if each.kind == "outcome"]
    found = {place[name]: float(reward) for values in rewards for name, reward in values.items() if name in place}
    return {i: reward for i, reward in found.items() if i in kept.chosen}


def _verdicts(kept: _Kept, of: Subject) -> Iterator[PastVerdict]:
    """What reviews say of pairs; one bit on a whole decision says of no pair in particular."""
    names, p = kept.row.event.body["candidates"], kept.treatment
    for each in kept.later:
        body = each.event.body
        if each.kind != "review" or is_repeat(body) or "erased" in body or (body.get("subject") or "desk") != of:
            continue
        review = review_of(body, names).as_verdicts(p)
        for unfair, pairs in ((True, review.unfair), (False, _fair(review, len(names)))):
            for i, j in pairs:
                ids = (f"{kept.row.id}/{names[i]}", f"{kept.row.id}/{names[j]}")
                yield PastVerdict(*ids, unfair, float(abs(p[i] - p[j])), review.reviewer)


def _fair(review: Review, k: int) -> tuple[tuple[int, int], ...]:
    if review.kind == "complete":
        return tuple(pair for pair in combinations(range(k), 2) if pair not in review.unfair)
    return review.fair
