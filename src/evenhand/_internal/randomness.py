"""Random number generators: from a seed, several from one seed, and from a saved state."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from evenhand._internal.checks import is_whole, refusal

Seed = int | np.random.Generator | None


def as_generator(seed: Seed) -> np.random.Generator:
    """The Generator for a seed. A whole number gives the same stream everywhere, None a new one each time.

    >>> as_generator(1).integers(10) == as_generator(1).integers(10)
    np.True_
    """
    if seed is None or isinstance(seed, np.random.Generator) or (is_whole(seed) and seed >= 0):
        return np.random.default_rng(seed)
    raise refusal("seed", "a whole number >= 0, a numpy Generator or None", seed)


def separate_streams(seed: Seed, n: int) -> list[np.random.Generator]:
    """`n` independent Generators: equal integers give equal streams, the first ones equal for every `n`.

    So draws for one purpose never shift those for another. From a Generator 256 bits are drawn, its own entropy, so a
    second call gives other streams.

    >>> one, two = separate_streams(3, 2)
    >>> bool(one.random() == separate_streams(3, 5)[0].random()), bool(one.random() == two.random())
    (True, False)
    """
    generator = as_generator(seed)
    if isinstance(seed, np.random.Generator):
        sequence = np.random.SeedSequence(generator.integers(2**32, size=8, dtype=np.uint32).tolist())
    else:
        sequence = np.random.SeedSequence(None if seed is None else int(seed))
    return [np.random.default_rng(child) for child in sequence.spawn(n)]


def generator_from(state: Mapping[str, Any]) -> np.random.Generator:
    """The Generator with this `bit_generator.state`: it continues with the next number."""
    kind = getattr(np.random, state["bit_generator"], None)
    if not (isinstance(kind, type) and issubclass(kind, np.random.BitGenerator)):
        raise refusal("bit_generator", "one of numpy's, such as 'PCG64'", state["bit_generator"])
    bit_generator = kind()
    bit_generator.state = dict(state)
    return np.random.Generator(bit_generator)
