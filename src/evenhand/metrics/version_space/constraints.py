"""Answers as linear constraints on alpha: half-spaces, and unions of them for one-bit answers.

A cloud of points needs products of small tables. For a few hundred rows a threaded library spends as much on waking and
spinning its threads as on the work: a round cost twice the processor time, and as much of the clock. These are computed
in one thread, and their sums in one order on every processor.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from evenhand._internal.arrays import Floats, Indices, Mask
from evenhand._internal.jit import jit
from evenhand.metrics.verdicts import HalfSpaces


@dataclass(frozen=True, eq=False)
class Constraints:
    """Answers, each of one or more rows A alpha >= b of which at least one holds if the answer is right."""

    A: Floats
    """(n, m)."""
    b: Floats
    """(n,)."""
    answer: Indices
    """The answer that each row belongs to, ascending, (n,)."""
    reviewers: Indices
    """The reviewer of each answer, (a,)."""

    @classmethod
    def none(cls, n_unknowns: int) -> Self:
        """No answers."""
        no = np.zeros(0, np.int64)
        return cls(np.zeros((0, n_unknowns)), np.zeros(0), no, no)

    @classmethod
    def of(cls, half_spaces: HalfSpaces, set_back: float, reviewer: int, ladder: Floats | None = None) -> Self:
        """One answer of this reviewer for each half-space, moved outwards by `set_back`.

        ladder: several answers for each, moved outwards by these distances, (s,).
        """
        sides, thresholds, normals = half_spaces.sides, half_spaces.thresholds, half_spaces.normals
        if ladder is not None:
            roots = np.sqrt(thresholds)[:, None] - sides[:, None] * ladder
            thresholds, sides = np.maximum(roots, 0.0).ravel() ** 2, np.repeat(sides, len(ladder))
            normals = np.repeat(normals, len(ladder), axis=0)
        n = len(sides)
        return cls(sides[:, None] * normals, sides * thresholds - set_back, np.arange(n), np.full(n, reviewer))

    def as_one(self) -> Constraints:
        """One answer: that at least one of these is right."""
        return Constraints(self.A, self.b, np.zeros(len(self.b), np.int64), self.reviewers[:1])

    def __len__(self) -> int:
        return len(self.reviewers)

    @property
    def is_single(self) -> Mask:
        """Which answers have one row, (a,)."""
        return np.asarray(np.bincount(self.answer, minlength=len(self)) == 1)

    def first_occurrences(self) -> Mask:
        """Which answers, of one row each, do not repeat an earlier one: the same said twice is said once, (a,)."""
        table = np.column_stack([self.A, self.b]) + 0.0  # -0.0 is 0.0
        seen: set[bytes] = set()
        return np.array([not (row in seen or seen.add(row)) for row in map(bytes, table)], np.bool_)  # type: ignore[func-returns-value]

    def half_spaces(self) -> HalfSpaces:
        """The answers of one row each."""
        rows = self.is_single[self.answer]
        return HalfSpaces(self.A[rows], self.b[rows], np.ones(int(rows.sum())))

    def take(self, answers: Mask) -> Constraints:
        """Some of the answers."""
        if answers.all():
            return self
        rows = answers[self.answer]
        numbers = np.cumsum(answers) - 1
        return Constraints(self.A[rows], self.b[rows], numbers[self.answer[rows]], self.reviewers[answers])

    def joined(self, other: Constraints) -> Constraints:
        """These answers, then the others."""
        return Constraints(
            np.concatenate([self.A, other.A]),
            np.concatenate([self.b, other.b]),
            np.concatenate([self.answer, other.answer + len(self)]),
            np.concatenate([self.reviewers, other.reviewers]),
        )

    def loosened(self, amounts: Floats) -> Constraints:
        """With every row of an answer moved outwards by the answer's amount, (a,)."""
        return Constraints(self.A, self.b - amounts[self.answer], self.answer, self.reviewers)

    def slacks(self, points: Floats) -> Floats:
        """How far inside each answer the points lie, by the row that holds best; negative outside. (N, m) -> (N, a)."""
        rows = values_at(points, self.A) - self.b
        if len(self) == len(self.b):
            return np.asarray(rows)
        return np.asarray(np.maximum.reduceat(rows, np.searchsorted(self.answer, np.arange(len(self))), axis=1))

    def sorted_rows(self, cone: Floats, n_reviewers: int) -> tuple[Floats, Floats, int, Indices, Indices, Indices]:
        """A transposed, b, n_hard, starts, bit_starts and bit_reviewers for the walk, behind the rows of a cone."""
        single = np.flatnonzero(self.is_single[self.answer])
        owners = self.reviewers[self.answer[single]]
        single, owners = single[np.argsort(owners, kind="stable")], np.sort(owners)
        bits = np.flatnonzero(~self.is_single[self.answer])
        order = np.concatenate([single, bits])
        starts = len(cone) + np.searchsorted(owners, np.arange(n_reviewers + 1))
        first = len(cone) + len(single)
        bit_starts = first + np.append(np.flatnonzero(np.diff(self.answer[bits], prepend=-1)), len(bits))
        A = np.ascontiguousarray(np.concatenate([cone, self.A[order]]).T)
        b = np.concatenate([np.zeros(len(cone)), self.b[order]])
        return A, b, int(starts[0]), starts, bit_starts, self.reviewers[~self.is_single]

    def state(self) -> dict[str, Any]:
        """The arrays by name."""
        return dict(vars(self))

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """The answers with this `state`."""
        return cls(**{name: value.copy() for name, value in state.items()})


# Products.


@jit
def fill_products(rows: Floats, columns: Floats, table: Floats) -> None:
    """Fill `table` (N, n) with rows (N, m) times columns (m, n)."""
    for s in range(len(rows)):
        for f in range(table.shape[1]):
            table[s, f] = 0.0
        for i in range(len(columns)):
            for f in range(table.shape[1]):
                table[s, f] += rows[s, i] * columns[i, f]


def values_at(points: Floats, normals: Floats) -> Floats:
    """<alpha, u> for each point and each of `normals`: (N, m), (n, m) -> (N, n)."""
    table = np.empty((len(points), len(normals)))
    fill_products(points, np.ascontiguousarray(normals.T), table)
    return table


def weighted_sums(weights: Floats, table: Floats | Mask) -> Floats:
    """The weighted sum of each column: (N,), (N, n) -> (n,)."""
    sums: Floats = np.empty(table.shape[1])
    fill_products(weights[None, :], np.ascontiguousarray(table, dtype=np.float64), sums[None, :])
    return sums


def weighted_quantiles(values: Floats, weights: Floats, q: float) -> Floats:
    """The least value of each column that a mass of q or more does not exceed: (N, n), (N,) -> (n,).

    >>> weighted_quantiles(np.array([[3.0], [1.0], [2.0]]), np.array([0.5, 0.2, 0.3]), 0.4).tolist()
    [2.0]
    """
    rows = np.ascontiguousarray(values.T)  # sorting neighbours takes a third of the time
    order = np.argsort(rows, axis=1)
    last = np.argmax(np.cumsum(weights[order], axis=1) >= q, axis=1)
    ranks = np.arange(len(rows))
    return np.asarray(rows[ranks, order[ranks, last]])
