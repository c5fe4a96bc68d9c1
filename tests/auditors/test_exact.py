"""Exact reviewers: they flag what their distance forbids and nothing else, whatever their distance is."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.auditors import (
    Auditor,
    Branch,
    Criterion,
    DistanceAuditor,
    DriftingAuditor,
    GroupAuditor,
    LateAuditor,
    LexicographicAuditor,
    MahalanobisAuditor,
    MovingAuditor,
    NoisyAuditor,
    NormAuditor,
    RotatingAuditor,
    ThresholdAuditor,
    TreeAuditor,
    Truth,
    WobblingAuditor,
)
from evenhand.records.decision import PROBABILITY_TOLERANCE, Decision
from tests.support.made_auditors import any_decision, made, pairs_of, some

A = np.array([[0.6, 0.2], [0.0, 0.3]])
B = np.array([[0.1, -0.5]])

EXACT: dict[str, DistanceAuditor] = {
    "mahalanobis": MahalanobisAuditor(A),
    "norm 1": NormAuditor(A, 1),
    "norm 3": NormAuditor(A, 3.0),
    "norm inf": NormAuditor(A, math.inf),
    "wobbling": WobblingAuditor(A, 0.3, seed=4),
    "rotating": RotatingAuditor(A, 0.013),
    "drifting": DriftingAuditor(A, B, rounds=500),
    "group": GroupAuditor(A, B, feature=1),
    "lexicographic": LexicographicAuditor([Criterion(1, 0.3, 0.6), Criterion(0, 0.1, 0.2)], alike=0.05),
    "thresholds": ThresholdAuditor([Criterion(0, -0.1, 0.3), Criterion(0, 0.5, 0.2), Criterion(1, 0.0, 0.1)]),
    "tree": TreeAuditor(Branch(0, 0.1, 0.5, no=Branch(1, 0.0, 0.2), yes=Branch(1, -0.3, 0.1)), alike=0.02),
}


def _now(auditor: DistanceAuditor, decision: Decision) -> Any:
    """The distances that count for the decision."""
    still = auditor.at(decision.round) if isinstance(auditor, MovingAuditor) else auditor
    return still.distances(decision.contexts)


@pytest.mark.parametrize("name", EXACT)
@given(decision=any_decision())
def test_flagged_are_exactly_the_pairs_whose_gap_exceeds_their_distance(name: str, decision: Decision) -> None:
    """By more than the tolerance of probabilities, at the decision's round; equal probabilities are never flagged."""
    distances = _now(EXACT[name], decision)
    expected = tuple(p for p in pairs_of(decision) if decision.gap(*p) - distances[p] > PROBABILITY_TOLERANCE)
    review = EXACT[name].review(decision)
    assert review.kind == "complete"
    assert review.unfair == expected
    assert all(decision.gap(*pair) > PROBABILITY_TOLERANCE for pair in review.unfair)


@pytest.mark.parametrize("name", EXACT)
@given(decision=any_decision())
def test_distances_are_symmetric_and_zero_to_oneself(name: str, decision: Decision) -> None:
    """A (k, k) table, symmetric, nowhere negative, zero on the diagonal; and excess is the gap minus it."""
    distances = _now(EXACT[name], decision)
    assert distances.shape == (decision.n_candidates, decision.n_candidates)
    assert np.array_equal(distances, distances.T)
    assert np.all(distances >= 0)
    assert np.all(np.diag(distances) == 0)
    gaps = np.abs(np.subtract.outer(decision.probabilities, decision.probabilities))
    assert np.allclose(EXACT[name].excess(decision), gaps - distances, atol=1e-12)


@pytest.mark.parametrize("name", EXACT)
def test_who_knows_distances_is_a_truth(name: str) -> None:
    """An exact auditor is a reviewer and a truth; one wrapped in noise is a reviewer alone, and may be late."""
    assert isinstance(EXACT[name], Auditor)
    assert isinstance(EXACT[name], Truth)
    assert not isinstance(EXACT[name], LateAuditor)
    noisy = NoisyAuditor(EXACT[name], 0.1, seed=0)
    assert isinstance(noisy, LateAuditor)
    assert not isinstance(noisy, Truth)


def test_the_norms_are_ordered_as_norms_are() -> None:
    """The distance falls as p grows; p = 2 is Mahalanobis; p = inf is the largest coordinate of A (x - y)."""
    for decision in some(20, d=2):
        x = decision.contexts
        one, two, many = (NormAuditor(A, p).distances(x) for p in (1, 2, math.inf))
        assert np.all(one >= two - 1e-12)
        assert np.all(two >= many - 1e-12)
        assert np.allclose(two, MahalanobisAuditor(A).distances(x), atol=1e-12)
        assert many[0, 1] == pytest.approx(np.max(np.abs(A @ (x[0] - x[1]))))


