"""Cells as other programs write them: codes for missing values; numbers with a decimal comma, groups or a unit."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from evenhand.history.log_columns import LogColumns
from evenhand.history.row_answers import text_of
from evenhand.history.tables import RawTable
from evenhand.schema.rows import numeral

GROUPS = "'’ \u00a0\u202f"
"""What may stand between groups of three digits, besides a point or comma that is not the decimal sign."""

MOST_NUMERALS = 0.95
"""Of the texts of a column, for its decimal sign to be known."""

CURRENCY = "$\u20ac\u00a3\u00a5"
BLANK = "[ \u00a0\u202f]?"
"""What may stand between a number and its unit."""


def tidied(raw: RawTable, columns: LogColumns) -> RawTable:
    """The table with nothing for `columns.missing`, and numerals by `columns.decimal` in digits with a point.

    The columns that say who and when stay as they are, and the decision does, too.
    """
    if not columns.missing and columns.decimal is None:
        return raw
    kept = (columns.candidate, columns.round, columns.time, columns.chosen)
    written = None if columns.decimal is None else numeral_with(columns.decimal)
    codes = {text_of(numeral(code)) for code in columns.missing}

    def tidy(value: Any) -> Any:
        if isinstance(value, str) and written is not None and written.fullmatch(value.strip()):
            value = plain_numeral(value.strip(), columns.decimal or ".")
        return None if codes and text_of(numeral(value)) in codes else value

    empty = "" if raw.is_text else None
    cells = {
        name: values if name in kept else [empty if (found := tidy(value)) is None else found for value in values]
        for name, values in raw.columns.items()
    }
    return replace(raw, columns=cells)


def stripped(value: Any) -> Any:
    """A text without blanks around it, such as databases pad texts with; anything else as it is."""
    return value.strip() if isinstance(value, str) else value


def numeral_with(decimal: str) -> re.Pattern[str]:
    """Numerals with this decimal sign, perhaps with groups of three digits, the sign of a currency, or %."""
    group = f"[{GROUPS}{',' if decimal == '.' else '.'}]"
    point = re.escape(decimal)
    before, after = f"([{CURRENCY}]{BLANK})?", f"({BLANK}[{CURRENCY}%])?"
    return re.compile(rf"[+-]?{before}([1-9]\d{{0,2}}({group}\d{{3}})+|\d+)({point}\d+)?{after}", re.ASCII)


def plain_numeral(text: str, decimal: str) -> str:
    """The numeral in digits with a point, without its unit: 21% is 21.

    >>> plain_numeral("1.250,50", ","), plain_numeral("-$1,250", "."), plain_numeral("12 500 %", ",")
    ('1250.50', '-1250', '12500')
    """
    return "".join("." if sign == decimal else sign for sign in text if sign in f"+-0123456789{decimal}")


def decimal_of(values: Sequence[object]) -> str | None:
    """The only decimal sign with which nearly all texts of a column are numerals; None if there is none, or two.

    >>> decimal_of(["1.250,50", "99,90", ""]), decimal_of(["$1,250"]), decimal_of(["low"])
    (',', None, None)
    """
    texts = [value.strip() for value in values if isinstance(value, str) and value.strip()]
    fitting = {sign: sum(numeral_with(sign).fullmatch(text) is not None for text in texts) for sign in (".", ",")}
    signs = [sign for sign, count in fitting.items() if count and count >= MOST_NUMERALS * len(texts)]
    return signs[0] if len(signs) == 1 else None
