"""Features with levels: Category, without an order, and Ordinal, with one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from itertools import combinations
from typing import ClassVar

import numpy as np

from evenhand._internal.arrays import Floats
from evenhand.errors import InvalidInput
from evenhand.schema._coordinate import (
    UNKNOWN,
    OneCoordinate,
    as_level,
    check_feature_name,
    check_level,
    checked_levels,
    invalid,
    listed_levels,
)
from evenhand.schema.rows import is_missing, shown


@dataclass(frozen=True)
class Category:
    """One of several levels, encoded as one coordinate per level.

    The block is the one-hot vector, centred and scaled to norm 1: sqrt((L-1)/L) at the level, -1/sqrt(L(L-1)) at the
    others. All levels are equally far apart, and with two levels as far as the yes and no of a `YesNo`; the plain
    one-hot vector would put them nearer and repeat the intercept.

    other: the level of values that are not listed, rare ones or new ones; None refuses them. missing: the level of
    missing values, such as "unknown"; None refuses them. Either may be a level of its own or one that is listed.

    >>> purpose = Category("purpose", levels=("car", "home", "study"))
    >>> purpose.coordinates
    ('purpose=car', 'purpose=home', 'purpose=study')
    >>> purpose.encode(["car"]).round(3).tolist()
    [[0.816, -0.408, -0.408]]
    >>> purpose = Category("purpose", levels=("car", "home"), other="other", missing="unknown")
    >>> purpose.all_levels, purpose.read("boat"), purpose.read(None)
    (('car', 'home', 'other', 'unknown'), 'other', 'unknown')
    """

    name: str
    levels: tuple[str, ...]
    _: KW_ONLY
    other: str | None = None
    missing: str | None = None
    kind: ClassVar[str] = "category"

    def __post_init__(self) -> None:
        check_feature_name(self.name)
        for what in ("other", "missing"):
            level = getattr(self, what)
            if level is not None:
                check_level(self.name, what, level)
                object.__setattr__(self, what, str(level))
        object.__setattr__(self, "levels", checked_levels(self.name, self.levels))
        if len(self.all_levels) < 2:
            raise InvalidInput(f"{self.name}: a category must have at least 2 levels, got {len(self.all_levels)}")

    @property
    def all_levels(self) -> tuple[str, ...]:
        """The levels that have a coordinate: those listed, then `other` and `missing` if they are not listed."""
        return tuple(dict.fromkeys((*self.levels, *(level for level in (self.other, self.missing) if level))))

    @property
    def coordinates(self) -> tuple[str, ...]:
        """The names of the coordinates of the block."""
        return tuple(f"{self.name}={level}" for level in self.all_levels)

    @property
    def expected(self) -> str:
        """The valid values, in words."""
        return listed_levels(self.all_levels)

    def read(self, value: object, *, clip: bool = False) -> str:
        """The level, or InvalidInput; whole numbers are read as their digits. clip changes nothing: there is no end."""
        level = as_level(value)
        if level in self.all_levels:
            return str(level)
        if is_missing(value) and self.missing is not None:
            return self.missing
        if self.other is not None and level and not is_missing(value):
            return self.other
        raise invalid(f"one of {self.expected}", value)

    def encode(self, values: Sequence[object]) -> Floats:
        """Validated values as a (k, L) block."""
        count = len(self.all_levels)
        index = {level: number for number, level in enumerate(self.all_levels)}
        block = np.full((len(values), count), -1.0 / math.sqrt(count * (count - 1)))
        block[np.arange(len(values)), [index[str(value)] for value in values]] = math.sqrt((count - 1) / count)
        return block

    def decode(self, block: Floats) -> str:
        """The level of a block of shape (L,)."""
        return self.all_levels[int(np.argmax(block))]

    def contrasts(self) -> tuple[tuple[str, str], ...]:
        """The pairs of values that explanations compare: every two levels."""
        return tuple(combinations(self.all_levels, 2))


@dataclass(frozen=True)
class Ordinal(OneCoordinate):
    """One of several levels in order, encoded as one coordinate: -1 for the first, 1 for the last, evenly between.

    missing: the level that a missing value counts as; "unknown", a level of its own; None refuses it.

    >>> degree = Ordinal("degree", levels=("none", "bachelor", "master"))
    >>> degree.encode(["none", "bachelor", "master"]).tolist()
    [[-1.0], [0.0], [1.0]]
    """

    name: str
    levels: tuple[str, ...]
    _: KW_ONLY
    missing: str | None = None
    kind: ClassVar[str] = "ordinal"

    def __post_init__(self) -> None:
        check_feature_name(self.name)
        object.__setattr__(self, "levels", checked_levels(self.name, self.levels))
        if len(self.levels) < 2:
            raise InvalidInput(f"{self.name}: an ordinal must have at least 2 levels, got {len(self.levels)}")
        if UNKNOWN in self.levels and self.missing == UNKNOWN:
            raise InvalidInput(
                f"{self.name}: missing must be a level of its own or a listed one, got {shown(UNKNOWN)}, which is both"
            )
        object.__setattr__(self, "missing", self._checked_missing())

    @property
    def expected(self) -> str:
        """The valid values, in words."""
        return f"one of {listed_levels(self.levels)}"

    def _read_known(self, value: object, *, clip: bool) -> str:
        level = as_level(value)
        if level not in self.levels:
            raise invalid(self.expected, value)
        return str(level)

    def _encode_known(self, values: Sequence[object]) -> Floats:
        places = [self.levels.index(str(value)) for value in values]
        return 2.0 * np.array(places, dtype=np.float64).reshape(-1, 1) / (len(self.levels) - 1) - 1.0

    def _decode_known(self, block: Floats) -> str:
        return self.levels[round(min(max((float(block[0]) + 1.0) / 2.0, 0.0), 1.0) * (len(self.levels) - 1))]

    def _known_contrasts(self) -> tuple[tuple[str, str], ...]:
        whole = (self.levels[0], self.levels[-1])
        return (whole,) if len(self.levels) == 2 else (whole, (self.levels[0], self.levels[1]))
