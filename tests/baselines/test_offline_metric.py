"""OfflineMetric and its parts: the scale, the fit, the fallbacks, and what it costs to stop learning."""

from __future__ import annotations

import sys
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.baselines import BatchMetric, OfflineMetric
from evenhand.baselines.offline_metric import Use, best_scale, random_probabilities
from evenhand.errors import InvalidInput, MissingExtra, UnsupportedReview
from evenhand.metrics import Pairs, Verdicts
from evenhand.records.decision import Review
from tests.support.simulation import same, simulate, standard_world


def _verdicts(A: np.ndarray, n: int, rng: np.random.Generator) -> Verdicts:
    """An exact reviewer's verdicts on n random pairs with random gaps."""
    z = rng.uniform(-0.7, 0.7, size=(n, A.shape[1]))
    gaps = rng.uniform(0.01, 1.0, size=n)
    pairs = Pairs(np.tile([0, 1], (n, 1)), z)
    return Verdicts(pairs, gaps, gaps > np.linalg.norm(z @ A.T, axis=1), np.zeros(n, dtype=np.bool_))


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(st.integers(1, 9), st.integers(1, 5), st.booleans()), min_size=1, max_size=10))
def test_no_scale_agrees_with_more_flags(rows: list[tuple[int, int, bool]]) -> None:
    """Brute force over a fine grid of scales finds none that agrees with more verdicts."""
    gaps, lengths = (np.array([float(row[column]) for row in rows]) for column in (0, 1))
    unfair = np.array([row[2] for row in rows])

    def agreement(scale: float) -> int:
        return int(np.sum((gaps > scale * lengths) == unfair))

    grid = np.concatenate([np.arange(0.0, 10.0, 0.013), gaps / lengths])
    assert agreement(best_scale(lengths, gaps, unfair)) == max(agreement(s) for s in grid)


def test_a_scale_of_contexts_at_no_distance() -> None:
    """Pairs that the shape sees no difference in do not break the scale."""
    assert best_scale(np.array([0.0, 1.0]), np.array([0.5, 0.4]), np.array([True, False])) >= 0.4


@pytest.mark.parametrize("rank", [None, 1])
def test_from_many_verdicts_the_metric_comes_near(rank: int | None) -> None:
    """ITML over gaps agrees with nine in ten verdicts it has not seen, better than the Euclidean metric does."""
    _, A = standard_world(3, seed=3, rank=rank)
    rng = np.random.default_rng(0)
    learner = BatchMetric(3, reviews=1)
    euclidean = np.array(learner.matrix())
    learner.learn(_verdicts(A, 800, rng))
    assert learner.source == "ITML"
    fresh = _verdicts(A, 2000, rng)
    agreement = np.mean((fresh.gaps > np.sqrt(learner.estimate(fresh.pairs))) == fresh.unfair)
    z = fresh.pairs.differences
    before = np.mean((fresh.gaps > np.sqrt(np.sum((z @ euclidean) * z, axis=1))) == fresh.unfair)
    assert agreement > max(0.9, before)


def test_dividing_by_the_gap_beats_the_plain_use() -> None:
    """Over four worlds the mean error of distances is smaller when ITML is given the gaps."""
    error: dict[Use, float] = {"over_gap": 0.0, "plain": 0.0}
    for use in error:
        for seed in range(4):
            _, A = standard_world(3, seed=seed)
            rng = np.random.default_rng(seed)
            learner = BatchMetric(3, reviews=1, use=use)
            learner.learn(_verdicts(A, 600, rng))
            z = rng.uniform(-0.7, 0.7, size=(500, 3))
            truth = np.linalg.norm(z @ A.T, axis=1)
            error[use] += float(np.mean(np.abs(learner.ends_of(z)[0] - truth)))
    assert error["over_gap"] < error["plain"]


@pytest.mark.parametrize("use", ["over_gap", "plain"])
@pytest.mark.parametrize("unfair", [True, False], ids=["only flags", "no flag"])
def test_verdicts_of_one_kind_teach_the_scale_alone(use: Use, unfair: bool) -> None:
    """Without both kinds the shape stays Euclidean, and the scale contradicts no verdict."""
    rng = np.random.default_rng(1)
    verdicts = _verdicts(np.eye(2), 40, rng)
    alike = Verdicts(verdicts.pairs, verdicts.gaps, np.full(40, unfair), verdicts.tight)
    learner = BatchMetric(2, reviews=1, use=use)
    learner.learn(alike)
    assert learner.fitted
    assert learner.source.startswith("scaled default")
    G = learner.matrix()
    assert np.allclose(G, G[0, 0] * np.eye(2))
    assert np.all((alike.gaps > np.sqrt(learner.estimate(alike.pairs)) + 1e-12) == unfair)
    assert G[0, 0] > 0


def test_without_any_verdict_the_default_stays() -> None:
    """Reviews of lonely candidates, or of identical ones, say nothing: the metric stays ||x - y|| / 2."""
    policy = OfflineMetric(2, reviews=2, seed=0)
    for contexts in ([[0.5, 0.1]], [[0.3, 0.3], [0.3, 0.3]]):
        policy.learn(policy.decide(contexts), review=Review.complete())
    assert isinstance(policy.metric, BatchMetric)
    assert not policy.collecting
    assert policy.metric.source == "default: no verdict"
    assert np.array_equal(policy.metric.matrix(), 0.25 * np.eye(2))


