"""The kinds of features: Number, Category, YesNo, Ordinal and Date.

Each kind validates raw values, encodes them into a block of coordinates of norm <= 1, and decodes such a block. The
schema scales the blocks and puts them side by side.
"""

from __future__ import annotations

from typing import TypeAlias

from evenhand.schema.category import Category, Ordinal
from evenhand.schema.date import Date
from evenhand.schema.number import Number
from evenhand.schema.yes_no import YesNo

__all__ = ["KINDS", "NAMES", "Category", "Date", "Feature", "Number", "Ordinal", "YesNo"]

Feature: TypeAlias = Number | Category | YesNo | Ordinal | Date

KINDS: dict[str, type[Feature]] = {kind.kind: kind for kind in (Number, Category, YesNo, Ordinal, Date)}
NAMES = "Number, Category, YesNo, Ordinal or Date"
