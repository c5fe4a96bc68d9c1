"""Candidates of a decision: ids and contexts, read from whatever the caller has."""

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
    """Who is to be decided about: pseudonyms, contexts (k, d), and the features as they were given, if they were."""

    ids: list[str]
    contexts: Any
    """(k, d) numbers, perhaps not checked yet: the bandit does, and once is enough."""
    features: list[dict[str, Any]] | None = None


def read_candidates(given: Any, settings: DeskSettings) -> Candidates:
    """Candidates from an array, a data frame, or a list of {"id", "context"} or {"id", "features"}."""
    if isinstance(given, Candidates):
        return given
    if hasattr(given, "columns") and hasattr(given, "to_numpy"):
        return _from_frame(given, settings)
    if isinstance(given, Sequence) and not isinstance(given, str) and given and isinstance(given[0], Mapping):
        return _from_entries(given, settings)
    contexts = as_contexts(given, settings.n_features)
    return Candidates([str(i) for i in range(len(contexts))], contexts)


def with_contexts(entries: Any) -> Candidates | None:
    """Candidates of a list of {"id", "context"}, checked as far as that goes without a desk, contexts as one array.

    None for anything else, wrong or not: `read_candidates` says which. For whoever reads requests before they come to
    the desk; that contexts are lists of floats was seen to already.

    >>> with_contexts([{"id": "a", "context": [0.5, 0.0]}]).contexts
    array([[0.5, 0. ]])
    >>> with_contexts([{"id": "a", "features": {"age": 0.5}}]) is None
    True
    """
    if sum(map(len, entries)) > 2 * len(entries):
        return None  # somebody has a context and features
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
        wanted = {"id", "context" if "context" in entries[0] else "features"}
        misfits = [(i, e) for i, e in enumerate(entries) if not isinstance(e, Mapping) or not wanted <= set(e)]
        at, entry = misfits[0] if misfits else (0, entries[0])
        has = f"has {', '.join(map(str, entry)) or 'nothing'}" if isinstance(entry, Mapping) else f"is {entry!r}"
        raise InvalidInput(
            f'candidate {at} {has}; allowed is {{"id": ..., "context": [...]}}, or for all of them '
            '{"id": ..., "features": {...}}'
        ) from None
    for at, entry in enumerate(entries):
        if "context" in entry and "features" in entry:
            raise InvalidInput(f"candidate {at} has a context and features; allowed is one of the two")
    if contexts is not None:
        return Candidates(_checked(ids), contexts)
    return Candidates(_checked(ids), encode(features, settings), features)


def encode(features: Any, settings: DeskSettings) -> NDArray[np.float64]:
    """Contexts of candidates given by named features: as the schema encodes them, or in the order of the names."""
    if settings.schema is not None:
        return as_contexts(settings.schema.encode(features), settings.n_features)
    if settings.features is None:
        raise InvalidInput("this desk knows no feature by name; give each candidate a context, a list of numbers")
    for row in features:
        if not isinstance(row, Mapping) or set(row) != set(settings.features):
            named = ", ".join(map(str, row)) if isinstance(row, Mapping) else repr(row)
            raise InvalidInput(f"a candidate has the features {named}; wanted are {', '.join(settings.features)}")
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
        raise InvalidInput(f"two candidates have the id {twice!r}; ids must be unique within a decision")
    return ids
