"""What the evidence keeps, what it costs, and that it can be put aside and taken up again."""

from __future__ import annotations

import copy
from pathlib import Path

import numpy as np
import pytest

from evenhand._internal.archive import read_archive, write_archive
from evenhand.certificates import Evidence, lower_bounds
from evenhand.certificates.evidence import MOST_AT_ONCE, UNPRUNED
from evenhand.metrics import Pairs, Verdicts
from evenhand.metrics.features import MetricSpace, Structure
from evenhand.records.decision import Decision, Review
from evenhand.testing.metric_worlds import random_A, random_contexts
from tests.support.reviewed import evidence_from, evidence_of, made_up, played
from tests.support.simulation import same


@pytest.mark.parametrize("structure", ["full", "diagonal"])
@pytest.mark.parametrize("rounds", [0, 1, 40, 120])
def test_saved_and_loaded_it_goes_on_as_if_never_stopped(structure: Structure, rounds: int, tmp_path: Path) -> None:
    """Through a file: the same state, the same bounds, and the same after more was added, to the bit."""
    A = random_A(np.random.default_rng(1), 3)
    history = list(made_up(A, "sphere", k=4, rounds=rounds + 60, seed=1))
    one = evidence_of(history[:rounds], 3, structure)
    write_archive(tmp_path / "evidence", kind="Evidence", version=1, content=one.state())
    two = Evidence.from_state(read_archive(tmp_path / "evidence", kind="Evidence", version=1))
    pairs = Pairs.of(random_contexts(np.random.default_rng(2), 5, 3))
    lower_bounds(one, pairs)  # asking changes nothing
    for decision, review in history[rounds:]:
        for evidence in (one, two):
            evidence.update(Verdicts.of(decision, review), decision.id)
    assert same(one.state(), two.state())
    assert np.array_equal(lower_bounds(one, pairs), lower_bounds(two, pairs))
    assert (one.contradiction is None) == (two.contradiction is None)


def test_a_copy_is_a_copy() -> None:
    """What is added to a copy is not added to the original."""
    history = list(made_up(random_A(np.random.default_rng(1), 3), "sphere", k=4, rounds=60, seed=1))
    evidence = evidence_of(history[:30], 3)
    before, other = evidence.state(), copy.deepcopy(evidence)
    for decision, review in history[30:]:
        other.update(Verdicts.of(decision, review), decision.id)
    assert same(before, evidence.state())
    assert len(other) != len(evidence)


def test_once_learning_has_settled_little_is_news() -> None:
    """Of thousands of late verdicts a few per cent are kept, and few siftings are needed."""
    _, _, history = played(3, 5, 500, seed=0)
    evidence = evidence_of(history[:300], 3)
    prunings = kept = total = 0
    for decision, review in history[300:]:
        verdicts, before = Verdicts.of(decision, review), evidence._witnesses
        n_before = len(evidence)
        evidence.update(verdicts, decision.id)
        prunings += evidence._witnesses is not before
        kept, total = kept + max(len(evidence) - n_before, 0), total + len(verdicts)
    assert prunings <= 4
    assert kept / total < 0.2


@pytest.mark.parametrize("unfair", [False, True])
def test_memory_is_bounded(unfair: bool) -> None:
    """The number of verdicts kept is bounded, however many come and however informative they are."""
    rng = np.random.default_rng(0)
    evidence = Evidence(MetricSpace(4))
    for number in range(120):
        pairs = Pairs.of(random_contexts(rng, 8, 4))
        gaps = rng.uniform(0.1, 0.2, len(pairs)) + (0.7 if unfair else 0.0)
        verdicts = np.full(len(pairs), unfair)
        evidence.update(Verdicts(pairs, gaps, verdicts, verdicts), str(number))
    assert evidence.most_rows <= len(evidence) <= evidence.most_rows + UNPRUNED + 28
    assert evidence.verdicts.sources[-1] == "119"


def test_large_rounds_are_used_in_part() -> None:
    """Of the pairs of 100 candidates the unfair and the tight ones are taken in first."""
    pairs = Pairs.of(random_contexts(np.random.default_rng(0), 100, 3))
    n = len(pairs)
    unfair, tight = np.arange(n) % 50 == 0, np.arange(n) % 10 == 1
    evidence = Evidence(MetricSpace(3))
    verdicts = Verdicts(pairs, np.where(unfair, 0.99, 0.01), unfair, tight)
    evidence._pruned = n  # look before it is pruned
    evidence.update(verdicts, "large")
    assert len(evidence) == MOST_AT_ONCE
    assert np.sum(evidence.verdicts.unfair) == np.sum(unfair)
    assert {tuple(pair) for pair in pairs.indices[tight]} <= {tuple(pair) for pair in evidence.verdicts.pairs}


def test_the_same_verdict_is_not_kept_twice() -> None:
    """The same verdict again, or one that says less of the same difference, is no news."""
    z = [0.5, 0.1]
    evidence = evidence_from((z, 0.4, False), (z, 0.4, False), (z, 0.3, False), (z, 0.8, True), (z, 0.9, True))
    assert evidence.verdicts.gaps.tolist() == [0.4, 0.8]
    evidence = evidence_from((z, 0.4, False), (z, 0.5, False))
    assert evidence.verdicts.gaps.tolist() == [0.4, 0.5]


