"""A metric learned elsewhere as the mean of a prior: in both forms of belief, in learners, and for real verdicts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.errors import InvalidInput
from evenhand.metrics import BayesPoint, MetricLearner
from evenhand.metrics.features import MetricSpace
from evenhand.metrics.gaussian._lanczos import lowest_directions
from evenhand.metrics.gaussian.covariance_form import CovarianceForm
from evenhand.metrics.gaussian.kernel_form import KernelForm
from evenhand.metrics.gaussian.prior_mean import PriorMean
from evenhand.metrics.gaussian.prior_shape import PriorShape
from evenhand.metrics.gaussian.tuning import DEFAULT
from evenhand.metrics.verdicts import HalfSpaces
from evenhand.testing import MetricLearnerContract
from evenhand.testing.metric_worlds import random_contexts


def a_metric(seed: int, d: int = 5, norm: float = 1.0) -> np.ndarray:
    """A random metric of rank two and this norm, (d, d)."""
    A = np.random.default_rng(seed).normal(size=(2, d))
    return np.asarray(norm * A.T @ A / np.linalg.norm(A.T @ A))


@given(seed=st.integers(0, 200), ratio=st.sampled_from([0.1, 1.0]), blocks=st.sampled_from([None, "aabbc"]))
@settings(max_examples=15, deadline=None)
def test_both_forms_of_belief_agree(seed: int, ratio: float, blocks: str | None) -> None:
    """Before and after answers, after a larger bound, and on whether the bound is outgrown."""
    rng, space, shape = np.random.default_rng(seed), MetricSpace(5), PriorShape.of(5, ratio, blocks)
    first, G = PriorMean(a_metric(seed), 4.0), a_metric(seed + 1)
    forms = CovarianceForm(space, shape, DEFAULT, first), KernelForm(space, shape, DEFAULT, first)
    z = forms[1].rows(0.5 * rng.normal(size=(8, 5)))
    thresholds = np.einsum("ij,jk,ik->i", z, G, z) * rng.uniform(0.3, 1.7, size=8)
    sides = rng.choice([-1.0, 1.0], size=8)
    full, kernel = forms[0].prior(1.0), forms[1].prior(1.0)
    np.testing.assert_allclose(forms[1].matrix(kernel), first.matrix, atol=1e-12)
    full = full.update(HalfSpaces(space.features(z), thresholds, sides), np.array([0.05]), blur=1e-4).belief
    kernel = kernel.update(HalfSpaces(z, thresholds, sides), np.array([0.05]), blur=1e-4).belief
    for old, new in ((None, None), (1.0, 2.0)):
        if old is not None and new is not None:
            full = full.with_prior(forms[0].prior(old), forms[0].prior(new))
            kernel = kernel.with_prior(forms[1].prior(old), forms[1].prior(new))
        people = rng.normal(size=(40, 5))
        for ours, theirs in zip(kernel.moments(people), full.moments(space.features(people)), strict=True):
            np.testing.assert_allclose(ours, theirs, atol=1e-7)
        np.testing.assert_allclose(forms[1].matrix(kernel), forms[0].matrix(full), atol=1e-7)
        norm = float(np.linalg.norm(full.mean))
        variance = float(full.mean @ full.cov @ full.mean) / norm**2
        for bound in (0.5 * norm, norm - 1.01 * np.sqrt(variance), norm - 0.99 * np.sqrt(variance), 1.1 * norm):
            assert kernel.outgrows(bound) == (bound < norm - np.sqrt(variance))
    values, _ = lowest_directions(kernel, 5, 1)
    np.testing.assert_allclose(values[0], np.linalg.eigvalsh(forms[0].matrix(full))[0], atol=1e-7)
    i, j = np.array([0, 1]), np.array([3, 4])
    for ours, theirs in zip(forms[1].entries(kernel, i, j), forms[0].entries(full, i, j), strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-7)


@pytest.mark.parametrize(("d", "structure"), [(3, "full"), (4, "auto"), (30, "auto"), (3, "diagonal")])
def test_it_starts_from_the_prior(d: int, structure: Any) -> None:
    """The matrix before the first answer is the one passed; the more it weighs, the narrower the ends."""
    G = np.diag(np.arange(1.0, d + 1)) if structure == "diagonal" else a_metric(3, d)
    light, heavy = (BayesPoint(d, structure=structure, prior=G, weight=w) for w in (1.0, 100.0))
    np.testing.assert_allclose(heavy.matrix(), G, atol=1e-12)
    assert heavy.bound == pytest.approx(max(1.0, 2.0 * np.linalg.norm(G)))
    contexts = random_contexts(np.random.default_rng(0), 4, d)
    widths = [learner.distances(contexts).upper - learner.distances(contexts).lower for learner in (light, heavy)]
    assert np.sum(widths[1]) < np.sum(widths[0])


@pytest.mark.parametrize(("d", "structure"), [(3, "full"), (30, "auto")])
def test_it_goes_on_after_saving(d: int, structure: Any) -> None:
    """A learner with a prior is restored to the bit; the state of one without has no such key."""
    learner = BayesPoint(d, structure=structure, prior=a_metric(5, d), weight=3.0, error_rate=0.01)
    rng = np.random.default_rng(0)
    people = random_contexts(rng, 12, d)
    for i in range(0, 10, 2):
        learner.learn_pair(people[i], people[i + 1], gap=0.3, unfair=bool(i % 4))
    twin = MetricLearner.restored(learner.saved())
    assert isinstance(twin, BayesPoint)
    np.testing.assert_array_equal(twin.matrix(), learner.matrix())
    for each in (learner, twin):
        each.learn_pair(people[10], people[11], gap=0.2, unfair=True)
    np.testing.assert_array_equal(twin.matrix(), learner.matrix())
    assert "prior" not in BayesPoint(d).state()


def test_a_right_prior_saves_flags() -> None:
    """With the truth as the prior gaps are three times closer to the distances, and fewer of them are flagged."""
    G, d = a_metric(8, 6), 6
    flags, errors = [], []
    for learner in (BayesPoint(d, prior=G, weight=100.0), BayesPoint(d)):
        rng, n, error = np.random.default_rng(1), 0, 0.0
        for _ in range(150):
            pair = random_contexts(rng, 2, d)
            gap = min(float(learner.playable_distances(pair)[0, 1]), 1.0)
            distance = np.sqrt((pair[0] - pair[1]) @ G @ (pair[0] - pair[1]))
            learner.learn_pair(pair[0], pair[1], gap=gap, unfair=bool(gap > distance + 0.01))
            n, error = n + bool(gap > distance + 0.01), error + abs(gap - distance)
        flags.append(n)
        errors.append(error)
    assert errors[0] < errors[1] / 3
    assert flags[0] < flags[1]


def test_a_wrong_prior_is_overcome() -> None:
    """Answers outweigh a prior that says the opposite, at weight 1."""
    G, wrong = np.diag([1.0, 0.0]), np.diag([0.0, 1.0])
    learner = BayesPoint(2, prior=wrong, error_rate=0.0)
    rng = np.random.default_rng(2)
    for _ in range(300):
        pair = random_contexts(rng, 2, 2)
        gap = min(float(learner.playable_distances(pair)[0, 1]), 1.0)
        unfair = gap > np.sqrt((pair[0] - pair[1]) @ G @ (pair[0] - pair[1])) + 0.01
        learner.learn_pair(pair[0], pair[1], gap=gap, unfair=bool(unfair))
    np.testing.assert_allclose(learner.matrix(), G, atol=0.1)


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"prior": np.eye(3)}, r"\(r, 2\)"),
    ({"prior": np.ones((3, 2))}, r"shape \(2, 2\)"),
    ({"prior": [[1.0, 0.5], [0.0, 1.0]]}, "symmetric"),
    ({"prior": [[1.0, 2.0], [2.0, 1.0]]}, "positive semidefinite, got the eigenvalue -1"),
    ({"prior": [[1.0, np.nan], [np.nan, 1.0]]}, "finite"),
    ({"prior": np.eye(2), "weight": 0}, "weight must be a number > 0"),
    ({"weight": 2.0}, "weight must be 1 without a prior"),
    ({"prior": [[1.0, 0.5], [0.5, 1.0]], "structure": "diagonal"}, "must be diagonal"),
]


@pytest.mark.parametrize(("settings_", "sentence"), REFUSED)
def test_priors_are_checked(settings_: dict[str, Any], sentence: str) -> None:
    """Each gets a sentence that says what was wrong."""
    with pytest.raises(InvalidInput, match=sentence):
        BayesPoint(2, **settings_)


class TestBayesPointWithPrior(MetricLearnerContract):
    """The contract of learners holds from another start as well."""

    def make(self, n_features: int, **settings_: Any) -> MetricLearner:
        """A new learner."""
        prior = 0.3 * np.eye(n_features)
        return BayesPoint(n_features, prior=prior, weight=1.0, **settings_)
