"""The effects of features on distances, as frozen records."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from evenhand._internal.arrays import Floats
from evenhand.errors import InvalidInput
from evenhand.schema.features import Feature

Ends: TypeAlias = Callable[[Floats], tuple[ArrayLike, ArrayLike]]
"""Lower and upper bounds, each (m,), on the distances of differences (m, n_features)."""


Value: TypeAlias = float | str | bool | None
"""A value of a feature; None for a missing one that has a level of its own."""


@dataclass(frozen=True)
class Distance:
    """A distance, sqrt(z'Gz) of a difference z of contexts, with its bounds if known.

    >>> Distance(0.3).no_limit, Distance(1.2, lower=0.9, upper=1.5).no_limit
    (False, True)
    """

    value: float
    lower: float | None = None
    upper: float | None = None

    @property
    def no_limit(self) -> bool:
        """Whether it limits nothing: probabilities never differ by more than 1."""
        return self.value >= 1.0


def with_ends(values: Floats, differences: Floats, ends: Ends | None) -> list[Distance]:
    """Distances (m,) with the bounds that `ends` gives for their differences, if any."""
    if ends is None:
        return [Distance(float(value)) for value in values]
    lower, upper = (np.asarray(end, dtype=np.float64) for end in ends(differences.copy()))
    if lower.shape != values.shape or upper.shape != values.shape:
        raise InvalidInput(f"ends must return shapes {values.shape}, got {lower.shape} and {upper.shape}")
    wrong = np.flatnonzero(~((lower >= 0) & (lower <= upper)))
    if len(wrong):
        at = wrong[0]
        raise InvalidInput(f"ends must be 0 <= lower <= upper, got {lower[at]} and {upper[at]}")
    return [Distance(*map(float, triple)) for triple in zip(values, lower, upper, strict=True)]


@dataclass(frozen=True)
class Comparison:
    """Two values of one feature, and the distance of candidates who differ only in that; None: the missing value."""

    feature: Feature
    first: Value
    second: Value
    distance: Distance


@dataclass(frozen=True)
class FeatureEffect:
    """How much distance one feature makes when all others are the same.

    The comparisons of a number are its whole range and one step, on other scales than the linear one the first step
    and the last; of a date or an ordinal, the whole range and one step; of a yes/no, no and yes; of a category, every
    two levels. Where missing values have a level of their own, they are compared with both ends at last.
    """

    feature: Feature
    comparisons: tuple[Comparison, ...]

    @property
    def name(self) -> str:
        """The name of the feature."""
        return self.feature.name

    @property
    def known(self) -> tuple[Comparison, ...]:
        """The comparisons of two values that are known."""
        return tuple(one for one in self.comparisons if one.second is not None)

    @property
    def farthest(self) -> Comparison:
        """The two values with the largest distance."""
        return max(self.comparisons, key=lambda comparison: comparison.distance.value)

    @property
    def nearest(self) -> Comparison:
        """The two values, of those compared, with the smallest distance."""
        return min(self.comparisons, key=lambda comparison: comparison.distance.value)

    @property
    def distance(self) -> Distance:
        """The largest distance that the feature alone can make."""
        return self.farthest.distance


@dataclass(frozen=True)
class Equivalence:
    """A comparison in one feature that makes as much distance as an amount of a number does."""

    comparison: Comparison
    number: Feature
    amount: float
    lower: float | None = None
    upper: float | None = None
    """The smallest and largest amount within the bounds of both distances; inf if unlimited."""

    @classmethod
    def of(cls, comparison: Comparison, number: Feature, span: float, whole: Distance) -> Equivalence:
        """The comparison in terms of a number of which `span` makes the distance `whole`."""
        made = comparison.distance
        if made.lower is None or made.upper is None or whole.lower is None or whole.upper is None:
            return cls(comparison, number, _ratio(made.value, whole.value) * span)
        ends = (_ratio(made.lower, whole.upper) * span, _ratio(made.upper, whole.lower) * span)
        return cls(comparison, number, _ratio(made.value, whole.value) * span, *ends)

    @property
    def is_limited(self) -> bool:
        """Whether anything is known of the amount: not if the bounds allow any."""
        return self.lower != 0.0 or self.upper != math.inf


def _ratio(distance: float, whole: float) -> float:
    return distance / whole if whole > 0.0 and not math.isinf(distance) else math.inf


@dataclass(frozen=True)
class Interaction:
    """Two features whose differences reinforce each other in one combination and cancel in the other.

    `together` is the distance between (first.first, second.first) and (first.second, second.second), `against` the
    one between (first.first, second.second) and (first.second, second.first). Without an interaction both would be
    sqrt(first.distance^2 + second.distance^2); `together` is the larger.
    """

    first: Comparison
    second: Comparison
    together: Distance
    against: Distance


@dataclass(frozen=True)
class InteractionSigns:
    """Which features count together, by the evidence of answers: pairs of their names, the clearest first."""

    clear: tuple[tuple[str, str], ...] = ()
    some: tuple[tuple[str, str], ...] = ()
    others: Literal["none", "unknown"] = "unknown"
    """Of all other pairs: there is no sign of an interaction, or there are too few answers to tell."""


@dataclass(frozen=True)
class MetricExplanation:
    """A learned matrix in terms of features: records, and sentences made from them."""

    effects: tuple[FeatureEffect, ...]
    """One per feature, the largest first."""
    equivalences: tuple[Equivalence, ...]
    interaction: Interaction | None
    """The strongest one, if any matters; with evidence, the clearest one."""
    sentences: tuple[str, ...]

    def __getitem__(self, name: str) -> FeatureEffect:
        """The effect of the feature of this name."""
        for effect in self.effects:
            if effect.name == name:
                return effect
        names = ", ".join(effect.name for effect in self.effects)
        raise InvalidInput(f"unknown feature {name!r}; the schema has {names}")

    def __str__(self) -> str:
        return "\n".join(self.sentences)