def test_every_verdict_has_its_source() -> None:
    """Decision, pair, gap, difference and reviewer of each verdict kept are those it was added with."""
    A = random_A(np.random.default_rng(4), 3)
    history = {decision.id: (decision, review) for decision, review in made_up(A, "ball", k=5, rounds=80, seed=4)}
    evidence = Evidence(MetricSpace(3))
    for number, (decision, review) in enumerate(history.values()):
        named = Review(review.kind, review.unfair, reviewer=f"reviewer {number % 3}")
        evidence.update(Verdicts.of(decision, named), decision.id)
    verdicts = evidence.verdicts
    for row, (i, j) in enumerate(verdicts.pairs.tolist()):
        decision, review = history[verdicts.sources[row]]
        assert np.array_equal(verdicts.differences[row], decision.contexts[i] - decision.contexts[j])
        assert verdicts.gaps[row] == decision.gap(i, j)
        assert bool(verdicts.unfair[row]) == ((i, j) in review.unfair)
        assert verdicts.reviewers[row] == f"reviewer {decision.round % 3}"


def test_equal_probabilities_are_no_evidence() -> None:
    """A verdict on equal probabilities, even one that the rounding of probabilities made, is not added."""
    pairs = Pairs.between(np.array([0.5, 0.0]), np.array([0.0, 0.0]))
    evidence = Evidence(MetricSpace(2))
    for gap in (0.0, 1e-10, 1e-9):
        evidence.update(Verdicts(pairs, np.array([gap]), np.array([False]), np.array([True])), "equal")
    assert len(evidence) == 0


CONTRADICTIONS: dict[str, list[tuple[list[float], float, bool]]] = {
    "same pair": [([0.5, 0.0], 0.4, False), ([0.5, 0.0], 0.3, True)],
    "parallel": [([0.5, 0.1], 0.4, False), ([1.0, 0.2], 0.7, True)],
    "triangle": [
        ([0.5, 0.5], 0.6, False),
        ([0.5, 0.0], 0.2, True),
        ([0.0, 0.5], 0.3, True),
    ],
    "parallelogram": [
        ([0.5, 0.5], 0.6, False),
        ([0.5, -0.5], 0.6, False),
        ([0.5, 0.0], 0.4, True),
        ([0.0, 0.5], 0.4, True),
    ],
}


@pytest.mark.parametrize("name", CONTRADICTIONS)
@pytest.mark.parametrize("structure", ["full", "diagonal"])
def test_contradictory_reviews_prove_nothing(name: str, structure: Structure) -> None:
    """Once no metric fits the verdicts, no bound is above zero, whatever the other verdicts are."""
    answers = CONTRADICTIONS[name]
    rng = np.random.default_rng(0)
    pairs = Pairs.of(random_contexts(rng, 6, 2))
    evidence = evidence_from(*answers[:-1], structure=structure)
    proved_before = np.any(lower_bounds(evidence, Pairs(np.array([[0, 1]]), np.array([answers[0][0]]))) > 0.0)
    assert proved_before
    evidence = evidence_from(*answers, structure=structure)
    queried = Pairs(np.tile([0, 1], (17, 1)), np.concatenate([pairs.differences, [[0.5, 0.5], [0.5, 0.0]]]))
    assert np.all(lower_bounds(evidence, queried) == 0.0)


def test_a_contradiction_is_found_proved_and_kept() -> None:
    """A verdict that contradicts the rest ends the evidence at once, with a proof that it does."""
    A = random_A(np.random.default_rng(2), 3)
    history = list(made_up(A, "sphere", k=6, rounds=40, seed=2))
    evidence = evidence_of(history, 3)
    row = int(np.argmax(np.where(evidence.verdicts.unfair, -1.0, evidence.verdicts.gaps)[: evidence._pruned]))
    z, gap = evidence.verdicts.differences[row], evidence.verdicts.gaps[row]
    evidence.update(Verdicts.between(z, np.zeros(3), gap=0.9 * gap, unfair=True), "a slip")
    assert np.all(lower_bounds(evidence, Pairs.of(random_contexts(np.random.default_rng(0), 5, 3))) == 0.0)
    why = evidence.contradiction
    assert why is not None
    assert why.square > 0
    assert not np.any(why.z)
    assert "a slip" in [evidence.verdicts.sources[row] for row in why.rows]
    loaded = Evidence.from_state(evidence.state())
    assert loaded.contradiction is not None
    assert loaded.contradiction.square == why.square
    length = len(evidence)
    evidence.update(Verdicts.between(z, np.zeros(3), gap=0.95, unfair=True), "later")
    assert len(evidence) == length


def test_copies_treated_differently_are_not_fair() -> None:
    """Exact copies are at distance 0; whoever calls different probabilities for them fair contradicts herself."""
    contexts = np.array([[0.6, 0.8], [0.6, 0.8], [1.0, 0.0]])
    decision = Decision("copies", 0, contexts, np.array([0.2, 0.5, 0.0]), (), None, np.zeros(3))
    evidence = Evidence(MetricSpace(2))
    evidence.update(Verdicts.of(decision, Review.complete(unfair=[(0, 1)])), decision.id)
    assert evidence.contradiction is None
    assert len(evidence) == 2
    evidence.update(Verdicts.of(decision, Review.complete()), decision.id)
    assert evidence.contradiction is not None
