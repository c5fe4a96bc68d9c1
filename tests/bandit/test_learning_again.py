"""Learning is safe to repeat: after a factorisation failed nothing has changed, and the same call succeeds."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evenhand import FairBandit, Review
from evenhand.errors import SolverFailed
from evenhand.metrics import (
    BayesPoint,
    Ellipsoid,
    Guarded,
    MetricLearner,
    Pairs,
    PerPair,
    ProjectedVolume,
    Verdicts,
    VersionSpace,
)
from evenhand.rewards import KnownReward, RewardModel, RidgeUCB, ridge_ucb
from tests.support.failing_factorisations import failing_at, is_same

D = 3
SMALL: dict[str, Any] = {"epsilon": 0.05, "quantile": 0.25, "n_points": 100, "seed": 5}

LEARNERS: dict[str, Callable[[], MetricLearner]] = {
    "BayesPoint": lambda: BayesPoint(D),
    "BayesPoint, rates learned": lambda: BayesPoint(D, error_rate=None),
    "BayesPoint, diagonal": lambda: BayesPoint(D, structure="diagonal", error_rate=0.05),
    "ProjectedVolume": lambda: ProjectedVolume(D, epsilon=0.05, seed=5),
    "Ellipsoid": lambda: Ellipsoid(D),
    "VersionSpace": lambda: VersionSpace(D, error_rate=0, **SMALL),
    "VersionSpace, soft": lambda: VersionSpace(D, error_rate=None, **SMALL),
    "Guarded": lambda: Guarded(BayesPoint(D)),
    "Guarded, switching": lambda: Guarded(BayesPoint(D), ProjectedVolume(D, epsilon=0.05, seed=5), limit=2),
    "PerPair": lambda: PerPair(Ellipsoid(D)),
    "PerPair, BayesPoint": lambda: PerPair(BayesPoint(D)),
}
SOME = 4  # Of the factorisations of one call, this many are made to fail, one at a time.

every_learner = pytest.mark.parametrize("name", LEARNERS)
few_seeds = settings(max_examples=2, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def verdicts_of(rng: np.random.Generator, k: int = 4) -> Verdicts:
    """Verdicts of a reviewer who follows no metric, on large gaps: many factorisations, larger bounds, conflicts."""
    pairs = Pairs.of(rng.uniform(-0.5, 0.5, size=(k, D)))
    n, reviewer = len(pairs), str(rng.integers(2))
    return Verdicts(pairs, rng.uniform(0.1, 1.0, n), rng.random(n) < 0.4, rng.random(n) < 0.7, reviewer)


def repeated(call: Callable[[Any], Any], part: Any, rng: np.random.Generator) -> None:
    """Let `call` fail at some of its factorisations, then succeed."""
    twin = copy.deepcopy(part)
    with failing_at(None) as counter:
        expected = call(twin)
    before = part.state()
    failed = copy.deepcopy(part)
    for n in sorted({int(n) for n in rng.integers(0, counter.count, size=SOME)}) if counter.count else ():
        try:
            with failing_at(n):
                call(failed)
        except SolverFailed:
            assert is_same(failed.state(), before), f"changed by a failure of factorisation {n}"
        else:  # it did without this one, and has learned
            failed = copy.deepcopy(part)
    assert call(failed) == expected == call(part)
    assert is_same(failed.state(), twin.state())
    assert is_same(part.state(), twin.state())


@every_learner
@few_seeds
@given(seed=st.integers(0, 2**32 - 1))
def test_a_learner_learns_as_if_nothing_had_failed(name: str, seed: int) -> None:
    """After any failure in `learn` state and random stream are as before; then all is learned, to the bit."""
    rng, learner = np.random.default_rng(seed), LEARNERS[name]()
    for _ in range(34 if name == "BayesPoint" else 8):  # it compares its belief with its memory after 16 and 32
        verdicts = verdicts_of(rng)
        repeated(lambda part, verdicts=verdicts: part.learn(verdicts), learner, rng)  # type: ignore[misc]


@pytest.mark.parametrize(
    "name", ["BayesPoint", "BayesPoint, rates learned", "VersionSpace", "VersionSpace, soft", "Guarded"]
)
@few_seeds
@given(seed=st.integers(0, 2**32 - 1))
def test_a_learner_learns_bits_as_if_nothing_had_failed(name: str, seed: int) -> None:
    """The same for `learn_bit`."""
    rng, learner = np.random.default_rng(seed), LEARNERS[name]()
    for _ in range(8):
        verdicts, any_unfair = verdicts_of(rng), bool(rng.random() < 0.5)

        def call(part: MetricLearner, verdicts: Verdicts = verdicts, any_unfair: bool = any_unfair) -> Any:
            return part.learn_bit(verdicts, any_unfair=any_unfair)

        repeated(call, learner, rng)


@pytest.mark.parametrize("name", [name for name in LEARNERS if "diagonal" not in name])
def test_these_learners_do_factorise(name: str) -> None:
    """The tests above are not empty: every learner of full matrices has factorisations that can fail."""
    rng, learner, count = np.random.default_rng(1), LEARNERS[name](), 0
    for _ in range(40):
        with failing_at(None) as counter:
            learner.learn(verdicts_of(rng))
        count += counter.count
    assert count > 0


class TestBandit:
    """The whole bandit, its safeguards, rewards and random stream included."""

    @pytest.fixture(autouse=True)
    def refresh_often(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """The ridge regression factorises its matrix after every other outcome."""
        monkeypatch.setattr(ridge_ucb, "REFRESH_EVERY", 2)

    @pytest.mark.filterwarnings("ignore::evenhand.errors.InconsistentReviews")
    @pytest.mark.filterwarnings("ignore::evenhand.errors.MisleadingReviewer")
    @every_learner
    @pytest.mark.parametrize(
        "reward", [lambda: RidgeUCB(D), lambda: KnownReward([0.6, 0.0, 0.8])], ids=["ridge", "known"]
    )
    def test_a_round_is_learned_as_if_nothing_had_failed(self, name: str, reward: Callable[[], RewardModel]) -> None:
        """Outcomes and review, or one of them; complete, partial or one bit; then the next decision is the same."""
        rng = np.random.default_rng(3)
        bandit = FairBandit(D, metric=LEARNERS[name](), reward=reward(), seed=4, target_unfair_share=0.2)
        for round in range(10):
            decision = bandit.decide(rng.uniform(-0.5, 0.5, size=(4, D)))
            pairs = [(i, j) for i in range(4) for j in range(i) if rng.random() < 0.3]
            reviews = [Review.complete(unfair=pairs), Review.partial(unfair=pairs, fair=[]), None]
            review = reviews[round % 3]
            rewards = {i: float(rng.uniform(-1, 1)) for i in decision.chosen}

            def call(part: FairBandit, decision: Any = decision, rewards: Any = rewards, review: Any = review) -> Any:
                return part.learn(decision, rewards=rewards, review=review)

            repeated(call, bandit, rng)

    @pytest.mark.filterwarnings("ignore::evenhand.errors.InconsistentReviews")
    def test_a_pair_is_learned_as_if_nothing_had_failed(self) -> None:
        """The same for `learn_pair`."""
        rng, bandit = np.random.default_rng(3), FairBandit(D, seed=4)
        for _ in range(10):
            x, y = rng.uniform(-0.5, 0.5, size=(2, D))
            gap, unfair = float(rng.random()), bool(rng.random() < 0.5)

            def call(part: FairBandit, x: Any = x, y: Any = y, gap: float = gap, unfair: bool = unfair) -> Any:
                return part.learn_pair(x, y, gap=gap, unfair=unfair)

            repeated(call, bandit, rng)

    def test_a_proof_is_found_as_if_nothing_had_failed(self) -> None:
        """A failure while evidence is brought up to date leaves no half of it behind."""
        rng = np.random.default_rng(5)
        A = rng.normal(size=(D, D)) * 0.5
        bandit = FairBandit(D, seed=4)
        for _ in range(12):
            decision = bandit.decide(rng.uniform(-0.5, 0.5, size=(5, D)))
            z = decision.contexts[:, None, :] - decision.contexts[None, :, :]
            gaps = np.abs(decision.probabilities[:, None] - decision.probabilities[None, :])
            unfair = gaps > np.linalg.norm(z @ A.T, axis=2) + 1e-9
            pairs = [(i, j) for i in range(5) for j in range(i + 1, 5) if unfair[i, j]]
            bandit.learn(decision, review=Review.complete(unfair=pairs))
        with failing_at(None) as counter:
            expected = copy.deepcopy(bandit).certify(decision).to_dict()
        assert counter.count > 0
        for n in sorted({0, counter.count // 2, counter.count - 1}):
            failed = copy.deepcopy(bandit)
            with failing_at(n), pytest.raises(SolverFailed, match="made to fail"):
                failed.certify(decision)
            assert failed.certify(decision).to_dict() == expected
