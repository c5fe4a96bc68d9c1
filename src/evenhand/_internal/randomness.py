"""Randomness comes only from numpy Generators: how one is made from a seed, and made again from its state."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from evenhand._internal.checks import is_whole
from evenhand.errors import InvalidInput

Seed = int | np.random.Generator | None


def as_generator(seed: Seed) -> np.random.Generator:
    """The Generator for a seed: a whole number >= 0 gives the same one everywhere, None a new one each time.

    >>> as_generator(1).integers(10) == as_generator(1).integers(10)
    np.True_
    """
    if seed is None or isinstance(seed, np.random.Generator) or (is_whole(seed) and seed >= 0):
        return np.random.default_rng(seed)
    raise InvalidInput(f"seed is {seed!r}; allowed are a whole number >= 0, a numpy Generator, and None")


def generator_from(state: Mapping[str, Any]) -> np.random.Generator:
    """The Generator whose `bit_generator.state` this was: it goes on with the next number."""
    kind = getattr(np.random, state["bit_generator"], None)
    if not (isinstance(kind, type) and issubclass(kind, np.random.BitGenerator)):
        raise InvalidInput(f"{state['bit_generator']!r} is no bit generator; allowed are numpy's, such as 'PCG64'")
    bit_generator = kind()
    bit_generator.state = dict(state)
    return np.random.Generator(bit_generator)
