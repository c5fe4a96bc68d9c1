"""Withdrawals: a review that is taken back leaves no trace but the odds that were played in the meantime."""

from __future__ import annotations

import copy
import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import evenhand as eh
from evenhand import errors
from evenhand.auditors import MahalanobisAuditor, NoisyAuditor
from evenhand.bandit._history import Given, History
from evenhand.records.decision import Decision, Review
from evenhand.testing.metric_worlds import random_contexts
from tests.support.simulation import same, standard_world

pytestmark = pytest.mark.filterwarnings(
    "ignore::evenhand.errors.InconsistentReviews", "ignore::evenhand.errors.MisleadingReviewer"
)

LEARNERS: dict[str, Callable[[], eh.metrics.MetricLearner]] = {
    "BayesPoint": lambda: eh.metrics.BayesPoint(2, epsilon=0.05),
    "BayesPoint, any horizon": lambda: eh.metrics.BayesPoint(2),
    "BayesPoint in doubt": lambda: eh.metrics.BayesPoint(2, epsilon=0.05, error_rate=None),
    "Ellipsoid": lambda: eh.metrics.Ellipsoid(2, epsilon=0.05),
    "ProjectedVolume": lambda: eh.metrics.ProjectedVolume(2, epsilon=0.05, seed=7),
    "Guarded": lambda: eh.metrics.Guarded(eh.metrics.BayesPoint(2, epsilon=0.05), limit=6),
    "PerPair": lambda: eh.metrics.PerPair(eh.metrics.Ellipsoid(2, epsilon=0.05)),
    "KnownMetric": lambda: eh.metrics.KnownMetric(0.4 * np.eye(2)),
}

SLOW = ("ProjectedVolume", "Guarded")

HEARS_BITS = ("BayesPoint", "BayesPoint, any horizon", "BayesPoint in doubt", "KnownMetric")


class Event(NamedTuple):
    """One thing that happened to a bandit: a decision, a review of one, outcomes of one, or an interview's answer."""

    kind: str
    decision: Decision | None = None
    review: Review | None = None
    answer: dict[str, Any] | None = None


def _made(name: str, *, seed: int = 0, **given: Any) -> eh.FairBandit:
    safeguards = {"target_unfair_share": 0.1, "max_unfair_rounds": 9}
    return eh.FairBandit(2, metric=LEARNERS[name](), keep_reviews=True, seed=seed, **{**safeguards, **given})


def _history(bandit: eh.FairBandit, *, rounds: int, seed: int, bits: bool, answers: bool = True) -> list[Event]:
    """Decisions with reviews of all kinds by several people, prompt, late and never, and answers in between."""
    rng = np.random.default_rng(seed)
    _, A = standard_world(2, seed=seed)
    careless = NoisyAuditor(MahalanobisAuditor(A), 0.1, seed=seed)
    events: list[Event] = []
    decided: list[Decision] = []
    for _ in range(rounds):
        decision = bandit.decide(random_contexts(rng, 4, 2))
        decided.append(decision)
        events.append(Event("decision", decision))
        for _ in range(int(rng.integers(3))):
            seen = decided[-1] if rng.random() < 0.7 else decided[int(rng.integers(len(decided)))]
            review = _some_review(careless.review(seen), rng, bits=bits)
            bandit.learn(seen, review=review)
            events.append(Event("review", seen, review))
        if rng.random() < 0.3 and decision.chosen:
            bandit.learn(decision, rewards=dict.fromkeys(decision.chosen, 0.5))
        if answers and rng.random() < 0.3:
            x, y = random_contexts(rng, 2, 2)
            answer = {"x": x, "y": y, "gap": float(rng.uniform(0.05, 0.9)), "unfair": bool(rng.random() < 0.5)}
            answer["reviewer"] = (None, "Ada")[int(rng.integers(2))]
            bandit.learn_pair(**answer)
            events.append(Event("answer", answer=answer))
    return events


def _some_review(complete: Review, rng: np.random.Generator, *, bits: bool) -> Review:
    name = (None, "Ada", "Bob")[int(rng.integers(3))]
    kind = int(rng.integers(3 if bits else 2))
    if kind == 2:
        return Review.one_bit(bool(complete.unfair), reviewer=name)
    if kind == 1:
        pairs = [(i, j) for i in range(4) for j in range(i + 1, 4) if rng.random() < 0.5]
        unfair = [pair for pair in pairs if pair in complete.unfair]
        return Review.partial(unfair, [pair for pair in pairs if pair not in complete.unfair], reviewer=name)
    return Review.complete(complete.unfair, reviewer=name)


