"""Warm start: a bandit learns from the outcomes of a log, and from past reviews and complaints."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evenhand.errors import InvalidInput

if TYPE_CHECKING:
    from evenhand.bandit import FairBandit
    from evenhand.history.past_log import PastLog


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


def records_of(log: PastLog) -> Iterator[dict[str, Any]]:
    """The implementation of `PastLog.records`.

    A record's review needs the probabilities of its decision. Where nobody recorded them, they are 1 and 0: what
    happened. A verdict with another gap, or on two people of different rounds, does not fit into a record of a round.
    """
    for past in log:
        p = (
            [float(i in past.chosen) for i in range(len(past.ids))]
            if past.probabilities is None
            else past.probabilities
        )
        gaps = dict(zip(past.ids, map(float, p), strict=True))
        fitting = [
            verdict
            for verdict in log.verdicts
            if verdict.first in gaps
            and verdict.second in gaps
            and abs(abs(gaps[verdict.first] - gaps[verdict.second]) - verdict.gap) < 1e-9
        ]
        if not past.outcomes and not fitting:
            continue
        reviews = [
            {
                "kind": "partial",
                "unfair" if verdict.unfair else "fair": [[verdict.first, verdict.second]],
                **({} if verdict.reviewer is None else {"reviewer": verdict.reviewer}),
            }
            for verdict in fitting
        ]
        yield {
            "candidates": [{"id": i, "context": x.tolist()} for i, x in zip(past.ids, past.contexts, strict=True)],
            "probabilities": gaps,
            "rewards": {past.ids[i]: outcome for i, outcome in past.outcomes.items()},
            "reviews": reviews,
            "source": {"round": past.name},
        }
