"""Which pairs of a decision a reviewer should look at first: those whose answer teaches most."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evenhand.metrics import MetricLearner, Pairs
from evenhand.records.decision import PROBABILITY_TOLERANCE, Decision, Pair

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class PairToReview:
    """A pair worth a reviewer's time, and why."""

    pair: Pair
    reason: str
    gap: float
    """How differently the two were treated."""
    distance: float
    """The estimate of how different they are."""
    doubt: float
    """Half the width of what the distance may be, one standard deviation to either side."""
    chance_unfair: float


def pairs_to_review(metric: MetricLearner, decision: Decision, n: int) -> tuple[PairToReview, ...]:
    """The n pairs of the decision whose answer teaches most, the most telling first; fewer if fewer say anything.

    First come the pairs that bind, those about whose distance least is known before the others: the answer moves that
    distance, and the odds with it. Then come the others, those whose answer is least foreseen before the rest. Pairs
    with equal odds have nothing to say.
    """
    everything = Pairs.of(decision.contexts)
    first, second = everything.indices.T
    gaps = np.abs(decision.probabilities[first] - decision.probabilities[second])
    pairs, gaps = everything.take(gaps > PROBABILITY_TOLERANCE), gaps[gaps > PROBABILITY_TOLERANCE]
    mean, sd = metric.moments(pairs)
    chance = metric.chance_unfair(pairs, gaps)
    names, tight = pairs.names(), set(decision.tight_pairs)
    binds = np.array([pair in tight for pair in names], dtype=np.bool_)
    order = np.lexsort((-np.where(binds, sd, _surprise(chance)), ~binds))[:n]
    distance, doubt = _as_distance(mean, sd)
    return tuple(
        PairToReview(
            names[row],
            _reason(bool(binds[row]), float(distance[row]), float(doubt[row]), float(chance[row])),
            float(gaps[row]),
            float(distance[row]),
            float(doubt[row]),
            float(chance[row]),
        )
        for row in order
    )


def _surprise(chance: Floats) -> Floats:
    """The entropy of each answer, in bits, (n,)."""
    p = np.clip(chance, 1e-12, 1.0 - 1e-12)
    return np.asarray(-(p * np.log2(p) + (1.0 - p) * np.log2(1.0 - p)))


def _as_distance(mean: Floats, sd: Floats) -> tuple[Floats, Floats]:
    """Distances and half their widths from moments of squared distances."""
    lower, upper = np.sqrt(np.maximum(mean - sd, 0.0)), np.sqrt(np.maximum(mean + sd, 0.0))
    return np.sqrt(np.maximum(mean, 0.0)), (upper - lower) / 2.0


def _reason(binds: bool, distance: float, doubt: float, chance: float) -> str:
    known = f"the distance between them is taken to be {distance:.2f}, give or take {doubt:.2f}"
    if binds:
        return f"they bound the odds, and {known}"
    return f"{known}; the odds are unfair to them with probability {chance:.0%}"
