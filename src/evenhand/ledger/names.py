"""Names in a ledger's columns, and how they are checked."""

from __future__ import annotations

import re
from typing import Any

from evenhand.errors import InvalidInput

LONGEST = 200
"""Maximum length of a name, in characters."""


def is_name(name: Any) -> bool:
    """Whether this can be a name: 1 to 200 printable characters.

    >>> is_name("applicant 7"), is_name(""), is_name("a\\x00b"), is_name(7)
    (True, False, False, False)
    """
    return isinstance(name, str) and 0 < len(name) <= LONGEST and name.isprintable()


def check_name(name: Any, what: str) -> str:
    """The name; InvalidInput, beginning with `what`, if it is none."""
    if not is_name(name):
        raise InvalidInput(f"{what} must be text of 1 to {LONGEST} printable characters, got {_shown(name)}")
    return str(name)


DESK_NAME = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$"
DESK_NAME_IN_WORDS = "1 to 100 letters, digits, dots, underscores and hyphens, a letter or digit first"
"""Names of new desks, which are used in paths and on command lines. Older desks keep their names."""


def check_desk_name(name: Any) -> str:
    """The name of a new desk, or InvalidInput.

    >>> check_desk_name("loans-2")
    'loans-2'
    """
    if not isinstance(name, str) or not re.fullmatch(DESK_NAME[1:-1], name):
        raise InvalidInput(f"name must be {DESK_NAME_IN_WORDS}, got {_shown(name)}")
    return name


def _shown(name: Any) -> str:
    return repr(name) if not isinstance(name, str) or len(name) <= LONGEST else f"text of {len(name)} characters"
