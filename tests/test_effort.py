"""How much work a round takes, counted in operations, so that it stays fast on any machine and however busy it is."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import numpy as np
import pytest

import evenhand as eh
from evenhand.allocation import lazy_distances as bounded_distances
from evenhand.auditors import MahalanobisAuditor
from evenhand.environments import make_world
from evenhand.metrics import BayesPoint, Pairs, Verdicts, bayes_point
from evenhand.metrics.features import MetricSpace
from evenhand.metrics.gaussian import batch_update as blocks
from evenhand.metrics.gaussian import belief as belief_module
from evenhand.metrics.gaussian.belief import LIMITS, Belief
from evenhand.metrics.gaussian.memory import Memory
from evenhand.metrics.gaussian.moment_matching import tell_what_matters
from evenhand.metrics.gaussian.update import heard
from evenhand.metrics.half_spaces import HalfSpaces
from evenhand.metrics.learner import as_square


class _Rounds:
    """A bandit that plays rounds of one world with an exact reviewer."""

    def __init__(self, *, k: int, d: int, seed: int = 0, norm: float = 0.7, **settings: Any) -> None:
        metric = settings.get("structure", "full")
        self.world = make_world("sphere", n_candidates=k, n_features=d, seed=seed, metric=metric, norm=norm)
        self.auditor = MahalanobisAuditor(self.world.A)
        self.bandit = eh.FairBandit(d, epsilon=0.01, seed=seed, **settings)
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
    """Of 19,900 pairs one in forty or fewer need a standard deviation, in a few passes; odds are verified once."""
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
    tables = _count(monkeypatch, bayes_point, "fill_distances", lambda contexts, *_: len(contexts))
    guesses = _count(monkeypatch, BayesPoint, "guess")
    answers = _count(monkeypatch, bounded_distances, "fair_distribution")
    eigenvalues = _count(monkeypatch, np.linalg, "eigh")
    rounds.bandit.decide(rounds.contexts)
    assert tables == {"calls": 1, "size": 10}
    assert answers["calls"] == 1
    assert guesses["calls"] == eigenvalues["calls"] == 0


def test_one_go_is_as_good_as_many() -> None:
    """The kernels that do a round's work in one go say what the steps say, one after the other, to the bit."""
    for structure, k in (("full", 14), ("full", 8), ("diagonal", 14)):
        rounds = _Rounds(k=k, d=6, structure=structure)
        rounds.play(20)
        metric = rounds.bandit.metric
        assert isinstance(metric, BayesPoint)
        decision = rounds.bandit.decide(rounds.contexts)
        pairs = Pairs.of(decision.contexts)
        assert np.array_equal(metric.playable_distances(decision.contexts), as_square(k, metric.guess(pairs)))
        verdicts = Verdicts.of(decision, rounds.auditor.review(decision))
        at_once = heard(
            metric._belief, Memory(metric.space.n_unknowns), metric.space, verdicts, 0.001, 1e-4, -5.0, 1e-9
        )
        half_spaces = HalfSpaces.of(metric.space, verdicts)
        told = metric._belief.told_all(half_spaces, np.full(len(verdicts), 0.001), blur=1e-4, surprise=-5.0)
        telling = half_spaces.take((told.score > -5.0) & (told.score < 3.0))
        assert len(telling) > 0
        for a, b in zip(at_once.memory.all().state().values(), telling.state().values(), strict=True):
            assert np.array_equal(a, b)
        assert np.array_equal(at_once.belief.mean, told.belief.mean)
        assert np.array_equal(at_once.belief.cov, told.belief.cov)
        assert at_once.contradicted == np.flatnonzero(told.score < -5.0).tolist()
        assert at_once.is_metric == metric.space.is_metric(told.belief.mean, 1e-9)
        assert at_once.square == pytest.approx(told.belief.mean @ told.belief.mean)


