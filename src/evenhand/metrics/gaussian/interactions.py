"""Which features count together: the evidence that entries of G off the diagonal are not zero."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any

import numpy as np

from evenhand._internal.arrays import Floats, Indices
from evenhand._internal.factorisations import eigh
from evenhand.metrics.gaussian.history import BeliefHistory

TOGETHER = 64  # Entries between two blocks that are looked at together, with their covariances.

SOME_SIGN, CLEAR_SIGN = math.log(3.0), math.log(20.0)
"""The evidence from which there is some sign of an interaction, and a clear one (Kass and Raftery 1995)."""


@dataclass(frozen=True)
class InteractionEvidence:
    """Whether two features, or two blocks of features, count together and not only each by itself.

    >>> InteractionEvidence("income", "purpose", -0.3, 0.0).sentence
    'no sign that income and purpose interact'
    """

    first: Any
    second: Any
    """The labels of the blocks, or the numbers of the columns."""
    evidence: float
    """The log of the Bayes factor for an interaction against none: above 0 for, below 0 against."""
    strength: float
    """The mean of the largest entry of G between the two, with its sign."""

    @property
    def sentence(self) -> str:
        """What the evidence says."""
        sign = "no sign" if self.evidence < SOME_SIGN else "some sign" if self.evidence < CLEAR_SIGN else "a clear sign"
        return f"{sign} that {self.first} and {self.second} interact"


def interactions(history: BeliefHistory[Any], labels: Sequence[Any], accuracy: float) -> list[InteractionEvidence]:
    """The interaction of each two blocks of columns, the clearest evidence first; labels: of each column's block.

    Evidence is the density at zero of the entries between two blocks, under the prior over under the belief (Savage and
    Dickey): answers that make zero less likely than it was speak for an interaction. accuracy: the epsilon in force;
    entries are taken as known to within it, since smaller ones make no difference.
    """
    blocks: dict[Any, list[int]] = {}
    for column, label in enumerate(labels):
        blocks.setdefault(label, []).append(column)
    found = []
    for (first, own), (second, other) in combinations(blocks.items(), 2):
        i, j = np.array(list(product(own, other))).T
        evidence, largest = _between(history, i, j, accuracy**2)
        found.append(InteractionEvidence(first, second, evidence, largest / math.sqrt(2.0)))  # svec has sqrt(2) G_ij
    return sorted(found, key=lambda each: -each.evidence)


def _between(history: BeliefHistory[Any], i: Indices, j: Indices, noise: float) -> tuple[float, float]:
    """The evidence that the entries i, j are not all zero, and the mean of the largest of svec(G).

    Of many entries: that one of them is not, nobody knows which. Its Bayes factor is the mean of those of each.
    """
    variance, factors, largest = history.form.prior_variance(history.bound), [], 0.0
    for start in range(0, len(i), TOGETHER):
        part = slice(start, start + TOGETHER)
        mean, cov, shares = history.form.entries(history.belief, i[part], j[part])
        largest = max(largest, float(mean[np.argmax(np.abs(mean))]), key=abs)
        if len(i) <= TOGETHER:
            return _log_factor(mean, cov, shares * variance, noise), largest
        prior, own = shares * variance + noise, np.diag(cov) + noise
        factors.append(0.5 * (np.log(own / prior) + mean**2 / own))
    logs = np.concatenate(factors)
    top = float(np.max(logs))
    return top + math.log(float(np.mean(np.exp(logs - top)))), largest


def _log_factor(mean: Floats, cov: Floats, prior: Floats, noise: float) -> float:
    """log N(0; 0, diag(prior) + noise I) - log N(0; mean, cov + noise I)."""
    deviations = np.sqrt(prior + noise)
    values, vectors = eigh((cov + noise * np.eye(len(mean))) / np.outer(deviations, deviations))
    along = vectors.T @ (mean / deviations)
    return float(0.5 * (np.sum(np.log(values)) + np.sum(along**2 / values)))
