"""What kinds of features share: names, levels, missing values, and the block of a feature with one coordinate."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping, Sequence, Set
from typing import Any

import numpy as np

from evenhand._internal.arrays import Floats
from evenhand.errors import InvalidInput
from evenhand.schema.rows import as_number, is_missing, shown

UNKNOWN = "unknown"
"""`missing="unknown"`: a missing value is a level of its own, with a coordinate of its own."""

LEVELS_SHOWN = 12  # How many levels an error message lists.


class OneCoordinate:
    """A feature with one coordinate, and a second one if missing values are a level of their own.

    Known values are (x, 0) with x from -1 to 1, the missing one is (0, 1): it is as far from the middle of the range
    as the ends are.
    """

    name: str
    missing: Any

    @property
    def has_own_level(self) -> bool:
        """Whether missing values have a coordinate of their own."""
        return isinstance(self.missing, str) and self.missing == UNKNOWN

    @property
    def coordinates(self) -> tuple[str, ...]:
        """The names of the coordinates of the block."""
        return (self.name, f"{self.name}={UNKNOWN}") if self.has_own_level else (self.name,)

    def read(self, value: object, *, clip: bool = False) -> Any:
        """The value as it is encoded, None for one that is missing and has a level of its own, or InvalidInput.

        clip: count a number or a date beyond the range as the end of the range.
        """
        if is_missing(value) and self.missing is not None:
            return None if self.has_own_level else self.missing
        return self._read_known(value, clip=clip)

    def encode(self, values: Sequence[object]) -> Floats:
        """Validated values as a block: (k, 1), or (k, 2) if missing values have a level of their own."""
        if not self.has_own_level:
            return self._encode_known(values)
        known = np.array([value is not None for value in values], dtype=np.bool_)
        block = np.zeros((len(values), 2))
        block[known, :1] = self._encode_known([value for value in values if value is not None])
        block[~known, 1] = 1.0
        return block

    def decode(self, block: Floats) -> Any:
        """The value of a block of shape (1,) or (2,); None for the level of missing values."""
        if self.has_own_level and block[1] > 0.5:
            return None
        return self._decode_known(block)

    def contrasts(self) -> tuple[tuple[Any, Any], ...]:
        """The pairs of values that explanations compare; the last two with the missing value, if it is a level."""
        known = self._known_contrasts()
        first, last = known[0]
        return (*known, (first, None), (last, None)) if self.has_own_level else known

    def _checked_missing(self) -> Any:
        """`missing`: None, UNKNOWN, or a value of the feature, as `read` gives it."""
        if self.missing is None or self.has_own_level:
            return self.missing
        try:
            return self._read_known(self.missing, clip=False)
        except InvalidInput as error:
            also = f"; or {UNKNOWN!r}, a level of its own, or None, which refuses it"
            raise InvalidInput(f"{self.name}: missing {error}{also}") from None

    @abstractmethod
    def _read_known(self, value: object, *, clip: bool) -> Any: ...

    @abstractmethod
    def _encode_known(self, values: Sequence[object]) -> Floats: ...

    @abstractmethod
    def _decode_known(self, block: Floats) -> Any: ...

    @abstractmethod
    def _known_contrasts(self) -> tuple[tuple[Any, Any], ...]: ...


def check_feature_name(name: object) -> None:
    """Refuse a name of a feature that is not text."""
    if not isinstance(name, str) or not name.strip():
        raise InvalidInput(f"the name of a feature must be a non-empty string, got {shown(name)}")


def checked_levels(name: str, levels: Any) -> tuple[str, ...]:
    """Levels as a tuple of unique texts, or InvalidInput."""
    unordered = isinstance(levels, str | Set | Mapping)  # a set has another order in another process
    if unordered or not hasattr(levels, "__iter__"):
        raise InvalidInput(f"{name}: levels must be a sequence of strings, got {shown(levels)}")
    listed = tuple(levels)
    for level in listed:
        check_level(name, "a level", level)
    if len(set(listed)) < len(listed):
        twice = next(level for level in listed if listed.count(level) > 1)
        raise InvalidInput(f"{name}: levels must be unique, got {twice!r} twice")
    return tuple(str(level) for level in listed)


def check_level(name: str, what: str, level: object) -> None:
    """Refuse a level that is not text."""
    if not isinstance(level, str) or not level:
        raise InvalidInput(f"{name}: {what} must be a non-empty string, got {shown(level)}")


def listed_levels(levels: Sequence[str]) -> str:
    """Levels as an error message lists them."""
    names = ", ".join(map(repr, levels[:LEVELS_SHOWN]))
    return names if len(levels) <= LEVELS_SHOWN else f"{names} or {len(levels) - LEVELS_SHOWN} more"


def as_level(value: object) -> str | None:
    """The text of a value that may be a level: a text as it is, a whole number in digits; None for anything else.

    Codes come as numbers, and as 3.0 from a column with missing values.

    >>> as_level("car"), as_level(3), as_level(np.float64(3.0)), as_level(2.5), as_level(True)
    ('car', '3', '3', None, None)
    """
    if isinstance(value, str):
        return str(value)
    number = as_number(value)
    return None if number is None or not number.is_integer() or abs(number) >= 2**53 else str(int(number))


def invalid(expected: str, value: object) -> InvalidInput:
    """The error about a value, without the feature's name, which `RowProblem` adds."""
    return InvalidInput(f"must be {expected}, got {'no value' if is_missing(value) else shown(value)}")


def checked_end(name: str, what: str, value: object) -> float:
    """A finite float; adding 0.0 turns -0.0 into 0.0, so that equal features have equal digests."""
    number = as_number(value)
    if number is None or not math.isfinite(number):
        raise InvalidInput(f"{name}: {what} must be a finite number, got {shown(value)}")
    return number + 0.0
