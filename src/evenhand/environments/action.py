"""What an action means: who was chosen."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from evenhand.errors import InvalidInput

Action = Iterable[int] | NDArray[np.int8]
"""A Decision's `chosen`, or a point of Gymnasium's MultiBinary space."""


def chosen_of(action: Action, n_candidates: int) -> tuple[int, ...]:
    """The chosen candidates, in order. A numpy array is a 0/1 mask of length k; anything else a sequence of indices.

    >>> chosen_of((2, 0), 3), chosen_of(np.array([1, 0, 1]), 3), chosen_of((), 3)
    ((0, 2), (0, 2), ())
    """
    if isinstance(action, np.ndarray):
        if action.shape != (n_candidates,) or not np.all((action == 0) | (action == 1)):
            raise InvalidInput(
                f"the action is {action!r}; an array must hold a 0 or a 1 for each of {n_candidates} candidates, "
                "indices go in a tuple"
            )
        return tuple(np.flatnonzero(action).tolist())
    try:
        indices = list(action)
    except TypeError:
        raise InvalidInput(f"the action is {action!r}; allowed are a tuple of indices and a 0/1 array") from None
    for i in indices:
        if isinstance(i, (bool, np.bool_)) or not isinstance(i, (int, np.integer)) or not 0 <= i < n_candidates:
            raise InvalidInput(f"candidate {i!r} cannot be chosen; there are candidates 0 to {n_candidates - 1}")
    if len(set(indices)) < len(indices):
        raise InvalidInput(f"the action is {tuple(indices)}; a candidate can be chosen only once")
    return tuple(sorted(int(i) for i in indices))
