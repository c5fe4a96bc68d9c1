"""Partial profiles: two people who differ in a few features and are the same in all others, as in conjoint analysis.

The first is a real person, the second is made up: the first with some features of a third one, the donor. The donor is
among those who are nearest to the first in the features that stay, above all in those that depend on the replaced ones;
so the combination is one that occurs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from evenhand._internal.arrays import Floats, Indices, Mask
from evenhand._internal.checks import refusal
from evenhand.errors import InvalidInput
from evenhand.interview.question import Label, Question
from evenhand.metrics.verdicts import Pairs
from evenhand.records.contexts import NORM_TOLERANCE
from evenhand.schema import Schema

Features: TypeAlias = Schema | Sequence[Label | None] | None

MOST_WHOLE = 8
"""Up to this many features people are compared as they are, by default: docs/interview.md has the reasons."""

USUAL = 3
"""In how many features the two people of a partial profile differ at most, by default."""

POOL = 500  # Number of people, drawn at random if there are more, among whom donors are looked for.
NEAREST = 10  # The donor is drawn from this many of the nearest people.
LEAST_WEIGHT = 0.01
"""The weight of a feature that does not depend on the replaced ones, in choosing the donor; 1 for one that repeats
them. There may be dozens of the first kind."""

LARGEST_SQUARE = (1.0 + NORM_TOLERANCE) ** 2


def usual_differences(n_features: int) -> int | None:
    """In how many features two people differ at most, by default; None: whole profiles.

    >>> usual_differences(8), usual_differences(24)
    (None, 3)
    """
    return None if n_features <= MOST_WHOLE else USUAL


def chosen_differences(differ_in: int | None, n_features: int) -> int | None:
    """What `Interview` takes for a setting: None for the usual, 0 for whole profiles, or a number.

    >>> chosen_differences(None, 24), chosen_differences(0, 24), chosen_differences(2, 3)
    (3, None, 2)
    """
    return usual_differences(n_features) if differ_in is None else differ_in or None


def labels_of(features: Features, n_columns: int) -> tuple[Label | None, ...]:
    """The feature of each column; None for one that never differs. Default: every column is a feature, by its number.

    >>> from evenhand.schema import Category, YesNo
    >>> labels_of(Schema([YesNo("member"), Category("size", levels=("S", "L"))]), 4)
    ('member', 'size', 'size', None)
    """
    if features is None:
        return tuple(range(n_columns))
    if isinstance(features, Schema):
        labels: tuple[Label | None, ...] = (*features.block_labels,)
        labels = (*labels[:-1], None) if features.intercept else labels
    else:
        labels = tuple(features)
    known = all(label is None or (isinstance(label, str | int) and not isinstance(label, bool)) for label in labels)
    if isinstance(features, str) or len(labels) != n_columns or not known:
        raise refusal("features", f"a Schema of {n_columns} coordinates, or a label for each of them", features)
    return labels


@dataclass(frozen=True, eq=False)
class MadeUpPairs:
    """Pairs of a person and one made up from two, with the features that were replaced."""

    pairs: Pairs
    """Indices are those of the person and of the donor; differences those to the made-up person."""
    replaced: Mask
    """(n, number of features)."""


@dataclass(frozen=True, eq=False)
class PartialProfiles:
    """Makes up pairs who differ in at most `differ_in` features.

    candidates: real people, (n, d). labels: the feature of each column, None for columns that stay.
    """

    candidates: Floats
    labels: tuple[Label | None, ...]
    differ_in: int

    @cached_property
    def names(self) -> tuple[Label, ...]:
        """The features in which some of the candidates differ, in order."""
        varies = np.ptp(self.candidates, axis=0) > 0.0
        found = (label for label, differs in zip(self.labels, varies, strict=True) if differs)
        return tuple(dict.fromkeys(label for label in found if label is not None))

    def columns(self, names: Sequence[Label]) -> Mask:
        """Which columns belong to these features, (d,)."""
        return np.array([label is not None and label in names for label in self.labels])

    def second(self, question: Question) -> Floats:
        """The context of a question's second person, (d,)."""
        first, donor = self.candidates[list(question.pair)]
        if question.replaced is None:
            return np.asarray(donor)
        unknown = set(question.replaced) - set(self.labels)
        if unknown:
            raise InvalidInput(f"unknown features {', '.join(map(repr, unknown))} in question {question.number}")
        return np.asarray(np.where(self.columns(question.replaced), donor, first))

    def sample(self, n_pairs: int, rng: np.random.Generator) -> MadeUpPairs:
        """At most n_pairs pairs: random people, features and numbers of features; fewer where nobody can give them."""
        n, n_features = len(self.candidates), len(self.names)
        base = rng.integers(n, size=n_pairs)
        count = rng.integers(1, max(min(self.differ_in, n_features), 1) + 1, size=n_pairs)
        ranks = np.argsort(np.argsort(rng.random((n_pairs, n_features)), axis=1), axis=1)
        replaced = ranks < count[:, None]
        pool = np.arange(n) if n <= POOL else rng.choice(n, POOL, replace=False)
        donor, found = self._donors(base, replaced, pool, rng)
        base, donor, replaced = base[found], donor[found], replaced[found]
        first = self.candidates[base]
        second = np.where(replaced @ self._membership > 0.0, self.candidates[donor], first)
        fits = np.sum(second**2, axis=1) <= LARGEST_SQUARE  # without a schema, a mixture may be too long
        pairs = Pairs(np.stack([base, donor], axis=1), first - second)
        return MadeUpPairs(pairs.take(np.flatnonzero(fits)), replaced[fits])

    def _donors(self, base: Indices, replaced: Mask, pool: Indices, rng: np.random.Generator) -> tuple[Indices, Mask]:
        """Of each pair a donor who differs in every replaced feature, near in the others, and whether there is one."""
        weights = np.zeros(replaced.shape)
        for feature, dependence in enumerate(self._dependence):
            rows = np.flatnonzero(replaced[:, feature])
            weights[rows] = np.maximum(weights[rows], dependence)
        columns = np.where(replaced, 0.0, LEAST_WEIGHT + weights) @ (self._membership * self._precision)
        x, y = self.candidates[base], self.candidates[pool]
        distances = columns @ (y**2).T - 2.0 * (columns * x) @ y.T  # up to a constant of each pair
        for feature in range(len(self.names)):
            rows = np.flatnonzero(replaced[:, feature])
            same = self._codes[base[rows], feature][:, None] == self._codes[pool, feature]
            distances[rows] = np.where(same, np.inf, distances[rows])
        nearest = min(NEAREST, len(pool))
        places = np.argpartition(distances, nearest - 1, axis=1)[:, :nearest]
        near = np.take_along_axis(distances, places, axis=1)
        order = np.argsort(near, axis=1, kind="stable")
        able = np.sum(np.isfinite(near), axis=1)
        drawn = np.floor(rng.random(len(base)) * able).astype(np.int64)
        place = np.take_along_axis(places, np.take_along_axis(order, drawn[:, None], axis=1), axis=1)[:, 0]
        return pool[place], np.asarray((able > 0) & replaced.any(axis=1))

    # What is known of the features, computed once.

    @cached_property
    def _membership(self) -> Floats:
        """1 where a column belongs to a feature, (number of features, d)."""
        return np.array([self.columns([name]) for name in self.names], dtype=np.float64).reshape(-1, len(self.labels))

    @cached_property
    def _precision(self) -> Floats:
        """For each feature, one over its variance in all its columns, (number of features, 1)."""
        return np.asarray(1.0 / (self._membership @ np.var(self.candidates, axis=0))[:, None])

    @cached_property
    def _codes(self) -> Indices:
        """A number for each value of each feature, (n, number of features)."""
        tables = (self.candidates[:, row > 0.0] for row in self._membership)
        codes = [np.unique(table, axis=0, return_inverse=True)[1].reshape(-1) for table in tables]
        return np.stack(codes, axis=1)

    @cached_property
    def _dependence(self) -> Floats:
        """The largest squared correlation between columns of each two features, less what chance gives: 0 to 1."""
        n, centred = len(self.candidates), self.candidates - np.mean(self.candidates, axis=0)
        sizes = np.linalg.norm(centred, axis=0)
        unit = centred / np.where(sizes > 0.0, sizes, 1.0)
        squares = np.maximum((unit.T @ unit) ** 2 - 1.0 / (n - 1), 0.0)
        groups = [np.flatnonzero(row > 0.0) for row in self._membership]
        by_column = np.array([np.max(squares[group], axis=0) for group in groups])
        return np.array([np.max(by_column[:, group], axis=1) for group in groups])


def rows_of_question(question: Question, rows: Sequence[Mapping[str, Any]]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The two people of a question by feature; rows: the candidates'.

    >>> asked = Question(1, (0, 1), (0.35, 0.65), 0.3, "", ("debt",))
    >>> rows_of_question(asked, [{"age": 30, "debt": 0}, {"age": 50, "debt": 9_000}])[1]
    {'age': 30, 'debt': 9000}
    """
    first, donor = (dict(rows[index]) for index in question.pair)
    if question.replaced is None:
        return first, donor
    return first, {**first, **{str(name): donor[str(name)] for name in question.replaced}}
