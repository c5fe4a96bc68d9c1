"""Withdrawals: a review that is taken back leaves no trace but the decisions made in the meantime.

What 0.1's FairBandit(keep_reviews=True).withdraw promised, a desk on a ledger in memory keeps.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from evenhand.auditors import MahalanobisAuditor, NoisyAuditor
from evenhand.bandit import FairBandit
from evenhand.desk import Command, Decide, Desk, Event, GiveReview, RecordOutcome, Withdraw
from evenhand.desk.commands import AnswerQuestion
from evenhand.desk.event_records import decision_of, review_of
from evenhand.errors import AlreadyRecorded, UnknownRecord
from tests.support.desk_play import TRUE, D, done, people
from tests.support.simulation import same

METRICS = ["BayesPoint", "Ellipsoid", "ProjectedVolume", "Guarded", "VersionSpace"]


def _opened(**settings: Any) -> Desk:
    safeguards = {"target_unfair_share": 0.1, "max_unfair_rounds": 9}
    return Desk.open("sqlite://", "loans", n_features=D, seed=3, **{**safeguards, **settings})


def _some_review(event: Event, rng: np.random.Generator, auditor: NoisyAuditor) -> GiveReview:
    """Complete or partial, by one of three people."""
    names, complete = event.body["candidates"], auditor.review(decision_of(event.body))
    who = ("Ada", "Bob", "Cyn")[int(rng.integers(3))]
    unfair = [(names[i], names[j]) for i, j in complete.unfair]
    if rng.random() < 0.5:
        return GiveReview(event.id, "complete", unfair, reviewer=who)
    pairs = [(names[i], names[j]) for i in range(len(names)) for j in range(i + 1, len(names)) if rng.random() < 0.5]
    fair = [pair for pair in pairs if pair not in unfair]
    return GiveReview(event.id, "partial", [pair for pair in pairs if pair in unfair], fair, reviewer=who)


def _played(desk: Desk, rounds: int, seed: int = 0) -> list[Event]:
    """Decisions with outcomes, reviews of several kinds, prompt and late, and answers in between; the reviews."""
    rng = np.random.default_rng(seed)
    auditor = NoisyAuditor(MahalanobisAuditor(TRUE), 0.1, seed=seed)
    decisions: list[Event] = []
    reviews: list[Event] = []
    for _ in range(rounds):
        decisions += done(desk.execute([Decide(people(rng))]))
        late = decisions[int(rng.integers(len(decisions)))]
        seen = {event.id: event for event in ((decisions[-1], late) if rng.random() < 0.5 else (decisions[-1],))}
        commands: list[Command] = [_some_review(event, rng, auditor) for event in seen.values()]
        if decisions[-1].body["chosen"]:
            commands.append(RecordOutcome(decisions[-1].id, dict.fromkeys(decisions[-1].body["chosen"], 0.5)))
        if rng.random() < 0.3:
            x, y = (person["context"] for person in people(rng, k=2))
            commands.append(AnswerQuestion(x, y, float(rng.uniform(0.05, 0.9)), bool(rng.random() < 0.5), "Ada"))
        results = [event for event in desk.execute(commands) if isinstance(event, Event)]  # repetitions are refused
        reviews += [event for event in results if event.kind == "review"]
        desk.catch_up(wait=True)
    return reviews


def _twin(desk: Desk, withdrawn: set[str]) -> FairBandit:
    """A bandit that learned everything in the ledger but these reviews, in the plainest way."""
    bandit = desk.settings.first_bandit()
    for event in desk.events():
        body = event.body
        if event.kind == "decision":
            bandit.count_decisions()
        elif event.kind == "answer":
            bandit.learn_pair(body["x"], body["y"], gap=body["gap"], unfair=body["unfair"], reviewer=body["reviewer"])
        elif event.kind in ("outcome", "review") and event.id not in withdrawn:
            decision = desk.event(body["decision"]).body
            names = decision["candidates"]
            if event.kind == "review":
                bandit.learn(decision_of(decision), review=review_of(body, names))
            else:
                rewards = {names.index(who): reward for who, reward in body["rewards"].items()}
                bandit.learn(decision_of(decision), rewards=rewards)
    return bandit


@pytest.mark.parametrize("metric", METRICS)
def test_withdrawn_reviews_leave_no_trace(metric: str) -> None:
    """Reviews withdrawn in any order: all that was learned is, to the bit, what a twin learns without them.

    With several reviewers, reviews of two kinds, prompt and late, answers in between, the margin and the cap on.
    """
    with _opened(metric=metric) as desk:
        reviews = _played(desk, 10)
        assert len(desk.projection.bandit.safeguards.flagged_rounds) > 2
        order = np.random.default_rng(1).permutation(len(reviews))
        gone: set[str] = set()
        for place, row in enumerate(order[:6]):
            desk.withdraw(reviews[row].id)
            gone.add(reviews[row].id)
            if place in (0, 5):
                desk.catch_up(wait=True)
                assert same(desk.projection.bandit.state(), _twin(desk, gone).state())
        later = _played(desk, 4, seed=1)
        desk.withdraw(later[0].id)
        desk.catch_up(wait=True)
        assert same(desk.projection.bandit.state(), _twin(desk, gone | {later[0].id}).state())


def test_the_last_review_gone_the_metric_is_as_at_first() -> None:
    """With every review and answer withdrawn nothing is left of them: no flag, no conflict, no evidence."""
    for metric in METRICS:
        with _opened(metric=metric) as desk:
            _played(desk, 12)
            recorded = [event for event in desk.events() if event.kind in ("review", "answer")]
            done(desk.execute([Withdraw(event.id) for event in recorded]))
            desk.catch_up(wait=True)
            bandit = desk.projection.bandit
            assert same(bandit.metric.saved(), desk.settings.first_bandit().metric.saved())
            assert bandit.conflicts == 0
            assert set(bandit.safeguards.flagged_rounds) == set()
            assert bandit.safeguards.margin.scale == 1
            assert len(bandit.safeguards.log.evidence) == 0


def _decided(desk: Desk, contexts: list[list[float]]) -> Event:
    candidates = [{"id": f"person {i}", "context": context} for i, context in enumerate(contexts)]
    return done(desk.execute([Decide(candidates)]))[0]


APART = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
FLAGGED = [("person 0", "person 1")]


def test_flags_are_counted_again() -> None:
    """Of two flags on one round the other stays when one is withdrawn; without both, margin and cap are reset."""
    with _opened(max_unfair_rounds=1) as desk:
        decision = _decided(desk, APART)
        first, second = (desk.review(decision.id, "complete", unfair=FLAGGED, reviewer=name) for name in ("Ada", "Bob"))
        desk.catch_up(wait=True)
        assert desk.projection.bandit.safeguards.is_capped
        scale = desk.projection.bandit.safeguards.margin.scale
        desk.withdraw(first.id)
        desk.catch_up(wait=True)
        assert desk.projection.bandit.safeguards.is_capped
        assert desk.projection.bandit.safeguards.margin.scale == scale
        desk.withdraw(second.id)
        desk.catch_up(wait=True)
        assert not desk.projection.bandit.safeguards.is_capped
        assert desk.projection.bandit.safeguards.margin.scale == 1


@pytest.mark.filterwarnings("error")
def test_conflicts_are_counted_again_without_a_warning() -> None:
    """A review that contradicted an answer is no conflict once either is withdrawn; replaying warns of nothing."""
    for which in (0, 1):
        with _opened(metric="Ellipsoid") as desk:
            flagged = desk.execute([AnswerQuestion(APART[0], APART[1], 0.001, True, "Ada")])
            answer = done(flagged)[0]
            review = done(desk.execute([AnswerQuestion(APART[0], APART[1], 0.9, False, "Bob")]))[0]
            desk.catch_up(wait=True)
            assert desk.projection.bandit.conflicts == 1
            desk.withdraw((answer, review)[which].id)
            desk.catch_up(wait=True)
            assert desk.projection.bandit.conflicts == 0


def test_outcomes_and_decisions_are_not_touched() -> None:
    """A withdrawal changes neither what was learned about rewards nor the decisions that were made."""
    with _opened() as desk:
        reviews = _played(desk, 8)
        reward, rounds = desk.projection.bandit.reward.state(), desk.projection.bandit.rounds
        decisions = [event.to_dict() for event in desk.events() if event.kind == "decision"]
        desk.withdraw(reviews[0].id)
        desk.catch_up(wait=True)
        assert same(desk.projection.bandit.reward.state(), reward)
        assert desk.projection.bandit.rounds == rounds
        assert [event.to_dict() for event in desk.events() if event.kind == "decision"] == decisions


def test_an_unknown_review_cannot_be_withdrawn() -> None:
    """An unknown id, a decision, and a review withdrawn before are refused, and nothing is written."""
    with _opened() as desk:
        decision = _decided(desk, APART)
        review = desk.review(decision.id, "complete", unfair=FLAGGED, reviewer="Ada")
        desk.withdraw(review.id)
        lines = len(desk.events())
        refused: list[tuple[Callable[[], object], type[Exception]]] = [
            (lambda: desk.withdraw("rev_unknown"), UnknownRecord),
            (lambda: desk.withdraw(decision.id), UnknownRecord),
            (lambda: desk.withdraw(review.id), AlreadyRecorded),
        ]
        for withdraw, error in refused:
            with pytest.raises(error):
                withdraw()
        assert len(desk.events()) == lines
        assert desk.review(decision.id, "complete", unfair=FLAGGED, reviewer="Ada").kind == "review"
