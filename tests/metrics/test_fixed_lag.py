"""BayesPoint(error_rate=None) and its FixedLagSmoother: error rates learned while running."""

from __future__ import annotations

import copy
import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import evenhand as eh
from evenhand.auditors import Auditor, MahalanobisAuditor, NoisyAuditor, PanelAuditor
from evenhand.environments import LinearEnvironment
from evenhand.errors import MisleadingReviewer
from evenhand.lab import play
from evenhand.lab.runs import reviewed_run
from evenhand.metrics import BayesPoint, Pairs, Verdicts
from evenhand.metrics.gaussian.belief import Belief, project_psd
from evenhand.metrics.gaussian.error_rates import ErrorRates, ReviewerReport
from evenhand.metrics.gaussian.fixed_lag import FixedLagSmoother
from evenhand.metrics.gaussian.tuning import DEFAULT
from evenhand.metrics.verdicts import HalfSpaces
from evenhand.testing.metric_worlds import random_A, random_contexts, true_squares, verdicts_at_the_guess
from tests.support.simulation import same, standard_world

Floats = NDArray[np.float64]


def _review(learner: BayesPoint, A: Floats, rng: np.random.Generator, rate: float, *, k: int = 4) -> Verdicts:
    """A round at the guess, and what somebody says of it who is wrong at this rate."""
    verdicts = verdicts_at_the_guess(learner, random_contexts(rng, k, A.shape[1]), A)
    return replace(verdicts, unfair=verdicts.unfair ^ (rng.random(len(verdicts)) < rate))


def _reviewed(
    rate: float, *, rounds: int, seed: int = 0, d: int = 3, k: int = 4, **settings: Any
) -> tuple[BayesPoint, Floats]:
    """A learner after so many reviews, and the truth."""
    rng = np.random.default_rng(seed)
    A, learner = random_A(rng, d), BayesPoint(d, error_rate=None, **{"epsilon": 0.02, **settings})
    for _ in range(rounds):
        assert learner.learn(_review(learner, A, rng, rate, k=k)).conflicts == ()
    return learner, A


# Finding the rate.


@pytest.mark.parametrize("rate", [0.0, 0.05, 0.1, 0.2, 0.3])
def test_the_rate_found_is_near_the_true_one(rate: float) -> None:
    """After about 1,400 answers, a share of them turned: on every one of three seeds the rate is within 0.05.

    Ends that reach further by half a grid step hold it, and no answer is reported to contradict another.
    """
    for seed in range(3):
        learner, _ = _reviewed(rate, rounds=250, seed=seed)
        report = learner.reviewers()[None]
        assert report.name is None
        assert report.answers > 1000
        assert abs(report.error_rate - rate) <= 0.05
        assert report.lower - 0.01 <= rate <= report.upper + 0.01
        assert not report.misleads


def test_the_metric_is_found_all_the_same() -> None:
    """With a tenth of the answers wrong, distances are known to 0.03 on each of three seeds."""
    for seed in range(3):
        learner, A = _reviewed(0.1, rounds=300, seed=seed)
        pairs = Pairs.of(random_contexts(np.random.default_rng(99), 10, 3))
        truth = np.sqrt(true_squares(pairs, A))
        assert np.max(np.abs(np.sqrt(learner.estimate(pairs)) - truth)[truth < 0.9]) < 0.03


@pytest.mark.parametrize("norm", [3.0, 10.0])
def test_the_bound_grows_with_answers_that_may_be_wrong(norm: float) -> None:
    """A metric far beyond the first bound is found although a tenth of the answers is wrong: the bound is doubled."""
    for seed in range(2):
        rng = np.random.default_rng(seed)
        A, learner = random_A(rng, 2, norm=norm), BayesPoint(2, epsilon=0.02, error_rate=None)
        for _ in range(400):
            verdicts = verdicts_at_the_guess(learner, 0.4 * random_contexts(rng, 5, 2), A)
            learner.learn(replace(verdicts, unfair=verdicts.unfair ^ (rng.random(len(verdicts)) < 0.1)))
        assert norm / 2 < learner.bound <= 4 * norm
        assert np.linalg.norm(learner.matrix()) == pytest.approx(norm, rel=0.2)
        assert learner.reviewers()[None].error_rate == pytest.approx(0.1, abs=0.05)


