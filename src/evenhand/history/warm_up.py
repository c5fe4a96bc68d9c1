"""Warm start: a bandit learns from the outcomes of a log, and from past reviews and complaints."""

from __future__ import annotations

import copy
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand._internal.arrays import Floats
from evenhand._internal.counted import counted
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
        learned = f"{counted(self.outcomes, 'outcome')} and {counted(self.verdicts, 'verdict')}"
        return f"learned from {learned} on pairs{rest}"


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

    People have the ids of the table, so that a desk knows who applied twice. A record's review needs the probabilities
    of its decision. Where nobody recorded them, they are 1 and 0: what happened. A verdict with another gap, or on
    people of different rounds, gets a record of these two, whose probabilities differ by its gap. Those on people who
    were treated the same teach nothing, and are left out.
    """
    row_of = {name: row for row, name in enumerate(log.ids)}
    rounds, names = np.repeat(np.arange(len(log)), log.sizes), log.people or log.ids
    chances = log.chosen.astype(np.float64) if log.probabilities is None else log.probabilities
    within: dict[int, list[dict[str, Any]]] = defaultdict(list)
    apart: list[tuple[list[int], float, dict[str, Any]]] = []
    for verdict in log.verdicts:
        i, j = row_of[verdict.first], row_of[verdict.second]
        review = _review(verdict, [names[i], names[j]])
        if verdict.gap == 0.0 or names[i] == names[j]:
            continue
        if rounds[i] == rounds[j] and abs(abs(chances[i] - chances[j]) - verdict.gap) < SAME_GAP:
            within[int(rounds[i])].append(review)
        else:
            apart.append((sorted((i, j), key=lambda row: -chances[row]), verdict.gap, review))
    for number, past in enumerate(log):
        if past.outcomes or within[number]:
            rows = range(log.starts[number], log.starts[number + 1])
            record = _record(log, names, rows, chances[rows], within[number])
            rewards = {names[rows[i]]: outcome for i, outcome in past.outcomes.items()}
            yield {**record, "rewards": rewards, "source": {"round": past.name}}
    for pair, gap, review in apart:
        source = {"verdict": [log.ids[row] for row in pair]}
        yield {**_record(log, names, pair, np.array([gap, 0.0]), [review]), "source": source}


def _review(verdict: PastVerdict, pair: list[str]) -> dict[str, Any]:
    by = {} if verdict.reviewer is None else {"reviewer": verdict.reviewer}
    return {"kind": "partial", "unfair" if verdict.unfair else "fair": [pair], **by}


def _record(
    log: PastLog, names: Sequence[str], rows: Sequence[int], chances: Floats, reviews: list[dict[str, Any]]
) -> dict[str, Any]:
    """A decision about the candidates in these rows of a log."""
    return {
        "candidates": [{"id": names[row], "context": log.contexts[row].tolist()} for row in rows],
        "probabilities": {names[row]: p for row, p in zip(rows, chances.tolist(), strict=True)},
        "reviews": reviews,
    }