def _relived(bandit: eh.FairBandit, events: list[Event], withdrawn: set[tuple[str, Review]]) -> eh.FairBandit:
    """A bandit made alike, to whom all of this happened, but for the reviews withdrawn: its twin who never had them.

    It is told that decisions were made instead of making them: with other reviews it would have made others.
    """
    for event in events:
        if event.kind == "decision":
            bandit.count_decisions()
        elif event.answer is not None:
            bandit.learn_pair(**event.answer)
        elif event.decision and event.review and (event.decision.id, event.review) not in withdrawn:
            bandit.learn(event.decision, review=event.review)
    return bandit


def _agree(a: Any, b: Any) -> bool:
    """Whether two nested records are the same, in their arrays and numbers to 1e-9, in all else and counts exactly."""
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(_agree(a[key], b[key]) for key in a)
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(_agree(x, y) for x, y in zip(a, b, strict=True))
    if isinstance(a, np.ndarray) and a.dtype == np.float64:
        return a.shape == b.shape and bool(np.allclose(a, b, rtol=1e-9, atol=1e-9))
    if isinstance(a, np.ndarray):
        return bool(np.array_equal(a, b))
    if isinstance(a, float):
        return isinstance(b, float) and abs(a - b) <= 1e-9 * max(1.0, abs(a))
    return bool(a == b)


def _learned(bandit: eh.FairBandit) -> dict[str, Any]:
    """All that reviewers' words have to do with: not the outcomes, nor the lots that were drawn."""
    return {name: value for name, value in bandit.state().items() if name not in ("reward", "rng")}


def _assert_twins(bandit: eh.FairBandit, twin: eh.FairBandit) -> None:
    for name, value in _learned(bandit).items():
        assert _agree(value, _learned(twin)[name]), name
    assert bandit.reviewers().keys() == twin.reviewers().keys()
    contexts = random_contexts(np.random.default_rng(0), 5, 2)
    for each, other in zip(bandit.distances(contexts), twin.distances(contexts), strict=True):
        assert np.allclose(each, other, atol=1e-9)
    played, twins = (each.safeguards.distances_to_play(each.metric, contexts) for each in (bandit, twin))
    assert np.allclose(played, twins, atol=1e-8)


def _given(events: list[Event]) -> list[tuple[Decision, Review]]:
    """All reviews, each once."""
    pairs = {(e.decision.id, e.review): (e.decision, e.review) for e in events if e.decision and e.review}
    return list(pairs.values())


