"""Whether a mean is a metric, and whether a norm is outgrown: without eigenvalues where that is possible."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.metrics.features import MetricSpace
from evenhand.metrics.gaussian.belief import Belief, draw_psd, project_psd


@settings(max_examples=80, deadline=None)
@given(
    seed=st.integers(0, 10**9),
    d=st.integers(1, 8),
    lowest=st.sampled_from([-0.3, -1e-6, -1.1e-9, -0.9e-9, 0.0, 1e-12, 0.1]),
)
def test_the_factor_agrees_with_the_eigenvalues(seed: int, d: int, lowest: float) -> None:
    """A matrix whose smallest eigenvalue is below minus the tolerance is found, any other is let pass."""
    rng = np.random.default_rng(seed)
    Q, _ = np.linalg.qr(rng.normal(size=(d, d)))
    values = np.concatenate([[lowest], rng.uniform(max(lowest, 0.0), 1.0, d - 1)])
    space = MetricSpace(d)
    alpha = space.flatten((Q * values) @ Q.T)
    assert space.is_metric(alpha, 1e-9) == (lowest >= -1e-9)
    diagonal = MetricSpace(d, "diagonal")
    assert diagonal.is_metric(values, 1e-9) == (lowest >= -1e-9)


@pytest.mark.parametrize("structure", ["full", "diagonal"])
def test_a_projected_belief_is_about_metrics(structure: str) -> None:
    """Its mean has no negative direction; a belief that had none is returned as it is; draws have none either."""
    rng = np.random.default_rng(0)
    space = MetricSpace(4, structure)  # type: ignore[arg-type]
    m = space.n_unknowns
    for _ in range(30):
        belief = project_psd(Belief(rng.normal(size=m), np.eye(m) * 0.3), space, 1.0)
        assert np.linalg.eigvalsh(space.unflatten(belief.mean))[0] >= -2e-9
        assert project_psd(belief, space, 1.0) is belief
        assert np.linalg.eigvalsh(draw_psd(belief, space, 1.0, rng))[0] >= -1e-12


@settings(max_examples=200, deadline=None)
@given(
    seed=st.integers(0, 10**9), m=st.integers(1, 12), scale=st.sampled_from([1e-4, 0.01, 0.1, 0.5]), rank=st.booleans()
)
def test_what_is_surely_exceeded(seed: int, m: int, scale: float, rank: bool) -> None:
    """The answer is that of the principal directions, whether or not they had to be worked out."""
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(m, 1 if rank else m)) * scale
    belief = Belief(rng.normal(size=m) / np.sqrt(m), root @ root.T)
    values, vectors = np.linalg.eigh(belief.cov)
    sure = np.maximum(np.abs(vectors.T @ belief.mean) - np.sqrt(np.maximum(values, 0.0)), 0.0)
    exact = float(np.linalg.norm(sure))
    for bound in (0.5 * exact, exact * (1 - 1e-6), exact * (1 + 1e-6) + 1e-9, 1.0, 2.0):
        assert belief.outgrows(bound) == (exact > bound)
