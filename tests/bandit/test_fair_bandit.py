"""FairBandit: decisions, learning, and what it refuses."""

from __future__ import annotations

import copy
import json
import warnings
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import evenhand as eh
from evenhand import errors
from evenhand.environments import LinearEnvironment
from evenhand.lab import Account
from tests.support.simulation import same, simulate, standard_world

X = np.array([[1.0, 0.0], [0.6, 0.8], [0.0, -1.0], [-0.5, 0.1]])


def _experienced(**settings: Any) -> eh.FairBandit:
    """A bandit that has seen thirty rounds."""
    bandit = eh.FairBandit(2, seed=3, **settings)
    simulate(bandit, d=2, k=4, rounds=30, seed=1)
    return bandit


# Deciding.


@settings(max_examples=40, deadline=None)
@given(k=st.integers(1, 12), d=st.integers(1, 6), capacity=st.sampled_from([1, 2, 3, None]), seed=st.integers(0, 10**6))
def test_decisions_keep_to_every_promise(k: int, d: int, capacity: int | None, seed: int) -> None:
    """Probabilities lie in [0, 1], respect the distances played and the capacity; nobody at 0 is drawn."""
    rng = np.random.default_rng(seed)
    contexts = rng.normal(size=(k, d))
    contexts /= np.maximum(1.0, np.linalg.norm(contexts, axis=1, keepdims=True))
    bandit = eh.FairBandit(d, capacity=capacity, seed=seed)
    played = bandit.metric.playable_distances(contexts)
    decision = bandit.decide(contexts)
    p = decision.probabilities
    assert np.all((p >= 0) & (p <= 1))
    assert np.all(np.abs(p[:, None] - p[None, :]) <= played + 1e-9)
    assert capacity is None or p.sum() <= capacity + 1e-9
    assert capacity is None or len(decision.chosen) <= capacity
    assert all(p[i] > 0 for i in decision.chosen)


@pytest.mark.statistical
def test_draws_have_the_stated_probabilities() -> None:
    """Over 20,000 draws each candidate is chosen as often as promised, within five standard errors."""
    bandit = eh.FairBandit(2, capacity=2, seed=0)
    counts, rounds = np.zeros(len(X)), 20_000
    for _ in range(rounds):
        decision = bandit.decide(X)
        counts[list(decision.chosen)] += 1
    p = decision.probabilities
    margin = 5 * np.sqrt(p * (1 - p) / rounds) + 1e-12
    assert np.all(np.abs(counts / rounds - p) <= margin)


def test_candidates_may_change_in_number() -> None:
    """k is free to change from round to round, down to a single candidate."""
    bandit = _experienced()
    for k in (4, 1, 2, 3):
        decision = bandit.decide(X[:k])
        bandit.learn(decision, rewards=dict.fromkeys(decision.chosen, 0.1), review=eh.Review.complete())
        assert decision.probabilities.shape == (k,)


@pytest.mark.parametrize("frame", [pd.DataFrame(X), pl.DataFrame(X), X.tolist(), X.astype(np.float32)])
def test_frames_and_lists_are_contexts_too(frame: Any) -> None:
    """Data frames, lists and single precision decide as the array does."""
    expected = eh.FairBandit(2, seed=1).decide(np.asarray(X.astype(np.float32) if hasattr(frame, "dtype") else X))
    decision = eh.FairBandit(2, seed=1).decide(frame)
    assert np.array_equal(decision.probabilities, expected.probabilities)
    assert decision.chosen == expected.chosen


def test_a_decision_cannot_be_changed_in_place() -> None:
    """Contexts and probabilities of a decision are read-only, and are not the caller's array."""
    contexts = X.copy()
    decision = eh.FairBandit(2, seed=1).decide(contexts)
    contexts[0, 0] = 0.0
    assert decision.contexts[0, 0] == 1.0
    for array in (decision.probabilities, decision.contexts):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1.0


# Learning.


