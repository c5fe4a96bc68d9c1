"""The parts of a request to a service - body, key, path, query - checked before anything is sent."""

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
    """A body as JSON: numpy's numbers as numbers, arrays and sets as lists; raises InvalidInput.

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
    """The JSON counterpart of a value of another type."""
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Sequence | Set):
        return list(value)
    raise TypeError(f"{type(value).__name__} is not JSON")


def _wrong_in(value: Any, where: str, depth: int = 0) -> str | None:
    """The error about the first value that is not JSON, with its path."""
    if depth > 50:
        return f"{where[:60]}... must be at most 50 levels deep, and not contain itself"
    if isinstance(value, str):
        return None if _is_text(value) else f"{where} must be valid Unicode, got {value!r}"
    if value is None or isinstance(value, bool | int):
        return None
    if isinstance(value, float):
        return None if math.isfinite(value) else f"{where} must be finite, got {value}"
    if isinstance(value, Mapping):
        return _wrong_in_mapping(value, where, depth)
    if isinstance(value, list | tuple):
        errors = (_wrong_in(item, f"{where}[{at}]", depth + 1) for at, item in enumerate(value))
        return next(filter(None, errors), None)
    try:
        return _wrong_in(_plain(value), where, depth + 1)
    except TypeError:
        return f"{where} must be a string, number, bool, None, or lists and dicts of them, got {value!r}"


def _wrong_in_mapping(value: Mapping[Any, Any], where: str, depth: int) -> str | None:
    for name, item in value.items():
        if not isinstance(name, str) or not _is_text(name):
            return f"names in {where or 'the request'} must be strings, got {name!r}"
        errors = _wrong_in(item, f"{where}.{name}" if where else name, depth + 1)
        if errors is not None:
            return errors
    return None


def _is_text(value: str) -> bool:
    """Whether it can be encoded: a lone surrogate cannot."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def as_key(key: str | None) -> str:
    """The idempotency key, or a new one; raises InvalidInput if the service would refuse it.

    >>> as_key("day 7"), len(as_key(None))
    ('day 7', 32)
    """
    if key is None:
        return uuid4().hex
    fine = isinstance(key, str) and 1 <= len(key) <= LONGEST_KEY and key.isascii() and key.isprintable()
    if not fine or key != key.strip() or (len(key) > 1 and key[0] == key[-1] == '"'):
        shown = repr(key) if not isinstance(key, str) or len(key) <= 40 else f"a string of {len(key)} characters"
        raise InvalidInput(
            f"key must be 1 to {LONGEST_KEY} printable ASCII characters, no blank first or last and "
            f"not in quotes, or None for a new one, got {shown}"
        )
    return key


def as_path(*parts: str) -> str:
    """The path of a desk, or of something at it."""
    for part in parts:
        if not isinstance(part, str) or not _is_text(part) or part in ("", ".", ".."):  # these would be other paths
            raise InvalidInput(f"the name of a desk, or an id, must be a non-empty string, got {part!r}")
    return "/api/desks/" + "/".join(quote(part, safe="") for part in parts)


def as_query(query: Mapping[str, Any] | None) -> dict[str, str] | None:
    """The values of a query as text."""
    if query is None:
        return None
    for name, value in query.items():
        if not _is_text(str(value)):
            raise InvalidInput(f"{name} must be valid Unicode, got {value!r}")
    return {name: str(value) for name, value in query.items()}


def as_list(value: Any, name: str) -> list[Any]:
    """`value` as a list; `name` is for the error."""
    try:
        if not isinstance(value, str | bytes | Mapping):
            return list(value)
    except TypeError:
        pass
    raise InvalidInput(f"{name} must be a list, got {value!r}")


def as_dict(value: Any, name: str) -> dict[Any, Any]:
    """`value` as a dict; `name` is for the error."""
    try:
        return dict(value)
    except (TypeError, ValueError):
        raise InvalidInput(f"{name} must be a dict, got {value!r}") from None
