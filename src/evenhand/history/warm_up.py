"""Warm start: a bandit learns from the outcomes of a log, and from past reviews and complaints."""

from __future__ import annotations

import copy
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand._internal.arrays import Floats
from evenhand.errors import InvalidInput
from evenhand.history.verdicts_of_past import PastVerdict

if TYPE_CHECKING:
    from evenhand.bandit import FairBandit
    from evenhand.history.past_log import PastLog

SAME_GAP = 1e-9
"""Gaps that differ by less are the same: they were computed from the same probabilities."""


@dataclass(frozen=True)
class WarmUp:
    """What a bandit has learned from a log."""

    outcomes: int
    verdicts: int
    """Verdicts on pairs that the metric learned from."""
    conflicts: int
    """Verdicts that contradict others, and were left out."""
    without_gap: int
    """Verdicts on two people who were treated the same: nothing can be learned from them."""

    def __str__(self) -> str:
        rest = f"; {self.conflicts} contradict others" if self.conflicts else ""
        rest += f"; {self.without_gap} were about people treated the same" if self.without_gap else ""
        return f"learned from {self.outcomes} outcomes and {self.verdicts} verdicts on pairs{rest}"


def warm_up(log: PastLog, bandit: FairBandit) -> WarmUp:
    """The implementation of `PastLog.warm_up`."""
    if bandit.n_features != log.n_features:
        raise InvalidInput(f"bandit must have {log.n_features} features as the log has, got {bandit.n_features}")
    at = {name: row for row, name in enumerate(log.ids)}
    before = copy.deepcopy(vars(bandit))
    used = conflicts = without_gap = 0
    try:
        seen = log.is_observed
        _check_units(log.outcomes[seen], bandit.reward.largest_reward)
        bandit.reward.learn(log.contexts[seen], log.outcomes[seen])
        for verdict in log.verdicts:
            if verdict.gap == 0.0:
                without_gap += 1
                continue
            x, y = log.contexts[at[verdict.first]], log.contexts[at[verdict.second]]
            gap, who = verdict.gap, verdict.reviewer
            learned = bandit.learn_pair(x, y, gap=gap, unfair=verdict.unfair, reviewer=who)
            used, conflicts = used + learned.used, conflicts + len(learned.conflicts)
    except BaseException:
        vars(bandit).update(before)
        raise
    return WarmUp(int(seen.sum()), used, conflicts, without_gap)


def _check_units(outcomes: Floats, most: float) -> None:
    largest = float(np.max(np.abs(outcomes), initial=0.0))
    if largest > most:
        raise InvalidInput(
            f"rewards must be from {-most:g} to {most:g}, got {largest:g}; set the outcome_unit that outcomes are "
            "divided by, so that they lie between -1 and 1"
        )


def records_of(log: PastLog) -> Iterator[dict[str, Any]]:
    """The implementation of `PastLog.records`.

    A record's review needs the probabilities of its decision. Where nobody recorded them, they are 1 and 0: what
    happened. A verdict with another gap, or on people of different rounds, gets a record of these two, whose
    probabilities differ by its gap. Those on people who were treated the same teach nothing, and are left out.
    """
    row_of = {name: row for row, name in enumerate(log.ids)}
    rounds = np.repeat(np.arange(len(log)), log.sizes)
    chances = log.chosen.astype(np.float64) if log.probabilities is None else log.probabilities
    within: dict[int, list[PastVerdict]] = defaultdict(list)
    apart: list[PastVerdict] = []
    for verdict in log.verdicts:
        i, j = row_of[verdict.first], row_of[verdict.second]
        fits = rounds[i] == rounds[j] and abs(abs(chances[i] - chances[j]) - verdict.gap) < SAME_GAP
        if verdict.gap > 0.0:
            (within[int(rounds[i])] if fits else apart).append(verdict)
    for number, past in enumerate(log):
        if past.outcomes or within[number]:
            part = slice(log.starts[number], log.starts[number + 1])
            record = _record(past.ids, past.contexts, chances[part], within[number], {"round": past.name})
            yield {**record, "rewards": {past.ids[i]: outcome for i, outcome in past.outcomes.items()}}
    for verdict in apart:
        higher, lower = sorted((verdict.first, verdict.second), key=lambda name: -chances[row_of[name]])
        contexts = log.contexts[[row_of[higher], row_of[lower]]]
        source = {"verdict": [verdict.first, verdict.second]}
        yield _record((higher, lower), contexts, np.array([verdict.gap, 0.0]), [verdict], source)


def _record(
    ids: Sequence[str], contexts: Floats, chances: Floats, verdicts: Iterable[PastVerdict], source: dict[str, Any]
) -> dict[str, Any]:
    reviews = [
        {
            "kind": "partial",
            "unfair" if verdict.unfair else "fair": [[verdict.first, verdict.second]],
            **({} if verdict.reviewer is None else {"reviewer": verdict.reviewer}),
        }
        for verdict in verdicts
    ]
    return {
        "candidates": [{"id": name, "context": x} for name, x in zip(ids, contexts.tolist(), strict=True)],
        "probabilities": dict(zip(ids, chances.tolist(), strict=True)),
        "reviews": reviews,
        "source": source,
    }
