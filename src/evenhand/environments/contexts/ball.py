"""Into the unit ball and onto its surface."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def into_ball(rows: Floats) -> Floats:
    """Rows (k, d) longer than 1 pulled back to length 1, in their direction; the others as they are.

    >>> into_ball(np.array([[3.0, 4.0], [0.3, 0.4]])).tolist()
    [[0.6, 0.8], [0.3, 0.4]]
    """
    longest = np.max(np.abs(rows), axis=1, keepdims=True, initial=1.0)
    scaled = rows / longest  # so that the squares of a very long row stay finite
    return np.asarray(scaled / np.maximum(np.linalg.norm(scaled, axis=1, keepdims=True), 1.0 / longest))


def onto_sphere(rows: Floats) -> Floats:
    """Rows (k, d) scaled to length 1; a row of zeros stays one."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.where(lengths > 0, lengths, 1.0))
