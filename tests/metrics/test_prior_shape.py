"""Structure "auto": a prior that expects few interactions, its shape chosen by evidence."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand._internal.arrays import Floats
from evenhand.errors import InvalidInput
from evenhand.metrics import BayesPoint, Ellipsoid, MetricLearner, Pairs
from evenhand.metrics.features import MetricSpace
from evenhand.metrics.gaussian.covariance_form import CovarianceForm
from evenhand.metrics.gaussian.prior_shape import PriorShape
from evenhand.metrics.gaussian.tuning import DEFAULT
from evenhand.testing.metric_worlds import random_contexts, verdicts_at_the_guess

shapes = st.builds(
    PriorShape.of, st.just(4), st.sampled_from([0.03, 0.3, 1.0]), st.sampled_from([None, "abca", (1, 1, 1, 1)])
)


def _play(learner: MetricLearner, A: Floats, *, n: int, seed: int = 0, pairs: int = 6) -> None:
    """Answer exactly at the learner's guesses, on the first pairs of each round."""
    rng = np.random.default_rng(seed)
    for _ in range(n):
        verdicts = verdicts_at_the_guess(learner, random_contexts(rng, 6, A.shape[1]), A)
        learner.learn(verdicts.take(np.arange(pairs)))


@given(shape=shapes, seed=st.integers(0, 100))
def test_units_whiten_the_prior(shape: PriorShape, seed: int) -> None:
    """In units of the prior its covariance is the identity, and units undo each other."""
    units = shape.units(MetricSpace(4))
    P = units.covariance()
    assert np.allclose(units.into(units.into(P).T), np.eye(10), atol=1e-12)
    x = np.random.default_rng(seed).normal(size=10)
    assert np.allclose(units.out_of(units.into(x)), x, atol=1e-12)


@pytest.mark.parametrize("d", [2, 16, 200])
@pytest.mark.parametrize("ratio", DEFAULT.ratios)
def test_the_prior_takes_no_distance_for_known(d: int, ratio: float) -> None:
    """However many features: two people who differ in all, or in one, have a distance uncertain by a third or more."""
    shape, c = PriorShape.of(d, ratio), 1.0 / (2.0 * np.sqrt(d))
    own, common = shape.variance(1.0), shape.common * shape.variance(1.0)
    for z in (np.ones(d) / np.sqrt(d), np.eye(d)[0]):
        fourth = float(np.sum(z**4))
        sd = np.sqrt(own * (fourth + ratio**2 * (1.0 - fourth)) + common)
        assert 0.33 * c < sd < 6 * c


def test_blocks_are_wide_inside() -> None:
    """Entries within a block start as wide as the diagonal, entries between blocks narrower."""
    space = MetricSpace(3)
    scales = PriorShape.of(3, 0.1, ["a", "b", "b"]).units(space).scales
    between = [scales[space.place_of(np.array([0]), np.array([j]))[0]] for j in (1, 2)]
    assert between == [0.1, 0.1]
    assert scales[space.place_of(np.array([2]), np.array([1]))[0]] == 1.0


@given(shape=shapes, seed=st.integers(0, 100))
@settings(max_examples=20, deadline=None)
def test_another_prior_is_as_if_from_the_start(shape: PriorShape, seed: int) -> None:
    """What was learned from one prior, by Gaussian observations, moves to a wider one exactly."""
    rng, form = np.random.default_rng(seed), CovarianceForm(MetricSpace(4), shape, DEFAULT)
    U, y, noise = rng.normal(size=(5, 10)), rng.normal(size=5), 0.1
    beliefs = []
    for bound in (1.0, 3.0):
        prior = form.prior(bound)
        gain = prior.cov @ U.T @ np.linalg.solve(U @ prior.cov @ U.T + noise * np.eye(5), np.eye(5))
        state = {"mean": prior.mean + gain @ (y - U @ prior.mean), "cov": prior.cov - gain @ U @ prior.cov}
        beliefs.append(form.restored(state, bound))
    moved = beliefs[0].with_prior(form.prior(1.0), form.prior(3.0))
    assert np.allclose(moved.mean, beliefs[1].mean, atol=1e-6)
    assert np.allclose(moved.cov, beliefs[1].cov, atol=1e-6)


def test_nothing_is_wider_than_the_prior() -> None:
    """However often a belief is widened, no direction gets more uncertain than under the prior."""
    form = CovarianceForm(MetricSpace(4), PriorShape.of(4, 0.1), DEFAULT)
    prior, variance = form.prior(1.0), form.prior_variance(1.0)
    belief = form.restored({"mean": prior.mean, "cov": prior.cov * 0.01}, 1.0)
    for _ in range(10):
        belief = belief.widened(4.0, variance)
    assert np.allclose(belief.cov, prior.cov, atol=1e-12)


