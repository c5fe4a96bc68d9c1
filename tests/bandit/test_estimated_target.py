"""target="estimated": each flag counts by the probability that it is right, and the sum keeps to the target."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import evenhand as eh
from evenhand.auditors import HostileAuditor, MahalanobisAuditor, NoisyAuditor, PureNoiseAuditor
from evenhand.bandit.safeguards import STEPS, Margin, Safeguards, chance_of_any, chance_right, chance_truly_unfair
from evenhand.environments import make_world
from evenhand.errors import InvalidInput
from evenhand.lab import Account, play
from evenhand.metrics import Verdicts
from tests.support.simulation import same

STEP = STEPS["estimated"]
ROUNDING = 1e-6
"""What thousands of additions may be off by, in flagged rounds."""

chances = st.lists(st.floats(0.0, 1.0), min_size=1, max_size=8).map(np.array)
rates = st.floats(0.0, 0.5)


# The count of a flag.


@given(chances, rates)
def test_a_count_is_a_probability(before: Any, rate: float) -> None:
    """From 0 to 1, never below what was believed before the flag, and of several flags at least that of each."""
    after = chance_right(before, rate)
    assert np.all((after >= 0.0) & (after <= 1.0))
    assert np.all(after >= before - 1e-12)
    assert np.max(after) - 1e-12 <= chance_of_any(after) <= min(1.0, float(np.sum(after))) + 1e-12


@given(chances)
def test_the_error_rate_decides_what_a_flag_says(before: Any) -> None:
    """A reviewer who is never wrong is right whatever was believed; one who tosses a coin changes nothing."""
    assert np.all(chance_right(before, 0.0) == 1.0)
    assert chance_right(before, 0.5) == pytest.approx(before)


@given(before=st.floats(0.01, 0.99), rate=st.floats(0.001, 0.49))
def test_more_errors_make_a_flag_count_less(before: float, rate: float) -> None:
    """And a pair that was more likely unfair makes it count more."""
    (count,) = chance_right(np.array([before]), rate)
    assert chance_right(np.array([before]), rate + 0.01)[0] < count < chance_right(np.array([before + 0.01]), rate)[0]


class _Believing(eh.metrics.BayesPoint):
    """Believes of every pair that it is unfair with probability `chance`."""

    chance = 0.1

    def chance_unfair(self, pairs: Any, gaps: Any) -> Any:
        return np.full(len(gaps), self.chance)


CONTEXTS = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]])


def _bandit(*, rate: float = 0.1, **more: Any) -> eh.FairBandit:
    metric = _Believing(2, error_rate=rate)
    return eh.FairBandit(2, metric=metric, target_unfair_share=0.01, target="estimated", seed=0, **more)


def _pairs(decision: eh.Decision) -> list[tuple[int, int]]:
    return [pair for pair in ((0, 1), (0, 2), (1, 2)) if decision.gap(*pair) > 1e-6]


def test_flags_of_a_round_add_up_to_the_chance_that_one_is_right() -> None:
    """In one review or in several, and the round is flagged once."""
    bandit = _bandit()
    together, apart = bandit.decide(CONTEXTS), bandit.decide(CONTEXTS)
    first, second = _pairs(together)[:2]
    bandit.learn(together, review=eh.Review.partial(unfair=[first, second]))
    bandit.learn(apart, review=eh.Review.partial(unfair=[first]))
    safeguards = bandit.safeguards
    assert safeguards.count_of(apart.round) == pytest.approx(0.5)
    bandit.learn(apart, review=eh.Review.partial(unfair=[second], fair=[first]))
    safeguards = bandit.safeguards
    assert safeguards.count_of(together.round) == pytest.approx(0.75)
    assert safeguards.count_of(apart.round) == pytest.approx(0.75)
    assert safeguards.counted == pytest.approx(1.5)
    assert safeguards.margin.s == pytest.approx(1.0 - 1.5 * STEP)
    assert set(safeguards.flagged_rounds) == {together.round, apart.round}
    assert safeguards.count_of(99) == 0.0


def test_one_bit_counts_by_the_chance_that_any_pair_is_unfair() -> None:
    """The bit is right or wrong as a whole."""
    bandit = _bandit()
    decision = bandit.decide(CONTEXTS)
    some = chance_of_any(np.full(len(_pairs(decision)), 0.1))
    bandit.learn(decision, review=eh.Review.one_bit(any_unfair=True))
    assert bandit.safeguards.counted == pytest.approx(0.9 * some / (0.9 * some + 0.1 * (1.0 - some)))


def test_the_belief_is_the_one_before_the_review() -> None:
    """What a review teaches does not change how much its own flags count."""
    world = make_world("sphere", n_features=3, n_candidates=4, seed=3)
    bandit = eh.FairBandit(3, epsilon=0.02, reviewer_error=0.1, target_unfair_share=0.1, target="estimated", seed=0)
    auditor = NoisyAuditor(MahalanobisAuditor(world.A), 0.1, seed=1)
    contexts, _ = world.reset(seed=2)
    for _ in range(20):
        decision = bandit.decide(contexts)
        review = auditor.review(decision)
        before, counted = copy.deepcopy(bandit.metric), bandit.safeguards.counted
        bandit.learn(decision, review=review)
        expected = chance_truly_unfair(before, review, Verdicts.of(decision, review)) if review.unfair else 0.0
        assert bandit.safeguards.counted - counted == pytest.approx(expected)
        contexts = world.step(decision.chosen)[0]


@pytest.mark.parametrize(
    "metric",
    [eh.metrics.BayesPoint(3, error_rate=0.0), eh.metrics.Ellipsoid(3), eh.metrics.ProjectedVolume(3, seed=0)],
    ids=lambda metric: type(metric).__name__,
)
def test_where_no_errors_are_assumed_every_flag_counts(metric: eh.metrics.MetricLearner) -> None:
    """Both targets then limit the same."""
    bandit, account = _run(MahalanobisAuditor(_world().A), metric=metric, rounds=60)
    assert bandit.safeguards.counted == account.flagged_rounds_by_reviewer > 0


def test_without_a_share_nothing_is_estimated() -> None:
    """The kind of target alone limits nothing."""
    bandit, account = _run(MahalanobisAuditor(_world().A), rounds=40, reviewer_error=0.1, target_unfair_share=None)
    assert bandit.safeguards.margin.scale == 1.0
    assert bandit.safeguards.counted == account.flagged_rounds_by_reviewer > 0


# Error rates.


def test_error_rates_of_learners() -> None:
    """A setting, a learned rate, at most one half; a new reviewer has the usual rate; wrappers ask what they wrap."""
    told, learning = eh.metrics.BayesPoint(2, error_rate=0.2), eh.metrics.BayesPoint(2, error_rate=None)
    assert told.error_rate_of("Ada") == 0.2
    assert eh.metrics.Guarded(told).error_rate_of(None) == eh.metrics.PerPair(told).error_rate_of(None) == 0.2
    assert eh.metrics.Ellipsoid(2).error_rate_of("Ada") == 0.0
    usual = learning.error_rate_of("Ada")
    assert 0.0 < usual < 0.5
    for n in range(200):
        gap = 0.2 + 0.5 * (n % 2)
        for name, is_right in (("Ada", True), ("Bob", False)):
            learning.learn_pair([1.0, 0.0], [0.0, 0.0], gap=gap, unfair=(gap > 0.45) == is_right, reviewer=name)
    assert learning.error_rate_of("Ada") < usual < 0.5 == learning.error_rate_of("Bob")
    assert learning.error_rate_of("Bob") < learning.reviewers()["Bob"].error_rate
    assert learning.error_rate_of("Eve") == usual


# The proof.


@settings(max_examples=150, deadline=None)
@given(
    target=st.floats(0.001, 0.9),
    step=st.floats(0.005, 2.0),
    delay=st.integers(0, 8),
    rounds=st.integers(1, 200),
    eagerness=st.floats(0.0, 1.0),
    seed=st.integers(0, 10**6),
)
def test_any_counts_keep_the_promise(
    target: float, step: float, delay: int, rounds: int, eagerness: float, seed: int
) -> None:
    """Counts from 0 to 1, however they come about, in one part or in two: their sum is within the promise."""
    rng, margin, counted = np.random.default_rng(seed), Margin(target, step), 0.0
    under_review: list[bool] = []
    for t in range(1, rounds + 1):
        under_review.append(margin.scale > 0)
        margin = margin.decided()
        while len(under_review) > delay:
            if under_review.pop(int(rng.integers(len(under_review)))):
                count = float(rng.random() < eagerness) if rng.random() < 0.5 else rng.random() * eagerness
                for part in (0.3 * count, 0.7 * count):
                    margin, counted = margin.flagged(part), counted + part
        assert counted <= target * t + 1 / step + 1 + delay + ROUNDING


def _world() -> Any:
    return make_world("sphere", n_features=3, n_candidates=4, seed=3)


def _run(auditor: Any, *, rounds: int, **settings: Any) -> tuple[eh.FairBandit, Account]:
    world = _world()
    kind: dict[str, Any] = {"target_unfair_share": 0.05, "target": "estimated"}
    bandit = eh.FairBandit(3, seed=0, **kind | settings)
    return bandit, play(bandit, world, auditor, rounds=rounds, epsilon=0.01, seed=4, truth=MahalanobisAuditor(world.A))


@pytest.mark.filterwarnings("ignore::evenhand.errors.InconsistentReviews")
@pytest.mark.filterwarnings("ignore::evenhand.errors.MisleadingReviewer")
@pytest.mark.filterwarnings("ignore::evenhand.errors.NoMetricFits")
@pytest.mark.parametrize("error", [1e-3, 0.1, pytest.param(None, marks=pytest.mark.statistical)])
@pytest.mark.parametrize("name", ["noisy", "pure noise", "hostile"])
def test_the_sum_of_estimates_keeps_to_the_target(name: str, error: float | None) -> None:
    """Whoever flags: the sum is proved, its meaning is not."""
    auditor = {
        "noisy": NoisyAuditor(MahalanobisAuditor(_world().A), 0.1, seed=1),
        "pure noise": PureNoiseAuditor(0.2, seed=1),
        "hostile": HostileAuditor(seed=1),
    }[name]
    rounds = 200
    bandit, account = _run(auditor, rounds=rounds, reviewer_error=error)
    safeguards = bandit.safeguards
    assert 0.0 < safeguards.counted <= 0.05 * rounds + 1 / STEP + 1 + ROUNDING
    assert len(safeguards.flagged_rounds) == account.flagged_rounds_by_reviewer >= safeguards.counted
    counts = [safeguards.count_of(t) for t in range(rounds)]
    assert all(0.0 <= count <= 1.0 for count in counts)
    assert safeguards.counted == pytest.approx(sum(counts))


# Settings and saving.


@pytest.mark.parametrize("target", ["often", None, 1, ["flagged"]])
def test_other_targets_are_refused(target: Any) -> None:
    """Two kinds there are."""
    with pytest.raises(InvalidInput, match="target must be 'flagged' or 'estimated', got "):
        eh.FairBandit(2, target=target, reviewer_error=1e-3)


def test_the_default_is_flagged_and_leaves_the_key_as_it_was() -> None:
    """Decisions of bandits with the default keep the signatures of version 0.1; another target has another key."""
    default, named = (
        eh.FairBandit(2, seed=0, reviewer_error=1e-3),
        eh.FairBandit(2, seed=0, target="flagged", reviewer_error=1e-3),
    )
    estimated = eh.FairBandit(2, seed=0, target="estimated", reviewer_error=1e-3)
    assert "target" not in default.safeguards.settings()
    ids = [bandit.decide(CONTEXTS).id for bandit in (default, named, estimated)]
    assert ids[0] == ids[1] != ids[2]


@pytest.mark.filterwarnings("ignore::evenhand.errors.InconsistentReviews")
def test_saved_and_loaded_to_the_bit(tmp_path: Path) -> None:
    """Target, counts in part and their sum survive; a round flagged again after loading counts on from there."""
    bandit, _ = _run(NoisyAuditor(MahalanobisAuditor(_world().A), 0.1, seed=1), rounds=50, reviewer_error=0.1)
    decision = bandit.decide(np.eye(3))
    bandit.learn(decision, review=eh.Review.partial(unfair=[(0, 1)]))
    bandit.save(tmp_path / "bandit.eh")
    loaded = eh.FairBandit.load(tmp_path / "bandit.eh")
    assert loaded.safeguards.target == "estimated"
    assert same(loaded.state(), bandit.state())
    for each in (bandit, loaded):
        each.learn(decision, review=eh.Review.partial(unfair=[(0, 1)]))
    assert loaded.safeguards.counted == bandit.safeguards.counted
    assert same(loaded.state(), bandit.state())


def test_states_without_a_target_counted_every_flag() -> None:
    """Files written before there were two kinds."""
    world = _world()
    bandit = eh.FairBandit(3, target_unfair_share=0.05, seed=0, reviewer_error=1e-3)
    play(bandit, world, MahalanobisAuditor(world.A), rounds=30, epsilon=0.01, seed=4)
    state = bandit.safeguards.state()
    assert not {"target", "counted", "counts"} & set(state)
    loaded = Safeguards.from_state(state)
    assert loaded.target == "flagged"
    assert loaded.counted == len(loaded.flagged_rounds) > 0
    assert same(loaded.state(), bandit.safeguards.state())


def test_older_versions_stay_as_they_are() -> None:
    """Safeguards before a review are unchanged by it, though counts of a round grow."""
    bandit = _bandit()
    decision = bandit.decide(CONTEXTS)
    bandit.learn(decision, review=eh.Review.partial(unfair=_pairs(decision)[:1]))
    before, state = bandit.safeguards, bandit.safeguards.state()
    bandit.learn(decision, review=eh.Review.partial(unfair=_pairs(decision)[1:2]))
    assert bandit.safeguards.counted > before.counted
    assert same(before.state(), state)


@pytest.mark.statistical
@pytest.mark.slow
def test_a_reviewer_who_errs_leaves_most_of_the_reward() -> None:
    """10% of answers wrong, d = 3, k = 5, 2,000 rounds, seeds 0 to 4, chosen beforehand: the estimated target earns at
    least five times what the target on flags does, and 80% of what is earned without one; truly unfair rounds are, on
    average, within twice what the target allows in that time.
    """
    rounds, share = 2000, 0.02
    reward, unfair = {}, {}
    for target in ("flagged", "estimated", None):
        runs = []
        for seed in range(5):
            world = make_world("sphere", n_features=3, n_candidates=5, seed=seed)
            truth = MahalanobisAuditor(world.A)
            kind: Any = {} if target is None else {"target_unfair_share": share, "target": target}
            bandit = eh.FairBandit(3, epsilon=0.01, reviewer_error=None, seed=seed, **kind)
            auditor = NoisyAuditor(truth, 0.1, seed=seed + 100)
            runs.append(play(bandit, world, auditor, rounds=rounds, epsilon=0.01, seed=seed + 200, truth=truth))
        reward[target] = np.mean([np.mean(run.reward) for run in runs])
        unfair[target] = np.mean([run.unfair_rounds for run in runs])
    assert reward["estimated"] > 5 * reward["flagged"]
    assert reward["estimated"] > 0.8 * reward[None]
    assert unfair["estimated"] <= 2 * (share * rounds + 1 / STEP + 1)
