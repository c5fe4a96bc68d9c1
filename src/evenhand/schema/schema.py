"""Schema: the features of a candidate, and the encoding of rows as contexts."""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from evenhand._internal.arrays import Floats
from evenhand._internal.atomic_write import atomic_write
from evenhand._internal.checks import check_bool, is_whole
from evenhand.errors import DamagedFile, InvalidInput, NewerFile
from evenhand.schema._explain import explain
from evenhand.schema.effects import Ends, MetricExplanation
from evenhand.schema.features import Category, Feature, Number, YesNo
from evenhand.schema.rows import (
    DoesNotFit,
    Extra,
    RawColumns,
    RowProblem,
    Rows,
    as_floats,
    is_missing,
    read_rows,
    shown,
)
from evenhand.schema.words import NEGLIGIBLE

FORMAT = "evenhand schema"
VERSION = 2  # Written only if a number has another scale than the linear one: 0.1 reads the others.
KINDS: dict[str, type[Feature]] = {kind.kind: kind for kind in (Number, Category, YesNo)}

INTERCEPT = "intercept"  # The name of the constant coordinate.

DECODE_TOLERANCE = 1e-6
"""Accepted error of a coordinate, before scaling, in decoding: contexts may have been stored as float32."""

NOT_ENCODED = "the context must be an encoded row of the schema, got an invalid coordinate {!r}"