@pytest.mark.statistical
def test_learns_to_be_fair_and_to_earn() -> None:
    """In a small world the second half has no unfair round, and far more reward than equal probabilities."""
    account = simulate(eh.FairBandit(3, epsilon=0.02, seed=0), d=3, k=4, rounds=600, seed=4, epsilon=0.02)
    assert account.last_unfair_round is not None
    assert account.last_unfair_round < 300
    assert np.sum(account.regret[300:]) < 0.1 * np.sum(account.reward[300:])


@pytest.mark.statistical
def test_the_metric_learned_is_the_reviewers() -> None:
    """After a few hundred complete reviews the ends are narrow around the truth on new candidates."""
    bandit = eh.FairBandit(3, epsilon=0.02, seed=0)
    simulate(bandit, d=3, k=5, rounds=500, seed=5)
    _, A = standard_world(3, seed=5)
    contexts = np.array([[0.3, 0.1, -0.2], [-0.5, 0.2, 0.1], [0.0, 0.9, 0.3]])
    truth = eh.auditors.MahalanobisAuditor(A).distances(contexts)
    estimate, lower, upper = bandit.distances(contexts)
    assert np.max(np.abs(estimate - truth)) < 0.03
    assert np.all((lower <= truth + 1e-9) & (truth <= upper + 1e-9))


def test_outcomes_and_reviews_may_come_late_from_elsewhere() -> None:
    """A decision written to JSON and read back, possibly by another process, is learned from as the original is."""
    bandit = eh.FairBandit(2, seed=0)
    decisions = [bandit.decide(X[:k]) for k in (4, 3, 2)]
    twin = copy.deepcopy(bandit)
    for decision in reversed(decisions):
        reread = eh.Decision.from_dict(json.loads(json.dumps(decision.to_dict())))
        answer: dict[str, Any] = {"rewards": dict.fromkeys(decision.chosen, 0.5), "review": eh.Review.complete()}
        bandit.learn(decision, **answer)
        twin.learn(reread, **answer)
    assert same(bandit.state(), twin.state())


def test_one_bit_that_all_was_fair_is_a_complete_review_without_flags() -> None:
    """Nothing unfair, in one bit, teaches a learner that doubts nothing just what a complete review without flags does.

    BayesPoint allows for errors; it still finds the probabilities that were played less likely to be unfair.
    """
    bandits = [eh.FairBandit(2, metric=eh.metrics.Ellipsoid(2), seed=0) for _ in range(2)]
    for bandit, review in zip(bandits, (eh.Review.one_bit(any_unfair=False), eh.Review.complete()), strict=True):
        bandit.learn(bandit.decide(X), review=review)
    assert same(bandits[0].state(), bandits[1].state())
    default = _experienced(reviewer_error=1e-3)
    decision = default.decide(X)
    pairs = eh.metrics.Pairs.of(decision.contexts)
    gaps = np.array([decision.gap(i, j) for i, j in pairs.names()])
    before = default.metric.chance_unfair(pairs, gaps)
    default.learn(decision, review=eh.Review.one_bit(any_unfair=False))
    after = default.metric.chance_unfair(pairs, gaps)
    assert np.max(after) < np.max(before)
    assert np.sum(after) < np.sum(before)


def test_one_bit_a_round_is_enough_to_learn_from() -> None:
    """With one bit per round the default is never unfair in the second half of 600 rounds."""
    theta, A = standard_world(2, seed=6)
    world, auditor = LinearEnvironment(theta, n_candidates=4), eh.auditors.MahalanobisAuditor(A)
    bandit, account = eh.FairBandit(2, epsilon=0.02, seed=0), Account(0.02)
    contexts, _ = world.reset(seed=0)
    for _ in range(600):
        decision = bandit.decide(contexts)
        contexts, _, _, _, info = world.step(decision.chosen)
        any_unfair = bool(auditor.review(decision).unfair)
        bandit.learn(decision, rewards=info["rewards"], review=eh.Review.one_bit(any_unfair))
        account.add(decision, world.expected_rewards(decision.contexts), auditor)
    assert account.last_unfair_round is not None
    assert account.last_unfair_round <= 300


