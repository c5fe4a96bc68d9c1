"""With an exact reviewer nothing is proved that is not true, and much that is true is proved."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.certificates import Evidence, lower_bounds
from evenhand.metrics import Pairs, Verdicts
from evenhand.metrics.features import MetricSpace, Structure
from evenhand.records.decision import PROBABILITY_TOLERANCE
from evenhand.testing.metric_worlds import random_A, random_contexts, true_squares
from tests.support.reviewed import CONTEXTS, Floats, evidence_of, made_up, played

KINDS = tuple(CONTEXTS)


def truth(rng: np.random.Generator, d: int, structure: Structure) -> Floats:
    """A of any rank and of sizes from tiny to huge; diagonal if need be."""
    A = random_A(rng, d, rank=int(rng.integers(0, d + 1)), norm=10.0 ** rng.uniform(-3, 2))
    return A if structure == "full" else np.diag(np.sqrt(np.sum(A**2, axis=0)))


def most_wrong(seed: int, kind: str, structure: Structure, *, rounds: int) -> tuple[int, float, int]:
    """In a random world: how many pairs were checked, by how much a bound exceeded its distance, how many had one."""
    rng = np.random.default_rng(seed)
    d, k = int(rng.integers(2, 6)), int(rng.integers(3, 7))
    A = truth(rng, d, structure)
    evidence = Evidence(MetricSpace(d, structure))
    checked, worst, proved = 0, -np.inf, 0
    for number, (decision, review) in enumerate(made_up(A, kind, k=k, rounds=rounds, seed=seed)):
        if number % 3 == 0:
            pairs = Pairs.of(decision.contexts)
            bounds = np.sqrt(lower_bounds(evidence, pairs))
            worst = max(worst, float(np.max(bounds - np.sqrt(true_squares(pairs, A)))))
            checked, proved = checked + len(pairs), proved + int(np.sum(bounds > 0.0))
        evidence.update(Verdicts.of(decision, review), decision.id)
    assert evidence.contradiction is None
    return checked, worst, proved


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("structure", ["full", "diagonal"])
def test_no_bound_exceeds_the_distance(kind: str, structure: Structure) -> None:
    """Random worlds of all ranks and sizes, contexts of all kinds: no proved bound is above the true distance."""
    results = [most_wrong(seed, kind, structure, rounds=60) for seed in range(4)]
    assert max(worst for _, worst, _ in results) <= PROBABILITY_TOLERANCE
    assert sum(proved for _, _, proved in results) > 0


@pytest.mark.slow
def test_no_bound_exceeds_the_distance_of_a_hundred_thousand_pairs(capsys: pytest.CaptureFixture[str]) -> None:
    """The same for more than 100,000 pairs."""
    checked = proved = seed = 0
    while checked < 100_000:
        for kind in KINDS:
            structure: Structure = "diagonal" if seed % 4 == 3 else "full"
            n, worst, n_proved = most_wrong(1000 + seed, kind, structure, rounds=240)
            assert worst <= PROBABILITY_TOLERANCE, (seed, kind)
            checked, proved = checked + n, proved + n_proved
        seed += 1
    with capsys.disabled():
        print(f"\n{checked} pairs checked in {seed * len(KINDS)} worlds, {proved} with a bound above zero")


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 5), st.integers(1, 80), st.sampled_from(["full", "diagonal"]))
def test_bounds_hold_for_any_metric_and_verdicts_that_agree_with_it(
    seed: int, d: int, n: int, structure: Structure
) -> None:
    """Verdicts at any gaps, judged by any metric: z'Gz is never below the bound."""
    rng = np.random.default_rng(seed)
    A = truth(rng, d, structure)
    z = random_contexts(rng, n + 5, d) * 10.0 ** rng.uniform(-3, 0.3, (n + 5, 1))
    pairs = Pairs(np.tile([0, 1], (n + 5, 1)), z)
    distances = np.sqrt(true_squares(pairs, A))
    gaps = np.minimum(distances * rng.uniform(0.5, 1.5, n + 5), 1.0)
    on_the_edge = rng.uniform(size=n + 5) < 0.5
    gaps[on_the_edge] = (distances + rng.uniform(-1.0, 2.0, n + 5) * PROBABILITY_TOLERANCE)[on_the_edge]
    verdicts = Verdicts(pairs, gaps, gaps > distances + PROBABILITY_TOLERANCE, np.zeros(n + 5, np.bool_))
    evidence = Evidence(MetricSpace(d, structure))
    evidence.update(verdicts.take(slice(0, n)).take(gaps[:n] > PROBABILITY_TOLERANCE), "made up")
    assert np.all(np.sqrt(lower_bounds(evidence, pairs)) <= distances + PROBABILITY_TOLERANCE)
    assert evidence.contradiction is None


