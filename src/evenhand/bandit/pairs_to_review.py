"""Which pairs of a decision a reviewer should look at first: those with the most informative verdict."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evenhand._internal.arrays import Floats
from evenhand.metrics import MetricLearner, Pairs
from evenhand.records.decision import PROBABILITY_TOLERANCE, Decision, Pair


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
    """The n pairs with the most informative verdict, most informative first; fewer if there are fewer.

    Tight pairs come first, ordered by the uncertainty of their distance: a verdict changes that distance, and with it
    the probabilities. The others follow, ordered by the entropy of their verdict. Pairs with equal probabilities carry
    no information and are left out.
    """
    everything = Pairs.of(decision.contexts)
    first, second = everything.indices.T
    gaps = np.abs(decision.probabilities[first] - decision.probabilities[second])
    pairs, gaps = everything.take(gaps > PROBABILITY_TOLERANCE), gaps[gaps > PROBABILITY_TOLERANCE]
    mean, sd = metric.moments(pairs)
    chance = metric.chance_unfair(pairs, gaps)
    names, tight_pairs = pairs.names(), set(decision.tight_pairs)
    tight = np.array([pair in tight_pairs for pair in names], dtype=np.bool_)
    order = np.lexsort((-np.where(tight, sd, _entropy(chance)), ~tight))[:n]
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