def test_one_bit_on_equal_probabilities_is_no_flag() -> None:
    """With equal probabilities nothing can have been unfair: a bit that says so changes nothing that was learned."""
    bandit = eh.FairBandit(2, seed=0)
    decision = bandit.decide(np.array([[0.5, 0.5]] * 3))
    before = copy.deepcopy(bandit.state())
    assert bandit.learn(decision, review=eh.Review.one_bit(any_unfair=True)) == eh.Learned()
    assert same(bandit.state(), before)


def test_one_bit_is_refused_by_learners_that_cannot_use_it() -> None:
    """A learner that cannot use one bit says so and which learner can, and nothing changes."""
    bandit = eh.FairBandit(2, seed=0, metric=eh.metrics.Ellipsoid(2))
    decision = bandit.decide(X)
    before = copy.deepcopy(bandit.state())
    with pytest.raises(errors.UnsupportedReview, match="BayesPoint"):
        bandit.learn(decision, rewards=dict.fromkeys(decision.chosen, 1.0), review=eh.Review.one_bit(any_unfair=True))
    assert same(bandit.state(), before)


def test_a_partial_review_says_nothing_of_other_pairs() -> None:
    """Only the pairs named in a partial review are learned from."""
    bandit, twin = _experienced(), _experienced()
    decision, same_decision = bandit.decide(X), twin.decide(X)
    i, j = decision.tight_pairs[0]
    learned = bandit.learn(decision, review=eh.Review.partial(unfair=[(i, j)]))
    everything = twin.learn(same_decision, review=eh.Review.complete(unfair=[(i, j)]))
    assert learned.used == 1
    assert everything.used > 1


@pytest.mark.parametrize(
    "metric",
    [
        eh.metrics.BayesPoint(2, epsilon=0.01),
        eh.metrics.Ellipsoid(2, epsilon=0.01),
        eh.metrics.ProjectedVolume(2, epsilon=0.01, seed=0),
    ],
    ids=lambda metric: type(metric).__name__,
)
def test_an_inconsistent_reviewer_is_reported_never_a_crash(metric: eh.metrics.MetricLearner) -> None:
    """A reviewer who says of the same probabilities once fair, once unfair, is reported, and the bandit decides on."""
    bandit = eh.FairBandit(2, seed=0, metric=copy.deepcopy(metric))
    conflicts = 0
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for t in range(60):
            decision = bandit.decide(X)
            pairs = [(i, j) for i in range(4) for j in range(i + 1, 4) if decision.gap(i, j) > 1e-6]
            review = eh.Review.complete(unfair=pairs if t % 2 else [])
            conflicts += len(bandit.learn(decision, review=review).conflicts)
            old = bandit.learn(decision, review=eh.Review.complete(unfair=[] if t % 2 else pairs))
            conflicts += len(old.conflicts)
    assert conflicts > 0
    assert bandit.conflicts == conflicts
    assert any(issubclass(warning.category, errors.InconsistentReviews) for warning in caught)
    assert np.all(np.isfinite(bandit.decide(X).probabilities))


# What it refuses, unchanged.

BAD_CONTEXTS = {
    "nan": ([[np.nan, 0.0]], "feature 0 of candidate 0 must be a finite number, got nan"),
    "infinite": ([[0.0, 0.0], [0.0, np.inf]], "feature 1 of candidate 1 must be a finite number, got inf"),
    "one dimension": ([0.0, 1.0], r"contexts must have shape \(k, d\) with k, d >= 1, got \(2,\)"),
    "nobody": (np.zeros((0, 2)), r"contexts must have shape \(k, d\) with k, d >= 1, got \(0, 2\)"),
    "wrong width": ([[0.0, 0.0, 0.0]], "contexts must have 2 features, got 3"),
    "too long": ([[0.0, 0.0], [1.2, 0.0]], r"contexts must have norm <= 1, context 1 has 1\.2; see evenhand\.Schema"),
    "words": ([["a", "b"]], "table of numbers"),
    "ragged": ([[0.0, 1.0], [0.0]], "table of numbers"),
    "truth values": ([[True, False]], "table of numbers"),
    "nothing": (None, "table of numbers"),
    "masked": (
        np.ma.masked_array([[0.1, 0.2]], mask=[[False, True]]),
        "feature 1 of candidate 0 must be a finite number, got nan",
    ),
    "objects": (np.array([[0.1, "b"]], dtype=object), "feature 1 of candidate 0 is 'b'"),
    "endless": ([[10**5000, 0.0]], "feature 0 of candidate 0 is a number of thousands of digits"),
    "a long text": ("candidate" * 1000, r"got 'candidatecandidate.{0,180}\.\.\.$"),
}