@pytest.mark.parametrize("name", LEARNERS)
def test_withdrawn_is_never_given(name: str) -> None:
    """k of n reviews withdrawn, in any order: all that was learned is what it is for a twin who never had them.

    With several reviewers, reviews of every kind, prompt and late, answers without a decision in between, the margin
    and the cap on. To 1e-9 in every array, and exactly in all counts. First one, then some, then all of them.
    """
    for seed in (0, 1):
        bandit = _made(name)
        events = _history(bandit, rounds=20, seed=seed, bits=name in HEARS_BITS)
        reviews = _given(events)
        assert len(bandit.safeguards.flagged_rounds) > 2
        order = np.random.default_rng(seed).permutation(len(reviews))[: 5 if name in SLOW else None]
        gone: set[tuple[str, Review]] = set()
        for place, row in enumerate(order):
            decision, review = reviews[row]
            bandit.withdraw(decision, review)
            gone.add((decision.id, review))
            if place in (0, len(order) // 2, len(order) - 1):
                _assert_twins(bandit, _relived(_made(name), events, gone))
    assert bandit.history is not None
    assert len(bandit.history) == len(reviews) - len(gone) + sum(event.kind == "answer" for event in events)


def test_the_last_review_gone_all_is_as_at_first() -> None:
    """With every review and no answer in between withdrawn, a learner is to the bit what it was when it was made.

    One that had handed over to another has not.
    """
    for name in ("BayesPoint", "BayesPoint in doubt", "Guarded", "PerPair"):
        bandit, new = _made(name), _made(name)
        events = _history(bandit, rounds=40, seed=0, bits=False, answers=False)
        if name == "Guarded":
            assert bandit.metric.switched  # type: ignore[attr-defined]
        for decision, review in _given(events):
            bandit.withdraw(decision, review)
        assert same(bandit.metric.saved(), new.metric.saved())
        assert bandit.conflicts == 0
        assert set(bandit.safeguards.flagged_rounds) == set()
        assert bandit.safeguards.margin.scale == 1
        assert len(bandit.safeguards.evidence) == 0


@pytest.mark.parametrize("name", ["BayesPoint", "BayesPoint in doubt", "ProjectedVolume"])
def test_after_a_withdrawal_life_goes_on_as_for_the_twin(name: str) -> None:
    """What is learned after a withdrawal is learned as by one who never had the review, also by a second withdrawal."""
    bandit = _made(name)
    events = _history(bandit, rounds=15, seed=3, bits=False)
    gone = _given(events)[2]
    bandit.withdraw(*gone)
    later = _history(bandit, rounds=10, seed=4, bits=False)
    known = {(gone[0].id, gone[1])}
    _assert_twins(bandit, _relived(_made(name), events + later, known))
    second = _given(later)[0]
    bandit.withdraw(*second)
    _assert_twins(bandit, _relived(_made(name), events + later, known | {(second[0].id, second[1])}))


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10**6), share=st.floats(0, 1))
def test_late_reviews_of_decisions_made_before(seed: int, share: float) -> None:
    """All decisions first, all reviews after: the twin is a copy from before the first review, and decides the same."""
    rng = np.random.default_rng(seed)
    bandit = _made("BayesPoint", max_unfair_rounds=3)
    decided = [bandit.decide(random_contexts(rng, 4, 2)) for _ in range(12)]
    twin = copy.deepcopy(bandit)
    _, A = standard_world(2, seed=seed % 5)
    exact = MahalanobisAuditor(A)
    reviews = [(each, _some_review(exact.review(each), rng, bits=True)) for each in decided for _ in range(2)]
    for decision, review in reviews:
        bandit.learn(decision, review=review)
    gone = {row for row in range(len(reviews)) if rng.random() < share}
    gone_words = {(reviews[row][0].id, reviews[row][1]) for row in gone}  # one and the same review may be in it twice
    for decision, review in {(d.id, r): (d, r) for d, r in (reviews[row] for row in gone)}.values():
        bandit.withdraw(decision, review)
    for decision, review in reviews:
        if (decision.id, review) not in gone_words:
            twin.learn(decision, review=review)
    _assert_twins(bandit, twin)
    contexts = random_contexts(rng, 4, 2)
    assert np.allclose(bandit.decide(contexts).probabilities, twin.decide(contexts).probabilities, atol=1e-8)


def test_flags_are_counted_again() -> None:
    """Of two flags on one round the other stays when one is withdrawn; with both the margin and the cap are back."""
    bandit = eh.FairBandit(2, target_unfair_share=0.1, max_unfair_rounds=1, keep_reviews=True, seed=0)
    decision = bandit.decide([[1.0, 0.0], [0.0, 1.0]])
    first, second = (Review.complete(unfair=[(0, 1)], reviewer=name) for name in ("Ada", "Bob"))
    bandit.learn(decision, review=first)
    bandit.learn(decision, review=second)
    assert bandit.safeguards.is_capped
    scale = bandit.safeguards.margin.scale
    bandit.withdraw(decision, first)
    assert bandit.safeguards.is_capped
    assert bandit.safeguards.margin.scale == pytest.approx(scale)
    bandit.withdraw(decision, second)
    assert not bandit.safeguards.is_capped
    assert bandit.safeguards.flagged_rounds == set()
    assert bandit.safeguards.margin.scale == 1


def test_conflicts_are_counted_again() -> None:
    """A review that contradicted the others is no conflict once it, or what it contradicted, is withdrawn."""
    bandit = eh.FairBandit(2, metric=eh.metrics.Ellipsoid(2), keep_reviews=True, seed=0)
    contexts = np.array([[1.0, 0.0], [0.0, 1.0]])
    first, second = bandit.decide(contexts), bandit.decide(0.5 * contexts)
    bandit.learn(first, review=Review.complete(unfair=[(0, 1)]))
    while not bandit.learn(second, review=Review.complete()).conflicts:
        bandit.withdraw(second, Review.complete())
        second = bandit.decide(0.999 * contexts)
        bandit.learn_pair(*contexts, gap=0.01, unfair=True)
    assert bandit.conflicts == 1
    bandit.withdraw(second, Review.complete())
    assert bandit.conflicts == 0


# Repeats.


