"""Sentences about a learned matrix of features that only have names: the effect of a difference of 1 in each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evenhand.schema.effects import Comparison, Distance, Equivalence
from evenhand.schema.features import Number
from evenhand.schema.words import amount, between_words, distance_words, label, limit_words, no_limit_from

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from evenhand.schema.explain import Ends

NEGLIGIBLE = 0.01
"""Smaller distances count as no difference: probabilities within one percentage point."""


def sentences_of_names(
    names: Sequence[str], matrix: ArrayLike, *, ends: Ends | None = None, negligible: float = NEGLIGIBLE
) -> tuple[str, ...]:
    """Sentences about candidates who differ by 1 in one feature only, the most important feature first.

    >>> print(*sentences_of_names(["income", "age"], [[0.16, 0.0], [0.0, 0.04]]), sep="\\n")
    A difference of 1 in income makes a distance of 0.40: probabilities may differ by up to 40 percentage points.
    A difference of 1 in age makes a distance of 0.20: probabilities may differ by up to 20 percentage points.
    A difference of 1 in age counts for as much as 0.5 in income.
    """
    units = sorted(_units(names, np.asarray(matrix, dtype=np.float64), ends), key=lambda unit: -unit.distance.value)
    counting = [unit for unit in units if unit.distance.value >= negligible]
    sentences = [_does(unit) for unit in counting]
    sentences += [no_limit_from(u.feature.name, 1.0 / u.distance.value) for u in counting if u.distance.value > 1.0]
    sentences += [_same(unit, counting[0]) for unit in counting[1:]]
    return (*sentences, *(_idle(unit) for unit in units if unit.distance.value < negligible))


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
    made = f"{distance_words(unit.distance)}: {limit_words(unit.distance)}"
    return f"A difference of 1 in {label(unit.feature.name)} makes a distance of {made}."


def _same(unit: Comparison, reference: Comparison) -> str:
    same = Equivalence.of(unit, reference.feature, 1.0, reference.distance)
    other = f"{amount(same.amount)} in {label(reference.feature.name)}{between_words(same, '')}"
    return f"A difference of 1 in {label(unit.feature.name)} counts for as much as {other}."


def _idle(unit: Comparison) -> str:
    ends = "" if unit.distance.lower is None else f"; its distance is {distance_words(unit.distance)}"
    return f"{label(unit.feature.name)} makes no difference so far{ends}."