def test_a_wobble_is_bounded_fixed_and_really_there() -> None:
    """A distance is off by at most the wobble, by nearly that somewhere, and the same whoever else is there."""
    auditor, plain = WobblingAuditor(A, 0.2, seed=1), MahalanobisAuditor(A)
    factors = []
    for decision in some(200, d=2):
        x = decision.contexts
        distances = auditor.distances(x)
        first, second = np.triu_indices(len(x), 1)
        factors += list(distances[first, second] / plain.distances(x)[first, second])
        alone = auditor.distances(x[[3, 1]])
        assert alone[0, 1] == pytest.approx(distances[1, 3], rel=1e-12)
    assert max(np.abs(np.array(factors) - 1.0)) <= 0.2 + 1e-12
    assert min(factors) < 0.81
    assert max(factors) > 1.19
    assert abs(np.mean(factors) - 1.0) < 0.02


def test_a_wobble_comes_from_its_seed() -> None:
    """One seed, one distance; another seed, another; no wobble, Mahalanobis."""
    (decision,) = some(1, d=2)
    one, again, other = (WobblingAuditor(A, 0.2, seed=s).distances(decision.contexts) for s in (1, 1, 2))
    assert np.array_equal(one, again)
    assert not np.allclose(one, other)
    none = WobblingAuditor(A, 0.0, seed=1).distances(decision.contexts)
    assert np.array_equal(none, MahalanobisAuditor(A).distances(decision.contexts))


@given(round=st.integers(0, 10**6))
def test_a_rotation_keeps_the_norm_of_the_metric(round: int) -> None:
    """In every round G = A'A has the eigenvalues it had, in three and in four features."""
    for d in (3, 4):
        wide = np.random.default_rng(d).normal(size=(d, d))
        turned = RotatingAuditor(wide, 0.0371).at(round).A
        assert np.allclose(np.linalg.eigvalsh(turned.T @ turned), np.linalg.eigvalsh(wide.T @ wide), atol=1e-8)


def test_a_rotation_turns_so_much_a_round() -> None:
    """After a quarter turn the first feature counts as the second did; after a whole one all is as before."""
    auditor = RotatingAuditor([[0.5, 0.0]], 1 / 40)
    x = np.array([[0.8, 0.0], [0.0, 0.6], [0.0, 0.0]])
    quarter = auditor.at(10).distances(x)
    assert quarter[0, 2] == pytest.approx(0.0, abs=1e-12)
    assert quarter[1, 2] == pytest.approx(0.3)
    assert np.allclose(auditor.at(40).distances(x), auditor.distances(x), atol=1e-12)


def test_a_rotating_mind_judges_by_the_round() -> None:
    """One pair with one gap is unfair in one round and fair in another, and a late review is as a prompt one."""
    auditor = RotatingAuditor([[1.0, 0.0]], 0.25)
    x = [[0.5, 0.0], [0.0, 0.0]]
    early, late = (made([0.6, 0.2], x, round=t) for t in (0, 1))
    assert auditor.review(early).unfair == ()
    assert auditor.review(late).unfair == ((0, 1),)
    assert auditor.review(early).unfair == ()


def test_a_drift_is_straight_in_squared_distances_and_ends() -> None:
    """Squared distances go evenly from the one to the other in so many rounds and stay there."""
    first, last = np.eye(2), np.array([[0.0, 0.3]])
    auditor = DriftingAuditor(first, last, rounds=50)
    (decision,) = some(1, d=2)
    squares = [auditor.at(t).distances(decision.contexts) ** 2 for t in range(60)]
    assert np.allclose(squares[0], MahalanobisAuditor(first).distances(decision.contexts) ** 2)
    assert np.allclose(squares[50], MahalanobisAuditor(last).distances(decision.contexts) ** 2)
    assert np.allclose(np.diff(squares[:51], n=2, axis=0), 0.0, atol=1e-12)
    assert np.array_equal(squares[59], squares[50])


def test_groups_are_compared_in_two_ways() -> None:
    """Within a group by the one matrix, across by the other; and the triangle inequality may fail."""
    within, across = MahalanobisAuditor(A), MahalanobisAuditor(B)
    auditor = GroupAuditor(A, B, feature=0, threshold=0.1)
    for decision in some(20, d=2):
        x = decision.contexts
        distances = auditor.distances(x)
        for i, j in pairs_of(decision):
            together = (x[i, 0] > 0.1) == (x[j, 0] > 0.1)
            expected = (within if together else across).distances(x)[i, j]
            assert distances[i, j] == expected
    x = np.array([[0.5, 0.0], [0.0, 0.0], [-0.5, 0.0]])
    apart = GroupAuditor(np.eye(2), np.zeros((1, 2)), feature=0, threshold=-0.1).distances(x)
    assert apart[0, 1] > apart[0, 2] + apart[2, 1]
