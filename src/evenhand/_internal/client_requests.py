"""What a request to a service is made of - a body, a key, a path, a query - checked before anything is sent."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence, Set
from typing import Any
from urllib.parse import quote
from uuid import uuid4

from evenhand.errors import InvalidInput

LONGEST_KEY = 200


def as_json(body: Mapping[str, Any]) -> bytes:
    """A body as JSON: numpy's numbers as numbers, arrays and sets as lists; InvalidInput says what is none of these.

    >>> import numpy as np
    >>> as_json({"x": np.array([0.5, 1.0]), "unfair": np.bool_(True)})
    b'{"x":[0.5,1.0],"unfair":true}'
    """
    try:
        text = json.dumps(body, allow_nan=False, ensure_ascii=False, separators=(",", ":"), default=_plain)
        return text.encode()
    except (TypeError, ValueError, RecursionError) as error:
        wrong = _wrong_in(body, "")
        raise InvalidInput(wrong or f"this cannot be written as JSON: {error}") from None


def _plain(value: Any) -> Any:
    """What JSON has in place of a value that it does not know."""
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Sequence | Set):
        return list(value)
    raise TypeError(f"{type(value).__name__} is not JSON")


def _wrong_in(value: Any, where: str, depth: int = 0) -> str | None:
    """A sentence on the first thing that is no JSON, with the way to it."""
    if depth > 50:
        return f"{where[:60]}... goes deeper than 50 levels, or holds itself; allowed is plain JSON"
    if isinstance(value, str):
        return None if _is_text(value) else f"{where} is {value!r}, which is no text; allowed is Unicode"
    if value is None or isinstance(value, bool | int):
        return None
    if isinstance(value, float):
        return None if math.isfinite(value) else f"{where} is {value}; allowed are finite numbers"
    if isinstance(value, Mapping):
        return _wrong_in_mapping(value, where, depth)
    if isinstance(value, list | tuple):
        told = (_wrong_in(item, f"{where}[{at}]", depth + 1) for at, item in enumerate(value))
        return next(filter(None, told), None)
    try:
        return _wrong_in(_plain(value), where, depth + 1)
    except TypeError:
        return f"{where} is {value!r}; allowed are text, numbers, True, False, None, and lists and dicts of them"


def _wrong_in_mapping(value: Mapping[Any, Any], where: str, depth: int) -> str | None:
    for name, item in value.items():
        if not isinstance(name, str) or not _is_text(name):
            return f"{where or 'the request'} has {name!r} for a name; allowed is text"
        told = _wrong_in(item, f"{where}.{name}" if where else name, depth + 1)
        if told is not None:
            return told
    return None


def _is_text(value: str) -> bool:
    """Whether it can be sent: half a surrogate pair cannot."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def as_key(key: str | None) -> str:
    """An idempotency key as given, or a new one; InvalidInput if the service could not take it.

    >>> as_key("day 7"), len(as_key(None))
    ('day 7', 32)
    """
    if key is None:
        return uuid4().hex
    fine = isinstance(key, str) and 1 <= len(key) <= LONGEST_KEY and key.isascii() and key.isprintable()
    if not fine or key != key.strip() or (len(key) > 1 and key[0] == key[-1] == '"'):
        shown = repr(key) if not isinstance(key, str) or len(key) <= 40 else f"text of {len(key)} characters"
        raise InvalidInput(
            f"key is {shown}; allowed are 1 to {LONGEST_KEY} printable ASCII characters, no blank first or last and "
            "not in quotes, or None for a new one"
        )
    return key


def as_path(*parts: str) -> str:
    """The path of a desk, or of something at it."""
    for part in parts:
        if not isinstance(part, str) or not _is_text(part) or part in ("", ".", ".."):  # these would be other paths
            raise InvalidInput(f"{part!r} is the name of nothing; allowed is a desk's name, or an id")
    return "/api/desks/" + "/".join(quote(part, safe="") for part in parts)


def as_query(query: Mapping[str, Any] | None) -> dict[str, str] | None:
    """The values of a query as text."""
    if query is None:
        return None
    for name, value in query.items():
        if not _is_text(str(value)):
            raise InvalidInput(f"{name} is {value!r}, which is no text; allowed is Unicode")
    return {name: str(value) for name, value in query.items()}


def as_list(given: Any, what: str) -> list[Any]:
    """A list of what was given; `what` begins the sentence of the error."""
    try:
        if not isinstance(given, str | bytes | Mapping):
            return list(given)
    except TypeError:
        pass
    raise InvalidInput(f"{what} is {given!r}; allowed is a list")


def as_dict(given: Any, what: str) -> dict[Any, Any]:
    """A dict of what was given; `what` begins the sentence of the error."""
    try:
        return dict(given)
    except (TypeError, ValueError):
        raise InvalidInput(f"{what} is {given!r}; allowed is a dict") from None
