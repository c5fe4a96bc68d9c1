"""What a learned matrix says about features, as frozen records."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evenhand.errors import InvalidInput

if TYPE_CHECKING:
    from evenhand.schema.features import Feature


@dataclass(frozen=True)
class Distance:
    """A distance, sqrt(z'Gz) of a difference z of contexts, with its ends where they are known.

    >>> Distance(0.3).no_limit, Distance(1.2, lower=0.9, upper=1.5).no_limit
    (False, True)
    """

    value: float
    lower: float | None = None
    upper: float | None = None

    @property
    def no_limit(self) -> bool:
        """Whether the odds may differ as they like: they never differ by more than 1."""
        return self.value >= 1.0


@dataclass(frozen=True)
class Comparison:
    """Two candidates who differ in one feature only, and the distance between them."""

    feature: Feature
    first: float | str | bool
    second: float | str | bool
    distance: Distance


@dataclass(frozen=True)
class FeatureEffect:
    """How much distance one feature makes when all others are the same.

    The comparisons of a number are its whole range and one step; of a yes/no, no and yes; of a category, every two
    levels.
    """

    feature: Feature
    comparisons: tuple[Comparison, ...]

    @property
    def name(self) -> str:
        """The name of the feature."""
        return self.feature.name

    @property
    def farthest(self) -> Comparison:
        """The two values that are the farthest apart."""
        return max(self.comparisons, key=lambda comparison: comparison.distance.value)

    @property
    def nearest(self) -> Comparison:
        """The two values, of those compared, that are the nearest."""
        return min(self.comparisons, key=lambda comparison: comparison.distance.value)

    @property
    def distance(self) -> Distance:
        """The most distance the feature can make alone."""
        return self.farthest.distance


@dataclass(frozen=True)
class Equivalence:
    """A comparison in one feature that makes as much distance as an amount of a number does."""

    comparison: Comparison
    number: Feature
    amount: float
    lower: float | None = None
    upper: float | None = None
    """The smallest and largest amount that the ends of both distances allow; infinite where nothing limits it."""

    @classmethod
    def of(cls, comparison: Comparison, number: Feature, span: float, whole: Distance) -> Equivalence:
        """The comparison in terms of a number of which `span` makes the distance `whole`."""
        made = comparison.distance
        if made.lower is None or made.upper is None or whole.lower is None or whole.upper is None:
            return cls(comparison, number, _ratio(made.value, whole.value) * span)
        ends = (_ratio(made.lower, whole.upper) * span, _ratio(made.upper, whole.lower) * span)
        return cls(comparison, number, _ratio(made.value, whole.value) * span, *ends)


def _ratio(distance: float, whole: float) -> float:
    return distance / whole if whole > 0.0 and not math.isinf(distance) else math.inf


@dataclass(frozen=True)
class Interaction:
    """Two features whose differences reinforce each other one way round and cancel the other way round.

    `together` is the distance between (first.first, second.first) and (first.second, second.second), `against` the
    one between (first.first, second.second) and (first.second, second.first). Without an interaction both would be
    sqrt(first.distance^2 + second.distance^2); `together` is the larger.
    """

    first: Comparison
    second: Comparison
    together: Distance
    against: Distance


@dataclass(frozen=True)
class Explanation:
    """A learned matrix in words about features: the records, and plain sentences made of them."""

    effects: tuple[FeatureEffect, ...]
    """One a feature, the one that can make the most distance first."""
    equivalences: tuple[Equivalence, ...]
    interaction: Interaction | None
    """The strongest one, if any counts."""
    sentences: tuple[str, ...]

    def __getitem__(self, name: str) -> FeatureEffect:
        """The effect of the feature of this name."""
        for effect in self.effects:
            if effect.name == name:
                return effect
        names = ", ".join(effect.name for effect in self.effects)
        raise InvalidInput(f"{name!r} is no feature; the features are {names}")

    def __str__(self) -> str:
        return "\n".join(self.sentences)