def test_a_row_is_judged_by_what_the_rows_before_it_taught() -> None:
    """A verdict that lay surely inside before a review, and no longer does once three flags are told, is told too."""
    space, deviation = MetricSpace(3, "full"), 0.01
    belief = Belief(space.flatten(np.eye(3)), deviation**2 * np.eye(space.n_unknowns))
    differences = 0.6 * np.array([*np.eye(3), np.ones(3) / np.sqrt(3), np.eye(3)[0]])
    inside = deviation * 0.36 * np.array([4.5, 4.5, 4.5, 6.6, 99.0])  # the last one says nothing new
    pairs = Pairs(np.array([[0, i] for i in range(1, 6)]), differences)
    unfair = np.array([True, True, True, False, False])
    verdicts = Verdicts(pairs, np.sqrt(np.maximum(0.36 - inside, 1e-6)), unfair, np.ones(5, np.bool_))
    at_once = heard(belief, Memory(space.n_unknowns), space, verdicts, 0.0, 1e-9, -5.0, 1e-9)
    told = belief.told_all(HalfSpaces.of(space, verdicts), np.zeros(5), blur=1e-9, surprise=-5.0)
    assert np.array_equal(at_once.belief.mean, told.belief.mean)
    assert np.array_equal(at_once.belief.cov, told.belief.cov)
    assert 0 < told.score[3] < 3, "the fourth row is in doubt by now"
    assert len(at_once.memory) == 4


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


def test_only_verdicts_that_say_something_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """A belief is told the pairs with different odds, once, in one go, and mended without a single eigenvalue."""
    rounds = _Rounds(k=10, d=6)
    rounds.play(300)
    decision = rounds.bandit.decide(rounds.contexts)
    told = _count(monkeypatch, bayes_point, "heard", lambda _belief, _memory, _space, verdicts, *_: len(verdicts))
    again = _count(monkeypatch, Belief, "told_all")
    eigenvalues = _count(monkeypatch, np.linalg, "eigh")
    rounds.bandit.learn(decision, review=rounds.auditor.review(decision))
    p = decision.probabilities
    first, second = Pairs.of(decision.contexts).indices.T
    assert told == {"calls": 1, "size": int(np.sum(np.abs(p[first] - p[second]) > 1e-9))}
    assert again["calls"] == eigenvalues["calls"] == 0


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


def test_many_unknowns_are_told_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """With 300 unknowns a review takes a handful of passes over the covariance, however many pairs it has."""
    rounds = _Rounds(k=12, d=24)
    rounds.play(2)
    decision = rounds.bandit.decide(rounds.contexts)
    reviews, told = _count(monkeypatch, belief_module, "tell_in_blocks"), _count(monkeypatch, blocks, "tell_block")
    rounds.bandit.learn(decision, review=rounds.auditor.review(decision))
    assert reviews["calls"] == told["calls"] == 1


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
    """Ten candidates with ten features, one outcome, a complete review: some 250 calls in all."""
    rounds = _Rounds(k=10, d=10)
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


def test_rows_that_cannot_matter_are_not_told() -> None:
    """Once much is known, half the verdicts of a review lie so far inside that no pass over the covariance is spent."""
    rounds = _Rounds(k=10, d=6)
    rounds.play(300)
    metric = rounds.bandit.metric
    assert isinstance(metric, BayesPoint)
    decision = rounds.bandit.decide(rounds.contexts)
    verdicts = Verdicts.of(decision, rounds.auditor.review(decision))
    half_spaces, belief = HalfSpaces.of(metric.space, verdicts), metric._belief
    rows = (half_spaces.normals, half_spaces.thresholds, half_spaces.sides, np.full(len(verdicts), 0.001))
    found = []
    for widest in (np.inf, belief.widest_for(len(verdicts))):
        mean, cov, scores = belief.mean.copy(), belief.cov.copy(), np.empty(len(verdicts))
        tell_what_matters(mean, cov, *rows, 1e-4, -5.0, LIMITS, widest, scores, np.empty(len(verdicts)))
        found.append(scores)
    skipped = found[0] != found[1]  # what is not told is scored as if it were as much in doubt as anything
    assert np.sum(skipped) >= len(verdicts) / 2
    assert np.all(found[0][skipped] >= found[1][skipped])


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