def test_a_review_given_twice_counts_once() -> None:
    """The same words on the same decision teach nothing the second time; the outcomes that come with them do."""
    bandit = _made("BayesPoint")
    decision = bandit.decide([[1.0, 0.0], [0.0, 1.0]])
    while not decision.chosen:
        decision = bandit.decide([[1.0, 0.0], [0.0, 1.0]])
    review = Review.complete(unfair=[(0, 1)], reviewer="Ada")
    assert bandit.learn(decision, review=review).used == 1
    before, rewards = copy.deepcopy(_learned(bandit)), copy.deepcopy(bandit.reward.state())
    again = Decision.from_dict(json.loads(json.dumps(decision.to_dict())))
    same_words = Review.complete(unfair=[(1, 0)], reviewer="Ada")
    assert bandit.learn(again, rewards={decision.chosen[0]: 0.5}, review=same_words) == eh.Learned()
    assert same(_learned(bandit), before)
    assert not same(bandit.reward.state(), rewards)
    assert bandit.learn(decision, review=Review.complete(unfair=[(0, 1)], reviewer="Bob")).used == 1
    bandit.withdraw(decision, review)
    assert bandit.learn(decision, review=review).used == 1


def test_without_keeping_a_review_given_twice_counts_twice() -> None:
    """A bandit that keeps no reviews cannot know: that is what keeping is for."""
    bandit = eh.FairBandit(2, seed=0)
    decision = bandit.decide([[1.0, 0.0], [0.0, 1.0]])
    assert [bandit.learn(decision, review=Review.complete()).used for _ in range(2)] == [1, 1]
    assert bandit.state()["history"] is None


# What is refused, and what is not touched.


def test_what_was_never_given_cannot_be_withdrawn() -> None:
    """Other words, another's words, another decision's, twice the same: each a sentence, and nothing changes."""
    bandit = _made("BayesPoint")
    contexts = [[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]]
    decision, other = bandit.decide(contexts), bandit.decide(contexts)
    given_review = Review.complete(unfair=[(0, 1)], reviewer="Ada")
    gone = Review.complete(reviewer="Bob")
    for review in (given_review, gone):
        bandit.learn(decision, review=review)
    bandit.withdraw(decision, gone)
    before = copy.deepcopy(bandit.state())
    strangers = [
        (decision, Review.complete(unfair=[(0, 2)], reviewer="Ada")),
        (decision, Review.complete(unfair=[(0, 1)])),
        (decision, Review.partial(unfair=[(0, 1)], reviewer="Ada")),
        (decision, gone),
        (other, given_review),
    ]
    for seen, review in strangers:
        with pytest.raises(errors.InvalidInput, match=r"no such review of decision .* was given"):
            bandit.withdraw(seen, review)
        assert same(bandit.state(), before)
    with pytest.raises(errors.ForeignDecision):
        bandit.withdraw(_made("BayesPoint", seed=9).decide(contexts), given_review)
    with pytest.raises(errors.InvalidInput, match=r"what decide\(\) returned"):
        bandit.withdraw("a decision", given_review)  # type: ignore[arg-type]
    assert same(bandit.state(), before)


def test_what_is_no_review_cannot_be_withdrawn() -> None:
    """What is no review at all is refused by a sentence too."""
    bandit = _made("BayesPoint")
    with pytest.raises(errors.InvalidInput, match=r"Review\.complete"):
        bandit.withdraw(bandit.decide([[1.0, 0.0], [0.0, 1.0]]), [(0, 1)])  # type: ignore[arg-type]


def test_keeping_must_be_asked_for() -> None:
    """A bandit that keeps no reviews says how to make one that does."""
    bandit = eh.FairBandit(2, seed=0)
    decision = bandit.decide([[1.0, 0.0], [0.0, 1.0]])
    bandit.learn(decision, review=Review.complete())
    with pytest.raises(errors.InvalidInput, match="keep_reviews=True"):
        bandit.withdraw(decision, Review.complete())


def test_outcomes_and_lots_are_not_touched() -> None:
    """A withdrawal changes neither what was learned of rewards nor the lots that are drawn next."""
    bandit = _made("BayesPoint")
    events = _history(bandit, rounds=15, seed=5, bits=True)
    reward, rng = copy.deepcopy(bandit.reward.state()), copy.deepcopy(bandit.state()["rng"])
    rounds = bandit.rounds
    bandit.withdraw(*_given(events)[0])
    assert same(bandit.reward.state(), reward)
    assert bandit.state()["rng"] == rng
    assert bandit.rounds == rounds


def test_a_withdrawal_that_fails_changes_nothing() -> None:
    """If hearing the rest again fails, the bandit is as it was, the review still in it."""

    class Moody(eh.metrics.Ellipsoid):
        fails = False

        def learn(self, verdicts: eh.metrics.Verdicts) -> eh.Learned:
            if Moody.fails:
                raise errors.SolverFailed("out of order")
            return super().learn(verdicts)

    bandit = eh.FairBandit(2, metric=Moody(2), keep_reviews=True, seed=0)
    decisions = [bandit.decide([[1.0, 0.0], [0.0, 1.0]]) for _ in range(3)]
    for decision in decisions:
        bandit.learn(decision, review=Review.complete())
    before, Moody.fails = copy.deepcopy(bandit.state()), True
    with pytest.raises(errors.SolverFailed):
        bandit.withdraw(decisions[0], Review.complete())
    assert same(bandit.state(), before)
    Moody.fails = False
    bandit.withdraw(decisions[0], Review.complete())


