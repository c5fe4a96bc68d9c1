"""Off-policy estimators of what a policy earns per round: IPS, SNIPS, the direct method, doubly robust.

With the candidates i of round t, p_ti the probability that the policy gives to i, b_ti the chance i had in the past,
S_t those who were chosen and y_ti their outcomes, q_ti the outcome that a model expects:

    IPS     mean over t of  sum over S_t of (p/b) y
    SNIPS   (mean of sum over S_t of (p/b) y) / (mean of sum over S_t of (p/b))  times  mean of sum over all of p
    DM      mean over t of  sum over all of p q
    DR      mean over t of  sum over all of p q  +  sum over S_t of (p/b) (y - q)

Only b_ti, the marginal chance of one candidate, is needed, for any capacity: a round's reward is the sum of outcomes of
those chosen, and nobody's outcome depends on who else was chosen. With one place that is always filled, all four are
the usual ones. SNIPS is Hajek's ratio estimator: its last factor is known, and 1 in that case.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from evenhand._internal.arrays import Floats
from evenhand._internal.checks import check_one_of
from evenhand._internal.factorisations import svd
from evenhand.errors import InvalidInput
from evenhand.history._padded import round_sums
from evenhand.history.past_log import PastLog

Method = Literal["ips", "snips", "dm", "dr"]
METHODS: tuple[Method, ...] = get_args(Method)

ROUNDS_PER_SCORE = 10
"""A regression on scores with fewer rounds for each of them would explain noise."""

NO_LENGTH = 1e-9  # Of the longest: scores of people who compete add up to 0 over the constant.


@dataclass(frozen=True, eq=False)
class RoundTerms:
    """What each round adds to an estimate: mean(sums) / mean(weights) * mean(sizes), for a plain mean with ones."""

    sums: Floats
    """(n,)."""
    weights: Floats
    sizes: Floats

    @classmethod
    def plain(cls, sums: Floats) -> RoundTerms:
        """The mean of the sums."""
        return cls(sums, np.ones(len(sums)), np.ones(len(sums)))

    def beside(self, scores: Floats) -> RoundTerms:
        """The terms with the same means, without what varies with the scores of the chances' model, (n, d).

        With chances estimated from the same log an estimate varies less than with the real ones (Hirano, Imbens and
        Ridder 2003): the part of each round's term that is linear in its score cancels out (Pierce 1982). With fewer
        than ROUNDS_PER_SCORE rounds for each coefficient the terms stay as they are, and intervals are too wide.
        """
        n = len(scores)
        if n < ROUNDS_PER_SCORE * scores.shape[1]:
            return self
        columns = np.stack([self.sums, self.weights, self.sizes], axis=1)
        means = columns.mean(axis=0)
        directions, lengths, _ = svd(scores - scores.mean(axis=0))
        span = directions[:, lengths > NO_LENGTH * lengths[0]]
        rest = columns - means - span @ (span.T @ (columns - means))
        return RoundTerms(*(means + rest * np.sqrt((n - 1) / (n - 1 - span.shape[1]))).T)

    @property
    def value(self) -> float:
        """The estimate."""
        return float(np.mean(self.sums) / np.mean(self.weights) * np.mean(self.sizes))


def importance_weights(log: PastLog, played: Floats, chances: Floats) -> Floats:
    """p/b of those who were chosen, 0 for others and where there was no chance, (N,)."""
    weights = np.zeros(log.n_candidates)
    use = log.chosen & (chances > 0.0)
    weights[use] = played[use] / chances[use]
    return weights


def terms_of(
    method: Method, log: PastLog, played: Floats, chances: Floats | None = None, expected: Floats | None = None
) -> RoundTerms:
    """The terms of one estimator; played: p, chances: b (not for "dm"), expected: q (for "dm" and "dr"), each (N,).

    >>> log = PastLog.of([[[1.0], [0.5]]] * 2, [[0], [1]], [{0: 1.0}, {1: 0.0}])
    >>> p, b = np.array([0.8, 0.2, 0.8, 0.2]), np.full(4, 0.5)
    >>> terms_of("ips", log, p, b).value, terms_of("snips", log, p, b).value
    (0.8, 0.8)
    """
    check_one_of("method", method, METHODS)
    starts = log.starts
    direct = np.zeros(len(log))
    if method in ("dm", "dr"):
        if expected is None:
            raise InvalidInput(f"{method} needs the expected outcomes of all candidates, got none")
        direct = round_sums(played * expected, starts)
    if method == "dm":
        return RoundTerms.plain(direct)
    if chances is None:
        raise InvalidInput(f"{method} needs the chances that candidates had, got none")
    weights = importance_weights(log, played, chances)
    outcomes = np.where(log.is_observed, log.outcomes, 0.0)
    if method == "dr":
        assert expected is not None
        return RoundTerms.plain(direct + round_sums(weights * (outcomes - expected), starts))
    sums = round_sums(weights * outcomes, starts)
    if method == "ips":
        return RoundTerms.plain(sums)
    return RoundTerms(sums, round_sums(weights, starts), round_sums(played, starts))


def effective_sample_size(weights: Floats) -> float:
    """Kish's (sum w)^2 / sum w^2: so many equally weighted outcomes would tell as much; 0 if all weights are 0.

    >>> effective_sample_size(np.array([1.0, 1.0, 0.0])), effective_sample_size(np.zeros(2))
    (2.0, 0.0)
    """
    squares = float(weights @ weights)
    return float(weights.sum() ** 2 / squares) if squares > 0.0 else 0.0
