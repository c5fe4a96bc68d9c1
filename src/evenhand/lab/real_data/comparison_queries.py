"""A metric learned by comparison queries, after Ilvento, "Metric Learning for Individual Fairness" (2019), as a peer.

Taken from there: an arbiter who compares distances from a representative r ("is x farther from r than y is?"), so that
a sample of people can be put in order; thresholds along that order, learned by a classifier each, which takes them from
the sample to everybody; and submetrics: by the triangle inequality |d(r, x) - d(r, y)| is at most d(x, y), so one
representative never makes a metric too long, nor does the largest of several.

Ours, so that it can be compared with verdicts: where the paper's arbiter also says how large a distance is, this one is
asked "would a gap of t between r and x be unfair?", and thresholds are bisected; classifiers are logistic regressions
on absolute differences; and the numbers of people and representatives follow from a budget of questions. So none of the
paper's guarantees is claimed, and how it fares here says little about the paper's own algorithms.
"""

from __future__ import annotations

import importlib
import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from evenhand._internal.arrays import Floats, Indices
from evenhand.auditors import DistanceAuditor

STEP = 0.1
"""The distance between two thresholds: the precision of the submetric."""

PER_REPRESENTATIVE = 250
"""Answers after which another representative is worth more than a larger sample."""


@dataclass(eq=False)
class Arbiter:
    """Answers questions about the people in the rows of `contexts` (n, d) by a rule, and counts them."""

    rule: DistanceAuditor
    contexts: Floats
    comparisons: int = 0
    verdicts: int = 0

    def is_farther(self, representative: int, first: int, second: int) -> bool:
        """Whether the first is farther from the representative than the second."""
        self.comparisons += 1
        return self._distance(representative, first) > self._distance(representative, second)

    def is_unfair(self, representative: int, other: int, gap: float) -> bool:
        """Whether a gap between the two would be unfair."""
        self.verdicts += 1
        return gap > self._distance(representative, other)

    @property
    def queries(self) -> int:
        """All questions so far."""
        return self.comparisons + self.verdicts

    def _distance(self, first: int, second: int) -> float:
        return float(self.rule.distances(self.contexts[[first, second]])[0, 1])


def in_order(arbiter: Arbiter, representative: int, sample: Indices) -> list[int]:
    """The sample by its distance from the representative, nearest first: binary insertion, log2(m!) comparisons."""
    order: list[int] = []
    for person in sample.tolist():
        low, high = 0, len(order)
        while low < high:
            middle = (low + high) // 2
            if arbiter.is_farther(representative, person, order[middle]):
                low = middle + 1
            else:
                high = middle
        order.insert(low, person)
    return order


def levels(arbiter: Arbiter, representative: int, order: list[int], thresholds: Sequence[float]) -> Indices:
    """How many thresholds each person of the order is at or beyond, (m,), with at most `most_verdicts` questions.

    Each threshold divides the order. A small order is walked through once for all thresholds, a long one bisected.
    """
    found, low = np.zeros(len(order), dtype=np.int64), 0
    walks = len(order) + len(thresholds) <= _bisections(len(order), len(thresholds))
    for threshold in thresholds:
        high = len(order)
        while low < high:
            middle = low if walks else (low + high) // 2
            if arbiter.is_unfair(representative, order[middle], threshold):
                low = middle + 1
            else:
                high = middle
        found[low:] += 1
    return found


def most_verdicts(size: int, n_thresholds: int) -> int:
    """How many questions `levels` asks at most about an order of this size.

    >>> most_verdicts(5, 9), most_verdicts(100, 9)
    (14, 63)
    """
    return min(size + n_thresholds, _bisections(size, n_thresholds))


def _bisections(size: int, n_thresholds: int) -> int:
    return n_thresholds * math.ceil(math.log2(size + 1))


def sample_size(budget: int, n_thresholds: int) -> int:
    """The largest sample whose order and thresholds take at most this many questions; at least 1.

    >>> sample_size(100, 9)
    20
    """
    size, comparisons = 1, 0
    while True:
        comparisons += math.ceil(math.log2(size + 1))
        if comparisons + most_verdicts(size + 1, n_thresholds) > budget:
            return size
        size += 1


class ComparisonSubmetric:
    """What comparison queries within a budget teach about the people of a table; distances of any others follow."""

    def __init__(self, arbiter: Arbiter, budget: int, rng: np.random.Generator) -> None:
        self.thresholds = tuple(place * STEP for place in range(1, round(1.0 / STEP)))
        self._parts: list[tuple[Floats, list[Any]]] = []
        n_representatives = max(1, budget // PER_REPRESENTATIVE)
        size = sample_size(budget // n_representatives, len(self.thresholds))
        people = arbiter.contexts
        for representative in rng.choice(len(people), n_representatives, replace=False).tolist():
            others = np.delete(np.arange(len(people)), representative)
            order = in_order(arbiter, representative, rng.choice(others, min(size, len(others)), replace=False))
            found = levels(arbiter, representative, order, self.thresholds)
            apart = np.abs(people[order] - people[representative])
            models = [_classifier(apart, found > place) for place in range(len(self.thresholds))]
            self._parts.append((people[representative], models))

    def distances(self, first: Floats, second: Floats) -> Floats:
        """The submetric between the rows of two tables, each (n, d): the largest that a representative gives, (n,)."""
        found = np.zeros(len(first))
        for representative, models in self._parts:
            from_here = [self._from(representative, models, people) for people in (first, second)]
            found = np.maximum(found, np.abs(from_here[0] - from_here[1]))
        return found

    def _from(self, representative: Floats, models: list[Any], people: Floats) -> Floats:
        """The distance of each person from a representative, (n,): STEP for each threshold that is likely behind."""
        apart = np.abs(people - representative)
        return np.asarray(STEP * np.sum([_chance(model, apart) for model in models], axis=0))


def _classifier(apart: Floats, beyond: Any) -> Any:
    """A logistic regression on absolute differences (m, d), or the answer where all are the same."""
    if np.all(beyond == beyond[0]):
        return float(beyond[0])
    model: Any = importlib.import_module("sklearn.linear_model").LogisticRegression(C=10.0, max_iter=500)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(apart, beyond)


def _chance(model: Any, apart: Floats) -> Floats:
    return np.full(len(apart), model) if isinstance(model, float) else np.asarray(model.predict_proba(apart)[:, 1])
