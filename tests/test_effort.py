"""How much work a round takes, counted in operations, so that it stays fast on any machine and however busy it is."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from types import FrameType
from typing import Any

import numpy as np
import pytest

import evenhand as eh
from evenhand.allocation import lazy_distances as bounded_distances
from evenhand.auditors import MahalanobisAuditor
from evenhand.bandit import safeguards
from evenhand.environments import make_world
from evenhand.metrics import BayesPoint, Pairs, Verdicts
from evenhand.metrics.features import MetricSpace
from evenhand.metrics.gaussian import _moment_matching, belief, covariance_form
from evenhand.metrics.gaussian.belief import Belief
from evenhand.metrics.gaussian.tuning import DEFAULT
from evenhand.metrics.learner import as_square
from evenhand.metrics.verdicts import HalfSpaces


class _Rounds:
    """A bandit that plays rounds of one world with an exact reviewer."""

    def __init__(self, *, k: int, d: int, seed: int = 0, norm: float = 0.7, **settings: Any) -> None:
        metric = settings.get("structure", "full")
        self.world = make_world("sphere", n_candidates=k, n_features=d, seed=seed, metric=metric, norm=norm)
        self.auditor = MahalanobisAuditor(self.world.A)
        self.bandit = eh.FairBandit(d, epsilon=0.01, seed=seed, **{"reviewer_error": 1e-3, **settings})
        self.contexts, _ = self.world.reset(seed=seed + 1)

    def play(self, n: int) -> None:
        for _ in range(n):
            decision = self.bandit.decide(self.contexts)
            outcome = self.world.settle(decision.chosen)
            self.bandit.learn(decision, rewards=outcome, review=self.auditor.review(decision))
            self.contexts = self.world.advance()


def _count(patch: pytest.MonkeyPatch, owner: Any, name: str, size: Callable[..., int] = lambda *_: 1) -> Counter[str]:
    """Count the calls of a function, and the sum of a size of each, from now on."""
    counts: Counter[str] = Counter()
    original = getattr(owner, name)

    def counted(*arguments: Any, **settings: Any) -> Any:
        counts["calls"] += 1
        counts["size"] += size(*arguments)
        return original(*arguments, **settings)

    patch.setattr(owner, name, counted)
    return counts


def _sizes(patch: pytest.MonkeyPatch) -> Counter[int]:
    """Count the eigendecompositions of each size, from now on."""
    sizes: Counter[int] = Counter()
    original = np.linalg.eigh

    def counted(matrix: Any, *arguments: Any) -> Any:
        sizes[len(matrix)] += 1
        return original(matrix, *arguments)

    patch.setattr(np.linalg, "eigh", counted)
    return sizes


@contextmanager
def _calls() -> Iterator[Counter[str]]:
    """Count every call of a function, Python's and C's."""
    counts: Counter[str] = Counter()

    def notice(_frame: FrameType, event: str, _argument: Any) -> None:
        if event in ("call", "c_call"):
            counts["calls"] += 1

    before = sys.getprofile()
    sys.setprofile(notice)
    try:
        yield counts
    finally:
        sys.setprofile(before)


# Deciding.


@pytest.mark.parametrize("reviews", [0, 5, 30])
def test_few_deviations_are_worked_out(monkeypatch: pytest.MonkeyPatch, reviews: int) -> None:
    """Of 19,900 pairs at most one in forty needs a standard deviation; probabilities are checked once."""
    rounds = _Rounds(k=12, d=12)
    rounds.play(reviews)
    rng = np.random.default_rng(0)
    contexts = rng.normal(size=(200, 12))
    contexts /= np.linalg.norm(contexts, axis=1, keepdims=True)
    guesses = _count(monkeypatch, BayesPoint, "guess", lambda _, pairs: len(pairs))
    answers = _count(monkeypatch, bounded_distances, "fair_distribution")
    decision = rounds.bandit.decide(contexts)
    assert 0 < guesses["size"] <= 500
    assert guesses["calls"] <= 10
    assert answers["calls"] == 1
    monkeypatch.undo()
    exact = rounds.bandit.safeguards.distances_to_play(rounds.bandit.metric, decision.contexts)
    eager = eh.fair_distribution(decision.optimistic_rewards, exact)
    assert abs(eager.value - decision.optimistic_rewards @ decision.probabilities) <= 1e-9
    assert decision.tight_pairs == eager.tight_pairs


def test_a_small_round_is_worked_out_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten candidates with ten features: one kernel for all distances, one allocation, no eigenvalues."""
    rounds = _Rounds(k=10, d=10)
    rounds.play(30)
    tables = _count(monkeypatch, covariance_form, "fill_distances", lambda contexts, *_: len(contexts))
    guesses = _count(monkeypatch, BayesPoint, "guess")
    answers = _count(monkeypatch, safeguards, "fair_distribution")
    eigenvalues = _count(monkeypatch, np.linalg, "eigh")
    rounds.bandit.decide(rounds.contexts)
    assert tables == {"calls": 1, "size": 10}
    assert answers["calls"] == 1
    assert guesses["calls"] == eigenvalues["calls"] == 0


