"""Validation errors as a sentence: the field, what it must be, and what was sent.

>>> from pydantic import ValidationError
>>> from evenhand.service.request_models import ReviewRequest
>>> try:
...     ReviewRequest.model_validate({"kind": "full"})
... except ValidationError as error:
...     sentence([{**one, "loc": ("body", *one["loc"])} for one in error.errors()])
"kind must be 'complete', 'partial', 'one_bit', 'ratings' or 'comparisons', got 'full'"
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from evenhand.ledger.event import DESK_NAME, DESK_NAME_IN_WORDS

MAX_SHOWN = 80
"""Characters of a value that an error quotes."""

TYPES = {
    "float": "a number",
    "int": "a whole number",
    "finite_number": "a finite number",
    "string": "text",
    "bool": "true or false",
    "list": "a list",
    "dict": "an object",
    "model": "an object",
    "model_attributes": "an object",
    "none_required": "null",
}
"""What pydantic's kinds of errors ask for, without their endings."""


def sentence(errors: Sequence[Mapping[str, Any]], route: Any = None) -> str:
    """The sentence about the first of pydantic's errors, which FastAPI collects.

    route: of FastAPI; its body model names the fields that a request may have.
    """
    errors = _inside(errors)
    first = errors[0]
    place = place_of(first["loc"][1:])
    if first["type"] == "missing":
        return f"{place or 'the body'} is required"
    if first["type"] == "extra_forbidden":
        return f"unknown field {place!r}{_known_fields(first['loc'], route)}"
    if first["type"] == "value_error":
        return f"{place} {first['ctx']['error']}, got {shown(first['input'])}"
    rivals = [error for error in errors if error["loc"][:-1] == first["loc"][:-1] and error["input"] is first["input"]]
    if len(rivals) > 1:  # one error for each type of a union, with the type's name at the end of its place
        wanted = " or ".join(dict.fromkeys(_wanted(error) for error in rivals))
        return f"{place_of(first['loc'][1:-1])} must be {wanted}, got {shown(first['input'])}"
    return f"{place or 'the body'} must be {_wanted(first)}, got {shown(first['input'])}"


def _inside(errors: Sequence[Mapping[str, Any]]) -> Sequence[Mapping[str, Any]]:
    """The errors; of a union that got an object, those inside it, without the name of the union's type."""
    first = errors[0]
    at = len(first["loc"]) - 1
    if not isinstance(first["input"], Mapping):
        return errors
    deeper = [error for error in errors if error["loc"][:at] == first["loc"][:at] and len(error["loc"]) > at + 1]
    return [{**error, "loc": (*error["loc"][:at], *error["loc"][at + 1 :])} for error in deeper] or errors


def _known_fields(loc: Sequence[Any], route: Any) -> str:
    if loc[0] == "query":
        names = [field.alias for field in getattr(getattr(route, "dependant", None), "query_params", ())]
        return f"; the query may have {', '.join(names) or 'nothing'}" if len(names) != 1 else ""
    model = getattr(getattr(route, "body_field", None), "field_info", None)
    fields = getattr(getattr(model, "annotation", None), "model_fields", {})
    names = [field.alias or name for name, field in fields.items()]
    return f"; the body may have {', '.join(names)}" if names and len(loc) == 2 else ""


def place_of(loc: Sequence[Any]) -> str:
    """Where in a body something is.

    >>> place_of(("candidates", 0, "context", 1)), place_of(("rewards", "", "[key]"))
    ('candidates[0].context[1]', 'a key of rewards')
    """
    if loc and loc[-1] == "[key]":
        return f"a key of {place_of(loc[:-2])}"
    place = ""
    for part in loc:
        if isinstance(part, int):
            place += f"[{part}]"
        else:
            place += f".{part}" if place else str(part)
    return place


def _wanted(error: Mapping[str, Any]) -> str:
    """What the value had to be."""
    kind, limits = error["type"], error.get("ctx", {})
    match kind:
        case "literal_error":
            return str(limits["expected"]).replace(" or ", ", ", str(limits["expected"]).count(" or ") - 1)
        case "greater_than_equal" | "greater_than" | "less_than_equal" | "less_than":
            sign = {"ge": ">=", "gt": ">", "le": "<=", "lt": "<"}
            return " and ".join(f"{sign[name]} {value:g}" for name, value in limits.items() if name in sign)
        case "string_too_short" | "too_short":
            return f"at least {_count(limits['min_length'], kind)} long"
        case "string_too_long" | "too_long":
            return f"at most {_count(limits['max_length'], kind)} long"
        case "string_pattern_mismatch":
            return DESK_NAME_IN_WORDS if limits["pattern"] == DESK_NAME else f"text like {limits['pattern']}"
    return TYPES.get(kind.removesuffix("_type").removesuffix("_parsing"), "something else")


def _count(number: int, kind: str) -> str:
    one, more = ("character", "characters") if kind.startswith("string") else ("entry", "entries")
    return f"{number} {one if number == 1 else more}"


def shown(value: Any) -> str:
    """A value as an error quotes it."""
    text = repr(value) if isinstance(value, str) else json.dumps(value, default=repr)
    return text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}..."
