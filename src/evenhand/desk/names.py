"""Names that go into a ledger's columns: what they may be made of, whatever the database."""

from __future__ import annotations

from typing import Any

from evenhand.errors import InvalidInput

LONGEST = 200
"""No name is longer than this, in characters."""


def is_name(name: Any) -> bool:
    """Whether this can be a name: 1 to 200 printable characters.

    >>> is_name("applicant 7"), is_name(""), is_name("a\\x00b"), is_name(7)
    (True, False, False, False)
    """
    return isinstance(name, str) and 0 < len(name) <= LONGEST and name.isprintable()


def check_name(name: Any, what: str) -> str:
    """The name, or InvalidInput; `what` begins the sentence."""
    if not is_name(name):
        shown = name if isinstance(name, str) and len(name) <= LONGEST else type(name).__name__
        raise InvalidInput(f"{what} is {shown!r}; allowed is text of 1 to {LONGEST} printable characters")
    return str(name)
