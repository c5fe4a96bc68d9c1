"""tell_in_blocks: the same as row by row, for many unknowns."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from evenhand.metrics.gaussian import batch_update as blocks
from evenhand.metrics.gaussian import belief as belief_module
from evenhand.metrics.gaussian.batch_update import tell_in_blocks
from evenhand.metrics.gaussian.belief import LIMITS, Belief
from evenhand.metrics.gaussian.moment_matching import tell_all
from evenhand.metrics.half_spaces import HalfSpaces

Floats = NDArray[np.float64]


def _world(seed: int, m: int, n: int) -> tuple[Belief, list[Floats]]:
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(m, m))
    belief = Belief(rng.normal(size=m), root @ root.T / m + 0.01 * np.eye(m))
    normals = rng.normal(size=(n, m))
    thresholds = normals @ belief.mean + rng.normal(size=n) * rng.choice([0.1, 1.0, 4.0], size=n)
    sides, rates = rng.choice([-1.0, 1.0], size=n), rng.choice([0.0, 0.001, 0.3, 0.5, 0.9], size=n)
    for row in range(1, n):
        if rng.random() < 0.2:
            other = int(rng.integers(row))
            normals[row], thresholds[row], sides[row] = normals[other], thresholds[other], sides[other]
    return belief, [normals, thresholds, sides, rates]


def _told(tell: Any, belief: Belief, rows: list[Floats], surprise: float) -> tuple[Floats, ...]:
    mean, cov, n = belief.mean.copy(), belief.cov.copy(), len(rows[1])
    scores, evidences = np.full(n, np.nan), np.full(n, np.nan)
    tell(mean, cov, *rows, 1e-3, surprise, LIMITS, scores, evidences)
    return mean, cov, scores, evidences


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10**9),
    m=st.integers(1, 30),
    n=st.integers(0, 40),
    surprise=st.sampled_from([-np.inf, -5.0, -1.0]),
    size=st.sampled_from([1, 3, 256]),
)
def test_equals_row_by_row(seed: int, m: int, n: int, surprise: float, size: int) -> None:
    """Mean, covariance, scores and evidences are those of telling the rows one by one, whatever the block's size.

    Repetitions, surprises and reviewers who are mostly wrong included. To as many digits as r + z has: it cancels
    where both are large.
    """
    belief, rows = _world(seed, m, n)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "ROWS", size)
        in_blocks = _told(tell_in_blocks, belief, rows, surprise)
    one_by_one = _told(tell_all, belief, rows, surprise)
    if np.any(np.abs(one_by_one[2] - surprise) < 1e-6):
        return  # on the edge of a surprise rounding decides
    for a, b in zip(in_blocks, one_by_one, strict=True):
        assert np.allclose(a, b, rtol=1e-6, atol=1e-7 * (1.0 + np.max(np.abs(b), initial=0.0)))
    assert np.array_equal(in_blocks[1], in_blocks[1].T)


def test_many_blocks_leave_a_covariance() -> None:
    """After thousands of verdicts, contradictory ones too, it is symmetric to the bit and positive definite."""
    rng = np.random.default_rng(5)
    mean, cov = np.zeros(12), np.eye(12)
    for _ in range(30):
        normals = rng.normal(size=(300, 12))
        normals /= np.linalg.norm(normals, axis=1, keepdims=True)
        thresholds, sides = rng.uniform(0, 1, 300), rng.choice([-1.0, 1.0], 300)
        rows = (normals, thresholds, sides, rng.choice([0.001, 0.3, 0.9], 300))
        tell_in_blocks(mean, cov, *rows, 1e-4, -np.inf, LIMITS, np.empty(300), np.empty(300))
        assert np.array_equal(cov, cov.T)
    assert np.min(np.linalg.eigvalsh(cov)) > 0


def test_a_belief_about_many_unknowns_hears_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond so many unknowns a belief hears a review in blocks, and comes to the same."""
    belief, rows = _world(3, 20, 50)
    half_spaces = HalfSpaces(*rows[:3])
    expected = belief.told_all(half_spaces, rows[3], blur=1e-3).belief
    monkeypatch.setattr(belief_module, "ROW_BY_ROW", 19)
    told = belief.told_all(half_spaces, rows[3], blur=1e-3).belief
    assert not np.array_equal(told.cov, expected.cov)
    assert np.allclose(told.cov, expected.cov, atol=1e-9)
    assert np.allclose(told.mean, expected.mean, atol=1e-7)
