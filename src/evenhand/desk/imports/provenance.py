"""Provenance: the events of other ledgers that something was imported from, the oldest first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evenhand._internal.checks import refusal
from evenhand.ledger.event import is_name

Origin = dict[str, str]
"""{"desk", "line"}, and "decision" if the event is about one; "line" is the id of the event."""


def read_origins(value: Any) -> list[Origin]:
    """Origins as JSON; InvalidInput if they are none.

    >>> read_origins([{"desk": "loans", "line": "ans_1"}])
    [{'desk': 'loans', 'line': 'ans_1'}]
    """
    is_list = isinstance(value, Sequence) and not isinstance(value, str)
    if not is_list or not all(map(_is_origin, value)):
        raise refusal("origins", 'a list of {"desk": name, "line": id, "decision": id}', value)
    return [dict(origin) for origin in value]


def _is_origin(value: Any) -> bool:
    fields = set(value) if isinstance(value, Mapping) else set()
    return {"desk", "line"} <= fields <= {"desk", "line", "decision"} and all(map(is_name, value.values()))


def with_origins(body: dict[str, Any], value: Any) -> dict[str, Any]:
    """The body of an event, with its origins if it has any."""
    origins = read_origins(value)
    return {**body, "origins": origins} if origins else body
