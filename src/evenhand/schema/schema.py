"""`Schema`: the features of a candidate in order, and the way from rows to contexts and back."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.errors import DamagedFile, InvalidInput, NewerFile
from evenhand.schema.content import digest_of, load_content, read_content, save_content, write_content
from evenhand.schema.explain import explain
from evenhand.schema.features import Category, Feature, Number, YesNo
from evenhand.schema.fit import DoesNotFit, Problem
from evenhand.schema.rows import Extra, Rows, Table, read_rows
from evenhand.schema.values import as_floats, shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import ArrayLike, NDArray

    from evenhand.schema.effects import Explanation
    from evenhand.schema.explain import Ends

    Floats = NDArray[np.float64]

INTERCEPT = "intercept"
"""The name of the constant coordinate."""

DECODE_TOLERANCE = 1e-6
"""How far a coordinate, before scaling, may be off and still be decoded: room for contexts kept as float32."""


@dataclass(frozen=True, init=False)
class Schema:
    """The features of a candidate, in order: names, kinds, and what is allowed.

    Every feature becomes a block of coordinates of norm <= 1; with the intercept there are b blocks, and the whole
    is divided by sqrt(b), so every context has norm <= 1. Every feature has the same weight to begin with: the ends
    of a number, yes and no, and the two levels of a two-level category differ by 2/sqrt(b), two of L levels by
    sqrt(2L/(L-1))/sqrt(b). What a feature really counts for is learned.

    The intercept is a coordinate that is the same for everybody and gives linear rewards their offset. The
    difference of two candidates is zero there, so the metric never sees it.

    >>> schema = Schema([
    ...     Number("income", low=0, high=200_000, unit="EUR"),
    ...     Category("purpose", levels=("car", "home", "study")),
    ...     YesNo("has_guarantor"),
    ... ])
    >>> schema.n_features, schema.coordinates
    (6, ('income', 'purpose=car', 'purpose=home', 'purpose=study', 'has_guarantor', 'intercept'))
    >>> contexts = schema.encode([{"income": 50_000, "purpose": "car", "has_guarantor": True}])
    >>> contexts.round(3).tolist()
    [[-0.25, 0.408, -0.204, -0.204, 0.5, 0.5]]
    >>> schema.decode(contexts)
    [{'income': 50000.0, 'purpose': 'car', 'has_guarantor': True}]
    """

    features: tuple[Feature, ...]
    intercept: bool

    def __init__(self, features: Iterable[Feature], *, intercept: bool = True) -> None:
        if not hasattr(features, "__iter__"):
            raise InvalidInput(f"features is {shown(features)}; it must be a list of Number, Category or YesNo")
        if not isinstance(intercept, bool):
            raise InvalidInput(f"intercept is {shown(intercept)}; it must be True or False")
        object.__setattr__(self, "features", tuple(features))
        object.__setattr__(self, "intercept", intercept)
        if not self.features:
            raise InvalidInput("0 features given; a schema needs at least 1")
        for feature in self.features:
            if not isinstance(feature, Number | Category | YesNo):
                raise InvalidInput(f"{shown(feature)} is no feature; allowed are Number, Category and YesNo")
        for names, what in ((self.names, "feature"), (self.coordinates, "coordinate")):
            if len(set(names)) < len(names):
                twice = next(name for name in names if names.count(name) > 1)
                raise InvalidInput(f"two {what}s have the name {twice!r}; names must be unique")

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the features, in order."""
        return tuple(feature.name for feature in self.features)

    @cached_property
    def coordinates(self) -> tuple[str, ...]:
        """The names of the coordinates of a context, in order."""
        named = tuple(name for feature in self.features for name in feature.coordinates)
        return (*named, INTERCEPT) if self.intercept else named

    @property
    def n_features(self) -> int:
        """The length of a context: what `FairBandit(n_features=...)` wants."""
        return len(self.coordinates)

    @cached_property
    def scale(self) -> float:
        """What every block is multiplied by: 1/sqrt(b), less a margin for rounding in blocks, sums and norms."""
        blocks = len(self.features) + self.intercept
        return (1.0 - 4.0 * (self.n_features + 4) * float(np.finfo(np.float64).eps)) / math.sqrt(blocks)

    @cached_property
    def blocks(self) -> Mapping[str, slice]:
        """Where in a context each feature is.

        >>> Schema([YesNo("member"), Category("size", levels=("S", "L"))]).blocks["size"]
        slice(1, 3, None)
        """
        ends = np.cumsum([0] + [len(feature.coordinates) for feature in self.features]).tolist()
        return {name: slice(start, end) for name, start, end in zip(self.names, ends, ends[1:], strict=False)}

    def feature(self, name: str) -> Feature:
        """The feature of this name."""
        for feature in self.features:
            if feature.name == name:
                return feature
        raise InvalidInput(f"{shown(name)} is no feature; the features are {', '.join(self.names)}")

    def encode(self, rows: Rows, *, extra: Extra = "error") -> Floats:
        """Rows to contexts of norm <= 1.

        Parameters
        ----------
        rows: a list of dicts, a list of sequences in the order of the schema, or a pandas or polars data frame.
            A single candidate is a list of one.
        extra: "error" refuses keys and columns that are no feature, "ignore" passes over them.

        Returns
        -------
        contexts (k, n_features). Raises DoesNotFit with every problem of every row; rows are counted from 0.

        >>> Schema([Number("age", low=18, high=98)], intercept=False).encode([[38], {"age": 108}])
        Traceback (most recent call last):
        ...
        evenhand.schema.fit.DoesNotFit: row 1: age is 108; allowed is 18 to 98
        """
        values, problems = self._read(read_rows(self.names, rows, extra=extra))
        if problems:
            raise DoesNotFit(problems)
        blocks = [feature.encode(column) for feature, column in zip(self.features, values, strict=True)]
        if self.intercept:
            blocks.append(np.ones((len(blocks[0]), 1)))
        return np.hstack(blocks) * self.scale

    def problems(self, rows: Rows, *, extra: Extra = "error") -> tuple[Problem, ...]:
        """Everything that does not fit, without raising; empty when `encode` would take the rows.

        >>> [problem.feature for problem in Schema([YesNo("member")]).problems([{"member": "perhaps"}])]
        ['member']
        """
        return self._read(read_rows(self.names, rows, extra=extra))[1]

    def _read(self, table: Table) -> tuple[list[list[object]], tuple[Problem, ...]]:
        problems = list(table.problems)
        columns: list[list[object]] = []
        for feature in self.features:
            column: list[object] = []
            for row, value in enumerate(table.columns[feature.name]):
                if row in table.unread:
                    continue
                try:
                    column.append(feature.read(value))
                except InvalidInput as error:
                    problems.append(Problem(row, feature.name, str(error)))
            columns.append(column)
        order = {name: number for number, name in enumerate(self.names)}
        problems.sort(key=lambda p: (-1 if p.row is None else p.row, order.get(p.feature or "", -1)))
        return columns, tuple(problems)

    def decode(self, contexts: ArrayLike) -> list[dict[str, Any]]:
        """Contexts (k, n_features) back to rows as dicts; DoesNotFit for a context that is no encoded row.

        Numbers come back to about twelve digits of their range, the rest exactly.
        """
        array = as_floats(contexts, "contexts")
        if array.ndim != 2 or array.shape[1] != self.n_features:
            raise InvalidInput(f"contexts have shape {array.shape}; it must be (k, {self.n_features})")
        unfinite = np.flatnonzero(~np.isfinite(array).all(axis=1))
        if len(unfinite):
            raise DoesNotFit([Problem(int(row), None, "this context is not finite") for row in unfinite])
        array = np.clip(array, -2.0, 2.0) / self.scale  # beyond 1 nothing fits; far beyond, the division overflows
        rows = [{f.name: f.decode(row[self.blocks[f.name]]) for f in self.features} for row in array]
        again = self.encode(rows) / self.scale
        off = np.abs(again - array)
        wrong = np.flatnonzero(np.any(off > DECODE_TOLERANCE, axis=1))
        if len(wrong):
            worst = [self.coordinates[at] for at in np.argmax(off[wrong], axis=1)]
            reason = "this context is no encoded row of the schema, its coordinate {!r} the least"
            raise DoesNotFit([Problem(int(row), None, reason.format(at)) for row, at in zip(wrong, worst, strict=True)])
        return rows

    def difference(self, name: str, first: object, second: object) -> Floats:
        """The context of `second` less that of `first`, two candidates who differ in one feature only: (n_features,).

        >>> schema = Schema([YesNo("member"), YesNo("owner")], intercept=False)
        >>> schema.difference("owner", "no", "yes").round(3).tolist()
        [0.0, 1.414]
        """
        feature = self.feature(name)
        problems, values = [], []
        for value in (first, second):
            try:
                values.append(feature.read(value))
            except InvalidInput as error:
                problems.append(Problem(None, name, str(error)))
        if problems:
            raise DoesNotFit(problems)
        before, after = feature.encode(values) * self.scale
        whole = np.zeros(self.n_features)
        whole[self.blocks[name]] = after - before
        return whole

    def explain(self, matrix: ArrayLike, *, ends: Ends | None = None, negligible: float = 0.01) -> Explanation:
        """A learned matrix G over contexts, in words about features; see `evenhand.schema.explain`.

        Parameters
        ----------
        matrix: (n_features, n_features), symmetric and positive semidefinite, as `get_mahalanobis_matrix()` gives.
        ends: called once with differences (m, n_features), returns the lower and upper ends of their distances,
            each (m,); the sentences then carry them.
        negligible: a feature that makes less distance than this is said to make no difference.

        >>> schema = Schema([Number("income", low=0, high=200_000, unit="EUR"), YesNo("member")])
        >>> told = schema.explain(np.diag([0.6, 0.0, 1.0]))
        >>> print(told.sentences[0])
        A difference of 10,000 EUR in income makes a distance of 0.045: odds may differ by up to 4.5 percentage points.
        """
        return explain(self, matrix, ends=ends, negligible=negligible)

    @cached_property
    def digest(self) -> str:
        """A hash of the content, the same on every machine and in every process: for records."""
        return digest_of(self.to_dict())

    def to_dict(self) -> dict[str, Any]:
        """The schema in JSON's own types."""
        return write_content(self.features, intercept=self.intercept)

    @classmethod
    def from_dict(cls, content: object) -> Schema:
        """The schema that `to_dict` told; DamagedFile or NewerFile when there is none."""
        features, intercept = read_content(content)
        try:
            return cls(features, intercept=intercept)
        except InvalidInput as error:
            raise DamagedFile(f"the schema is damaged: {error}") from error

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the schema to a JSON file, whole or not at all."""
        save_content(self.to_dict(), path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Schema:
        """Read a saved schema; DamagedFile or NewerFile, with a sentence, when the file is none."""
        content = load_content(path)
        try:
            return cls.from_dict(content)
        except (DamagedFile, NewerFile) as error:
            raise type(error)(f"{os.fspath(path)}: {error}") from error
