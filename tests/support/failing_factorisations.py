"""Factorisations that fail on demand: the n-th one of a call, or all of numpy's."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

from evenhand._internal import factorisations
from evenhand.errors import SolverFailed
from evenhand.metrics.version_space.density import Density


class Factorisations:
    """How many there have been within `failing_at`."""

    count = 0


@contextmanager
def failing_at(n: int | None) -> Iterator[Factorisations]:
    """Let the n-th factorisation fail, counted from 0; none if n is None. The kernel of densities counts as well."""
    counter, usual, axes = Factorisations(), factorisations.first_sound, Density._axes

    def count() -> None:
        counter.count += 1
        if counter.count - 1 == n:
            raise SolverFailed("made to fail")

    def first_sound(*args: Any) -> Any:
        count()
        return usual(*args)

    def counted_axes(density: Density, points: Any) -> Any:
        count()
        return axes(density, points)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(factorisations, "first_sound", first_sound)
        patch.setattr(Density, "_axes", counted_axes)
        yield counter


def refuse(*args: Any, **settings: Any) -> Any:
    """A driver that never converges."""
    raise np.linalg.LinAlgError("did not converge")


def is_same(one: Any, other: Any) -> bool:
    """Whether two states are equal to the bit, arrays, dicts and lists alike."""
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(is_same(one[key], other[key]) for key in one)
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(is_same(a, b) for a, b in zip(one, other, strict=True))
    if isinstance(one, np.ndarray):
        return bool(one.dtype == other.dtype and one.shape == other.shape and one.tobytes() == other.tobytes())
    return bool(one == other) or (one != one and other != other)
