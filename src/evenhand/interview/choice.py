"""Which pair to ask about, and with which gap: the pair with the most uncertain distance, the gap at its estimate.

Distances above 1 count as 1. docs/interview.md has the measurements of this choice and of others.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from evenhand._internal.arrays import Floats, Mask
from evenhand.metrics import MetricLearner
from evenhand.metrics.verdicts import Pairs

REST = 20  # For this many questions, a pair without a usable answer is not asked about again, nor are similar ones.
SIMILAR = 0.9  # Two pairs are similar when the squared cosine of their differences is above this.
FINER = 5.0  # Probabilities are multiples of a power of ten, at least this many to an epsilon.


def sample_pairs(candidates: Floats, n_pairs: int, rng: np.random.Generator) -> Pairs:
    """All pairs of the candidates (n, d), or, if there are more, n_pairs random ones."""
    n = len(candidates)
    if n * (n - 1) // 2 <= n_pairs:
        return Pairs.of(candidates)
    first, second = rng.integers(n, size=n_pairs), rng.integers(n - 1, size=n_pairs)
    second = second + (second >= first)
    first, second = np.minimum(first, second), np.maximum(first, second)
    return Pairs(np.stack([first, second], axis=1), candidates[first] - candidates[second])


def uncertainties(metric: MetricLearner, pairs: Pairs) -> Floats:
    """Half the width of one standard deviation of each distance to either side, (n,); distances above 1 count as 1.

    >>> from evenhand.metrics import KnownMetric
    >>> uncertainties(KnownMetric([[0.5]]), Pairs.of(np.array([[1.0], [0.0]]))).tolist()
    [0.0]
    """
    mean, sd = metric.moments(pairs)
    upper, lower = np.sqrt(np.clip(mean + sd, 0.0, 1.0)), np.sqrt(np.clip(mean - sd, 0.0, 1.0))
    return np.asarray((upper - lower) / 2.0)


def most_uncertain(uncertainty: Floats, pairs: Pairs, resting: Sequence[tuple[int, Floats]], number: int) -> int:
    """The row of the most uncertain pair that does not rest; if all rest, of those that rest the longest.

    resting: questions without a usable answer: their number, and the difference of the two candidates.
    """
    since = np.full(len(pairs), -math.inf)
    for at, difference in resting:
        since[_similar(pairs.differences, difference)] = at
    ready = since < number - REST
    ready = ready if ready.any() else since == since.min()
    return int(np.argmax(np.where(ready, uncertainty, -1.0)))


def _similar(differences: Floats, difference: Floats) -> Mask:
    squares = np.sum(differences**2, axis=1) * float(difference @ difference)
    return np.asarray((differences @ difference) ** 2 > SIMILAR * squares)


def steps_in_one(epsilon: float) -> int:
    """The number of steps from probability 0 to 1.

    >>> steps_in_one(0.01), steps_in_one(0.05)
    (1000, 100)
    """
    return int(10 ** max(1, -math.floor(math.log10(epsilon / FINER))))


def gap_in_steps(metric: MetricLearner, pair: Pairs, epsilon: float) -> int:
    """The estimate of one pair's distance, in steps; no less than epsilon, and no more than 1."""
    steps = steps_in_one(epsilon)
    distance = math.sqrt(min(max(float(metric.estimate(pair)[0]), 0.0), 1.0))
    return min(max(round(distance * steps), math.ceil(epsilon * steps)), steps)


def probabilities_of(gap: int, steps: int) -> tuple[float, float]:
    """The probabilities, the higher first, of a draw between two people with this gap; they add up to 1.

    >>> probabilities_of(300, 1000), probabilities_of(1, 10)
    ((0.65, 0.35), (0.55, 0.45))
    """
    return (steps + gap) / (2 * steps), (steps - gap) / (2 * steps)
