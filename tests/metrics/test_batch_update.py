"""update_in_batches: the same as row by row, for many unknowns."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from evenhand.metrics.gaussian._moment_matching import repeated_rows, update_in_batches
from evenhand.metrics.gaussian.belief import Belief
from evenhand.metrics.gaussian.tuning import DEFAULT, BayesPointTuning
from evenhand.metrics.verdicts import HalfSpaces

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
    return belief, [normals, thresholds, sides, rates, rng.choice([0.0, 0.0, 0.05, 0.5], size=n)]


ROW_BY_ROW = replace(DEFAULT, few_rows=10**9)
"""Every row is processed: those passed over have another score."""


def _in_batches(belief: Belief, rows: list[Floats], contradiction: float, tuning: BayesPointTuning) -> list[Floats]:
    mean, cov, n = belief.mean.copy(), belief.cov.copy(), len(rows[1])
    scores, evidences = np.full(n, np.nan), np.full(n, np.nan)
    table = (rows[0], rows[1], rows[2], rows[3], rows[4], repeated_rows(rows[0], rows[1], rows[2]))
    skipped = update_in_batches(mean, cov, table, 1e-3, contradiction, tuning, scores, evidences)
    assert skipped == np.sum(scores < contradiction)
    return [mean, cov, scores, evidences]


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10**9),
    m=st.integers(1, 30),
    n=st.integers(0, 40),
    contradiction=st.sampled_from([-np.inf, -5.0, -1.0]),
    size=st.sampled_from([1, 3, 256]),
)
def test_equals_row_by_row(seed: int, m: int, n: int, contradiction: float, size: int) -> None:
    """Mean, covariance, scores and evidences are those of the rows one by one, whatever the size of a batch.

    Repetitions, contradictions and reviewers who are mostly wrong included. To as many digits as r + z has: it cancels
    where both are large.
    """
    belief, rows = _world(seed, m, n)
    batched = _in_batches(belief, rows, contradiction, replace(DEFAULT, batch_rows=size))
    belief = replace(belief, tuning=ROW_BY_ROW)
    update = belief.update(HalfSpaces(*rows[:3]), rows[3], blur=1e-3, softness=rows[4], contradiction=contradiction)
    if np.any(np.abs(update.score - contradiction) < 1e-6):
        return  # on the edge of a contradiction rounding decides
    one_by_one = (update.belief.mean, update.belief.cov, update.score, update.evidence)
    for a, b in zip(batched, one_by_one, strict=True):
        assert np.allclose(a, b, rtol=1e-6, atol=1e-7 * (1.0 + np.max(np.abs(b), initial=0.0)))
    assert np.array_equal(batched[1], batched[1].T)


def test_many_batches_leave_a_covariance() -> None:
    """After thousands of verdicts, contradictory ones too, it is symmetric to the bit and positive definite."""
    rng = np.random.default_rng(5)
    mean, cov = np.zeros(12), np.eye(12)
    for _ in range(30):
        normals = rng.normal(size=(300, 12))
        normals /= np.linalg.norm(normals, axis=1, keepdims=True)
        thresholds, sides = rng.uniform(0, 1, 300), rng.choice([-1.0, 1.0], 300)
        rates, none = rng.choice([0.001, 0.3, 0.9], 300), np.zeros(300, np.bool_)
        rows = (normals, thresholds, sides, rates, np.zeros(300), none)
        update_in_batches(mean, cov, rows, 1e-4, -np.inf, DEFAULT, np.empty(300), np.empty(300))
        assert np.array_equal(cov, cov.T)
    assert np.min(np.linalg.eigvalsh(cov)) > 0


def test_a_belief_about_many_unknowns_is_updated_in_batches() -> None:
    """Beyond a number of unknowns a belief is updated in batches, and comes to the same."""
    belief, rows = _world(3, 20, 50)
    half_spaces = HalfSpaces(*rows[:3])
    expected = belief.update(half_spaces, rows[3], blur=1e-3, softness=rows[4]).belief
    many = replace(belief, tuning=replace(DEFAULT, batch_unknowns=19))
    batched = many.update(half_spaces, rows[3], blur=1e-3, softness=rows[4]).belief
    assert not np.array_equal(batched.cov, expected.cov)
    assert np.allclose(batched.cov, expected.cov, atol=1e-9)
    assert np.allclose(batched.mean, expected.mean, atol=1e-7)
