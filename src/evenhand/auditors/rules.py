"""Auditors who judge by rules on single features, as guidelines are written: in order, by thresholds, by a tree.

None of their distances is a norm of a difference: a small step across a threshold matters, a large one elsewhere not.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from evenhand._internal.arrays import Floats, Mask
from evenhand._internal.checks import check_number, check_whole, refusal
from evenhand._internal.counted import counted
from evenhand.auditors.exact import DistanceAuditor
from evenhand.errors import InvalidInput


@dataclass(frozen=True)
class Criterion:
    """What a rule says of one feature, counted from 0: the `size` of the distance that it makes.

    at: the threshold that separates two candidates in `ThresholdAuditor`; in `LexicographicAuditor` the smallest
    difference that counts.
    """

    feature: int
    at: float
    size: float

    def __post_init__(self) -> None:
        check_whole("feature", self.feature, least=0)
        check_number("at", self.at)
        check_number("size", self.size, least=0)


class CriteriaAuditor(DistanceAuditor):
    """Judges by criteria on single features; `alike`: the least distance between two candidates."""

    def __init__(self, criteria: Iterable[Criterion], *, alike: float = 0.0) -> None:
        self.criteria = checked_criteria(criteria)
        self.alike = check_number("alike", alike, least=0)


class LexicographicAuditor(CriteriaAuditor):
    """The first criterion in which two candidates differ decides alone; those who differ in none are `alike` apart.

    Candidates differ in a criterion if their feature differs by more than `at`.

    >>> auditor = LexicographicAuditor([Criterion(0, at=0.1, size=0.8), Criterion(1, at=0.1, size=0.3)])
    >>> auditor.distances(np.array([[0.5, 0.0], [0.55, 0.9], [-0.5, 0.0]])).tolist()
    [[0.0, 0.3, 0.8], [0.3, 0.0, 0.8], [0.8, 0.8, 0.0]]
    """

    def distances(self, contexts: Floats) -> Floats:
        """The true distances between the rows of `contexts` (k, d), (k, k)."""
        found = apart(len(contexts), self.alike)
        for criterion in reversed(self.criteria):
            values = column(contexts, criterion.feature)
            found[np.abs(values[:, None] - values[None, :]) > criterion.at] = criterion.size
        return found


class ThresholdAuditor(CriteriaAuditor):
    """Every criterion whose threshold lies between two candidates adds its size; `alike` is added for everybody.

    A feature may have several thresholds, as grades have.

    >>> auditor = ThresholdAuditor([Criterion(0, at=0.0, size=0.4), Criterion(1, at=0.5, size=0.2)], alike=0.1)
    >>> auditor.distances(np.array([[0.1, 0.0], [0.9, 0.9], [-0.1, 0.6]])).round(3).tolist()
    [[0.0, 0.3, 0.7], [0.3, 0.0, 0.5], [0.7, 0.5, 0.0]]
    """

    def distances(self, contexts: Floats) -> Floats:
        """The true distances between the rows of `contexts` (k, d), (k, k)."""
        found = apart(len(contexts), self.alike)
        for criterion in self.criteria:
            above = column(contexts, criterion.feature) > criterion.at
            found += criterion.size * (above[:, None] != above[None, :])
        return found


@dataclass(frozen=True)
class Branch:
    """A question of a tree: is this feature, counted from 0, above `at`? Two who answer differently are `size` apart.

    no, yes: the next question of those below and above; None: there is none.
    """

    feature: int
    at: float
    size: float
    no: Branch | None = None
    yes: Branch | None = None

    def __post_init__(self) -> None:
        Criterion(self.feature, self.at, self.size)
        for branch in (self.no, self.yes):
            if branch is not None and branch.size > self.size:
                raise InvalidInput(f"size must not grow down the tree, got {branch.size} below {self.size}")


class TreeAuditor(DistanceAuditor):
    """Two candidates are as far apart as the size of the question where they part; in one leaf they are `alike` apart.

    Sizes do not grow down the tree, so the distance is an ultrametric: of three pairs the two longest are equal.

    >>> auditor = TreeAuditor(Branch(0, at=0.0, size=0.8, yes=Branch(1, at=0.5, size=0.3)))
    >>> auditor.distances(np.array([[0.1, 0.0], [0.2, 0.6], [-0.1, 0.6]])).tolist()
    [[0.0, 0.3, 0.8], [0.3, 0.0, 0.8], [0.8, 0.8, 0.0]]
    """

    def __init__(self, root: Branch, *, alike: float = 0.0) -> None:
        if not isinstance(root, Branch):
            raise refusal("root", "a Branch", root)
        self.root, self.alike = root, check_number("alike", alike, least=0)

    def distances(self, contexts: Floats) -> Floats:
        """The true distances between the rows of `contexts` (k, d), (k, k)."""
        found = apart(len(contexts), self.alike)
        self._part(found, contexts, self.root, np.ones(len(contexts), dtype=np.bool_))
        return found

    def _part(self, found: Floats, contexts: Floats, branch: Branch, here: Mask) -> None:
        above = column(contexts, branch.feature) > branch.at
        yes, no = here & above, here & ~above
        found[np.ix_(yes, no)] = found[np.ix_(no, yes)] = branch.size
        for members, following in ((no, branch.no), (yes, branch.yes)):
            if following is not None:
                self._part(found, contexts, following, members)


def checked_criteria(criteria: Iterable[Criterion]) -> tuple[Criterion, ...]:
    """At least one criterion."""
    found = tuple(criteria) if hasattr(criteria, "__iter__") else ()
    if not found or not all(isinstance(each, Criterion) for each in found):
        raise refusal("criteria", "a list of at least 1 Criterion", criteria)
    return found


def apart(k: int, size: float) -> Floats:
    """Everybody equally far from everybody else, (k, k)."""
    return np.asarray(size * (1.0 - np.eye(k)))


def column(contexts: Floats, feature: int) -> Floats:
    """The feature of every candidate, (k,)."""
    if feature >= contexts.shape[1]:
        least = counted(feature + 1, "feature")
        raise InvalidInput(f"contexts must have at least {least} for this rule, got {contexts.shape[1]}")
    return np.asarray(contexts[:, feature])
