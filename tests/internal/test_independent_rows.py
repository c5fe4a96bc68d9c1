"""How many rows of a table are independent."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from evenhand._internal.positive_factors import independent_rows


@given(st.integers(1, 12), st.integers(1, 12), st.integers(0, 12), st.integers(-60, 60), st.integers(0, 10_000))
def test_it_is_the_rank(n: int, m: int, rank: int, exponent: int, seed: int) -> None:
    """Of a product of random factors, whatever its shape and scale."""
    rng, rank = np.random.default_rng(seed), min(rank, n, m)
    table = rng.normal(size=(n, rank)) @ rng.normal(size=(rank, m)) * 10.0**exponent
    values = np.linalg.svd(table, compute_uv=False)
    clear = rank == 0 or values[rank - 1] > 1e-5 * values[0]  # else the factors are dependent by chance
    assert not clear or independent_rows(table) == rank
