"""Candidates of a decision: read from an array, a data frame or JSON; who does not fit is refused, or left out."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from evenhand._internal.checks import check_one_of, check_share, is_number, refusal
from evenhand._internal.frames import FrameTable, as_frame
from evenhand.desk.commands import Bounds
from evenhand.desk.settings import DeskSettings
from evenhand.errors import ExtraColumns, InvalidInput
from evenhand.ledger.event import LONGEST, check_name
from evenhand.records.contexts import NORM_TOLERANCE, as_contexts
from evenhand.schema.encoded_rows import LeftOut, OnInvalid
from evenhand.schema.rows import plain, shown

Record = dict[str, Any]


@dataclass(frozen=True, eq=False)
class Candidates:
    """Ids, which should be pseudonyms; contexts (k, d); and the features by name, if the caller passed them."""

    ids: list[str]
    contexts: Any
    """(k, d) numbers, not checked yet: the bandit does."""
    features: list[Record] | None = None
    """Values as they were given."""
    beside: Record = field(default_factory=dict)
    """Further fields of the decision's event: left_out, counted_as, carried; each only if there is something in it."""
    lower: list[float] | None = None
    """Floors, in the order of the ids, as they were given."""
    upper: list[float] | None = None
    """Ceilings."""

    def with_bounds(self, lower: Bounds, upper: Bounds) -> Candidates:
        """The same with floors and ceilings."""
        if lower is None and upper is None:
            return self
        floors, ceilings = self._read("lower", lower, 0.0), self._read("upper", upper, 1.0)
        for name, floor, ceiling in zip(self.ids, floors, ceilings, strict=True):
            if floor > ceiling:
                raise InvalidInput(f"lower must be <= upper, candidate {name!r} has {floor} and {ceiling}")
        return replace(self, lower=floors, upper=ceilings)

    def _read(self, what: str, value: Any, default: float) -> list[float]:
        """Floors or ceilings in the order of the ids; InvalidInput if they do not fit."""
        left_out = [one["id"] for one in self.beside.get("left_out", ())]
        if isinstance(value, Mapping):
            for name in value:
                if name not in self.ids and name not in left_out:
                    raise InvalidInput(f"{what} must be of candidates, got one of the unknown candidate {name!r}")
            values = [value.get(name, default) for name in self.ids]
        elif value is None or is_number(value):
            values = [default if value is None else value] * len(self.ids)
        else:
            values = value.tolist() if hasattr(value, "tolist") else value
            if isinstance(values, str) or not isinstance(values, Sequence):
                raise refusal(what, "a number, a dict by candidate's id, or a list in their order", value)
            if len(values) != len(self.ids):
                hint = f", and {len(left_out)} were left out: pass a dict by id" if left_out else ""
                raise InvalidInput(
                    f"{what} must be one for each of {len(self.ids)} candidates{hint}; got {len(values)}"
                )
        return [check_share(f"{what} of candidate {name!r}", one) for name, one in zip(self.ids, values, strict=True)]


def read_candidates(value: Any, settings: DeskSettings, on_invalid: OnInvalid | None = None) -> Candidates:
    """Candidates from an array, a data frame, or a list of {"id", "context"} or {"id", "features"}.

    on_invalid: see `Schema.read`; None is "refuse". Without a schema there is no range to clip to: "clip" is "skip".
    """
    mode: OnInvalid = "refuse" if on_invalid is None else on_invalid
    check_one_of("on_invalid", mode, get_args(OnInvalid))
    if isinstance(value, Candidates):
        return value
    frame = as_frame(value, "candidates")
    if frame is not None:
        return _from_frame(frame, settings, mode)
    if isinstance(value, Sequence) and not isinstance(value, str) and value and isinstance(value[0], Mapping):
        return _from_entries(value, settings, mode)
    if mode == "refuse" or not hasattr(value, "__len__"):
        contexts = as_contexts(value, settings.n_features)
        return Candidates([str(i) for i in range(len(contexts))], contexts)
    return _fitting([str(i) for i in range(len(value))], list(value), settings, mode)