@pytest.mark.parametrize("name", BAD_CONTEXTS)
def test_bad_contexts_are_refused(name: str) -> None:
    """The error says what was wrong and what is allowed; the bandit draws on as if it had not been called."""
    contexts, message = BAD_CONTEXTS[name]
    bandit = _experienced()
    before = copy.deepcopy(bandit.state())
    with pytest.raises(errors.InvalidInput, match=message):
        bandit.decide(contexts)
    assert same(bandit.state(), before)


def test_objects_that_are_numbers_are_contexts() -> None:
    """An array of Python's own numbers is as good as one of floats."""
    decision = eh.FairBandit(2, seed=0).decide(np.array([[Fraction(1, 2), 0], [0, 1]], dtype=object))
    assert decision.contexts.tolist() == [[0.5, 0.0], [0.0, 1.0]]


@pytest.mark.parametrize("x", [None, "ab", [0.1], [[0.1, 0.2]], [np.nan, 0.0]])
def test_bad_pairs_of_contexts_are_refused(x: Any) -> None:
    """A verdict without a decision is checked as the contexts of a decision are."""
    bandit = _experienced()
    before = copy.deepcopy(bandit.state())
    with pytest.raises(errors.InvalidInput):
        bandit.learn_pair(x, [0.1, 0.2], gap=0.5, unfair=True)
    assert same(bandit.state(), before)


def _decided(bandit: eh.FairBandit) -> eh.Decision:
    decision = bandit.decide(X)
    while not decision.chosen:
        decision = bandit.decide(X)
    return decision


BAD_ANSWERS: dict[str, tuple[Any, type[Exception], str]] = {
    "nan reward": (
        lambda d: {"rewards": {d.chosen[0]: np.nan}},
        errors.InvalidInput,
        "the reward of candidate 3 must be a finite number, got nan",
    ),
    "infinite reward": (
        lambda d: {"rewards": {d.chosen[0]: np.inf}},
        errors.InvalidInput,
        "the reward of candidate 3 must be a finite number, got inf",
    ),
    "endless reward": (
        lambda d: {"rewards": {d.chosen[0]: 10**400}},
        errors.InvalidInput,
        "the reward of candidate 3 must be a finite number, got",
    ),
    "reward in euros": (
        lambda d: {"rewards": {d.chosen[0]: 4000.0}},
        errors.InvalidInput,
        r"rewards must be from -20\.0 to 20\.0, got",
    ),
    "truth value for a candidate": (
        lambda d: {"rewards": {bool(d.chosen[0]): 0.5}},
        errors.NotChosen,
        r"rewards must be of chosen candidates \(3,\), got one of True",
    ),
    "text reward": (lambda d: {"rewards": {d.chosen[0]: "much"}}, errors.InvalidInput, "'much'"),
    "list of rewards": (
        lambda d: {"rewards": [0.5]},
        errors.InvalidInput,
        r"rewards must be a dict from a chosen candidate's index to a number, got \[0\.5\]",
    ),
    "not chosen": (
        lambda d: {"rewards": {(d.chosen[0] + 1) % 4: 0.5}},
        errors.NotChosen,
        r"rewards must be of chosen candidates \(3,\), got one of 0",
    ),
    "no such candidate": (
        lambda d: {"rewards": {17: 0.5}},
        errors.NotChosen,
        r"rewards must be of chosen candidates \(3,\), got one of 17",
    ),
    "unknown pair": (
        lambda d: {"review": eh.Review.complete(unfair=[(0, 9)])},
        errors.UnknownPair,
        "candidates 0 to 3",
    ),
    "no review": (lambda d: {"review": [(0, 1)]}, errors.InvalidInput, "Review.complete"),
    "good reward, bad review": (
        lambda d: {"rewards": {d.chosen[0]: 0.5}, "review": eh.Review.partial(fair=[(2, 4)])},
        errors.UnknownPair,
        r"a pair must be of candidates 0 to 3, got \(2, 4\)",
    ),
}


