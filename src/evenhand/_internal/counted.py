"""Counts with their nouns."""

from __future__ import annotations


def counted(number: int, one: str, many: str | None = None) -> str:
    """A count with its noun.

    >>> counted(1, "flag"), counted(0, "decision"), counted(2, "person", "people")
    ('1 flag', '0 decisions', '2 people')
    """
    return f"{number:,} {one if number == 1 else many or one + 's'}"