@pytest.mark.parametrize("rank", [1, 2, 4])
def test_no_adversary_finds_a_pair_that_is_proved_wrongly(rank: int) -> None:
    """Shown, of 15 context sets, the one whose bounds come nearest to the distances: none exceeds its distance."""
    A = random_A(np.random.default_rng(rank), 4, rank=rank)
    evidence = evidence_of(list(made_up(A, "sphere", k=5, rounds=100, seed=rank)), 4)
    rng = np.random.default_rng(rank)
    for _ in range(20):
        sets = [Pairs.of(random_contexts(rng, 4, 4)) for _ in range(15)]
        excess = [np.sqrt(lower_bounds(evidence, pairs)) - np.sqrt(true_squares(pairs, A)) for pairs in sets]
        worst = max(range(15), key=lambda number: float(np.max(excess[number])))
        assert np.max(excess[worst]) <= PROBABILITY_TOLERANCE
        # What came nearest is played as wide as it is just fair, and the reviewer says so.
        distances = np.sqrt(true_squares(sets[worst], A))
        nobody = np.zeros(len(distances), np.bool_)
        evidence.update(Verdicts(sets[worst], np.minimum(distances, 1.0), nobody, nobody), "adversary")
    assert evidence.contradiction is None


@pytest.mark.statistical
@pytest.mark.parametrize(("d", "k", "share"), [(3, 5, 0.88), (5, 10, 0.88)], ids=["3-5", "5-10"])
def test_most_pairs_are_proved_once_learning_has_settled(
    d: int, k: int, share: float, capsys: pytest.CaptureFixture[str]
) -> None:
    """After 300 rounds the gaps of the next 20 are proved fair in most cases, before anybody looks at them."""
    proved = checked = 0
    for seed in range(3):
        _, A, history = played(d, k, 320, seed=seed)
        evidence = evidence_of(history[:300], d)
        for decision, review in history[300:]:
            verdicts = Verdicts.of(decision, review)
            bounds = lower_bounds(evidence, verdicts.pairs)
            is_proved = np.sqrt(bounds) >= verdicts.gaps - PROBABILITY_TOLERANCE
            assert not np.any(is_proved & verdicts.unfair)
            assert np.all(bounds <= true_squares(verdicts.pairs, A))
            proved, checked = proved + int(np.sum(is_proved)), checked + len(verdicts)
    with capsys.disabled():
        print(f"\nd = {d}, k = {k}: {proved / checked:.1%} of {checked} pairs proved")
    assert proved / checked >= share


def test_more_evidence_proves_more() -> None:
    """Bounds on the same pairs grow, but for a thousandth, as reviews come in."""
    _, _, history = played(3, 5, 200, seed=5)
    pairs = Pairs.of(random_contexts(np.random.default_rng(0), 8, 3))
    before = np.zeros(len(pairs))
    for rounds in (20, 50, 100, 200):
        after = lower_bounds(evidence_of(history[:rounds], 3), pairs)
        assert np.mean(after) > np.mean(before)
        assert np.all(after >= before * (1 - 5e-3))
        before = after