@dataclass(frozen=True, init=False)
class Schema:
    """The features of a candidate, in order: names, kinds and valid values.

    Every feature becomes a block of coordinates of norm <= 1; with the intercept there are b blocks, and the whole
    is divided by sqrt(b), so every context has norm <= 1. Every feature has the same weight to begin with: the ends
    of a number, yes and no, and the two levels of a two-level category differ by 2/sqrt(b), two of L levels by
    sqrt(2L/(L-1))/sqrt(b). The real weights are learned.

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
            raise InvalidInput(f"features must be a list of Number, Category or YesNo, got {shown(features)}")
        check_bool("intercept", intercept)
        object.__setattr__(self, "features", tuple(features))
        object.__setattr__(self, "intercept", intercept)
        if not self.features:
            raise InvalidInput("a schema must have at least 1 feature, got 0")
        for feature in self.features:
            if not isinstance(feature, Number | Category | YesNo):
                raise InvalidInput(f"a feature must be a Number, Category or YesNo, got {shown(feature)}")
        for names, what in ((self.names, "feature"), (self.coordinates, "coordinate")):
            if len(set(names)) < len(names):
                twice = next(name for name in names if names.count(name) > 1)
                raise InvalidInput(f"names of {what}s must be unique, got {twice!r} twice")

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
        """The length of a context: `FairBandit(n_features=...)`."""
        return len(self.coordinates)

    @cached_property
    def scale(self) -> float:
        """The factor on every block: 1/sqrt(b), less a margin for rounding in blocks, sums and norms."""
        blocks = len(self.features) + self.intercept
        return (1.0 - 4.0 * (self.n_features + 4) * float(np.finfo(np.float64).eps)) / math.sqrt(blocks)

    @property
    def farthest(self) -> float:
        """How far apart the contexts of two candidates are at most: 2 sqrt(f/b), f of the b blocks being features.

        Two levels of a category with more than two differ by less.
        """
        return 2.0 * math.sqrt(len(self.features)) * self.scale

    @cached_property
    def blocks(self) -> Mapping[str, slice]:
        """The slice of a context that belongs to each feature.

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
        raise InvalidInput(f"unknown feature {shown(name)}; the schema has {', '.join(self.names)}")

    def encode(self, rows: Rows, *, extra: Extra = "error") -> Floats:
        """Rows to contexts (k, n_features) of norm <= 1; raises DoesNotFit with every problem of every row.

        rows: a list of dicts, a list of sequences in the order of the schema, or a pandas or polars data frame; a
        single candidate is a list of one. extra: "error" refuses unknown keys and columns, "ignore" skips them.

        >>> Schema([Number("age", low=18, high=98)], intercept=False).encode([[38], {"age": 108}])
        Traceback (most recent call last):
        ...
        evenhand.schema.rows.DoesNotFit: row 1: age must be a number from 18 to 98, got 108
        """
        values, problems = self._read(read_rows(self.names, rows, extra=extra))
        if problems:
            raise DoesNotFit(problems)
        blocks = [feature.encode(column) for feature, column in zip(self.features, values, strict=True)]
        if self.intercept:
            blocks.append(np.ones((len(blocks[0]), 1)))
        return np.hstack(blocks) * self.scale

    def problems(self, rows: Rows, *, extra: Extra = "error") -> tuple[RowProblem, ...]:
        """All problems of the rows; empty when `encode` accepts them.

        >>> [problem.feature for problem in Schema([YesNo("member")]).problems([{"member": "perhaps"}])]
        ['member']
        """
        return self._read(read_rows(self.names, rows, extra=extra))[1]

    def _read(self, table: RawColumns) -> tuple[list[list[object]], tuple[RowProblem, ...]]:
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
                    problems.append(RowProblem(row, feature.name, str(error)))
            columns.append(column)
        order = {name: number for number, name in enumerate(self.names)}
        problems.sort(key=lambda p: (-1 if p.row is None else p.row, order.get(p.feature or "", -1)))
        return columns, tuple(problems)

    def decode(self, contexts: ArrayLike) -> list[dict[str, Any]]:
        """Contexts (k, n_features) back to rows as dicts; raises DoesNotFit for a context that is not an encoded row.

        Numbers come back to about twelve digits of their range, the rest exactly.
        """
        array = as_floats(contexts, "contexts")
        if array.ndim != 2 or array.shape[1] != self.n_features:
            raise InvalidInput(f"contexts must have shape (k, {self.n_features}), got {array.shape}")
        unfinite = [(number, row[~np.isfinite(row)]) for number, row in enumerate(array) if not np.isfinite(row).all()]
        if unfinite:
            reason = "the context must be finite, got {} in it"
            raise DoesNotFit([RowProblem(number, None, reason.format(bad[0])) for number, bad in unfinite])
        array = np.clip(array, -2.0, 2.0) / self.scale  # beyond 1 nothing fits; far beyond, the division overflows
        rows = [{f.name: f.decode(row[self.blocks[f.name]]) for f in self.features} for row in array]
        again = self.encode(rows) / self.scale
        off = np.abs(again - array)
        wrong = np.flatnonzero(np.any(off > DECODE_TOLERANCE, axis=1))
        if len(wrong):
            worst = [self.coordinates[at] for at in np.argmax(off[wrong], axis=1)]
            problems = [
                RowProblem(int(row), None, NOT_ENCODED.format(at)) for row, at in zip(wrong, worst, strict=True)
            ]
            raise DoesNotFit(problems)
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
                problems.append(RowProblem(None, name, str(error)))
        if problems:
            raise DoesNotFit(problems)
        before, after = feature.encode(values) * self.scale
        whole = np.zeros(self.n_features)
        whole[self.blocks[name]] = after - before
        return whole

    def explain(
        self, matrix: ArrayLike, *, ends: Ends | None = None, negligible: float = NEGLIGIBLE
    ) -> MetricExplanation:
        """A learned matrix G (n_features, n_features), as `get_mahalanobis_matrix()` gives, in terms of features.

        ends: called once with differences (m, n_features), returns lower and upper bounds on their distances, for the
        sentences, each (m,). negligible: a feature that makes less distance than this makes no difference.

        >>> schema = Schema([Number("income", low=0, high=200_000, unit="EUR"), YesNo("member")])
        >>> print(schema.explain(np.diag([0.2, 0.0, 1.0])).sentences[-1])
        member makes no difference so far: candidates who differ in nothing else get the same probability.
        """
        return explain(self, matrix, ends=ends, negligible=negligible)

    @property
    def is_open(self) -> bool:
        """Whether the scale of a number still has to be taken from a table, with `fitted`."""
        return any(isinstance(feature, Number) and feature.is_open for feature in self.features)

    def fitted(self, rows: Rows, *, extra: Extra = "error") -> Schema:
        """The schema with a scale for every number that has "auto", or "quantile" without knots, from a table.

        Missing values are skipped; other values of these numbers must fit, or DoesNotFit is raised. Other features may
        have any values, and a scale that is fixed stays as it is.

        >>> schema = Schema([Number("debt", low=0, high=90_000, step=1_000, scale="auto"), YesNo("member")])
        >>> table = [{"debt": debt} for debt in (0, 800, 2_000, None, 5_000, 9_000, 20_000, 90_000)]
        >>> schema.fitted(table).feature("debt").scale
        'log'
        """
        table = read_rows(self.names, rows, extra=extra)
        problems = list(table.problems)
        features: list[Feature] = []
        for feature in self.features:
            if not isinstance(feature, Number) or not feature.is_open:
                features.append(feature)
                continue
            column = [None if row in table.unread else value for row, value in enumerate(table.columns[feature.name])]
            for row, value in enumerate(column):
                try:
                    _ = None if is_missing(value) else feature.read(value)
                except InvalidInput as error:
                    problems.append(RowProblem(row, feature.name, str(error)))
                    column[row] = None
            features.append(feature.fitted(column))
        if problems:
            raise DoesNotFit(problems)
        return Schema(features, intercept=self.intercept)

    @cached_property
    def digest(self) -> str:
        """The SHA-256 of the features and the intercept, as 64 hexadecimal digits, the same on every machine.

        Without the format version: the same schema in a later format keeps its digest.
        """
        content = self.to_dict()
        part = {"intercept": content["intercept"], "features": content["features"]}
        text = json.dumps(part, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
        return hashlib.sha256(text.encode("ascii")).hexdigest()

    def to_dict(self) -> dict[str, Any]:
        """The schema in JSON types."""
        features = [_write_feature(feature) for feature in self.features]
        version = VERSION if any("scale" in feature for feature in features) else 1
        return {"format": FORMAT, "version": version, "intercept": self.intercept, "features": features}

    @classmethod
    def from_dict(cls, content: object) -> Schema:
        """The schema that `to_dict` wrote; raises DamagedFile or NewerFile."""
        if not isinstance(content, dict):
            raise DamagedFile(f"a saved schema must be a JSON object, got {shown(content)}")
        if content.get("format") != FORMAT:
            raise DamagedFile(f"the format of a saved schema must be {FORMAT!r}, got {shown(content.get('format'))}")
        version: Any = content.get("version")
        if not is_whole(version) or version < 1:
            raise DamagedFile(f"the version of a schema must be a whole number >= 1, got {shown(version)}")
        if version > VERSION:
            raise NewerFile(
                f"the schema has format {version}, written by a newer evenhand; this one reads up to {VERSION}"
            )
        listed, intercept = content.get("features"), content.get("intercept")
        if not isinstance(listed, list) or not isinstance(intercept, bool):
            kinds = f"{type(listed).__name__} and {shown(intercept)}"
            raise DamagedFile(f"the schema is damaged: features must be a list and intercept a bool, got {kinds}")
        features = [_read_feature(number, entry) for number, entry in enumerate(listed)]
        try:
            schema = cls(features, intercept=intercept)
        except InvalidInput as error:
            raise DamagedFile(f"the schema is damaged: {error}") from error
        if content.get("digest") not in (None, schema.digest):
            raise DamagedFile("the schema was changed since it was saved: its digest does not match")
        return schema

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the schema and its digest to a JSON file, atomically."""
        text = json.dumps({**self.to_dict(), "digest": self.digest}, indent=2, allow_nan=False) + "\n"
        with atomic_write(path) as file:
            file.write(text.encode())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Schema:
        """Read a saved schema; raises DamagedFile or NewerFile."""
        try:
            content = json.loads(Path(path).read_bytes().decode("utf-8"))
        except (ValueError, RecursionError) as error:
            raise DamagedFile(f"{os.fspath(path)} must be a saved schema in JSON: {error}") from error
        try:
            return cls.from_dict(content)
        except (DamagedFile, NewerFile) as error:
            raise type(error)(f"{os.fspath(path)}: {error}") from error


def _write_feature(feature: Feature) -> dict[str, Any]:
    values = {name: list(value) if isinstance(value, tuple) else value for name, value in vars(feature).items()}
    if isinstance(feature, Number):  # the linear scale is left out, so that such schemas keep the digests of 0.1
        scale: dict[str, Any] = {} if feature.scale == "linear" else {"scale": feature.scale}
        knots = {} if feature.knots is None else {"knots": [list(knot) for knot in feature.knots]}
        values = {name: value for name, value in values.items() if name not in ("scale", "knots")} | scale | knots
    return {"kind": feature.kind} | values


def _read_feature(number: int, entry: object) -> Feature:
    found = entry.get("kind") if isinstance(entry, dict) else entry
    if not isinstance(entry, dict) or found not in list(KINDS):
        expected = f"its kind must be one of {', '.join(KINDS)}, got {shown(found)}"
        raise DamagedFile(f"feature {number} of the schema is damaged: {expected}")
    kind = KINDS[entry["kind"]]
    try:
        return kind(**{name: value for name, value in entry.items() if name != "kind"})
    except (InvalidInput, TypeError) as error:  # TypeError: an entry that is missing or unknown
        raise DamagedFile(f"feature {number} of the schema is damaged: {error}") from error
