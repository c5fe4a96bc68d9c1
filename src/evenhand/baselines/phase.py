"""How long a first phase of learning lasts, when a second one of using what was learned follows it."""

from __future__ import annotations

import math

import numpy as np

from evenhand.errors import InvalidInput


def phase_length(name: str, length: int | None, horizon: int | None) -> int:
    """The length as given, or T^(2/3) rounded up for a horizon of T rounds; exactly one of them must be given.

    T^(2/3) balances n rounds lost to learning against an error of order 1/sqrt(n) in each of the T that follow.

    >>> phase_length("explore_rounds", None, 1000)
    100
    """
    if (length is None) == (horizon is None):
        raise InvalidInput(f"{name} is {length!r} and horizon {horizon!r}; exactly one of them must be given")
    if length is None:
        # A cube root is not exact: 1000^(2/3) is 99.99..., 64^(2/3) is 15.99...
        return math.ceil(round(math.pow(_whole("horizon", horizon), 2 / 3), 9))
    return _whole(name, length)


def _whole(name: str, value: int | None) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 1:
        raise InvalidInput(f"{name} is {value!r}; allowed is a whole number >= 1")
    return int(value)
