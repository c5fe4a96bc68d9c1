"""Which pair to ask about, and with which gap: the pair whose distance is known least, the gap at its estimate.

Unfair pairs live after 50, 70 and 85 questions, d = k = 5, means over 15 worlds, each good to about 0.5. Asked about:

- the distance known least: 5.1, 1.9, 0.5; the squared distance, of pairs likely nearer than 1: 4.8, 1.9, 0.6;
- the same of pairs that bind the odds of simulated rounds: 4.1, 1.7, 0.7;
- the pair whose answer tells most of all others: 4.4, 1.9, 0.7.

All come near to a bit a question, and more is not to be had; so the simplest is kept. What does not work is the
squared distance known least, whatever it is: a pair farther apart than 1 cannot be asked about at its estimate, and is
asked about for ever: 4 to 11 unfair pairs were left after 200 questions. So distances above 1 count as 1.

As for the gap, a belief's median does as well as its mean. But a learner that cuts a set through its centre learns next
to nothing from a cut elsewhere: of 12 unfair pairs Ellipsoid had none left after 60 questions at the estimate (d = 3),
and 11 with the gap in the middle of its ends.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from evenhand.metrics import MetricLearner
from evenhand.metrics.verdicts import Pairs

Floats = NDArray[np.float64]

REST = 20
"""For so many questions a pair that the reviewer was unsure about is left alone, and so are those like it."""

LIKE = 0.9
"""Two pairs are alike when the squared cosine of their differences is above this."""

FINER = 5.0
"""Odds are made up in steps of a power of ten, at least this many of them to an epsilon."""


def pairs_by_lot(candidates: Floats, n_pairs: int, rng: np.random.Generator) -> Pairs:
    """All pairs of the candidates (n, d), or, if there are more, so many drawn by lot; never more than n_pairs."""
    n = len(candidates)
    if n * (n - 1) // 2 <= n_pairs:
        return Pairs.of(candidates)
    first, second = rng.integers(n, size=n_pairs), rng.integers(n - 1, size=n_pairs)
    second = second + (second >= first)
    first, second = np.minimum(first, second), np.maximum(first, second)
    return Pairs(np.stack([first, second], axis=1), candidates[first] - candidates[second])


def doubts(metric: MetricLearner, pairs: Pairs) -> Floats:
    """Half the width of what each distance may be, one standard deviation to either side, (n,); above 1 all are alike.

    >>> from evenhand.metrics import KnownMetric
    >>> doubts(KnownMetric([[0.5]]), Pairs.of(np.array([[1.0], [0.0]]))).tolist()
    [0.0]
    """
    mean, sd = metric.moments(pairs)
    upper, lower = np.sqrt(np.clip(mean + sd, 0.0, 1.0)), np.sqrt(np.clip(mean - sd, 0.0, 1.0))
    return np.asarray((upper - lower) / 2.0)


def least_known(doubt: Floats, pairs: Pairs, resting: Sequence[tuple[int, Floats]], number: int) -> int:
    """The row of the pair known least, of those that do not rest; if all rest, of those that rest the longest.

    resting: the question at which a pair came to rest, and the difference of its two candidates.
    """
    since = np.full(len(pairs), -math.inf)
    for at, difference in resting:
        since[_alike(pairs.differences, difference)] = at
    ready = since < number - REST
    ready = ready if ready.any() else since == since.min()
    return int(np.argmax(np.where(ready, doubt, -1.0)))


def _alike(differences: Floats, difference: Floats) -> NDArray[np.bool_]:
    squares = np.sum(differences**2, axis=1) * float(difference @ difference)
    return np.asarray((differences @ difference) ** 2 > LIKE * squares)


def steps_in_one(epsilon: float) -> int:
    """In how many steps the odds run from 0 to 1.

    >>> steps_in_one(0.01), steps_in_one(0.05)
    (1000, 100)
    """
    return int(10 ** max(1, -math.floor(math.log10(epsilon / FINER))))


def gap_in_steps(metric: MetricLearner, pair: Pairs, epsilon: float) -> int:
    """The estimate of one pair's distance, in steps; no less than epsilon, and no more than 1."""
    steps = steps_in_one(epsilon)
    distance = math.sqrt(min(max(float(metric.estimate(pair)[0]), 0.0), 1.0))
    return min(max(round(distance * steps), math.ceil(epsilon * steps)), steps)


def odds_of(gap: int, steps: int) -> tuple[float, float]:
    """The odds, the higher first, of a lottery between two people with this gap; they make up 1, in halves of a step.

    >>> odds_of(300, 1000), odds_of(1, 10)
    ((0.65, 0.35), (0.55, 0.45))
    """
    return (steps + gap) / (2 * steps), (steps - gap) / (2 * steps)
