"""Origins: the lines of other ledgers that something came from, the first one first, however many desks lie between."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evenhand.errors import InvalidInput
from evenhand.ledger.names import is_name

Origin = dict[str, str]
"""{"desk", "line"}, and "decision" if the line is about one."""

FIELDS = {"desk", "line", "decision"}


def read_origins(given: Any) -> list[Origin]:
    """Origins in JSON's own types; InvalidInput if they are none.

    >>> read_origins([{"desk": "loans", "line": "ans_1"}])
    [{'desk': 'loans', 'line': 'ans_1'}]
    """
    is_list = isinstance(given, Sequence) and not isinstance(given, str)
    if not is_list or not all(_is_origin(one) for one in given):
        raise InvalidInput(f'origins is {given!r}; allowed is a list of {{"desk": name, "line": id, "decision": id}}')
    return [dict(one) for one in given]


def _is_origin(one: Any) -> bool:
    return isinstance(one, Mapping) and {"desk", "line"} <= set(one) <= FIELDS and all(map(is_name, one.values()))


def with_origins(body: dict[str, Any], given: Any) -> dict[str, Any]:
    """The body of a line that came from elsewhere; of one that did not, as it is."""
    origins = read_origins(given)
    return {**body, "origins": origins} if origins else body


def lines_in(origins: Sequence[Origin]) -> list[str]:
    """The ids of these lines."""
    return [origin["line"] for origin in origins]


def decision_behind(origins: Sequence[Origin]) -> str | None:
    """The decision that the first line was about; None if it was about none."""
    return origins[0].get("decision") if origins else None