def test_one_go_is_as_good_as_many() -> None:
    """The kernel for all distances of a round gives what its steps give, one after the other, to the bit."""
    for structure, k in (("full", 14), ("full", 8), ("diagonal", 14)):
        rounds = _Rounds(k=k, d=6, structure=structure)
        rounds.play(20)
        metric = rounds.bandit.metric
        assert isinstance(metric, BayesPoint)
        contexts = rounds.bandit.decide(rounds.contexts).contexts
        assert np.array_equal(metric.playable_distances(contexts), as_square(k, metric.guess(Pairs.of(contexts))))


def test_a_row_is_judged_by_the_rows_before_it() -> None:
    """A verdict that lay surely inside before a review, and no longer does after three flags, is processed too."""
    space, deviation = MetricSpace(3, "full"), 0.01
    prior = Belief(space.flatten(np.eye(3)), deviation**2 * np.eye(space.n_unknowns))
    differences = 0.6 * np.array([*np.eye(3), np.ones(3) / np.sqrt(3), np.eye(3)[0]])
    inside = deviation * 0.36 * np.array([4.5, 4.5, 4.5, 6.6, 99.0])  # the last one says nothing new
    pairs = Pairs(np.array([[0, i] for i in range(1, 6)]), differences)
    unfair = np.array([True, True, True, False, False])
    verdicts = Verdicts(pairs, np.sqrt(np.maximum(0.36 - inside, 1e-6)), unfair, np.ones(5, np.bool_))
    half_spaces = HalfSpaces.of(space, verdicts)
    updates = [
        replace(prior, tuning=replace(DEFAULT, few_rows=few)).update(half_spaces, np.zeros(1), blur=1e-9)
        for few in (4, 10)
    ]
    assert np.array_equal(updates[0].belief.mean, updates[1].belief.mean)
    assert np.array_equal(updates[0].belief.cov, updates[1].belief.cov)
    assert 0 < updates[0].score[3] < 3, "the fourth row is uncertain by now"
    assert updates[0].score[4] < updates[1].score[4], "the fifth is passed over"


def test_what_was_computed_before_changes_nothing() -> None:
    """A proposal is the same to the bit whatever was proposed in between, also one that was found by bounds."""
    rounds = _Rounds(k=8, d=8)
    rounds.play(10)
    rng = np.random.default_rng(3)
    large = rng.normal(size=(150, 8))
    large /= 2 * np.linalg.norm(large, axis=1, keepdims=True)
    twin = eh.FairBandit.from_state(rounds.bandit.state())
    first = rounds.bandit.propose(large, number=3, rng=np.random.default_rng(0))
    rounds.bandit.propose(large[:40], number=3, rng=np.random.default_rng(0))
    again = rounds.bandit.propose(large, number=3, rng=np.random.default_rng(0))
    for other in (again, twin.propose(large, number=3, rng=np.random.default_rng(0))):
        assert other.to_dict() == first.to_dict()


# Learning.


def test_only_informative_verdicts_are_processed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A belief is updated with the pairs of different probabilities, once, and projected without any eigenvalue."""
    rounds = _Rounds(k=10, d=6, structure="full")
    rounds.play(300)
    decision = rounds.bandit.decide(rounds.contexts)
    updates = _count(monkeypatch, Belief, "update", lambda _belief, half_spaces, *_: len(half_spaces))
    eigenvalues = _count(monkeypatch, np.linalg, "eigh")
    rounds.bandit.learn(decision, review=rounds.auditor.review(decision))
    p = decision.probabilities
    first, second = Pairs.of(decision.contexts).indices.T
    assert updates == {"calls": 1, "size": int(np.sum(np.abs(p[first] - p[second]) > 1e-9))}
    assert eigenvalues["calls"] == 0


def test_eigenvalues_are_rare(monkeypatch: pytest.MonkeyPatch) -> None:
    """In 300 rounds at most one in five needs the eigenvalues of the mean, none those of the covariance."""
    rounds = _Rounds(k=5, d=5)
    sizes = _sizes(monkeypatch)
    rounds.play(300)
    assert sizes.total() <= 60
    assert set(sizes) <= {5}


def test_a_bound_that_is_nearly_outgrown_asks_for_few_eigenvalues(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a true norm close to the bound, those of the covariance are worked out in at most one round of ten."""
    rounds = _Rounds(k=5, d=5, norm=0.95)
    sizes = _sizes(monkeypatch)
    rounds.play(300)
    assert sizes[15] <= 30


