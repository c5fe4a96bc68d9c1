"""Settings of worlds and of their parts, checked once and refused with a sentence."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from evenhand.errors import InvalidInput


def whole(name: str, value: Any, *, least: int) -> int:
    """`value` as an int, if it is a whole number >= `least`.

    >>> whole("n_candidates", 0, least=1)
    Traceback (most recent call last):
    ...
    evenhand.errors.InvalidInput: n_candidates is 0; allowed is a whole number >= 1
    """
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)) or value < least:
        raise InvalidInput(f"{name} is {value!r}; allowed is a whole number >= {least}")
    return int(value)


def number(name: str, value: Any, *, least: float, most: float = math.inf, above: bool = False) -> float:
    """`value` as a float, if it is a finite number from `least` (or, with `above`, above it) to `most`.

    >>> number("noise", -1, least=0)
    Traceback (most recent call last):
    ...
    evenhand.errors.InvalidInput: noise is -1; allowed is a number >= 0
    """
    real = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
    if not real or not math.isfinite(value) or value < least or value > most or (above and value == least):
        low = f"> {least:g}" if above else f">= {least:g}"
        high = f" and <= {most:g}" if math.isfinite(most) else ""
        raise InvalidInput(f"{name} is {value!r}; allowed is a number {low}{high}")
    return float(value)
