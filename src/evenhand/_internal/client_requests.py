"""The parts of a request to a service - body, key, path, query - checked before anything is sent."""

from __future__ import annotations

import json
import math
import warnings
from collections.abc import Callable, Collection, Mapping, Sequence, Set
from typing import Any
from urllib.parse import quote
from uuid import uuid4

from evenhand._internal.frames import as_frame
from evenhand.errors import ExtraColumns, InvalidInput

MAX_KEY = 200
"""Characters of an idempotency key."""


def as_json(body: Mapping[str, Any]) -> bytes:
    """A body as JSON: numpy's numbers as numbers, arrays and sets as lists; InvalidInput for anything else.

    >>> import numpy as np
    >>> as_json({"x": np.array([0.5, 1.0]), "unfair": np.bool_(True)})
    b'{"x":[0.5,1.0],"unfair":true}'
    """
    try:
        text = json.dumps(body, allow_nan=False, ensure_ascii=False, separators=(",", ":"), default=_plain)
        return text.encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidInput(_wrong_in(body, "") or f"the request must be JSON: {error}") from None


def _plain(value: Any) -> Any:
    """The JSON equivalent of a value."""
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Sequence | Set):
        return list(value)
    raise TypeError(f"{type(value).__name__} is not JSON")


def _wrong_in(value: Any, where: str, depth: int = 0) -> str | None:
    """A sentence about the first value that is not JSON, with its place."""
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
        found = (_wrong_in(item, f"{where}[{at}]", depth + 1) for at, item in enumerate(value))
        return next(filter(None, found), None)
    try:
        return _wrong_in(_plain(value), where, depth + 1)
    except TypeError:
        return f"{where} must be text, a number, True, False, None, or a list or dict of these, got {value!r}"


def _wrong_in_mapping(value: Mapping[Any, Any], where: str, depth: int) -> str | None:
    for name, item in value.items():
        if not isinstance(name, str) or not _is_text(name):
            return f"names in {where or 'the request'} must be text, got {name!r}"
        found = _wrong_in(item, f"{where}.{name}" if where else name, depth + 1)
        if found is not None:
            return found
    return None


def _is_text(value: str) -> bool:
    """Whether it can be encoded: half a surrogate pair cannot."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def as_key(key: str | None) -> str:
    """An idempotency key, or a new one for None; InvalidInput if the service could not accept it.

    >>> as_key("day 7"), len(as_key(None))
    ('day 7', 32)
    """
    if key is None:
        return uuid4().hex
    fine = isinstance(key, str) and 1 <= len(key) <= MAX_KEY and key.isascii() and key.isprintable()
    if not fine or key != key.strip() or (len(key) > 1 and key[0] == key[-1] == '"'):
        shown = repr(key) if not isinstance(key, str) or len(key) <= 40 else f"a string of {len(key)} characters"
        raise InvalidInput(
            f"key must be 1 to {MAX_KEY} printable ASCII characters without outer spaces or quotes, got {shown}"
        )
    return key


def as_path(*parts: str) -> str:
    """The path of a desk, or of something at it."""
    for part in parts:
        if not isinstance(part, str) or not _is_text(part) or part in ("", ".", ".."):  # these would be other paths
            raise InvalidInput(f"a part of a path must be the name of a desk or an id, got {part!r}")
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
    """A list of the value's entries."""
    try:
        if not isinstance(value, str | bytes | Mapping):
            return list(value)
    except TypeError:
        pass
    raise InvalidInput(f"{name} must be a list, got {value!r}")


def as_candidates(value: Any, features_of_desk: Callable[[], Collection[str] | None]) -> list[Any]:
    """A list of candidates; of a data frame {"id", "features"}: ids by the column "id" or the index.

    Missing values are None, dates and times in ISO form. Columns of a frame that the desk does not have are named in a
    warning, and left out; None: it takes contexts.
    """
    frame = as_frame(value, "candidates")
    if frame is None:
        return [_with_cells(entry) for entry in as_list(value, "candidates")]
    labels, known = frame.column("id") if "id" in frame.names else frame.labels, features_of_desk()
    others = [str(name) for name in frame.names if name != "id" and known is not None and str(name) not in known]
    if others:
        unused = f"columns that the desk does not have as features are not used: {', '.join(others)}"
        warnings.warn(ExtraColumns(unused), stacklevel=3)
    left_out = {"id", *others}
    features = [
        {str(name): _cell(cell) for name, cell in row.items() if str(name) not in left_out} for row in frame.rows()
    ]
    return [{"id": str(label), "features": row} for label, row in zip(labels, features, strict=True)]


def _with_cells(entry: Any) -> Any:
    """A candidate, with None for missing values among the features."""
    features = entry.get("features") if isinstance(entry, Mapping) else None
    if not isinstance(features, Mapping):
        return entry
    return {**entry, "features": {name: _cell(value) for name, value in features.items()}}


def _cell(value: Any) -> Any:
    if value is None or type(value).__name__ in ("NAType", "NaTType") or (isinstance(value, float) and value != value):
        return None
    return value.isoformat() if hasattr(value, "isoformat") else value


def as_dict(value: Any, name: str) -> dict[Any, Any]:
    """A dict of the value's entries."""
    try:
        return dict(value)
    except (TypeError, ValueError):
        raise InvalidInput(f"{name} must be a dict, got {value!r}") from None


def as_bounds(value: Any, candidates: Sequence[Any], name: str) -> Any:
    """Floors or ceilings for a request, by id: from one number, or a list in the order of the candidates.

    >>> as_bounds([0.1, 0.2], [{"id": "a"}, {"id": "b"}], "lower"), as_bounds(0.5, [{"id": "a"}], "upper")
    ({'a': 0.1, 'b': 0.2}, {'a': 0.5})
    """
    if value is None or isinstance(value, Mapping):
        return value
    ids = [one.get("id") for one in candidates if isinstance(one, Mapping)]
    bounds = as_list(value, name) if hasattr(value, "__len__") else [value] * len(ids)
    if len(bounds) != len(candidates) or len(ids) != len(candidates):
        raise InvalidInput(f"{name} must be one for each of {len(candidates)} candidates, got {len(bounds)}")
    return dict(zip(ids, bounds, strict=True))