def test_a_doubling_keeps_what_was_learned() -> None:
    """Right after the bound was doubled the belief agrees with what is open, better than the bare wider prior does.

    Over five seeds: with 93% of answers at least, and with 5% more of them.
    """
    shares = []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        A, learner = random_A(rng, 2, norm=3.0), BayesPoint(2, epsilon=0.05, error_rate=None)
        while learner.bound < 4.0:
            learner.learn(verdicts_at_the_guess(learner, 0.4 * random_contexts(rng, 5, 2), A))
        open_answers = HalfSpaces(**learner.state()["doubt"]["open"]["half_spaces"])
        both = (learner, BayesPoint(2, bound=learner.bound, epsilon=0.05))
        shares.append([np.mean(open_answers.slacks(each.state()["mean"]) >= -1e-3) for each in both])
    own, bare = np.mean(shares, axis=0)
    assert own > 0.93
    assert own > bare + 0.05


def test_a_wider_prior_keeps_answers_that_left_the_window() -> None:
    """A restart replaces the prior in the base, and processes the open answers again at their reviewer's rate."""
    rng = np.random.default_rng(0)
    prior = Belief(np.zeros(2), np.eye(2), replace(DEFAULT, open_answers=10))
    kept, belief, marks = FixedLagSmoother(prior, len(prior.mean)), prior, {"Ada": 0.01, "Bob": 0.02, "Eve": 0.03}
    for t in range(60):
        name, n = list(marks)[t % 3], int(rng.integers(1, 8))
        cuts = HalfSpaces(rng.normal(size=(n, 2)), np.full(n, marks[name]), rng.choice([-1.0, 1.0], size=n))
        kept, belief = kept.updated(belief, cuts, name, blur=0.05, project=lambda belief: belief)
        expected = [marks[str(kept.rates.names[row])] for row in kept.open.reviewers]
        assert kept.open.thresholds.tolist() == expected
    rates, wider = np.minimum(kept.rates.means(), DEFAULT.max_rate), Belief(np.ones(2), 4 * np.eye(2))
    fresh, again = kept.restarted(prior, wider, blur=0.05, project=lambda belief: belief)
    base = kept.base.with_prior(prior, wider)
    expected_belief = base.update(kept.open, rates[kept.open.reviewers], blur=0.05).belief
    assert np.array_equal(fresh.base.mean, base.mean)
    assert np.array_equal(again.mean, expected_belief.mean)
    assert np.array_equal(again.cov, expected_belief.cov)


def test_an_accuracy_that_sharpens() -> None:
    """With epsilon=None and a tenth of the answers wrong, no distance is off by more than 0.05, no rate by 0.02."""
    for seed in range(3):
        learner, A = _reviewed(0.1, rounds=500, seed=seed, epsilon=None)
        pairs = Pairs.of(random_contexts(np.random.default_rng(99), 10, 3))
        truth = np.sqrt(true_squares(pairs, A))
        assert np.max(np.abs(np.sqrt(learner.estimate(pairs)) - truth)[truth < 0.9]) < 0.05
        assert learner.reviewers()[None].error_rate == pytest.approx(0.1, abs=0.02)


def test_learning_the_rate_is_nearly_as_good_as_knowing_it() -> None:
    """With an exact reviewer, doubting costs at most twice the flags of trusting, and ten more."""
    flags = {}
    for error_rate in (1e-3, None):
        rng = np.random.default_rng(3)
        A, learner, count = random_A(rng, 3), BayesPoint(3, epsilon=0.02, error_rate=error_rate), 0
        for _ in range(300):
            verdicts = verdicts_at_the_guess(learner, random_contexts(rng, 4, 3), A)
            count += int(np.sum(verdicts.unfair))
            learner.learn(verdicts)
        flags[error_rate] = count
    assert flags[None] <= 2 * flags[1e-3] + 10


# Who is wrong.


