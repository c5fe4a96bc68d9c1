"""Candidates of a decision: ids and contexts, read from arrays, data frames or lists of dicts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand.desk.settings import DeskSettings
from evenhand.errors import InvalidInput
from evenhand.ledger.names import LONGEST, check_name
from evenhand.records.contexts import as_contexts


@dataclass(frozen=True, eq=False)
class Candidates:
    """Ids, which should be pseudonyms; contexts (k, d); and the features by name, if the caller passed them."""

    ids: list[str]
    contexts: Any
    """(k, d) numbers, not checked yet: the bandit does."""
    features: list[dict[str, Any]] | None = None


def read_candidates(value: Any, settings: DeskSettings) -> Candidates:
    """Candidates from an array, a data frame, or a list of {"id", "context"} or {"id", "features"}."""
    if isinstance(value, Candidates):
        return value
    if hasattr(value, "columns") and hasattr(value, "to_numpy"):
        return _from_frame(value, settings)
    if isinstance(value, Sequence) and not isinstance(value, str) and value and isinstance(value[0], Mapping):
        return _from_entries(value, settings)
    contexts = as_contexts(value, settings.n_features)
    return Candidates([str(i) for i in range(len(contexts))], contexts)


def with_contexts(entries: Any) -> Candidates | None:
    """Candidates from a list of {"id", "context"}, checked as far as possible without a desk.

    None for anything else: `read_candidates` reads it, or says what is wrong. For requests that are read before they
    come to the desk, whose contexts are known to be lists of floats.

    >>> with_contexts([{"id": "a", "context": [0.5, 0.0]}]).contexts
    array([[0.5, 0. ]])
    >>> with_contexts([{"id": "a", "features": {"age": 0.5}}]) is None
    True
    """
    if sum(map(len, entries)) > 2 * len(entries):
        return None  # a candidate has a context and features
    try:
        ids = _checked([entry["id"] for entry in entries])
        contexts = np.array([entry["context"] for entry in entries], dtype=np.float64)
    except (InvalidInput, KeyError, TypeError, ValueError):
        return None
    return Candidates(ids, contexts) if contexts.ndim == 2 else None


def _from_frame(frame: Any, settings: DeskSettings) -> Candidates:
    """Rows of a pandas or polars frame; pandas' index gives the ids."""
    k = len(frame)
    ids = [str(label) for label in getattr(frame, "index", range(k))]
    if settings.schema is None and settings.features is None:
        return Candidates(_checked(ids), as_contexts(frame, settings.n_features))
    rows = frame.to_dicts() if hasattr(frame, "to_dicts") else frame.to_dict(orient="records")
    features = [_plain(row) for row in rows]
    contexts = encode(features, settings) if settings.schema is None else settings.schema.encode(frame)
    return Candidates(_checked(ids), contexts, features)


def _plain(row: Mapping[Any, Any]) -> dict[str, Any]:
    return {str(name): value.item() if isinstance(value, np.generic) else value for name, value in row.items()}


def _from_entries(entries: Sequence[Any], settings: DeskSettings) -> Candidates:
    try:
        ids = [entry["id"] for entry in entries]
        if "context" in entries[0]:
            contexts, features = [entry["context"] for entry in entries], None
        else:
            contexts, features = None, [entry["features"] for entry in entries]
    except (KeyError, TypeError, IndexError):
        expected = {"id", "context" if "context" in entries[0] else "features"}
        misfits = [(i, e) for i, e in enumerate(entries) if not isinstance(e, Mapping) or not expected <= set(e)]
        at, entry = misfits[0] if misfits else (0, entries[0])
        fields = (", ".join(map(str, entry)) or "no field") if isinstance(entry, Mapping) else repr(entry)
        raise InvalidInput(
            f'candidate {at} must be {{"id": ..., "context": [...]}}, or, like all the others, '
            f'{{"id": ..., "features": {{...}}}}, got {fields}'
        ) from None
    for at, entry in enumerate(entries):
        if "context" in entry and "features" in entry:
            raise InvalidInput(f"candidate {at} must have a context or features, got both")
    if contexts is not None:
        return Candidates(_checked(ids), contexts)
    return Candidates(_checked(ids), encode(features, settings), features)


def encode(features: Any, settings: DeskSettings) -> NDArray[np.float64]:
    """Contexts from named features: as the schema encodes them, or in the order of the names."""
    if settings.schema is not None:
        return as_contexts(settings.schema.encode(features), settings.n_features)
    if settings.features is None:
        raise InvalidInput("this desk has no feature names; pass each candidate with a context, a list of numbers")
    for row in features:
        if not isinstance(row, Mapping) or set(row) != set(settings.features):
            named = ", ".join(map(str, row)) if isinstance(row, Mapping) else repr(row)
            raise InvalidInput(f"the features of a candidate must be {', '.join(settings.features)}, got {named}")
    return as_contexts([[row[name] for name in settings.features] for row in features], settings.n_features)


def _checked(ids: list[Any]) -> list[str]:
    try:
        fine = "".join(ids).isprintable() and min(map(len, ids)) > 0 and max(map(len, ids)) <= LONGEST
    except TypeError:
        fine = False
    if not fine:
        for name in ids:
            check_name(name, "the id of a candidate")
    if len(set(ids)) < len(ids):
        twice = next(name for name in ids if ids.count(name) > 1)
        raise InvalidInput(f"the ids of candidates must be unique within a decision, got {twice!r} twice")
    return ids
