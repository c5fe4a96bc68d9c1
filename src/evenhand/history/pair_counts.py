"""Pairs of the past, or of a policy, that are treated further apart than a metric allows."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from evenhand._internal.arrays import Floats, Indices
from evenhand._internal.checks import check_number, check_whole, refusal
from evenhand.bandit import FairBandit
from evenhand.errors import InvalidInput
from evenhand.history.past_log import PastLog
from evenhand.metrics import MetricLearner
from evenhand.metrics.verdicts import Pairs, all_pairs
from evenhand.records.decision import PROBABILITY_TOLERANCE

TOLERANCE = 0.05
"""Gaps may exceed distances by this much."""

WORST = 20
MOST_PAIRS = 5_000_000
"""Pairs looked at; of larger logs, rounds are taken at equal steps."""

BATCH = 50_000


class UnfairPastPair(NamedTuple):
    """Two candidates of a round whose chances differ by more than their distance."""

    round: str
    first: str
    """The id of the one with the higher chance."""
    second: str
    higher: float
    lower: float
    distance: float
    upper: float
    """The upper end of the distance, if the metric was learned."""

    @property
    def excess(self) -> float:
        """The gap less the distance."""
        return self.higher - self.lower - self.distance

    def __str__(self) -> str:
        gap = f"gap {self.higher - self.lower:.2f} ({self.higher:.2f} and {self.lower:.2f})"
        return f"round {self.round}: {self.first} and {self.second}, {gap} at distance {self.distance:.2f}"


@dataclass(frozen=True)
class PairCount:
    """How many pairs of candidates of the same round were treated too differently."""

    pairs: int
    """Pairs looked at."""
    unfair: int
    """Gap above the distance by more than the tolerance."""
    surely: int
    """Of these, above the upper end of the distance as well: whatever the metric is, given the reviews so far."""
    excess: float
    """The sum of what gaps exceed distances by, over all pairs."""
    worst: tuple[UnfairPastPair, ...]
    rounds: int
    """Rounds looked at."""

    @property
    def share(self) -> float:
        """The share of unfair pairs."""
        return self.unfair / self.pairs if self.pairs else 0.0

    def __str__(self) -> str:
        return f"{self.unfair} of {self.pairs} pairs treated too differently ({self.share:.1%}), {self.surely} surely"


def as_metric(metric: MetricLearner | FairBandit, n_features: int) -> MetricLearner:
    """The metric of a bandit, or a metric learner, for this many features."""
    found = metric.metric if isinstance(metric, FairBandit) else metric
    if not isinstance(found, MetricLearner):
        raise refusal("metric", "a metric learner, such as eh.metrics.KnownMetric(A), or a bandit", metric)
    if found.n_features != n_features:
        raise InvalidInput(f"metric must have {n_features} features as the log has, got {found.n_features}")
    return found


def unfair_pairs(
    log: PastLog,
    chances: Mapping[str, Floats],
    metric: MetricLearner | FairBandit,
    *,
    tolerance: float = TOLERANCE,
    worst: int = WORST,
    most_pairs: int = MOST_PAIRS,
) -> dict[str, PairCount]:
    """For each table of chances (N,): pairs of the same round whose gap exceeds their distance, the worst first.

    >>> from evenhand.metrics import KnownMetric
    >>> log = PastLog.of([[[1.0], [0.9]]], [[0]], [{0: 1.0}])
    >>> count = unfair_pairs(log, {"as decided": np.array([1.0, 0.0])}, KnownMetric([[1.0]]))["as decided"]
    >>> print(count.worst[0])
    round 0: 0/0 and 0/1, gap 1.00 (1.00 and 0.00) at distance 0.10
    """
    learner = as_metric(metric, log.n_features)
    check_number("tolerance", tolerance, least=0)
    counters = {name: _Counter(check_whole("worst", worst, least=0)) for name in chances}
    rounds = _rounds_within(log, check_whole("most_pairs", most_pairs, least=1))
    for number in rounds:
        start = int(log.starts[number])
        contexts = log.contexts[start : log.starts[number + 1]]
        for indices in _batches(len(contexts)):
            pairs = Pairs.named(contexts, indices)
            distance = np.sqrt(np.maximum(learner.estimate(pairs), 0.0))
            upper = np.sqrt(np.maximum(learner.ends(pairs)[1], 0.0))
            for name, counter in counters.items():
                counter.add(log, number, indices + start, chances[name], distance, upper, tolerance)
    return {name: counter.result(len(rounds)) for name, counter in counters.items()}


class _Counter:
    """Counts pairs, and keeps the worst in a heap."""

    def __init__(self, worst: int) -> None:
        self.most = worst
        self.pairs = self.unfair = self.surely = 0
        self.excess = 0.0
        self.heap: list[tuple[float, int, UnfairPastPair]] = []

    def add(
        self,
        log: PastLog,
        number: int,
        rows: Indices,
        chances: Floats,
        distance: Floats,
        upper: Floats,
        tolerance: float,
    ) -> None:
        """Count pairs of one round; rows: (m, 2) of the log."""
        gaps = np.abs(chances[rows[:, 0]] - chances[rows[:, 1]])
        over = gaps - distance
        is_unfair = over > tolerance
        self.pairs += len(gaps)
        self.unfair += int(is_unfair.sum())
        self.surely += int((is_unfair & (gaps - upper > tolerance)).sum())
        self.excess += float(over[over > PROBABILITY_TOLERANCE].sum())
        found = np.flatnonzero(is_unfair)
        for place in found[np.argsort(-over[found], kind="stable")[: self.most]]:
            if len(self.heap) == self.most and over[place] <= self.heap[0][0]:
                break
            i, j = sorted(rows[place].tolist(), key=lambda row: (-chances[row], row))
            ids, p = (log.ids[i], log.ids[j]), (float(chances[i]), float(chances[j]))
            pair = UnfairPastPair(log.names[number], *ids, *p, float(distance[place]), float(upper[place]))
            heapq.heappush(self.heap, (float(over[place]), -i * log.n_candidates - j, pair))
            if len(self.heap) > self.most:
                heapq.heappop(self.heap)

    def result(self, rounds: int) -> PairCount:
        """What was counted."""
        worst = tuple(pair for *_, pair in sorted(self.heap, reverse=True))
        return PairCount(self.pairs, self.unfair, self.surely, self.excess, worst, rounds)


def _rounds_within(log: PastLog, most_pairs: int) -> list[int]:
    """All rounds, or at equal steps as many as have this many pairs together, at least one."""
    pairs = log.sizes * (log.sizes - 1) // 2
    step = max(1, -(-int(pairs.sum()) // most_pairs))
    return list(range(0, len(log), step))


def _batches(k: int) -> Iterator[Indices]:
    """The pairs of k candidates, (m, 2), some at a time."""
    if k * (k - 1) // 2 <= BATCH:
        if k > 1:
            yield all_pairs(k)
        return
    first = 0
    while first < k - 1:
        last = min(k - 1, first + max(1, BATCH // (k - first)))
        yield np.concatenate(
            [np.stack([np.full(k - i - 1, i), np.arange(i + 1, k)], axis=1) for i in range(first, last)]
        )
        first = last