def _from_frame(frame: FrameTable, settings: DeskSettings, mode: OnInvalid) -> Candidates:
    """Rows of a data frame; the column "id", if the schema carries it, or pandas' index gives the ids."""
    if settings.schema is not None:
        return _from_schema(frame, None, settings, mode)
    ids = _checked(list(frame.labels))
    if settings.features is None:
        if mode == "refuse":
            return Candidates(ids, as_contexts(frame, settings.n_features))
        return _fitting(ids, frame.array().tolist(), settings, mode)
    present = list(map(str, frame.names))
    if not set(settings.features) <= set(present):
        raise InvalidInput(f"the columns of the frame must be {', '.join(settings.features)}, got {', '.join(present)}")
    others = [name for name in present if name not in settings.features]
    if others:
        unused = f"columns that the desk does not have as features are not used: {', '.join(others)}"
        warnings.warn(ExtraColumns(unused), stacklevel=2)
    named = [{str(name): plain(row[name]) for name in row if name in settings.features} for row in frame.rows()]
    return _by_name(ids, named, settings, mode)


def _from_schema(rows: Any, ids: list[str] | None, settings: DeskSettings, mode: OnInvalid) -> Candidates:
    assert settings.schema is not None
    people = settings.schema.read(rows, ids=ids, on_invalid=mode)
    beside: Record = {
        "left_out": _left_out(people.left_out),
        "counted_as": [{"id": one.id, "feature": one.feature, "value": one.value} for one in people.counted_as],
        "carried": list(people.carried) if any(people.carried) else [],
    }
    beside = {name: content for name, content in beside.items() if content}
    return Candidates(_checked(list(people.ids)), people.contexts, list(people.rows), beside)


def _left_out(people: Sequence[LeftOut]) -> list[Record]:
    return [{"id": one.id, "reasons": list(one.reasons)} for one in people]


def _from_entries(entries: Sequence[Any], settings: DeskSettings, mode: OnInvalid) -> Candidates:
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
        if len(entry) > 2:
            unknown = next(name for name in entry if name not in ("id", "context", "features"))
            raise InvalidInput(
                f"candidate {at} must have an id, and a context or features, got {unknown!r} beside them"
            )
    _checked(ids)
    if contexts is not None:
        return Candidates(ids, contexts) if mode == "refuse" else _fitting(ids, contexts, settings, mode)
    assert features is not None
    if settings.schema is not None:
        return _from_schema(features, ids, settings, mode)
    return _by_name(ids, features, settings, mode)


def _by_name(ids: list[str], rows: list[Any], settings: DeskSettings, mode: OnInvalid) -> Candidates:
    """Candidates of a desk whose features have names only."""
    if mode == "refuse" or settings.features is None:
        return Candidates(ids, encode(rows, settings), rows)
    names = settings.features
    contexts = [
        [row[name] for name in names] if isinstance(row, Mapping) and set(row) == set(names) else row for row in rows
    ]
    found = _fitting(ids, contexts, settings, mode)
    kept = set(found.ids)
    features = [row for name, row in zip(ids, rows, strict=True) if name in kept]
    return Candidates(found.ids, found.contexts, features, found.beside)


def _fitting(ids: list[str], contexts: list[Any], settings: DeskSettings, mode: OnInvalid) -> Candidates:
    """The candidates whose contexts fit; the others are named beside them."""
    reasons = [_misfit(context, settings) for context in contexts]
    left_out = [LeftOut(name, (why,)) for name, why in zip(ids, reasons, strict=True) if why is not None]
    if left_out and len(left_out) == len(ids):
        raise InvalidInput(f"at least one candidate must fit, got none of {len(ids)}: {left_out[0]}")
    kept = [at for at, why in enumerate(reasons) if why is None]
    beside = {"left_out": _left_out(left_out)} if left_out else {}
    return Candidates([ids[at] for at in kept], [contexts[at] for at in kept], None, beside)


def _misfit(context: Any, settings: DeskSettings) -> str | None:
    """Why these are not the numbers of a candidate; None if they are."""
    if isinstance(context, Mapping):
        return f"the features must be {', '.join(settings.features or ())}, got {', '.join(map(str, context))}"
    expected = f"the context must be {settings.n_features} finite numbers of norm <= 1"
    if isinstance(context, str) or not hasattr(context, "__len__"):
        return f"{expected}, got {shown(context)}"
    if len(context) != settings.n_features:
        return f"{expected}, got {len(context)}"
    for number in context:
        if not is_number(number):
            return f"{expected}, got {shown(number)} in it"
    norm = math.hypot(*map(float, context))
    return None if norm <= 1.0 + NORM_TOLERANCE else f"{expected}, got a norm of {norm:.6g}"


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