def _panel_run(rates: dict[str, float], *, rounds: int, seed: int) -> tuple[eh.FairBandit, eh.lab.Account, list[str]]:
    """A panel of whom each decision is shown to two; the bandit, the account, and the warnings of misleading ones."""
    theta, A = standard_world(3, seed=seed)
    exact = MahalanobisAuditor(A)
    members: dict[str, Auditor] = {
        name: NoisyAuditor(exact, rate, seed=10 * seed + row) for row, (name, rate) in enumerate(rates.items())
    }
    bandit = eh.FairBandit(3, metric=eh.metrics.BayesPoint(3, epsilon=0.02, error_rate=None), seed=seed)
    panel = PanelAuditor(members, per_decision=2, seed=seed)
    world = LinearEnvironment(theta, n_candidates=4)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        account = play(bandit, world, panel, rounds=rounds, epsilon=0.02, seed=seed, truth=exact)
    assert all(issubclass(warning.category, MisleadingReviewer) for warning in caught)
    return bandit, account, [str(warning.message) for warning in caught]


def test_a_majority_that_misleads_is_sorted_out() -> None:
    """Three of five are wrong nine times of ten: they are found out, warned of, and fairness comes.

    Over four seeds at most 1% of the 1,200 pairs of the last 50 rounds are unfair.
    """
    rates, late = {"Ada": 0.9, "Bob": 0.05, "Cleo": 0.9, "Dan": 0.05, "Eve": 0.9}, 0
    for seed in range(4):
        bandit, account, warned = _panel_run(rates, rounds=250, seed=seed)
        report = bandit.reviewers()
        assert {name for name in rates if report[name].misleads} == {"Ada", "Cleo", "Eve"}
        assert all(abs(report[name].error_rate - rate) <= 0.06 for name, rate in rates.items())
        assert {sentence.split("'")[1] for sentence in warned} == {"Ada", "Cleo", "Eve"}
        assert all("wrong more often than right" in sentence for sentence in warned)
        late += int(np.sum(account.unfair_pairs[200:]))
        assert np.sum(account.regret[125:]) < 0.15 * np.sum(account.reward[125:])
    assert late <= 12


@pytest.mark.statistical
def test_a_burst_of_lies_is_not_believed_for_good() -> None:
    """400 answers for another metric, all at once, then the truth: at most one unfair pair a lie.

    d = 5, k = 10, 500 rounds, two seeds. Believed for good it was one unfair pair a round, for ever.
    """
    for seed in (0, 1):
        liar = {"lies": 400, "aim": "confusion", "lies_per_decision": 45}
        shape = {"policy": "evenhand", "d": 5, "k": 10, "rounds": 500, "epsilon": 0.01}
        curve = reviewed_run(**shape, **liar, reviewer_error=None, seed=seed)  # type: ignore[arg-type]
        assert curve["lies_told"][-1] == 400
        assert curve["unfair_pairs"][-1] <= 400
        assert curve["learned_rate"][-1] < 0.03


def test_an_honest_reviewer_of_an_unlikely_metric_is_not_taken_for_a_liar() -> None:
    """Expected are distances an order of magnitude longer: at first she contradicts all that is believed.

    Three seeds; she ends up believed, at an error rate below 0.01, and of the last hundred rounds none is unfair.
    """
    for seed in range(3):
        rng = np.random.default_rng(seed)
        A = 0.15 * rng.normal(size=(4, 4))
        bandit = eh.FairBandit(4, metric=BayesPoint(4, epsilon=0.05, error_rate=None, bound=8.0), seed=seed)
        truth = MahalanobisAuditor(A)
        world = LinearEnvironment(np.full(4, 0.4), n_candidates=5)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", MisleadingReviewer)  # she may be, for a while
            account = play(bandit, world, truth, rounds=350, epsilon=0.05, seed=seed)
        report = bandit.reviewers()[None]
        assert not report.misleads
        assert report.error_rate < 0.01
        assert np.sum(account.unfair_pairs[250:]) == 0