@pytest.mark.parametrize(("dense", "ratios"), [(False, (0.03, 0.1)), (True, (0.3, 1.0))])
def test_the_shape_follows_the_truth(dense: bool, ratios: tuple[float, ...]) -> None:
    """A diagonal truth ends on a narrow shape, a dense one on a wide shape, and the others are dropped in the end."""
    rng = np.random.default_rng(3)
    A = rng.normal(size=(1, 6)) if dense else np.diag(rng.uniform(0.1, 1.0, size=6))
    A *= np.sqrt(0.7 / np.linalg.norm(A.T @ A))
    learner = BayesPoint(6, structure="auto", epsilon=0.01)
    _play(learner, A, n=150)
    assert learner._history.ratio in ratios
    assert len(learner._rivals) < len(DEFAULT.ratios) - 1
    assert all(rival.evidence <= learner._history.evidence + DEFAULT.more_evidence for rival in learner._rivals)


@pytest.mark.parametrize("learned", [{}, {"error_rate": None}, {"error_rate": None, "softness": None}])
@pytest.mark.parametrize("blocks", [None, ("a", "a", "b", "c")])
def test_a_saved_learner_goes_on_to_the_bit(learned: dict[str, Any], blocks: tuple[str, ...] | None) -> None:
    """State and back, in the middle of the race between shapes, then the same answers: the same beliefs."""
    A = np.diag([0.5, 0.2, 0.4, 0.1])
    learner = BayesPoint(4, structure="auto", blocks=blocks, epsilon=None, **learned)
    _play(learner, A, n=15)
    assert learner._rivals
    twin = BayesPoint.restored(copy.deepcopy(learner.saved()))
    assert (twin.structure, twin.blocks) == ("auto", blocks)
    for each in (learner, twin):
        _play(each, A, n=15, seed=1)
    pairs = Pairs.of(random_contexts(np.random.default_rng(5), 5, 4))
    assert np.array_equal(learner.guess(pairs), twin.guess(pairs))
    assert [r.evidence for r in learner._rivals] == [r.evidence for r in twin._rivals]
    assert learner._history.evidence == twin._history.evidence


def test_interactions_are_told() -> None:
    """Of two interacting features and a third there is a clear sign of the first two and none of the others."""
    G = np.array([[0.5, -0.4, 0.0], [-0.4, 0.5, 0.0], [0.0, 0.0, 0.3]])
    learner = BayesPoint(3, structure="auto", epsilon=0.01, blocks=["income", "debt", "age"])
    _play(learner, np.linalg.cholesky(G).T, n=80)
    first, *others = learner.interactions()
    assert {first.first, first.second} == {"income", "debt"}
    assert first.strength == pytest.approx(-0.4, abs=0.05)
    assert first.sentence == "a clear sign that income and debt interact"
    assert [other.sentence.split(" that ")[0] for other in others] == ["no sign", "no sign"]
    (both,) = learner.interactions(["money", "money", "age"])
    assert both.sentence == "no sign that money and age interact"


def test_before_the_first_answer_nothing_is_known_of_interactions() -> None:
    """No evidence for or against; a diagonal metric has none at all."""
    assert [each.evidence for each in BayesPoint(3, structure="auto").interactions()] == pytest.approx([0.0] * 3)
    assert BayesPoint(3, structure="diagonal").interactions() == []


def test_other_learners_take_auto_for_full() -> None:
    """ "auto" is any metric; learners without a prior that could follow know only "full"."""
    learner = Ellipsoid(3, structure="auto")
    assert (learner.structure, learner.space.n_unknowns) == ("full", 6)


@pytest.mark.parametrize("blocks", [["a"], "abc", [1.5, 2, 3]])
def test_blocks_are_checked(blocks: Any) -> None:
    """One label a column."""
    with pytest.raises(InvalidInput, match="blocks must be 3 labels"):
        BayesPoint(3, structure="auto", blocks=blocks)


@pytest.mark.parametrize("structure", ["auto", "full", "diagonal"])
@pytest.mark.parametrize("norm", [3.0, 20.0])
def test_an_exact_reviewer_never_contradicts_a_bound_that_is_too_small(structure: Any, norm: float) -> None:
    """Answers on any gaps about a metric far larger than expected are no conflicts: nobody has denied them."""
    for seed in range(3):
        rng = np.random.default_rng(seed)
        weights = rng.exponential(size=20)
        weights *= norm / np.linalg.norm(weights)
        learner = BayesPoint(20, structure=structure, epsilon=0.01)
        for _ in range(60):
            x, y = random_contexts(rng, 2, 20)
            gap, distance = rng.uniform(), np.sqrt((x - y) ** 2 @ weights)
            assert learner.learn_pair(x, y, gap=gap, unfair=gap > distance).conflicts == ()
