"""Explain a learned matrix in terms of features.

The distance of two candidates is sqrt(z'Gz), z the difference of their contexts. When they differ in one feature
only, z is zero outside that feature's block, so the diagonal block of G is the effect of the feature alone; the other
blocks tell whether two features reinforce each other or cancel.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from evenhand._internal.arrays import Floats
from evenhand._internal.checks import check_number
from evenhand._internal.factorisations import eigvalsh
from evenhand.errors import InvalidInput
from evenhand.schema.effects import (
    Comparison,
    Distance,
    Ends,
    Equivalence,
    FeatureEffect,
    Interaction,
    InteractionSigns,
    MetricExplanation,
    Value,
    with_ends,
)
from evenhand.schema.features import Feature, Number
from evenhand.schema.interaction_words import named_pairs, signs_in_words, together_words
from evenhand.schema.rows import as_floats
from evenhand.schema.words import sentences_of

if TYPE_CHECKING:
    from evenhand.schema.schema import Schema

Contrast: TypeAlias = tuple[Feature, Value, Value]

MATRIX_TOLERANCE = 1e-6
"""How asymmetric or negative a matrix may be, relative to its largest entry: what rounding and sampling leave."""

COUNTS_FROM = 0.2  # The cosine between the effects of two features from which an interaction is reported.
CONTRASTS_SEARCHED = 200  # How many pairs of levels of a category, farthest first, are searched for interactions.


def explain(
    schema: Schema, matrix: ArrayLike, *, ends: Ends | None, negligible: float, signs: InteractionSigns | None
) -> MetricExplanation:
    """The implementation of `Schema.explain`. Cost: one quadratic form per comparison."""
    check_number("negligible", negligible, above=0, below=1)
    G = _checked(matrix, schema.n_features)
    contrasts: list[Contrast] = [(f, *pair) for f in schema.features for pair in f.contrasts()]
    differences = np.vstack([_differences(schema, feature) for feature in schema.features])
    alone = _distances(differences, G)
    searched = [None] if signs is None else named_pairs(signs)
    every = [(pair, _strongest(contrasts, differences, alone, G, negligible, pair)) for pair in searched]
    found = [(pair, one) for pair, one in every if one is not None]
    for _, (i, j, sign) in found:
        pair = np.array([differences[i] + sign * differences[j], differences[i] - sign * differences[j]])
        differences = np.vstack([differences, pair])
    distances = with_ends(_distances(differences, G), differences, ends)
    comparisons = [Comparison(*contrast, distance) for contrast, distance in zip(contrasts, distances, strict=False)]
    comparisons = _in_proportion(comparisons)
    both = zip(distances[len(contrasts) :: 2], distances[len(contrasts) + 1 :: 2], strict=True)
    details = {pair: _interaction(comparisons, *two, one) for two, (pair, one) in zip(both, found, strict=True)}
    effects = _ranked(schema, comparisons)
    equivalences = _equivalences(effects, negligible)
    interactions = tuple(details.values())
    named = {pair: detail for pair, detail in details.items() if pair is not None}
    words = tuple(map(together_words, interactions)) if signs is None else signs_in_words(signs, named)
    sentences = sentences_of(effects, equivalences, words, negligible=negligible, evident=signs is not None)
    return MetricExplanation(effects, equivalences, interactions[0] if interactions else None, sentences)


def _checked(matrix: ArrayLike, n: int) -> Floats:
    G = as_floats(matrix, "the matrix")
    if G.shape != (n, n):
        raise InvalidInput(f"the matrix must have shape ({n}, {n}), got {G.shape}")
    if not np.isfinite(G).all():
        raise InvalidInput(f"the matrix must be finite, got {G[~np.isfinite(G)][0]} in it")
    room = MATRIX_TOLERANCE * float(np.max(np.abs(G)))
    asymmetry = float(np.max(np.abs(G - G.T)))
    if asymmetry > room:
        raise InvalidInput(f"the matrix must be symmetric, got an asymmetry of {asymmetry:.2g}")
    G = (G + G.T) / 2.0
    smallest = float(eigvalsh(G)[0])
    if smallest < -room:
        raise InvalidInput(f"the matrix must be positive semidefinite, got an eigenvalue of {smallest:.2g}")
    return G


def _differences(schema: Schema, feature: Feature) -> Floats:
    """The contrasts of a feature as differences of contexts, (m, n_features): `Schema.difference` for all at once."""
    firsts, seconds = zip(*feature.contrasts(), strict=True)
    whole = np.zeros((len(firsts), schema.n_features))
    block = feature.encode(seconds) * schema.scale - feature.encode(firsts) * schema.scale
    whole[:, schema.blocks[feature.name]] = block
    return whole


def _distances(differences: Floats, G: Floats) -> Floats:
    squares: Floats = np.sum((differences @ G) * differences, axis=1)
    return np.sqrt(np.maximum(squares, 0.0))  # rounding may leave a square just below zero


def _in_proportion(comparisons: Sequence[Comparison]) -> list[Comparison]:
    """The same with the tightest bounds: along a number distances are proportional, so that bounds on the whole range
    bound each step, and vice versa."""
    tightest: dict[str, tuple[float, float]] = {}
    for one in comparisons:
        if _is_in_range(one) and one.distance.lower is not None and one.distance.upper is not None:
            lower, upper = tightest.get(one.feature.name, (0.0, math.inf))
            ends = (one.distance.lower / _span(one), one.distance.upper / _span(one))
            tightest[one.feature.name] = (max(lower, ends[0]), min(upper, ends[1]))
    return [_tightened(one, *tightest.get(one.feature.name, (0.0, math.inf))) for one in comparisons]


def _tightened(comparison: Comparison, lower: float, upper: float) -> Comparison:
    """The comparison with its bounds narrowed to these, per unit; contradictory bounds stay as they are."""
    distance = comparison.distance
    if distance.lower is None or distance.upper is None or not _is_in_range(comparison) or lower > upper:
        return comparison
    ends = (max(distance.lower, lower * _span(comparison)), min(distance.upper, upper * _span(comparison)))
    return replace(comparison, distance=Distance(distance.value, *ends))


def _is_in_range(comparison: Comparison) -> bool:
    """Whether distances are in proportion to how far apart the values are: not with a missing one."""
    return isinstance(comparison.feature, Number) and comparison.second is not None


def _span(comparison: Comparison) -> float:
    """How far apart two values of a number are, on its scale: distances are in proportion to it."""
    feature, first, second = comparison.feature, comparison.first, comparison.second
    if not isinstance(feature, Number) or feature.scale == "linear":
        return abs(float(second or 0.0) - float(first or 0.0))
    return abs(float(np.diff(feature.encode([first, second])[:, 0])[0]))


def _strongest(
    contrasts: Sequence[Contrast],
    differences: Floats,
    alone: Floats,
    G: Floats,
    negligible: float,
    only: tuple[str, str] | None,
) -> tuple[int, int, int] | None:
    """The two contrasts with the strongest interaction, and the sign that makes them reinforce each other.

    only: of these two features, however weak, since there is other evidence.
    """
    searched: dict[str, list[int]] = {}
    least, smallest = (negligible, COUNTS_FROM) if only is None else (0.0, 0.0)
    for index in np.argsort(-alone, kind="stable").tolist():
        feature = contrasts[index][0]
        rows = searched.setdefault(feature.name, [])
        room = 1 if isinstance(feature, Number) else CONTRASTS_SEARCHED
        if alone[index] >= least and len(rows) < room and (only is None or feature.name in only):
            rows.append(index)
    best, found = least, None
    for left, right in combinations([rows for rows in searched.values() if rows], 2):
        cross = differences[left] @ G @ differences[right].T
        squares = alone[left, None] ** 2 + alone[None, right] ** 2
        size = np.abs(cross)
        gap = np.sqrt(squares + 2 * size) - np.sqrt(np.maximum(squares - 2 * size, 0.0))
        gap[size < smallest * np.outer(alone[left], alone[right])] = 0.0
        i, j = np.unravel_index(int(np.argmax(gap)), gap.shape)
        if gap[i, j] > best:
            best, found = float(gap[i, j]), (left[i], right[j], 1 if cross[i, j] > 0 else -1)
    return found


def _interaction(
    comparisons: Sequence[Comparison], together: Distance, against: Distance, found: tuple[int, int, int]
) -> Interaction:
    i, j, sign = found
    first, second = comparisons[i], comparisons[j]
    if sign < 0:
        second = Comparison(second.feature, second.second, second.first, second.distance)
    return Interaction(first, second, together=together, against=against)


def _ranked(schema: Schema, comparisons: Sequence[Comparison]) -> tuple[FeatureEffect, ...]:
    effects = [
        FeatureEffect(feature, tuple(c for c in comparisons if c.feature is feature)) for feature in schema.features
    ]
    return tuple(sorted(effects, key=lambda effect: -effect.distance.value))


def _is_linear(feature: Feature) -> bool:
    return isinstance(feature, Number) and feature.scale == "linear"


def _equivalences(effects: Sequence[FeatureEffect], negligible: float) -> tuple[Equivalence, ...]:
    """Every other feature that matters, in units of the linear number that matters most.

    A yes/no or a category that makes more distance than the whole range of that number is left out.
    """
    counting = [effect for effect in effects if effect.distance.value >= negligible]
    reference = next((effect for effect in counting if _is_linear(effect.feature)), None)
    if reference is None or not isinstance(reference.feature, Number):
        return ()
    span = reference.feature.high - reference.feature.low
    found = []
    for effect in counting:
        is_number = isinstance(effect.feature, Number)
        compared = min(effect.known, key=lambda one: one.distance.value) if is_number else effect.farthest
        same = Equivalence.of(compared, reference.feature, span, reference.known[0].distance)
        if effect is not reference and same.amount <= span and math.isfinite(same.amount):
            found.append(same)
    return tuple(found)
