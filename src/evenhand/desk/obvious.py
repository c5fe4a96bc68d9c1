"""Pairs that nobody is asked about, because the answer is obvious: to the desk's owner, or from what was learned."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand._internal.checks import is_number
from evenhand.errors import EvenhandError

if TYPE_CHECKING:
    from evenhand.bandit.pairs_to_review import PairToReview
    from evenhand.desk.settings import DeskSettings


def is_certain(pair: PairToReview, certain: float) -> bool:
    """Whether the answer on a pair is predicted with at least this probability; with 1 none is."""
    return certain < 1.0 and max(pair.chance_unfair, 1.0 - pair.chance_unfair) >= certain


def are_far_apart(body: Mapping[str, Any], i: int, j: int, settings: DeskSettings) -> bool:
    """Whether two candidates of a decision differ in some number by more than `reviewing.far_apart` says."""
    limits = settings.reviewing.far_apart
    if not limits:
        return False
    first, second = (_values(body, place, settings) for place in (i, j))
    return any(_gap(first.get(name), second.get(name)) > most for name, most in limits.items())


def _gap(first: Any, second: Any) -> float:
    return abs(float(first) - float(second)) if is_number(first) and is_number(second) else 0.0


def _values(body: Mapping[str, Any], place: int, settings: DeskSettings) -> Mapping[str, Any]:
    """The features of a candidate by name, as they were given or decoded; none if there is no telling."""
    if body.get("features") is not None:
        return body["features"][place] or {}
    context = body["contexts"][place]
    if context is None:
        return {}
    if settings.schema is None:
        return dict(zip(settings.features or (), context, strict=False))
    try:
        return settings.schema.decode(np.array([context], dtype=np.float64))[0]
    except EvenhandError:
        return {}
