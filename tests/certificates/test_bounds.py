"""How good the bounds are: the inequalities everybody knows, and the best bound there is."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog

from evenhand.certificates import Evidence, lower_bounds, proof_of
from evenhand.certificates._sourced_verdicts import SourcedVerdicts
from evenhand.metrics import Pairs, Verdicts
from evenhand.metrics.features import MetricSpace, Structure
from evenhand.records.decision import PROBABILITY_TOLERANCE
from evenhand.testing.metric_worlds import random_A, random_contexts
from tests.support.reviewed import Floats, evidence_from, evidence_of, made_up, played


def bound(evidence: Evidence, z: list[float]) -> float:
    """The proved lower bound on the distance that z makes."""
    return float(np.sqrt(lower_bounds(evidence, Pairs(np.array([[0, 1]]), np.array([z])))[0]))


@pytest.mark.parametrize("c", [1.0, -1.0, 0.5, 3.0, 0.1])
def test_parallel_differences_scale(c: float) -> None:
    """d(c z) = |c| d(z): with no unfair verdict if z and c z are parallel to the bit, and else with some."""
    z = np.array([0.3, -0.5])
    evidence = evidence_from((z.tolist(), 0.4, False))
    if c in (1.0, -1.0, 0.5):
        assert bound(evidence, (c * z).tolist()) == pytest.approx(abs(c) * 0.4, rel=1e-5)
    assert bound(evidence, [0.3, 0.5]) == 0.0
    evidence = evidence_from((z.tolist(), 0.4, False), ([0.0, 0.1], 0.9, True), ([0.1, 0.0], 0.9, True))
    assert bound(evidence, (c * z).tolist()) == pytest.approx(abs(c) * 0.4, rel=1e-5)


def test_whole_multiples_are_parallel() -> None:
    """Differences that are parallel to the bit may have any ratio."""
    evidence = evidence_from(([0.25, -0.5, 0.125], 0.2, False))
    assert bound(evidence, [0.75, -1.5, 0.375]) == pytest.approx(0.6, rel=1e-5)


def test_a_pair_that_was_looked_at_is_proved_to_the_last_digit() -> None:
    """The gap that was called fair is proved fair; a wider one is not."""
    evidence = evidence_from(([0.3, -0.5], 0.4, False))
    proof = proof_of(evidence, np.array([0.3, -0.5]))
    assert proof.weights.tolist() == [1.0]
    assert proof.covers(0.4)
    assert not proof.covers(0.4 + 1e-15)


def test_the_triangle_inequality() -> None:
    """d(y + v) >= d(y) - d(v)."""
    evidence = evidence_from(([0.5, 0.0], 0.4, False), ([0.0, 0.5], 0.1, True))
    assert bound(evidence, [0.5, 0.0]) == pytest.approx(0.4, rel=1e-5)
    assert bound(evidence, [0.5, 0.5]) == 0.0  # nothing bounds G in the first direction
    evidence = evidence_from(([0.5, 0.0], 0.4, False), ([0.0, 0.5], 0.1, True), ([0.5, 0.0], 0.7, True))
    assert bound(evidence, [0.5, 0.5]) == pytest.approx(0.4 - 0.1, rel=1e-4)


def test_the_diagonal_structure_needs_no_unfair_verdict() -> None:
    """Who differs at least as much in every feature is at least as far away."""
    evidence = evidence_from(([0.3, 0.4], 0.2, False), structure="diagonal")
    assert bound(evidence, [0.6, -0.8]) == pytest.approx(0.4, rel=1e-5)
    assert bound(evidence, [0.3, -0.9]) == pytest.approx(0.2, rel=1e-5)
    assert bound(evidence, [0.9, 0.2]) == pytest.approx(0.1, rel=1e-5)
    assert bound(evidence, [0.9, 0.0]) == 0.0
    assert bound(evidence_from(([0.3, 0.4], 0.2, False)), [0.3, -0.9]) == 0.0


def test_no_verdicts_and_no_fair_verdicts_prove_nothing() -> None:
    """Without a fair verdict every distance may be 0; without any the same."""
    rng = np.random.default_rng(0)
    for structure in ("full", "diagonal"):
        evidence = Evidence(MetricSpace(3, structure))
        pairs = Pairs.of(random_contexts(rng, 4, 3))
        assert lower_bounds(evidence, pairs).tolist() == [0.0] * 6
        gaps = np.full(6, 0.9)
        evidence.update(Verdicts(pairs, gaps, np.ones(6, np.bool_), np.ones(6, np.bool_)), "all unfair")
        assert lower_bounds(evidence, pairs).tolist() == [0.0] * 6
        assert lower_bounds(evidence, pairs.take(slice(0, 0))).shape == (0,)


def best_bound(space: MetricSpace, statements: SourcedVerdicts, z: Floats) -> float:
    """The smallest z'Gz, from below: another solver, and as many directions of negative length as it takes.

    It lets eigenvalues be negative by 1e-7, so it may come out a little too small.
    """
    ends = (statements.gaps + np.where(statements.unfair, 1.0, -1.0) * PROBABILITY_TOLERANCE) ** 2
    signs = np.where(statements.unfair, 1.0, -1.0)
    rows, limits = signs[:, None] * space.features(statements.differences), signs * ends
    for _ in range(200):
        found = linprog(space.features(z[None, :])[0], A_ub=rows, b_ub=limits, bounds=(-1e3, 1e3), method="highs-ds")
        assert found.x is not None
        assert found.fun is not None
        lowest, u = space.most_negative_direction(found.x)
        if lowest >= -1e-7:
            return float(found.fun)
        rows, limits = np.concatenate([rows, -u[None, :]]), np.append(limits, 0.0)
    raise AssertionError("no metric found")


@pytest.mark.parametrize("structure", ["full", "diagonal"])
@pytest.mark.parametrize("rank", [1, 2, 3])
def test_bounds_are_the_best_there_are(structure: Structure, rank: int) -> None:
    """Within a thousandth of the smallest squared distance that any metric that fits the evidence allows."""
    rng = np.random.default_rng(rank)
    A = random_A(rng, 3, rank=rank)
    A = A if structure == "full" else np.diag(np.sqrt(np.sum(A**2, axis=0)))
    evidence = evidence_of(list(made_up(A, "sphere", k=4, rounds=60, seed=rank)), 3, structure)
    pairs = Pairs.of(random_contexts(rng, 6, 3))
    best = [best_bound(evidence.space, evidence.verdicts, z) for z in pairs.differences]
    found = lower_bounds(evidence, pairs)
    assert found == pytest.approx(best, rel=1e-3, abs=1e-5)
    assert np.mean(found > 0.0) > 0.5


def test_what_is_left_out_is_not_missed() -> None:
    """Bounds from what the evidence keeps are nearly the best from all verdicts."""
    _, _, history = played(3, 5, 150, seed=3)
    everything = [SourcedVerdicts.of(Verdicts.of(*reviewed), "") for reviewed in history]
    whole = everything[0]
    for statements in everything[1:]:
        whole = whole.joined(statements)
    evidence = evidence_of(history, 3)
    assert len(evidence) < len(whole) / 5
    pairs = Pairs.of(random_contexts(np.random.default_rng(0), 5, 3))
    best = [best_bound(evidence.space, whole, z) for z in pairs.differences]
    assert np.sqrt(lower_bounds(evidence, pairs)) == pytest.approx(np.sqrt(best), rel=0.01)
