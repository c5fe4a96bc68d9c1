"""Randomness comes only from numpy Generators: how one is made from a seed, and made again from its state."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from evenhand.errors import InvalidInput

Seed = int | np.random.Generator | None


def as_generator(seed: Seed) -> np.random.Generator:
    """The Generator for a seed: a whole number >= 0 gives the same one everywhere, None a new one each time.

    >>> as_generator(1).integers(10) == as_generator(1).integers(10)
    np.True_
    """
    whole = isinstance(seed, (int, np.integer)) and not isinstance(seed, bool) and seed >= 0
    if seed is None or whole or isinstance(seed, np.random.Generator):
        return np.random.default_rng(seed)
    raise InvalidInput(f"seed is {seed!r}; allowed are a whole number >= 0, a numpy Generator, and None")


def generator_from(state: Mapping[str, Any]) -> np.random.Generator:
    """The Generator whose `bit_generator.state` this was: it goes on with the next number."""
    bit_generator = getattr(np.random, state["bit_generator"])()
    bit_generator.state = state
    return np.random.Generator(bit_generator)
