"""How many rows of a table are independent."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand._internal import independent_rows as module
from evenhand._internal.independent_rows import independent_rows


@given(st.integers(1, 12), st.integers(1, 12), st.integers(0, 12), st.integers(-60, 60), st.integers(0, 10_000))
def test_it_is_the_rank(n: int, m: int, rank: int, exponent: int, seed: int) -> None:
    """Of a product of random factors, whatever its shape and scale."""
    rng, rank = np.random.default_rng(seed), min(rank, n, m)
    table = rng.normal(size=(n, rank)) @ rng.normal(size=(rank, m)) * 10.0**exponent
    values = np.linalg.svd(table, compute_uv=False)
    clear = rank == 0 or values[rank - 1] > 1e-5 * values[0]  # else the factors are dependent by chance
    assert not clear or independent_rows(table) == rank


def test_a_failed_driver_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where LAPACK's answer is wrong, eigenvalues give the number."""
    wrong = module.PivotedCholesky(np.zeros((4, 1)), np.arange(4))
    monkeypatch.setattr(module, "_lapack", lambda gram: wrong)
    table = np.random.default_rng(0).normal(size=(4, 9))
    assert independent_rows(table) == 4
    assert independent_rows(np.vstack([table[:3], table[0] + table[1]])) == 3
