"""The metric that explains answers best, in hindsight, and how strongly the answers speak against it.

Annealing: the number of wrong answers is replaced by a smooth loss that becomes as sharp as the number itself.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from evenhand._internal.arrays import Floats, Mask
from evenhand._internal.jit import jit
from evenhand._internal.positive_factors import independent_rows, solve_positive

TOLERATED = 0.1
"""The share of wrong answers that is taken for slips."""

STEPS = np.array([0.07, 0.17, 0.3, 0.45, 0.65, 0.9])
"""The error rates that are bet on, as shares of the way from the tolerated rate to one half."""

WIDTHS = tuple(0.5**k for k in range(12))
"""The widths of the threshold, as shares of the gap, from the first to the last."""

CLOSE = 3
"""Number of widths skipped when starting from a metric that is nearly right."""

BIASES = (1.0, 2.0)
"""How much a gap that was accepted weighs, compared with one that was flagged."""

RESTARTS = 10
"""Number of searches from random metrics: in one of 40 runs the other starts missed the reviewer's metric."""

ITERATIONS = 25  # of L-BFGS at each width

MOST_WORK = 3e10
"""Maximum work of a search, n d^2 a step: some ten seconds. A full search takes up to 5,000 steps, at 1,500 answers 5 s
with 46 features, but 40 minutes with 1,000."""

FLOOR = 1e-12  # of a distance


@dataclass(frozen=True, eq=False)
class BestMetric:
    """The best metric that a search found."""

    factor: Floats
    """A, (d, d), with distances ||A z||."""
    evidence: float
    """The log of the e-value against it."""
    wrong: int
    """The answers it gets wrong."""
    is_cut: bool
    """Whether the search reached its limit on work before it had found a metric with little enough evidence."""


def log_evidence(squares: Floats, gaps: Floats, unfair: Mask, tolerated: float) -> float:
    """The log of an e-value against a metric with these squared distances, (n,).

    Where the metric says "unfair", and where it says "fair", a reviewer who follows it errs with probability at most
    `tolerated`. On each side a bettor wins when errors are more frequent: half of the money stays out, the rest is on
    a few higher rates. If the metric is the reviewer's, the product of both is a nonnegative supermartingale from 1.

    >>> squares, gaps = np.full(50, 0.04), np.full(50, 0.3)
    >>> [round(log_evidence(squares, gaps, np.arange(50) >= wrong, 0.1), 1) for wrong in (5, 15)]
    [-0.5, 6.0]
    """
    says, wrong = gaps**2 > squares, (gaps**2 > squares) != unfair
    total = 0.0
    for side in (says, ~says):
        total += _log_bet(int(np.count_nonzero(wrong & side)), int(np.count_nonzero(side)), tolerated)
    return total


def _log_bet(wrong: int, n: int, tolerated: float) -> float:
    """The log of what a bet of 1 on more errors than tolerated is worth after n answers."""
    rates = tolerated + (0.5 - tolerated) * STEPS
    logs = wrong * np.log(rates / tolerated) + (n - wrong) * np.log((1.0 - rates) / (1.0 - tolerated))
    most = max(float(logs.max()), 0.0)
    return most + math.log(0.5 * math.exp(-most) + 0.5 * float(np.mean(np.exp(logs - most))))


def best_metric(
    differences: Floats, gaps: Floats, unfair: Mask, *, starts: Iterable[Floats], tolerated: float, enough: float
) -> BestMetric:
    """The metric with the least evidence against it, or the first found with less than `enough`.

    differences: (n, d); gaps and unfair: (n,). starts: factors A, (d, d), to try first. O(n d^2) a step, and up to
    5,000 steps or MOST_WORK if none of `starts` is good enough. No step where answers are on independent differences:
    some metric explains whatever is said of these.
    """
    unit = np.sqrt(np.mean(differences**2, axis=0))
    unit = np.where(unit > 0.0, unit, 1.0)
    search = _Search(np.ascontiguousarray(differences / unit), gaps, unfair, tolerated, enough)
    _search(search, [np.ascontiguousarray(factor * unit) for factor in starts])
    return BestMetric(search.best / unit, search.least, search.wrong(search.best), search.is_cut)


def _search(search: _Search, known: list[Floats]) -> None:
    """Look at the known factors and, until one is good enough, at what else may be."""
    size = search.z.shape[1]
    for factor in known:
        search.look_at(factor)
        search.look_at(search.scaled(factor))  # a learner's metric is often right but for its scale
    if search.is_over:
        return
    exact = _explaining(search.z, search.gaps, search.unfair)
    if exact is not None:
        search.look_at(exact)
    if known:
        search.anneal(lambda: search.best, WIDTHS[CLOSE:], BIASES[0])
    for bias in BIASES:
        search.anneal(lambda: search.scaled(np.eye(size)), WIDTHS, bias)
    rng = np.random.default_rng(0)
    for k in range(RESTARTS):
        search.anneal(lambda: search.scaled(rng.normal(size=(size, size))), WIDTHS, BIASES[-1 - k % len(BIASES)])


