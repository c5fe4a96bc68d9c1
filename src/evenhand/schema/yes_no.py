"""YesNo: a feature that is yes or no."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import ClassVar, Literal

import numpy as np

from evenhand._internal.arrays import Floats
from evenhand.schema._coordinate import OneCoordinate, check_feature_name, invalid
from evenhand.schema.rows import as_number

WORDS = {"yes": True, "no": False, "true": True, "false": False, "y": True, "n": False}
"""The texts that are read, in any case."""


@dataclass(frozen=True)
class YesNo(OneCoordinate):
    """Yes or no, encoded as one coordinate: 1 or -1.

    Accepts True and False, 1 and 0, and the texts yes and no, true and false, y and n in any case. missing: what a
    missing value counts as, True or False; "unknown", a level of its own; None refuses it.

    >>> YesNo("has_guarantor").encode([True, False]).tolist(), YesNo("has_guarantor").read("Yes")
    ([[1.0], [-1.0]], True)
    """

    name: str
    _: KW_ONLY
    missing: bool | Literal["unknown"] | None = None
    kind: ClassVar[str] = "yes/no"
    expected: ClassVar[str] = "yes or no (True or False, 1 or 0)"

    def __post_init__(self) -> None:
        check_feature_name(self.name)
        object.__setattr__(self, "missing", self._checked_missing())

    def _read_known(self, value: object, *, clip: bool) -> bool:
        if isinstance(value, bool | np.bool_):
            return bool(value)
        if isinstance(value, str) and value.lower() in WORDS:
            return WORDS[value.lower()]
        if as_number(value) in (0.0, 1.0):
            return bool(value)
        raise invalid(self.expected, value)

    def _encode_known(self, values: Sequence[object]) -> Floats:
        return np.where(np.asarray(values, dtype=np.bool_), 1.0, -1.0).reshape(-1, 1)

    def _decode_known(self, block: Floats) -> bool:
        return bool(block[0] > 0)

    def _known_contrasts(self) -> tuple[tuple[bool, bool], ...]:
        return ((False, True),)
