"""Which pairs of a decision a reviewer should look at first: those whose verdicts teach most."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evenhand._internal.arrays import Floats, Indices
from evenhand.metrics import MetricLearner, Pairs
from evenhand.records.decision import PROBABILITY_TOLERANCE, Decision, Pair

MOST_COMPARED = 200
"""Of more tight pairs than this only the most uncertain ones are compared by what they teach about one another."""


AS_TELLING = 0.9
"""Pairs that teach at least this share of what the best one does are as good. Two who are alike are easier to judge, so
of these the nearest pair is asked about. With 0.9 the estimated distance of pairs asked about was 4% to 8% shorter than
with 1; with 0.7 it was 14% to 21%, but in one world unfair pairs were twice as many (46 features)."""

KNOWN = 1e-12
"""A pair whose variance is a smaller share of the largest is known, to rounding: its verdict teaches nothing."""

FAR = 40.0
"""So many deviations from its threshold a verdict is certain, in double precision; the square of more may overflow."""


@dataclass(frozen=True)
class PairToReview:
    """A pair worth a reviewer's time, and why."""

    pair: Pair
    reason: str
    gap: float
    """The difference of their probabilities."""
    distance: float
    """The estimated distance."""
    uncertainty: float
    """Half the width of one standard deviation of the distance to either side."""
    chance_unfair: float


def pairs_to_review(metric: MetricLearner, decision: Decision, n: int) -> tuple[PairToReview, ...]:
    """The n pairs whose verdicts teach most, the best first; fewer if there are fewer.

    Tight pairs come first, ordered by what their verdicts teach about all tight pairs: a verdict changes distances, and
    with them the probabilities. Of those that teach about as much, near pairs come before distant ones. The others
    follow, ordered by the entropy of their verdict. Pairs with equal probabilities carry no information and are left
    out.
    """
    everything = Pairs.of(decision.contexts)
    first, second = everything.indices.T
    gaps = np.abs(decision.probabilities[first] - decision.probabilities[second])
    tight_pairs = set(decision.tight_pairs)
    tight = np.array([pair in tight_pairs for pair in everything.names()], dtype=np.bool_)
    asked = gaps > PROBABILITY_TOLERANCE
    if np.sum(asked & tight) >= n:
        asked &= tight
    pairs, gaps, tight = everything.take(asked), gaps[asked], tight[asked]
    mean, sd = metric.moments(pairs)
    chance, names = metric.chance_unfair(pairs, gaps), pairs.names()
    rows, others = np.flatnonzero(tight), np.flatnonzero(~tight)
    ordered = rows[_most_telling(metric, pairs.take(rows), gaps[rows], (mean[rows], sd[rows]), n)]
    order = np.append(ordered, others[np.argsort(-_entropy(chance[others]), kind="stable")])[:n]
    distance, uncertainty = _as_distance(mean, sd)
    return tuple(
        PairToReview(
            names[row],
            _reason(bool(tight[row]), float(distance[row]), float(uncertainty[row]), float(chance[row])),
            float(gaps[row]),
            float(distance[row]),
            float(uncertainty[row]),
            float(chance[row]),
        )
        for row in order
    )


def _most_telling(metric: MetricLearner, pairs: Pairs, gaps: Floats, moments: tuple[Floats, Floats], n: int) -> Indices:
    """All pairs, the first n of them chosen one by one for the variance that their verdicts take from all pairs.

    A verdict on c is expected to remove the share b of the variance v of its squared distance, and b cov^2 / v of that
    of another pair. What counts is the sum of these, each in units of the pair's own variance plus the average: the
    share of an uncertain pair, next to nothing of a pair that is known. What one verdict removes, the next one need
    not. Of pairs that teach about as much, the two who are nearest each other come first. Where the learner knows no
    covariances, the most uncertain pairs come first.
    """
    mean, sd = moments
    order = np.argsort(-sd, kind="stable")
    few, rest = order[:MOST_COMPARED], order[MOST_COMPARED:]
    left = metric.covariances(pairs.take(few)) if len(few) > 1 else None
    if left is None:
        return order
    at_first = np.maximum(np.diag(left), np.finfo(np.float64).tiny)
    least = KNOWN * np.max(at_first)
    weights = 1.0 / (at_first + np.mean(at_first))
    share = _share_removed((mean[few] - gaps[few] ** 2) / np.sqrt(at_first))
    chosen: list[int] = []
    open_ = np.ones(len(few), dtype=np.bool_)
    for _ in range(min(n, len(few))):
        variances = np.diag(left)
        removed = np.divide(share, variances, out=np.zeros(len(few)), where=variances > least)
        taught = np.where(open_, removed * (left**2 @ weights), -1.0)
        telling = np.flatnonzero(taught >= AS_TELLING * np.max(taught))
        row = int(telling[np.argmin(mean[few[telling]])])
        left = left - np.outer(left[:, row], left[row]) * removed[row]
        open_[row] = False
        chosen.append(row)
    return np.concatenate([few[chosen], few[open_], rest])


def _share_removed(score: Floats) -> Floats:
    """The share of a Gaussian's variance that is lost, on average, to hearing whether it exceeds a threshold, (n,).

    score: how many deviations the mean lies above it.

    >>> _share_removed(np.array([0.0, 1.28])).round(2).tolist()
    [0.64, 0.34]
    """
    from scipy.special import log_ndtr  # takes longer to load than a first decision may take

    score = np.clip(score, -FAR, FAR)
    both = log_ndtr(score) + log_ndtr(-score)
    return np.asarray(np.exp(-(score**2) - np.log(2.0 * np.pi) - both))


def _entropy(chance: Floats) -> Floats:
    """The entropy of each verdict, in bits, (n,)."""
    p = np.clip(chance, 1e-12, 1.0 - 1e-12)
    return np.asarray(-(p * np.log2(p) + (1.0 - p) * np.log2(1.0 - p)))


def _as_distance(mean: Floats, sd: Floats) -> tuple[Floats, Floats]:
    """Distances and half their widths from moments of squared distances."""
    lower, upper = np.sqrt(np.maximum(mean - sd, 0.0)), np.sqrt(np.maximum(mean + sd, 0.0))
    return np.sqrt(np.maximum(mean, 0.0)), (upper - lower) / 2.0


def _reason(tight: bool, distance: float, uncertainty: float, chance: float) -> str:
    estimate = f"the estimated distance is {distance:.2f} ± {uncertainty:.2f}"
    if tight:
        return f"the pair limits the probabilities, and {estimate}"
    return f"{estimate}; the pair is unfair with probability {chance:.0%}"
