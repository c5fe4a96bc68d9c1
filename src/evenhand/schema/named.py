"""Words about a learned matrix of features that have names and nothing else: what a difference of 1 in each does."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evenhand.schema.effects import Comparison, Distance, Equivalence
from evenhand.schema.features import Number
from evenhand.schema.words import amount, between_words, distance_words, label, odds_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from evenhand.schema.explain import Ends

NEGLIGIBLE = 0.01
"""Distances below this are said to make no difference: odds within one percentage point."""


def sentences_of_names(
    names: Sequence[str], matrix: ArrayLike, *, ends: Ends | None = None, negligible: float = NEGLIGIBLE
) -> tuple[str, ...]:
    """Sentences about candidates who differ by 1 in one feature only, the weightiest feature first.

    >>> print(*sentences_of_names(["income", "age"], [[0.16, 0.0], [0.0, 0.04]]), sep="\\n")
    A difference of 1 in income makes a distance of 0.40: odds may differ by up to 40 percentage points.
    A difference of 1 in age makes a distance of 0.20: odds may differ by up to 20 percentage points.
    A difference of 1 in age counts for as much as 0.5 in income.
    """
    units = sorted(_units(names, np.asarray(matrix, dtype=np.float64), ends), key=lambda unit: -unit.distance.value)
    counting = [unit for unit in units if unit.distance.value >= negligible]
    said = [_does(unit) for unit in counting]
    said += [_limit(unit) for unit in counting if unit.distance.value > 1.0]
    said += [_same(unit, counting[0]) for unit in counting[1:]]
    return (*said, *(_idle(unit) for unit in units if unit.distance.value < negligible))


def _units(names: Sequence[str], matrix: np.ndarray, ends: Ends | None) -> list[Comparison]:
    values = np.sqrt(np.maximum(np.diag(matrix), 0.0)).tolist()
    if ends is None:
        distances = [Distance(value) for value in values]
    else:
        lower, upper = (np.asarray(end, dtype=np.float64).tolist() for end in ends(np.eye(len(names))))
        distances = [Distance(*known) for known in zip(values, lower, upper, strict=True)]
    return [
        Comparison(Number(name, low=0, high=1), 0.0, 1.0, distance)
        for name, distance in zip(names, distances, strict=True)
    ]


def _does(unit: Comparison) -> str:
    made = f"{distance_words(unit.distance)}: {odds_words(unit.distance)}"
    return f"A difference of 1 in {label(unit.feature.name)} makes a distance of {made}."


def _limit(unit: Comparison) -> str:
    free = amount(1.0 / unit.distance.value)
    return f"From a difference of about {free} in {label(unit.feature.name)} on there is no limit on the odds."


def _same(unit: Comparison, reference: Comparison) -> str:
    same = Equivalence.of(unit, reference.feature, 1.0, reference.distance)
    told = f"{amount(same.amount)} in {label(reference.feature.name)}{between_words(same, '')}"
    return f"A difference of 1 in {label(unit.feature.name)} counts for as much as {told}."


def _idle(unit: Comparison) -> str:
    ends = "" if unit.distance.lower is None else f"; its distance is {distance_words(unit.distance)}"
    return f"{label(unit.feature.name)} makes no difference so far{ends}."
