"""Why a body does not fit, in a sentence: the field, what was given, and what is allowed.

>>> import msgspec
>>> from evenhand.service.bodies import NewReview
>>> body = b'{"kind": "full"}'
>>> try:
...     msgspec.json.decode(body, type=NewReview)
... except msgspec.ValidationError as error:
...     refusal(error, NewReview, body)
"kind is 'full'; allowed is 'complete' or 'one_bit' or 'partial'"
"""

from __future__ import annotations

import json
import re
from typing import Any

import msgspec
from msgspec import inspect

from evenhand.ledger.names import DESK_NAME, DESK_NAME_IN_WORDS

STEP = re.compile(r"\.(\w+)|\[(\d+|\.\.\.)\]")
LONGEST_SHOWN = 80
UNKNOWN = object()
"""What stands for a value that could not be found again."""


def refusal(error: msgspec.ValidationError, kind: Any, body: bytes) -> str:
    """The sentence for an error that msgspec raised when it read this body as this kind."""
    said, _, where = str(error).partition(" - at ")
    steps = STEP.findall(where)
    place, allowed, given = "", _bare(inspect.type_info(kind)), _read(body)
    for name, index in steps:
        place, allowed, given = _go(place, allowed, given, name, index)
    if where.startswith("`key`"):
        wrong = _first_misfit(given, getattr(allowed, "key_type", None), keys=True)
        return f"a key of {place or 'the body'} is {_shown(wrong)}; allowed is {in_words(allowed.key_type)}"
    named = re.search(r"field `(.*)`$", said)
    if named is not None:
        return _of_fields(place, allowed, named[1], is_missing="missing" in said)
    if given is UNKNOWN:
        return f"{place or 'the body'} does not fit; allowed is {in_words(allowed)}"
    return f"{place or 'the body'} is {_shown(given)}; allowed is {in_words(allowed)}"


def _read(body: bytes) -> Any:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return UNKNOWN


def _go(place: str, allowed: Any, given: Any, name: str, index: str) -> tuple[str, Any, Any]:
    """One step further into a body, its kind, and what was given."""
    if name:
        inner = next((field.type for field in getattr(allowed, "fields", ()) if field.encode_name == name), None)
        value = given.get(name, UNKNOWN) if isinstance(given, dict) else UNKNOWN
        return (f"{place}.{name}" if place else name), _bare(inner), value
    if index != "...":
        at = int(index)
        value = given[at] if isinstance(given, list) and at < len(given) else UNKNOWN
        return f"{place}[{at}]", _bare(getattr(allowed, "item_type", None)), value
    inner = getattr(allowed, "value_type", None)
    key = _first_misfit(given, inner, keys=False)
    shown = f"{place}[{_shown(key)}]" if key is not UNKNOWN else f"a value of {place}"
    return shown, _bare(inner), given[key] if key is not UNKNOWN else UNKNOWN


def _first_misfit(given: Any, allowed: Any, *, keys: bool) -> Any:
    """The first key of an object that does not fit, or whose value does not: msgspec does not say which."""
    if not isinstance(given, dict):
        return UNKNOWN
    return next((key for key, value in given.items() if not _fits(key if keys else value, _bare(allowed))), UNKNOWN)


def _fits(value: Any, allowed: Any) -> bool:
    match allowed:
        case inspect.UnionType():
            return any(_fits(value, _bare(one)) for one in allowed.types)
        case inspect.StrType():
            most = allowed.max_length
            return isinstance(value, str) and (allowed.min_length or 0) <= len(value) <= (
                len(value) if most is None else most
            )
        case inspect.FloatType() | inspect.IntType():
            is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
            return (
                is_number
                and (allowed.ge is None or value >= allowed.ge)
                and (allowed.le is None or value <= allowed.le)
            )
        case inspect.BoolType():
            return isinstance(value, bool)
        case inspect.NoneType():
            return value is None
    return True


def _of_fields(place: str, allowed: Any, name: str, *, is_missing: bool) -> str:
    what = place or "the body"
    known = [field.encode_name for field in getattr(allowed, "fields", ())]
    if is_missing:
        needed = [field.encode_name for field in allowed.fields if field.required]
        return f"{what} has no {name}; it must have {', '.join(needed)}"
    return f"{what} has {name}, which is not known; allowed are {', '.join(known)}"


def _shown(value: Any) -> str:
    if value is UNKNOWN:
        return "of another kind"
    text = repr(value) if isinstance(value, str) else json.dumps(value)
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}..."


def _bare(allowed: Any) -> Any:
    """A kind without its description."""
    return _bare(allowed.type) if isinstance(allowed, inspect.Metadata) else allowed


def in_words(allowed: Any) -> str:
    """What a kind of value may be.

    >>> in_words(inspect.type_info(int | None))
    'a whole number or null'
    """
    allowed = _bare(allowed)
    match allowed:
        case inspect.UnionType():
            return " or ".join(in_words(one) for one in allowed.types)
        case inspect.LiteralType():
            return " or ".join(repr(value) for value in allowed.values)
        case inspect.StrType():
            return DESK_NAME_IN_WORDS if allowed.pattern == DESK_NAME else f"text{_size(allowed, 'characters')}"
        case inspect.IntType():
            return f"a whole number{_range(allowed)}"
        case inspect.FloatType():
            return f"a number{_range(allowed)}"
        case inspect.ListType():
            return f"a list{_size(allowed, 'entries')}, each {in_words(allowed.item_type)}"
        case inspect.StructType() | inspect.TypedDictType():
            return f"an object with {', '.join(field.encode_name for field in allowed.fields)}"
        case inspect.DictType():
            return f"an object{_size(allowed, 'entries')}"
        case inspect.BoolType():
            return "true or false"
        case inspect.NoneType():
            return "null"
    return "something else"


def _size(allowed: Any, what: str) -> str:
    least, most = allowed.min_length, allowed.max_length
    if least is not None and least == most:
        return f" of {least} {what}"
    if most is not None:
        return f" of {least or 0} to {most} {what}"
    return f" of {least} or more {what}" if least is not None else ""


def _range(allowed: Any) -> str:
    limits = ((">=", allowed.ge), (">", allowed.gt), ("<=", allowed.le), ("<", allowed.lt))
    told = [
        f"{sign} {limit:g}" if isinstance(limit, float) else f"{sign} {limit}"
        for sign, limit in limits
        if limit is not None
    ]
    return f" {' and '.join(told)}" if told else ""