class _Wavering(eh.metrics.Ellipsoid):
    """Finds a reviewer out with every other review."""

    reviews = 0

    def learn(self, verdicts: Verdicts) -> eh.Learned:
        self.reviews += 1
        return super().learn(verdicts)

    def reviewers(self) -> dict[str | None, ReviewerReport]:
        return {"Eve": ReviewerReport("Eve", self.reviews, 0.6, 0.4 + 0.2 * (self.reviews % 2), 0.8)}


def test_one_warning_each() -> None:
    """Nobody is warned of twice, however the belief wavers: among a majority of liars it does. Nor after a stop."""
    bandit = eh.FairBandit(2, metric=_Wavering(2), seed=0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(6):
            bandit.learn(bandit.decide(np.eye(2)), review=eh.Review.complete(reviewer="Eve"))
        bandit = eh.FairBandit.from_state(bandit.state())
        bandit.learn(bandit.decide(np.eye(2)), review=eh.Review.complete(reviewer="Eve"))
    assert [warning.category for warning in caught] == [MisleadingReviewer]


def test_misleading_answers_in_an_interview_are_warned_of() -> None:
    """A reviewer may be found out by answers on two contexts alone, and is warned of then."""
    bandit, rng = eh.FairBandit(2, reviewer_error=None, seed=0), np.random.default_rng(0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for t in range(200):
            (x, y), gap = random_contexts(rng, 2, 2), float(rng.uniform(0.02, 0.98))
            unfair, liar = bool(gap > 0.5 * np.linalg.norm(x - y)), t % 2 == 0
            bandit.learn_pair(x, y, gap=gap, unfair=unfair != liar, reviewer="Eve" if liar else "Ada")
    assert bandit.reviewers()["Eve"].misleads
    assert [warning.category for warning in caught] == [MisleadingReviewer]


def test_nobody_honest_is_accused() -> None:
    """Of five who err in 1 to 30% of answers none is ever warned of."""
    rates = {"Ada": 0.01, "Bob": 0.05, "Cleo": 0.1, "Dan": 0.2, "Eve": 0.3}
    bandit, _, warned = _panel_run(rates, rounds=150, seed=2)
    assert warned == []
    assert not any(report.misleads for report in bandit.reviewers().values())


def test_a_reviewer_without_a_name_is_one_of_them() -> None:
    """Answers without a name are one reviewer's, apart from those with names, and are warned of as such."""
    theta, A = standard_world(3, seed=4)
    exact, bandit = MahalanobisAuditor(A), eh.FairBandit(3, epsilon=0.02, reviewer_error=None, seed=0)
    liar, world = NoisyAuditor(exact, 0.95, seed=1), LinearEnvironment(theta, n_candidates=4)
    contexts, _ = world.reset(seed=0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(120):
            decision = bandit.decide(contexts)
            bandit.learn(decision, review=replace(exact.review(decision), reviewer="Ada"))
            bandit.learn(decision, review=liar.review(decision))
            contexts = world.step(decision.chosen)[0]
    assert [warning.category for warning in caught] == [MisleadingReviewer]
    assert str(caught[0].message).startswith("the reviewer without a name is wrong more often than right")
    report = bandit.reviewers()
    assert list(report) == ["Ada", None]
    assert report[None].misleads
    assert report["Ada"].error_rate < 0.03


def test_the_same_answer_of_another_reviewer_is_news() -> None:
    """Answers of several reviewers on one pair count each, also when reprocessed; copies within a review count once."""
    prior = Belief(np.array([0.3]), np.eye(1) * 0.04)
    cuts = HalfSpaces(np.ones((1, 1)), np.array([0.25]), -np.ones(1))
    both, belief = FixedLagSmoother(prior, len(prior.mean)), prior
    for name in ("Ada", "Bob", "Ada"):
        both, belief = both.updated(belief, cuts, name, blur=1e-4, project=lambda belief: belief)
    rate = float(both.rates.means()[0])
    expected = prior
    for _ in range(3):
        expected = expected.update(cuts, np.array([rate]), blur=1e-4).belief
    assert belief.mean[0] == pytest.approx(float(expected.mean[0]), rel=1e-9)
    _, again = both.restarted(prior, prior, blur=1e-4, project=lambda belief: belief)
    assert again.mean[0] == pytest.approx(float(expected.mean[0]), rel=1e-9)
    assert again.cov[0, 0] == pytest.approx(float(expected.cov[0, 0]), rel=1e-9)
    copies = HalfSpaces(np.ones((3, 1)), np.full(3, 0.25), -np.ones(3))
    crowd, belief = FixedLagSmoother(prior, len(prior.mean)).updated(
        prior, copies, "Ada", blur=1e-4, project=lambda belief: belief
    )
    once, belief_once = FixedLagSmoother(prior, len(prior.mean)).updated(
        prior, cuts, "Ada", blur=1e-4, project=lambda belief: belief
    )
    assert np.array_equal(belief.mean, belief_once.mean)
    assert len(crowd.open) == len(once.open) == 1


def test_each_reviewer_has_an_error_rate(monkeypatch: pytest.MonkeyPatch) -> None:
    """An answer moves the belief by what its reviewer is known to be worth, at once: a liar's not at all."""
    monkeypatch.setattr(ErrorRates, "means", lambda self: np.array([0.1, 0.9, 0.5][: len(self.names)]))
    prior = Belief(np.array([0.3]), np.eye(1) * 0.04)
    kept, cuts = FixedLagSmoother(prior, len(prior.mean)), HalfSpaces(np.ones((1, 1)), np.array([0.25]), -np.ones(1))
    moved = []
    for name, rate in (("Ada", 0.1), ("Eve", 0.9), ("Bob", 0.5)):
        kept, belief = kept.updated(prior, cuts, name, blur=1e-4, project=lambda belief: belief)
        rate_used = np.array([min(rate, 0.5)])
        assert np.array_equal(belief.mean, prior.update(cuts, rate_used, blur=1e-4).belief.mean)
        moved.append(float(belief.mean[0] - prior.mean[0]))
    assert moved[0] < moved[1] == moved[2] == 0


# The window.


def test_no_answer_is_lost_and_none_counts_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    """However answers pass through the window, base and open ones come to what all of them in a row come to.

    With rates held still; reviews smaller and larger than the window.
    """
    monkeypatch.setattr(ErrorRates, "means", lambda self: np.full(len(self.names), 0.1))
    rng = np.random.default_rng(0)
    prior = Belief(np.zeros(3), np.eye(3), replace(DEFAULT, open_answers=20))
    kept, belief, everything = FixedLagSmoother(prior, len(prior.mean)), prior, HalfSpaces.none(3)
    for n in (3, 1, 15, 2, 0, 70, 8, 30, 1, 1, 25):
        new = HalfSpaces(rng.normal(size=(n, 3)), rng.uniform(0, 1, size=n), rng.choice([-1.0, 1.0], size=n))
        kept, belief = kept.updated(belief, new, "Ada", blur=1e-4, project=lambda belief: belief)
        everything = everything.joined(new)
        assert len(kept.open) <= 40
        newest = everything.take(slice(len(everything) - len(kept.open), None))
        assert np.array_equal(kept.open.normals, newest.normals)
        expected = prior.update(everything, np.full(len(everything), 0.1), blur=1e-4).belief
        from_base = kept.base.update(newest, np.full(len(newest), 0.1), blur=1e-4).belief
        for found in (belief, from_base):
            assert np.allclose(found.mean, expected.mean, rtol=1e-9, atol=1e-12)
            assert np.allclose(found.cov, expected.cov, rtol=1e-9, atol=1e-12)
    assert kept.rates.report()["Ada"].answers == len(everything) == 156


def test_what_left_the_window_still_counts_for_its_reviewer(monkeypatch: pytest.MonkeyPatch) -> None:
    """A liar whose answers are long out of the window is not forgotten: her rate stays what it was, within 0.02."""
    monkeypatch.setattr(BayesPoint, "tuning", replace(DEFAULT, open_answers=50))
    rng = np.random.default_rng(0)
    A, learner = random_A(rng, 2), BayesPoint(2, epsilon=0.02, error_rate=None)
    for t in range(160):
        liar = t < 60 and t % 2 == 0
        learner.learn(replace(_review(learner, A, rng, 0.9 if liar else 0.02), reviewer="Eve" if liar else "Ada"))
        if t == 60:
            known = learner.reviewers()["Eve"]
    assert 0 not in learner.state()["doubt"]["open"]["reviewers"]  # Eve was the first
    report = learner.reviewers()["Eve"]
    assert known.misleads
    assert report.misleads
    assert report.answers == known.answers
    assert report.error_rate == pytest.approx(known.error_rate, abs=0.02)
    assert learner.reviewers()["Ada"].answers > 600


def test_answers_are_reprocessed_when_a_rate_emerges() -> None:
    """The belief is soon what it would be, had the reviewer been known from the start, not what she seemed at first.

    A liar's first answers were believed; once she is known, the others' and hers together say the same.
    """
    rng = np.random.default_rng(0)
    A, learner = random_A(rng, 2), BayesPoint(2, epsilon=0.02, error_rate=None)
    probes = Pairs.of(random_contexts(np.random.default_rng(1), 8, 2))
    reviews: list[tuple[Verdicts, float]] = []
    for t in range(60):
        liar = t % 2 == 0
        verdicts = _review(learner, A, rng, 0.95 if liar else 0.02)
        reviews.append((verdicts, 0.95 if liar else 0.02))
        learner.learn(replace(verdicts, reviewer="Eve" if liar else "Ada"))
    assert learner.reviewers()["Eve"].misleads
    knowing = learner._history.form.prior(learner.bound)
    for verdicts, rate in reviews:
        half_spaces = HalfSpaces.of(learner.space, verdicts)
        updated = knowing.update(half_spaces, np.full(len(verdicts), rate), blur=1e-4).belief
        knowing = project_psd(updated, learner.space, learner.bound)
    truth, features = true_squares(probes, A), learner.space.features(probes.differences)
    off = np.mean(np.abs(learner.estimate(probes) - truth))
    assert off <= 2 * np.mean(np.abs(features @ knowing.mean - truth)) + 0.02


def _size(state: Any) -> int:
    if isinstance(state, dict):
        return sum(_size(value) for value in state.values())
    return int(state.nbytes) if isinstance(state, np.ndarray) else 8


def test_memory_stays_flat() -> None:
    """Once the window is full and as much is remembered as is allowed, the state no longer grows."""
    rng = np.random.default_rng(0)
    A, learner = random_A(rng, 2), BayesPoint(2, epsilon=0.02, error_rate=None)
    sizes, answers = [], 0
    while answers < 12_000:
        answers += learner.learn(_review(learner, A, rng, 0.3, k=10)).used
        sizes.append(_size(learner.state()))
    half = len(sizes) // 2
    assert max(sizes[half:]) <= max(sizes[:half])
    assert len(learner.state()["doubt"]["open"]["reviewers"]) <= 2 * DEFAULT.open_answers


def test_the_window_is_shorter_where_answers_are_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """A budget of numbers bounds the window in high dimensions."""
    monkeypatch.setattr(BayesPoint, "tuning", replace(DEFAULT, max_open_numbers=60))
    learner, _ = _reviewed(0.0, rounds=10)  # six unknowns: ten answers, or up to twenty
    assert 10 <= len(learner.state()["doubt"]["open"]["reviewers"]) <= 20


# Saved, interrupted, mixed.


@pytest.mark.parametrize("rounds", [40, 70], ids=["before the window is full", "after"])
def test_saved_and_loaded_to_the_bit(rounds: int) -> None:
    """The learner that is restored answers and learns on as the other does, whether or not answers have left."""
    rng = np.random.default_rng(0)
    A, learner = random_A(rng, 3), BayesPoint(3, epsilon=0.02, error_rate=None)
    for t in range(rounds):
        verdicts = _review(learner, A, rng, 0.1, k=10)
        learner.learn(replace(verdicts, reviewer=(None, "Ada", "Bob")[t % 3]))
    answers = sum(report.answers for report in learner.reviewers().values())
    assert (answers > 2 * DEFAULT.open_answers) == (rounds == 70)
    loaded = eh.metrics.MetricLearner.restored(copy.deepcopy(learner.saved()))
    assert isinstance(loaded, BayesPoint)
    assert same(loaded.state(), learner.state())
    for t in range(30):
        verdicts = replace(_review(learner, A, rng, 0.1, k=10), reviewer="Eve" if t > 15 else "Ada")
        learner.learn(verdicts)
        loaded.learn(verdicts)
        assert same(loaded.state(), learner.state())
    assert loaded.reviewers() == learner.reviewers()


class _Interrupted(Exception):
    pass


def _interrupt(monkeypatch: pytest.MonkeyPatch, name: str, at: int) -> None:
    """Let the call number `at` of a Belief's method fail, and none after it."""
    original, calls = getattr(Belief, name), [0]

    def failing(self: Belief, *args: Any, **settings: Any) -> Any:
        calls[0] += 1
        if calls[0] == at:
            raise _Interrupted
        return original(self, *args, **settings)

    monkeypatch.setattr(Belief, name, failing)


def test_an_error_midway_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wherever learning breaks off - updating, closing, reprocessing - the learner is as it was, to the bit."""
    monkeypatch.setattr(BayesPoint, "tuning", replace(DEFAULT, open_answers=20))
    rng = np.random.default_rng(0)
    A, learner = random_A(rng, 3), BayesPoint(3, epsilon=0.02, error_rate=None)
    broken = 0
    for t in range(40):
        verdicts = replace(_review(learner, A, rng, 0.2), reviewer=("Ada", "Bob")[t % 2])
        before, reports = copy.deepcopy(learner.state()), learner.reviewers()
        for at in range(1, 12):
            other = copy.copy(learner)  # shares with the learner all that must not be changed in place
            with monkeypatch.context() as patch:
                _interrupt(patch, "update", at)
                try:
                    other.learn(verdicts)
                except _Interrupted:
                    broken += 1
                    assert same(other.state(), before)
            assert same(learner.state(), before)
            assert learner.reviewers() == reports
        learner.learn(verdicts)
    assert broken > 50


def test_an_error_midway_in_a_bit_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A bit that breaks off half way changes nothing at all."""
    learner, A = _reviewed(0.1, rounds=5)
    verdicts, before = _review(learner, A, np.random.default_rng(1), 0.0), copy.deepcopy(learner.state())
    _interrupt(monkeypatch, "update_bit", 2)
    with pytest.raises(_Interrupted):
        learner.learn_bit(verdicts, any_unfair=True)
    assert same(learner.state(), before)


def test_bits_and_answers_mix() -> None:
    """One bit says nothing of a rate, and what was learned from bits outlives reprocessing."""
    rng = np.random.default_rng(0)
    A, learner = random_A(rng, 2), BayesPoint(2, epsilon=0.02, error_rate=None)
    for t in range(150):
        verdicts = _review(learner, A, rng, 0.0)
        if t % 3 == 0:
            learner.learn(replace(verdicts, reviewer="Ada"))
        else:
            learner.learn_bit(replace(verdicts, reviewer="Bob"), any_unfair=bool(np.any(verdicts.unfair)))
    assert list(learner.reviewers()) == ["Ada"]
    only_bits = BayesPoint(2, epsilon=0.02, error_rate=None)
    x, y = np.array([0.8, 0.0]), np.array([-0.2, 0.0])
    for _ in range(40):
        pair = Verdicts.between(x, y, gap=0.2, unfair=True)
        only_bits.learn_bit(pair, any_unfair=True)
    assert only_bits.distances([x, y]).estimate[0, 1] < 0.25
    state = only_bits.state()
    assert np.allclose(state["doubt"]["base"]["mean"], state["mean"])
    for _ in range(20):  # enough for rates to be updated, and for everything to be reprocessed
        only_bits.learn_pair(y, np.array([-0.2, 0.7]), gap=0.9, unfair=True, reviewer="Ada")
    assert only_bits.distances([x, y]).estimate[0, 1] < 0.3


def test_a_fixed_rate_reports_no_reviewers() -> None:
    """With a fixed rate there is no report, and contradictions are reported instead."""
    learner = BayesPoint(1, epsilon=0.05)
    assert learner.reviewers() == {}
    assert learner.state()["doubt"] is None