@pytest.mark.parametrize("name", BAD_ANSWERS)
def test_bad_answers_are_refused(name: str) -> None:
    """Outcomes and reviews that do not fit raise a sentence and leave every part of the bandit as it was."""
    make, error, message = BAD_ANSWERS[name]
    bandit = _experienced()
    decision = _decided(bandit)
    before = copy.deepcopy(bandit.state())
    with pytest.raises(error, match=message):
        bandit.learn(decision, **make(decision))
    assert same(bandit.state(), before)


def test_decisions_of_others_are_refused() -> None:
    """Another bandit's decision, a changed one, one not yet made and no decision at all teach nothing."""
    bandit = _experienced()
    own = bandit.decide(X)
    ahead = eh.FairBandit(2, seed=3)
    simulate(ahead, d=2, k=4, rounds=40, seed=1)
    strangers = {
        "other seed": eh.FairBandit(2, seed=4).decide(X),
        "later than any": ahead.decide(X),
        "probabilities changed": replace(own, probabilities=np.full(4, 0.25)),
        "contexts changed": replace(own, contexts=own.contexts * 0.5),
        "more chosen": replace(own, chosen=(0, 1)),
        "another chosen": replace(own, chosen=((own.chosen[0] + 1) % 4,)),
        "tight pairs changed": replace(own, tight_pairs=()),
        "renamed": replace(own, id="1-00"),
        "same seed, other capacity": _decided(eh.FairBandit(2, seed=3, capacity=2)),
        "same seed, other metric": _decided(eh.FairBandit(2, seed=3, epsilon=0.1)),
    }
    before = copy.deepcopy(bandit.state())
    for name, decision in strangers.items():
        with pytest.raises(errors.ForeignDecision, match="not made by this bandit"):
            bandit.learn(decision, review=eh.Review.complete())
        assert same(bandit.state(), before), name
    with pytest.raises(
        errors.InvalidInput, match=r"decision must be a Decision that decide\(\) returned, got 'decision 3'"
    ):
        bandit.learn("decision 3", review=eh.Review.complete())  # type: ignore[arg-type]


def test_a_part_that_fails_takes_nothing_with_it() -> None:
    """If the metric learner fails, the outcomes given in the same call are not learned either."""

    class Broken(eh.metrics.Ellipsoid):
        def learn(self, verdicts: eh.metrics.Verdicts) -> eh.Learned:
            raise errors.SolverFailed("out of order")

    bandit = eh.FairBandit(2, seed=0, metric=Broken(2))
    decision = _decided(bandit)
    before = copy.deepcopy(bandit.state())
    with pytest.raises(errors.SolverFailed):
        bandit.learn(decision, rewards={decision.chosen[0]: 1.0}, review=eh.Review.complete())
    assert same(bandit.state(), before)


def test_a_reward_model_that_fails_midway_takes_nothing_with_it() -> None:
    """If a user's reward model fails after it has changed itself, the bandit keeps the one it had."""

    class Careless(eh.rewards.KnownReward):
        def learn(self, contexts: Any, rewards: Any) -> None:
            self.theta = self.theta * 2
            raise RuntimeError("half way")

    bandit = eh.FairBandit(2, seed=0, reward=Careless([0.6, 0.8]))
    decision = _decided(bandit)
    with pytest.raises(RuntimeError, match="half way"):
        bandit.learn(decision, rewards={decision.chosen[0]: 1.0}, review=eh.Review.complete())
    assert bandit.reward.state()["theta"].tolist() == [0.6, 0.8]