def test_a_failing_fit_falls_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """If ITML raises, the Euclidean shape is scaled, and the source says why."""

    def fails(*_: object, **__: object) -> None:
        raise np.linalg.LinAlgError("singular")

    monkeypatch.setattr("evenhand.baselines.offline_metric._fit_itml", fails)
    learner = BatchMetric(2, reviews=1)
    learner.learn(_verdicts(np.eye(2), 40, np.random.default_rng(0)))
    assert learner.source == "scaled default: ITML failed (singular)"
    assert learner.matrix()[0, 1] == 0


def test_without_metric_learn_a_sentence_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    """The policy is refused when it is made, not after the last review."""
    monkeypatch.setitem(sys.modules, "metric_learn", None)
    with pytest.raises(MissingExtra, match=r"pip install 'evenhand\[peers\]'"):
        OfflineMetric(2, reviews=5)


def test_no_warning_of_the_peers_leaks() -> None:
    """With every warning an error, and then with every one recorded, a fit is silent."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        BatchMetric(2, reviews=1).learn(_verdicts(np.eye(2), 60, np.random.default_rng(0)))
    assert caught == []


@pytest.mark.parametrize("capacity", [1, 2, 4, 7, None])
def test_random_probabilities_have_gaps_of_every_size_and_favour_nobody(capacity: int | None) -> None:
    """Probabilities fit the capacity, their means are equal, and wide and narrow gaps both occur."""
    rng = np.random.default_rng(0)
    probabilities = np.array([random_probabilities(5, capacity, rng) for _ in range(4000)])
    assert np.all((probabilities >= 0) & (probabilities <= 1))
    assert capacity is None or np.all(probabilities.sum(axis=1) <= capacity + 1e-9)
    assert np.ptp(probabilities.mean(axis=0)) < 0.04
    widest = np.ptp(probabilities, axis=1)
    assert np.mean(widest > 0.6) > 0.1
    assert np.mean(widest < 0.4) > (0.1 if capacity is not None and capacity < 5 else 0.0)


def test_it_gathers_then_fixes() -> None:
    """The metric changes with the last review it waits for and never again."""
    _, A = standard_world(3, seed=0)
    policy = OfflineMetric(3, reviews=60, seed=0)
    simulate(policy, d=3, k=4, rounds=59, seed=0)
    assert policy.collecting
    assert np.array_equal(policy.metric.matrix(), 0.25 * np.eye(3))
    simulate(policy, d=3, k=4, rounds=1, seed=1)
    assert not policy.collecting
    fitted = policy.metric.saved()
    simulate(policy, d=3, k=4, rounds=50, seed=0)
    assert same(fitted, policy.metric.saved())
    truth = A.T @ A
    assert np.linalg.norm(policy.metric.matrix() - truth) < np.linalg.norm(0.25 * np.eye(3) - truth)


def test_while_collecting_probabilities_do_not_follow_rewards() -> None:
    """The same candidates have other probabilities in each round; after the fit, with nothing new, the same."""
    policy = OfflineMetric(2, reviews=20, seed=0)
    contexts = np.array([[1.0, 0.0], [0.0, 1.0], [-0.6, 0.0]])
    played = []
    for _ in range(20):
        decision = policy.decide(contexts)
        played.append(tuple(decision.probabilities))
        policy.learn(decision, review=Review.partial(unfair=[(0, 1)], fair=[(0, 2)]))
    assert len(set(played)) == 20
    assert {int(np.argmax(probabilities)) for probabilities in played} == {0, 1, 2}
    assert len({tuple(policy.decide(contexts).probabilities) for _ in range(5)}) == 1


def test_stopping_to_learn_is_unfair_for_ever() -> None:
    """After the fit unfair pairs go on at an even pace, at far less than while gathering for each pair with a gap."""
    account = simulate(OfflineMetric(3, reviews=100, seed=0), d=3, k=5, rounds=900, seed=0)
    first, second = np.sum(account.unfair_pairs[100:500]), np.sum(account.unfair_pairs[500:])
    assert second > 100
    assert 0.7 * first < second < 1.4 * first


def test_one_bit_is_not_enough() -> None:
    """A bit that something was unfair is refused while gathering, and nothing has changed then."""
    policy = OfflineMetric(2, reviews=3, seed=0)
    decision = policy.decide([[0.9, 0.0], [0.0, 0.9], [-0.9, 0.0]])
    before = policy.state()
    with pytest.raises(UnsupportedReview, match="name the pairs"):
        policy.learn(decision, rewards=dict.fromkeys(decision.chosen, 0.1), review=Review.one_bit(any_unfair=True))
    assert same(before, policy.state())
    policy.learn(decision, review=Review.one_bit(any_unfair=False))


def test_bad_settings_are_refused() -> None:
    """Each setting out of range raises a sentence that names it."""
    for settings_, named in (
        ({"reviews": 0}, "reviews must be .* got 0"),
        ({"reviews": 5, "horizon": 9}, "exactly one"),
        ({"reviews": 5, "use": "magic"}, "use must be .* got .magic."),
        ({"reviews": 5, "held_out": 1.0}, "held_out must be .* got 1.0"),
    ):
        with pytest.raises(InvalidInput, match=named):
            OfflineMetric(2, **settings_)