def test_many_unknowns_are_updated_in_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """With 300 unknowns a review takes one pass over the covariance of each prior, however many pairs it has."""
    rounds = _Rounds(k=12, d=24)
    rounds.play(2)
    decision = rounds.bandit.decide(rounds.contexts)
    reviews = _count(monkeypatch, belief, "update_in_batches")
    batches = _count(monkeypatch, _moment_matching, "update_batch")
    rounds.bandit.learn(decision, review=rounds.auditor.review(decision))
    assert reviews["calls"] == batches["calls"] == len(DEFAULT.ratios)


# Long runs.


def test_a_round_does_not_get_longer() -> None:
    """A round at 4,000 makes as many calls as one at 500, and the state has not grown, whatever was flagged."""
    rounds = _Rounds(k=4, d=2, norm=0.5)
    calls, sizes = [], []
    for n in (500, 3500):
        rounds.play(n)
        sizes.append(_size(rounds.bandit.state()))
        with _calls() as counts:
            rounds.play(50)
        calls.append(counts["calls"])
    assert calls[1] <= 1.1 * calls[0]
    assert sizes[1] <= 1.2 * sizes[0]


MOST_CALLS = 300
"""Of functions, Python's and C's, in deciding and learning: a small round is made of little else."""


def test_a_small_round_makes_few_calls() -> None:
    """Ten candidates with ten features, one outcome, a complete review: some 250 calls in all with one belief."""
    rounds = _Rounds(k=10, d=10, structure="full")
    rounds.play(200)
    most = []
    for _ in range(20):
        with _calls() as deciding:
            decision = rounds.bandit.decide(rounds.contexts)
        outcome, review = rounds.world.settle(decision.chosen), rounds.auditor.review(decision)
        with _calls() as learning:
            rounds.bandit.learn(decision, rewards=outcome, review=review)
        most.append(deciding["calls"] + learning["calls"])
        rounds.contexts = rounds.world.advance()
    assert np.median(most) <= MOST_CALLS


def test_rows_that_cannot_matter_are_passed_over() -> None:
    """Once much is known, half the verdicts of a review lie so far inside that no pass over the covariance is spent."""
    rounds = _Rounds(k=10, d=6)
    rounds.play(300)
    metric = rounds.bandit.metric
    assert isinstance(metric, BayesPoint)
    decision = rounds.bandit.decide(rounds.contexts)
    verdicts = Verdicts.of(decision, rounds.auditor.review(decision))
    half_spaces = HalfSpaces.of(metric.space, verdicts)
    scores = []
    for few_rows in (len(verdicts), 4):
        known = replace(metric._history.belief, tuning=replace(DEFAULT, few_rows=few_rows))
        scores.append(known.update(half_spaces, np.array([0.001]), blur=1e-4, contradiction=-5.0).score)
    passed_over = scores[0] != scores[1]  # scored as if the deviation were the widest of all
    assert np.sum(passed_over) >= len(verdicts) / 2
    assert np.all(scores[0][passed_over] >= scores[1][passed_over])


def test_flags_are_not_copied() -> None:
    """A learner's safeguards are copied for every review, and with a thousand flagged rounds that takes no longer."""
    rounds = _Rounds(k=4, d=2)
    rounds.play(5)
    with _calls() as before:
        rounds.bandit.safeguards.copied()
    for number in range(1000):
        safeguards = rounds.bandit.safeguards
        safeguards.flagged_rounds = safeguards.flagged_rounds.plus(10**6 + number)
    with _calls() as after:
        twin = rounds.bandit.safeguards.copied()
    assert after == before
    assert twin.flagged_rounds._places is rounds.bandit.safeguards.flagged_rounds._places


def _size(state: Any) -> int:
    if isinstance(state, dict):
        return sum(_size(value) for value in state.values())
    if isinstance(state, np.ndarray):
        return state.nbytes
    return sum(_size(value) for value in state) if isinstance(state, list) else 1


# Starting.


def test_deciding_loads_no_solver() -> None:
    """A process that imports evenhand and decides has loaded neither HiGHS nor scipy's heavier parts."""
    program = (
        "import sys, evenhand as eh; eh.FairBandit(2, seed=0).decide([[1.0, 0.0], [0.0, 1.0]]);"
        "heavy = ('highspy', 'scipy.special', 'scipy.stats', 'scipy.optimize', 'scipy.spatial', 'gymnasium', 'polars');"
        "print([name for name in heavy if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
