"""Separate streams of randomness from one seed, so that draws for one purpose never shift those for another."""

from __future__ import annotations

import numpy as np

from evenhand._internal.randomness import Seed, as_generator

WORDS = 8
"""32-bit words taken from a Generator to seed the streams: 256 bits, the entropy of a Generator."""


def separate_streams(seed: Seed, n: int) -> list[np.random.Generator]:
    """`n` independent Generators: equal integers give equal streams, the first ones equal for every `n`.

    From a Generator WORDS words are drawn, so a second call gives other streams.

    >>> one, two = separate_streams(3, 2)
    >>> bool(one.random() == separate_streams(3, 5)[0].random()), bool(one.random() == two.random())
    (True, False)
    """
    generator = as_generator(seed)
    if isinstance(seed, np.random.Generator):
        sequence = np.random.SeedSequence(generator.integers(2**32, size=WORDS, dtype=np.uint32).tolist())
    else:
        sequence = np.random.SeedSequence(None if seed is None else int(seed))
    return [np.random.default_rng(child) for child in sequence.spawn(n)]
