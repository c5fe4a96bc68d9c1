"""Proofs are checked in whole numbers: the smallest error is enough to refuse one."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.certificates._proof import Proof, leaves_semidefinite, proved_square, root_rounded_down, rounded_down
from evenhand.records.decision import PROBABILITY_TOLERANCE

numbers = st.floats(-2.0, 2.0)


@given(st.integers(1, 5), st.integers(0, 2**32 - 1))
def test_semidefinite_matrices_are_recognised(d: int, seed: int) -> None:
    """R = zz' - sum w z_j z_j' with random weights: as its eigenvalues say, wherever these are clear."""
    rng = np.random.default_rng(seed)
    z, rows = rng.normal(size=d), rng.normal(size=(2 * d, d))
    signed = rng.normal(size=2 * d) - rng.choice([0.0, 1.0, 3.0])
    R = np.outer(z, z) - (rows.T * signed) @ rows
    lowest = float(np.linalg.eigvalsh(R)[0])
    found = leaves_semidefinite(z.tolist(), rows.tolist(), signed.tolist(), diagonal=False)
    assert abs(lowest) < 1e-9 or found == (lowest > 0.0)
    assert leaves_semidefinite(z.tolist(), rows.tolist(), signed.tolist(), diagonal=True) == bool(
        np.all(np.diag(R) >= 0)
    )


@pytest.mark.parametrize("d", [1, 2, 4])
def test_singular_matrices_are_exact(d: int) -> None:
    """zz' - zz' is semidefinite; a weight one unit in the last place larger is too much, a smaller one is not."""
    z = np.random.default_rng(d).normal(size=d).tolist()
    assert leaves_semidefinite(z, [z], [1.0], diagonal=False)
    assert leaves_semidefinite(z, [z, z], [0.5, 0.5], diagonal=False)
    assert leaves_semidefinite(z, [z], [math.nextafter(1.0, 0.0)], diagonal=False)
    assert not leaves_semidefinite(z, [z], [math.nextafter(1.0, 2.0)], diagonal=False)
    assert not leaves_semidefinite(z, [z, [1e-200] * d], [1.0, 1e-300], diagonal=False)


def test_a_zero_pivot_needs_a_row_of_zeros() -> None:
    """[[0, 1], [1, 5]] has a negative eigenvalue that no pivot but the zero shows."""
    # (1, 1)(1, 1)' - (1, 0)(1, 0)' + 4 (0, 1)(0, 1)'
    assert not leaves_semidefinite([1.0, 1.0], [[1.0, 0.0], [0.0, 1.0]], [1.0, -4.0], diagonal=False)
    assert leaves_semidefinite([0.0, 1.0], [[0.0, 1.0], [0.0, 1.0]], [1.0, -4.0], diagonal=False)


@given(st.lists(st.tuples(st.floats(1e-6, 1.0), st.booleans(), st.floats(0.0, 10.0)), max_size=6))
def test_sums_are_exact(verdicts: list[tuple[float, bool, float]]) -> None:
    """The proved square is what fractions make it."""
    gaps, unfair, weights = [g for g, _, _ in verdicts], [u for _, u, _ in verdicts], [w for _, _, w in verdicts]
    signed = [-w if u else w for u, w in zip(unfair, weights, strict=True)]
    t = Fraction(PROBABILITY_TOLERANCE)
    expected = sum(
        (
            Fraction(w) * (Fraction(g) - (-t if w < 0 or u else t)) ** 2
            for g, u, w in zip(gaps, unfair, signed, strict=True)
        ),
        Fraction(0),
    )
    assert proved_square(gaps, unfair, signed) == expected


@given(st.fractions(0, 4))
def test_rounding_goes_down(value: Fraction) -> None:
    """Rounded values and roots are never above, and nearly as large."""
    assert rounded_down(value) <= value
    assert Fraction(root_rounded_down(value)) ** 2 <= value
    assert rounded_down(value) == pytest.approx(float(value), rel=1e-15)
    assert root_rounded_down(value) == pytest.approx(math.sqrt(value), rel=1e-15)


def test_below_zero_counts_as_zero() -> None:
    """A negative bound is no bound."""
    assert rounded_down(Fraction(-1)) == root_rounded_down(Fraction(-1)) == 0.0


def _proved(square: Fraction) -> Proof:
    return Proof(np.zeros(1), np.zeros(0, np.int64), np.zeros(0), square)


def test_a_gap_is_covered_up_to_the_tolerance_of_probabilities() -> None:
    """gap <= d + PROBABILITY_TOLERANCE, to the last digit."""
    assert _proved(Fraction(0)).covers(PROBABILITY_TOLERANCE)
    assert not _proved(Fraction(0)).covers(math.nextafter(PROBABILITY_TOLERANCE, 1.0))
    edge = (Fraction(0.3) - Fraction(PROBABILITY_TOLERANCE)) ** 2
    assert _proved(edge).covers(0.3)
    assert not _proved(edge).covers(math.nextafter(0.3, 1.0))