def test_a_review_that_fails_midway_is_not_learned(monkeypatch: pytest.MonkeyPatch) -> None:
    """If the safeguards cannot take a review in, the metric has not heard it, and it is not kept."""
    bandit = _made("BayesPoint")
    decision = bandit.decide([[1.0, 0.0], [0.0, 1.0]])
    before = copy.deepcopy(bandit.state())

    def fail(*args: Any) -> None:
        raise errors.SolverFailed("out of order")

    with monkeypatch.context() as patch:
        patch.setattr(bandit.safeguards, "hear", fail)
        with pytest.raises(errors.SolverFailed):
            bandit.learn(decision, review=Review.complete(unfair=[(0, 1)]))
    assert same(bandit.state(), before)


def test_a_learner_with_a_past_keeps_it() -> None:
    """What a metric learner knew when the bandit was made is not forgotten by a withdrawal."""
    metric = eh.metrics.BayesPoint(2, epsilon=0.05)
    for _ in range(30):
        metric.learn_pair([0.5, 0.0], [-0.5, 0.0], gap=0.3, unfair=True)
    past = copy.deepcopy(metric.saved())
    bandit = eh.FairBandit(2, metric=metric, keep_reviews=True, seed=0)
    decision = bandit.decide([[1.0, 0.0], [0.0, 1.0]])
    bandit.learn(decision, review=Review.complete())
    bandit.withdraw(decision, Review.complete())
    assert same(bandit.metric.saved(), past)


# Saving.


@pytest.mark.parametrize("name", LEARNERS)
def test_saved_and_loaded_with_its_history(name: str, tmp_path: Path) -> None:
    """A loaded bandit withdraws what was given before the stop, with the same result, to the bit, and goes on so."""
    bandit = _made(name)
    events = _history(bandit, rounds=15, seed=6, bits=name in HEARS_BITS)
    bandit.save(tmp_path / "bandit.eh")
    loaded = eh.FairBandit.load(tmp_path / "bandit.eh")
    assert same(loaded.state(), bandit.state())
    for decision, review in _given(events)[::3]:
        for each in (bandit, loaded):
            each.withdraw(decision, review)
    assert same(_learned(loaded), _learned(bandit))
    again = _given(events)[1]
    assert bandit.learn(*again[:1], review=again[1]) == loaded.learn(*again[:1], review=again[1]) == eh.Learned()


def test_a_history_is_plain_and_exact() -> None:
    """It is written in plain lists and read back the same, to the bit, through JSON."""
    bandit = _made("BayesPoint")
    _history(bandit, rounds=8, seed=7, bits=True)
    assert bandit.history is not None
    state = bandit.history.state()
    again = History.from_state(json.loads(json.dumps(state)))
    assert again.state() == state
    assert len(again) == len(bandit.history) > 5
    for answer in again:
        if answer.decision is not None and answer.review is not None:
            assert bandit.history.has(answer.decision, answer.review)
            assert not again.without(answer.decision, answer.review).has(answer.decision, answer.review)
            assert len(again.without(answer.decision, answer.review)) == len(again) - 1


def test_answers_without_a_decision_are_all_kept() -> None:
    """Any number of them, alike or not: none stands for another, and none goes when a review goes."""
    pair = {"x": [0.0], "y": [1.0], "gap": 0.5, "unfair": True, "reviewer": None}
    history = History((Given(0, None, None, pair), Given(1, None, None, pair)))
    decision, review = eh.FairBandit(2, seed=0).decide(np.eye(2)), Review.complete()
    history.add(Given(2, decision, review))
    history.add(Given(2, None, None, pair))
    assert [answer.at for answer in history.without(decision, review)] == [0, 1, 2]
    assert len(history.without(decision, Review.complete(reviewer="Ada"))) == 4


def test_no_warning_when_the_rest_is_heard_again() -> None:
    """A contradiction among the others was warned of when it came; a withdrawal warns of nothing."""
    bandit = _made("Ellipsoid")
    events = _history(bandit, rounds=25, seed=0, bits=False)
    assert bandit.conflicts > 0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        bandit.withdraw(*_given(events)[0])