def test_a_review_that_fails_midway_is_not_learned(monkeypatch: pytest.MonkeyPatch) -> None:
    """If the safeguards fail on a review, neither the metric nor the reward model has learned anything."""
    bandit = _experienced()
    decision = _decided(bandit)
    before = copy.deepcopy(bandit.state())

    def fail(*args: Any) -> None:
        raise errors.SolverFailed("out of order")

    with monkeypatch.context() as patch:
        patch.setattr(bandit.safeguards, "after_review", fail)
        with pytest.raises(errors.SolverFailed):
            bandit.learn(decision, rewards={decision.chosen[0]: 0.5}, review=eh.Review.complete())
    assert same(bandit.state(), before)


def test_a_review_passed_twice_counts_twice() -> None:
    """A bandit does not remember which reviews it has learned from; a desk does."""
    bandit = eh.FairBandit(2, seed=0)
    decision = bandit.decide([[1.0, 0.0], [0.0, 1.0]])
    assert [bandit.learn(decision, review=eh.Review.complete()).used for _ in range(2)] == [1, 1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_features": 0}, "n_features must be a whole number >= 1, got 0"),
        ({"n_features": 2.5}, r"n_features must be a whole number >= 1, got 2\.5"),
        ({"n_features": 2, "capacity": 0}, "capacity must be a whole number >= 1 or None, got 0"),
        ({"n_features": 2, "capacity": 1.5}, r"capacity must be a whole number >= 1 or None, got 1\.5"),
        ({"n_features": 2, "capacity": True}, "capacity must be a whole number >= 1 or None, got True"),
        ({"n_features": 2, "epsilon": -1}, "epsilon must be a number from 1e-06 to 1 or None, got -1"),
        ({"n_features": 2, "structure": "square"}, "structure must be 'auto', 'full' or 'diagonal', got 'square'"),
        ({"n_features": 2, "seed": "x"}, "seed must be a whole number >= 0, a numpy Generator or None, got 'x'"),
        ({"n_features": 2, "seed": -1}, "seed must be a whole number >= 0, a numpy Generator or None, got -1"),
        ({"n_features": 2, "metric": eh.metrics.Ellipsoid(3)}, "metric must have 2 features as the bandit has, got 3"),
        ({"n_features": 2, "metric": "BayesPoint"}, "metric must be a MetricLearner, got 'BayesPoint'"),
        ({"n_features": 2, "metric": eh.metrics.BayesPoint}, "metric must be a MetricLearner, got"),
        (
            {"n_features": 2, "reward": eh.rewards.KnownReward([1.0])},
            "reward must have 2 features as the bandit has, got 1",
        ),
    ],
)
def test_bad_settings_are_refused(arguments: dict[str, Any], message: str) -> None:
    """Settings that do not fit raise a sentence that quotes them."""
    with pytest.raises(errors.InvalidInput, match=message):
        eh.FairBandit(**arguments)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"reviewer_error": 0.6}, r"reviewer_error must be a number >= 0 and < 0\.5 or None, got 0\.6"),
        ({"reviewer_error": "low"}, r"reviewer_error must be a number >= 0 and < 0\.5 or None, got 'low'"),
        ({"epsilon": 0.1, "metric": eh.metrics.BayesPoint(2)}, r"epsilon must be None or the metric's, None, got 0\.1"),
        ({"reviewer_error": 0.1, "metric": eh.metrics.BayesPoint(2)}, r"None or the metric's, 0\.001, got 0\.1"),
        ({"structure": "full", "metric": eh.metrics.BayesPoint(2, structure="diagonal")}, "'diagonal', got 'full'"),
    ],
)
def test_settings_are_refused_by_their_own_names(settings: dict[str, Any], sentence: str) -> None:
    """The sentence names what the user wrote."""
    with pytest.raises(errors.InvalidInput, match=sentence):
        eh.FairBandit(2, **settings)


def test_settings_may_repeat_those_of_the_metric() -> None:
    """Beside a metric the settings of the default one may say the same, and have no effect."""
    metric = eh.metrics.BayesPoint(2, epsilon=0.1, error_rate=0.05, structure="diagonal")
    bandit = eh.FairBandit(2, metric=metric, epsilon=0.1, reviewer_error=0.05, structure="diagonal")
    assert bandit.metric is metric
    eh.FairBandit(2, metric=eh.metrics.KnownMetric(np.eye(2)), epsilon=0.1)