def _explaining(z: Floats, gaps: Floats, unfair: Mask) -> Floats | None:
    """A factor A (d, d) that explains all answers where the differences z (n, d) are independent, or None.

    A maps the i-th difference to a multiple of the i-th unit vector, half or twice as long as the gap.
    """
    n, d = z.shape
    if n > d or independent_rows(z) < n:
        return None
    lengths = gaps * np.where(unfair, 0.5, 2.0)
    return np.vstack([lengths[:, None] * solve_positive(z @ z.T, z), np.zeros((d - n, d))])


class _Search:
    """The best metric so far, in coordinates of unit size."""

    def __init__(self, z: Floats, gaps: Floats, unfair: Mask, tolerated: float, enough: float) -> None:
        self.z, self.gaps, self.unfair, self.tolerated, self.enough = z, gaps, unfair, tolerated, enough
        self.log_gaps, self.signs = np.log(gaps), np.where(unfair, 1.0, -1.0)
        self.least, self.best = math.inf, np.eye(z.shape[1])
        self.steps_left = math.ceil(MOST_WORK / (z.size * z.shape[1]))

    @property
    def is_over(self) -> bool:
        """Whether a metric was found that is good enough, or no step is left."""
        return self.least < self.enough or self.steps_left <= 0

    @property
    def is_cut(self) -> bool:
        """Whether it is over for want of steps."""
        return self.steps_left <= 0 and self.least >= self.enough

    def squares(self, factor: Floats) -> Floats:
        return np.asarray(np.sum((self.z @ factor.T) ** 2, axis=1))

    def wrong(self, factor: Floats) -> int:
        return int(np.count_nonzero((self.gaps**2 > self.squares(factor)) != self.unfair))

    def evidence(self, factor: Floats) -> float:
        return log_evidence(self.squares(factor), self.gaps, self.unfair, self.tolerated)

    def look_at(self, factor: Floats) -> None:
        evidence = self.evidence(factor)
        if evidence < self.least:
            self.least, self.best = evidence, factor

    def scaled(self, factor: Floats) -> Floats:
        """A multiple of the factor: the one with the fewest wrong answers."""
        ratios = self.gaps / np.sqrt(self.squares(factor) + FLOOR**2)
        order = np.argsort(ratios, kind="stable")
        flags = self.unfair[order].astype(np.float64)
        # With the multiple between two ratios, flags below it and accepted gaps above it are wrong.
        wrong = np.append(0.0, np.cumsum(flags)) + np.append(np.cumsum((1.0 - flags)[::-1])[::-1], 0.0)
        edges = np.concatenate([ratios[order][:1] * 0.9, ratios[order], ratios[order][-1:] * 1.1])
        at = int(np.argmin(wrong))
        return np.asarray(factor * 0.5 * (edges[at] + edges[at + 1]))

    def anneal(self, start_at: Callable[[], Floats], widths: Iterable[float], bias: float) -> None:
        """Follow the minimum from a wide threshold to a sharp one; stop as soon as a metric is good enough."""
        if self.is_over:
            return
        start = start_at()
        self.look_at(start)
        if self.is_over:
            return
        from scipy.optimize import minimize  # takes longer to load than a first decision may take

        weights, shape, gradient = np.where(self.unfair, 1.0, bias), start.shape, np.empty(start.shape)

        def loss(x: Floats, width: float) -> tuple[float, Floats]:
            self.steps_left -= 1
            value = smooth_loss(
                x.reshape(shape), self.z, self.log_gaps, self.signs, weights, width, self.tolerated, FLOOR, gradient
            )
            return value, gradient.ravel().copy()

        x = start.ravel().copy()
        for width in widths:
            x = minimize(
                loss,
                x,
                args=(width,),
                jac=True,
                method="L-BFGS-B",
                options={"maxiter": ITERATIONS, "maxfun": self.steps_left},
            ).x
            self.look_at(x.reshape(shape).copy())
            if self.is_over:
                return


@jit
def smooth_loss(
    factor: Floats,
    z: Floats,
    log_gaps: Floats,
    signs: Floats,
    weights: Floats,
    width: float,
    error_rate: float,
    floor: float,
    gradient: Floats,
) -> float:
    """The sum of -log(l + (1 - 2l) Phi(sign log(gap / ||A z||) / width)), l the error rate; fills in its gradient."""
    (n, d), r = z.shape, factor.shape[0]
    total, image = 0.0, np.empty(r)
    for a in range(r):
        for b in range(d):
            gradient[a, b] = 0.0
    for i in range(n):
        square = floor * floor
        for a in range(r):
            image[a] = 0.0
            for b in range(d):
                image[a] += factor[a, b] * z[i, b]
            square += image[a] * image[a]
        score = signs[i] * (log_gaps[i] - 0.5 * math.log(square)) / width
        chance = error_rate + (1.0 - 2.0 * error_rate) * 0.5 * math.erfc(-score / math.sqrt(2.0))
        total -= weights[i] * math.log(chance)
        if abs(score) < 8.0:
            density = math.exp(-0.5 * score * score) / math.sqrt(2.0 * math.pi)
            slope = weights[i] * (1.0 - 2.0 * error_rate) * density * signs[i] / (chance * width * square)
            for a in range(r):
                for b in range(d):
                    gradient[a, b] += slope * image[a] * z[i, b]
    return total
