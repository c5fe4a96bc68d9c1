"""Schema: the features of a candidate, and the encoding of rows as contexts."""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from evenhand._internal.arrays import Floats
from evenhand._internal.atomic_write import atomic_write
from evenhand._internal.checks import check_bool
from evenhand._internal.frames import ArrowStream, Frame
from evenhand.errors import DamagedFile, InvalidInput, NewerFile
from evenhand.schema._columns import columns_of
from evenhand.schema._explain import explain
from evenhand.schema._files import FORMAT, read_content, read_json, version_of, write_feature
from evenhand.schema._proposal import Note, by_text, propose
from evenhand.schema._text import text_of
from evenhand.schema.effects import Ends, InteractionSigns, MetricExplanation
from evenhand.schema.encoded_rows import EncodedRows, OnInvalid, blocks_of, decode_rows, encode_rows, read_columns
from evenhand.schema.features import NAMES, Category, Date, Feature, Number, Ordinal, YesNo
from evenhand.schema.rows import (
    DoesNotFit,
    Extra,
    RowProblem,
    Rows,
    checked_carry,
    read_rows,
    shown,
)
from evenhand.schema.words import NEGLIGIBLE

INTERCEPT = "intercept"  # The name of the constant coordinate.


@dataclass(frozen=True, init=False)
class Schema:
    """The features of a candidate, in order: names, kinds and valid values.

    Every feature becomes a block of coordinates of norm <= 1; with the intercept there are b blocks, and the whole
    is divided by sqrt(b), so every context has norm <= 1. Every feature has the same weight to begin with: the ends
    of a number, yes and no, and the two levels of a two-level category differ by 2/sqrt(b), two of L levels by
    sqrt(2L/(L-1))/sqrt(b). The real weights are learned.

    The intercept is a coordinate that is the same for everybody and gives linear rewards their offset. The
    difference of two candidates is zero there, so the metric never sees it.

    carry: columns that are kept with a candidate and not used: neither encoded nor shown to reviewers. One called "id"
    holds the ids of candidates. `Schema.from_frame` proposes a schema for a table; `print(schema)` shows it.

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
    carry: tuple[str, ...] = ()
    notes: tuple[Note, ...] = field(default=(), compare=False, repr=False)
    """What `from_frame` found to look at; not saved."""

    def __init__(
        self,
        features: Iterable[Feature],
        *,
        intercept: bool = True,
        carry: Iterable[str] = (),
        notes: Iterable[Note] = (),
    ) -> None:
        if not hasattr(features, "__iter__"):
            raise InvalidInput(f"features must be a list of {NAMES}, got {shown(features)}")
        check_bool("intercept", intercept)
        object.__setattr__(self, "features", tuple(features))
        object.__setattr__(self, "intercept", intercept)
        object.__setattr__(self, "carry", checked_carry(carry))
        object.__setattr__(self, "notes", tuple(notes))
        if not self.features:
            raise InvalidInput("a schema must have at least 1 feature, got 0")
        for feature in self.features:
            if not isinstance(feature, Number | Category | YesNo | Ordinal | Date):
                raise InvalidInput(f"a feature must be a {NAMES}, got {shown(feature)}")
        if intercept and INTERCEPT in self.names:
            raise InvalidInput(f"a feature must not be called {INTERCEPT!r}, as the constant coordinate is: rename it")
        columns = (*self.names, *self.carry)
        for names, what in ((self.names, "feature"), (self.coordinates, "coordinate"), (columns, "column")):
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
        """How far apart the contexts of two candidates are at most: 2 sqrt(f/b), f of the b blocks being features."""
        return 2.0 * math.sqrt(len(self.features)) * self.scale

    @cached_property
    def blocks(self) -> Mapping[str, slice]:
        """The slice of a context that belongs to each feature.

        >>> Schema([YesNo("member"), Category("size", levels=("S", "L"))]).blocks["size"]
        slice(1, 3, None)
        """
        ends = np.cumsum([0] + [len(feature.coordinates) for feature in self.features]).tolist()
        return {name: slice(start, end) for name, start, end in zip(self.names, ends, ends[1:], strict=False)}

    @cached_property
    def block_labels(self) -> tuple[str, ...]:
        """The feature of each coordinate, for `BayesPoint(blocks=)`; the intercept is one of its own."""
        return (*(f.name for f in self.features for _ in f.coordinates), *([INTERCEPT] * self.intercept))

    def feature(self, name: str) -> Feature:
        """The feature of this name."""
        for feature in self.features:
            if feature.name == name:
                return feature
        raise InvalidInput(f"unknown feature {shown(name)}; the schema has {', '.join(self.names)}")

    def replace(self, *features: Feature) -> Schema:
        """The schema with these features in the place of those of the same names; others are added at the end.

        >>> print(*Schema([Number("grade", low=1, high=3)]).replace(Category("grade", ("1", "2", "3"))).coordinates)
        grade=1 grade=2 grade=3 intercept
        """
        new = {feature.name: feature for feature in Schema(features).features}
        changed = [new.pop(feature.name, feature) for feature in self.features]
        return self._with([*changed, *new.values()], self.carry, {feature.name for feature in features})

    def without(self, *names: str, carry: bool = False) -> Schema:
        """The schema without these features or carried columns; carry: carry the features instead.

        >>> Schema([YesNo("member"), YesNo("approved")]).without("approved").names
        ('member',)
        """
        for name in names:
            if name not in self.carry:
                self.feature(name)
        kept = [feature for feature in self.features if feature.name not in names]
        moved = [feature.name for feature in self.features if feature.name in names] if carry else []
        return self._with(kept, [*(name for name in self.carry if name not in names), *moved], set(names))

    @property
    def to_look_at(self) -> list[str]:
        """What to look at in a proposal: a line for each note, with all columns that it is about."""
        return by_text(self.notes)

    def _with(self, features: Iterable[Feature], carry: Iterable[str], changed: set[str]) -> Schema:
        """With other columns; notes on those that have changed are dropped."""
        notes = [note for note in self.notes if note.column not in changed]
        return Schema(features, intercept=self.intercept, carry=carry, notes=notes)

    def __str__(self) -> str:
        return text_of(self)

    def encode(self, rows: Rows, *, extra: Extra | None = None) -> Floats:
        """Rows to contexts (k, n_features) of norm <= 1; raises DoesNotFit with every problem of every row.

        rows: a list of dicts, a list of sequences in the order of the schema, or a data frame of pandas, polars or
        Arrow; a single candidate is a list of one. extra: "error" refuses unknown keys and columns, "warn" names them
        in a warning, "ignore" skips them. None refuses unknown keys of dicts, which may be misspelt, and warns of
        columns.

        >>> Schema([Number("age", low=18, high=98)], intercept=False).encode([[38], {"age": 108}])
        Traceback (most recent call last):
        ...
        evenhand.schema.rows.DoesNotFit: row 1: age must be a number from 18 to 98, got 108
        """
        values, problems = read_columns(self, read_rows(self.names, rows, extra=extra, carry=self.carry))
        if problems:
            raise DoesNotFit(problems)
        return blocks_of(self, values)

    def read(
        self,
        rows: Rows,
        *,
        on_invalid: OnInvalid = "refuse",
        ids: Sequence[str] | None = None,
        extra: Extra | None = None,
    ) -> EncodedRows:
        """Contexts of the rows that fit, with the ids of candidates, who was left out and why, and what counts as what.

        on_invalid: "refuse" raises DoesNotFit if any row does not fit; "skip" leaves such rows out; "clip" counts
        numbers and dates beyond a range as its end, and leaves out whoever still does not fit. ids: of the rows; None
        takes them from the carried column "id", or else from the index of a pandas frame, or numbers the rows.

        >>> schema = Schema([Number("age", low=18, high=98)], carry=("id",))
        >>> people = schema.read([{"id": "ada", "age": 38}, {"id": "bob", "age": 180}], on_invalid="skip")
        >>> people.ids, people.contexts.shape
        (('ada',), (1, 2))
        >>> print(people.left_out[0])
        bob: age must be a number from 18 to 98, got 180
        """
        table = read_rows(self.names, rows, extra=extra, carry=self.carry, ids=ids)
        return encode_rows(self, table, on_invalid)

    def problems(self, rows: Rows, *, extra: Extra | None = None) -> tuple[RowProblem, ...]:
        """All problems of the rows; empty when `encode` accepts them.

        >>> [problem.feature for problem in Schema([YesNo("member")]).problems([{"member": "perhaps"}])]
        ['member']
        """
        return read_columns(self, read_rows(self.names, rows, extra=extra, carry=self.carry))[1]

    def decode(self, contexts: ArrayLike) -> list[dict[str, Any]]:
        """Contexts (k, n_features) back to rows as dicts; raises DoesNotFit for a context that is not an encoded row.

        Numbers come back to about twelve digits of their range, the rest exactly.
        """
        return decode_rows(self, contexts)

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
        self,
        matrix: ArrayLike,
        *,
        ends: Ends | None = None,
        negligible: float = NEGLIGIBLE,
        signs: InteractionSigns | None = None,
    ) -> MetricExplanation:
        """A learned matrix G (n_features, n_features), as `get_mahalanobis_matrix()` gives, in terms of features.

        ends: called once with differences (m, n_features), returns lower and upper bounds on their distances, for the
        sentences, each (m,). negligible: a feature that makes less distance than this makes no difference. signs: which
        features count together by the evidence of answers; None takes the strongest interaction of the matrix.
        `bandit.explain(schema)` passes all of it.

        >>> schema = Schema([Number("income", low=0, high=200_000, unit="EUR"), YesNo("member")])
        >>> print(schema.explain(np.diag([0.2, 0.0, 1.0])).sentences[-1])
        member makes no difference so far: candidates who differ in nothing else get the same probability.
        """
        return explain(self, matrix, ends=ends, negligible=negligible, signs=signs)

    @property
    def is_open(self) -> bool:
        """Whether the scale of a number still has to be taken from a table, with `fitted`."""
        return any(isinstance(feature, Number) and feature.is_open for feature in self.features)

    @classmethod
    def from_frame(
        cls,
        frame: Frame | ArrowStream | Sequence[Mapping[str, Any]],
        *,
        kinds: Mapping[str, Literal["category", "ordinal"]] | None = None,
        carry: Iterable[str] = (),
    ) -> Schema:
        """A schema for a table of people: kinds, ranges, levels, scales and missing values, to look at and to edit.

        frame: a data frame of pandas, polars or Arrow, or a list of dicts. kinds: columns of numbers that are codes
        ("category") or grades ("ordinal"). carry: columns to carry and not to use, beside those that look like ids or
        tell nobody apart. Every row of the table fits, but for infinite numbers. Missing values become a level of their
        own, "unknown". `print(schema)` shows it, with notes on what to look at; change it with `replace` and `without`,
        or save it and edit the JSON.

        >>> table = [{"age": 20 + 7 * n % 30, "job": ("clerk", "nurse")[n % 2], "member": n > 9} for n in range(40)]
        >>> print(Schema.from_frame(table))
        feature  kind      values           missing
        age      number    20 to 50, whole  refused
        job      category  clerk, nurse     refused
        member   yes/no    yes or no        refused
        3 features, 5 coordinates with the intercept
        """
        found = propose(columns_of(frame, kinds or {}), checked_carry(carry))
        return cls(found.features, carry=found.carry, notes=found.notes)

    def fitted(self, rows: Rows, *, extra: Extra | None = None) -> Schema:
        """The schema with a scale for every number that has "auto", or "quantile" without knots, from a table.

        Missing values are skipped; other values of these numbers must fit, or DoesNotFit is raised. Other features may
        have any values, and a scale that is fixed stays as it is.

        >>> schema = Schema([Number("debt", low=0, high=90_000, step=1_000, scale="auto"), YesNo("member")])
        >>> table = [{"debt": debt} for debt in (0, 800, 2_000, None, 5_000, 9_000, 20_000, 90_000)]
        >>> schema.fitted(table).feature("debt").scale
        'log'
        """
        table = read_rows(self.names, rows, extra=extra, carry=self.carry)
        problems = list(table.problems)
        features: list[Feature] = []
        for feature in self.features:
            if not isinstance(feature, Number) or not feature.is_open:
                features.append(feature)
                continue
            column, misfits = table.fitting(feature.name, feature.read)
            problems += misfits
            features.append(feature.fitted(column))
        if problems:
            raise DoesNotFit(problems)
        return self._with(features, self.carry, set())

    @cached_property
    def digest(self) -> str:
        """The SHA-256 of features, intercept and carried columns, as 64 hexadecimal digits, the same on every machine.

        Without the format version: the same schema in a later format keeps its digest.
        """
        content = self.to_dict()
        part = {name: content[name] for name in ("intercept", "features", "carry") if name in content}
        text = json.dumps(part, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
        return hashlib.sha256(text.encode("ascii")).hexdigest()

    def to_dict(self) -> dict[str, Any]:
        """The schema in JSON types."""
        features = [write_feature(feature) for feature in self.features]
        version = version_of(features, carry=bool(self.carry))
        carry = {"carry": list(self.carry)} if self.carry else {}
        return {"format": FORMAT, "version": version, "intercept": self.intercept, "features": features, **carry}

    @classmethod
    def from_dict(cls, content: object) -> Schema:
        """The schema that `to_dict` wrote; raises DamagedFile or NewerFile."""
        features, intercept, carry, digest = read_content(content)
        try:
            schema = cls(features, intercept=intercept, carry=carry)
        except InvalidInput as error:
            raise DamagedFile(f"the schema is damaged: {error}") from error
        if digest not in (None, schema.digest):
            again = "if it was meant, remove the digest"
            raise DamagedFile(f"the schema was changed since it was saved: its digest does not match; {again}")
        return schema

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the schema and its digest to a JSON file, atomically."""
        text = json.dumps({**self.to_dict(), "digest": self.digest}, indent=2, allow_nan=False) + "\n"
        with atomic_write(path) as file:
            file.write(text.encode())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Schema:
        """Read a saved schema; raises DamagedFile or NewerFile."""
        content = read_json(path)
        try:
            return cls.from_dict(content)
        except (DamagedFile, NewerFile) as error:
            raise type(error)(f"{os.fspath(path)}: {error}") from error
