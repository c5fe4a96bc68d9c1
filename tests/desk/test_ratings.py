"""Ratings and comparisons at a desk: recorded as they were given, learned from, withdrawn, replayed, imported."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evenhand.desk import Decide, Desk, Event, GiveReview, Ledger, Withdraw
from evenhand.desk.event_records import decision_of, review_of
from evenhand.desk.imports.importing import import_jsonl
from evenhand.desk.replay import digest_of, replay
from evenhand.errors import AlreadyRecorded, InvalidInput, UnknownPair
from tests.support.desk_play import D, done, people
from tests.support.past_records import exported

WEIGHTS = np.array([0.5, 0.2, 0.0])


def scores_of(event: Event) -> dict[str, int]:
    """How somebody who looks at a weighted sum rates all candidates, from 1 to 5."""
    marks = np.clip(np.rint(2 + 4 * np.array(event.body["contexts"]) @ WEIGHTS), 0, 4) + 1
    return dict(zip(event.body["candidates"], map(int, marks), strict=True))


def compared_of(event: Event) -> dict[tuple[str, str], str]:
    """How the same person compares each candidate with the one after."""
    scores = scores_of(event)
    names = list(scores)
    words = {0: "alike", 1: "first", -1: "second"}
    return {(a, b): words[int(np.sign(scores[a] - scores[b]))] for a, b in pairwise(names)}


def play(desk: Desk, rounds: int, seed: int = 0) -> list[Event]:
    """Decisions, each rated by Kim and compared by Lee, the reviews of each two rounds late."""
    rng, waiting, reviews = np.random.default_rng(seed), list[Event](), list[Event]()
    for _ in range(rounds):
        waiting += done(desk.execute([Decide(people(rng))]))
        if len(waiting) > 2:
            event = waiting.pop(0)
            rated = GiveReview(event.id, "ratings", ratings=scores_of(event), reviewer="Kim")
            compared = GiveReview(event.id, "comparisons", comparisons=compared_of(event), reviewer="Lee")
            reviews += done(desk.execute([rated, compared]))
        desk.catch_up(wait=True)
    return reviews


def test_an_event_has_the_answers_and_what_they_imply(ledger: Ledger, name: str) -> None:
    """Raw ratings with scale and tolerance, and the pairs that are unfair, fair or reversed by them."""
    with Desk.open(ledger, name, n_features=2, seed=3) as desk:
        decision = desk.decide([{"id": i, "context": c} for i, c in (("a", [1.0, 0.0]), ("b", [0.0, 0.5]))])
        body = desk.review(decision.id, "ratings", ratings={"b": 4, "a": 5}, reviewer="Kim").body
        assert body["ratings"] == {"b": 4.0, "a": 5.0}
        assert (body["scale"], body["tolerance"], body["kind"]) == ([1.0, 5.0], 0.05, "ratings")
        gap = abs(decision.probabilities["a"] - decision.probabilities["b"])
        assert body["unfair" if gap > 0.3 else "fair"] == [["a", "b"]]
        ahead = max(decision.probabilities, key=lambda one: decision.probabilities[one])
        other = "b" if ahead == "a" else "a"
        body = desk.review(decision.id, "comparisons", comparisons={(other, ahead): "first"}, tolerance=0.1).body
        assert body["comparisons"] == [{"pair": [other, ahead], "answer": "first"}]
        assert (body["unfair"], body["fair"]) == ([], [])
        assert body["reversed"] == [[other, ahead]]


def test_the_projection_is_that_of_a_bandit_which_got_the_same_reviews(ledger: Ledger, name: str) -> None:
    """Live, replayed from the first event, and learned by hand: the same to the bit."""
    with Desk.open(ledger, name, n_features=D, metric="BayesPoint", seed=3, target_unfair_share=0.1) as desk:
        reviews = play(desk, 6)
        assert any(event.body["unfair"] for event in reviews)
        bandit = desk.settings.first_bandit()
        decisions = {event.id: event for event in desk.events() if event.kind == "decision"}
        for event in desk.events():
            if event.kind == "decision":
                bandit.count_decisions()
            elif event.kind == "review":
                body = decisions[event.body["decision"]].body
                bandit.learn(decision_of(body), review=review_of(event.body, body["candidates"]))
        live = desk.projection.bandit
        assert digest_of(live.state()) == digest_of(bandit.state())
        assert desk.projection.skipped == 0
        replayed = replay(ledger, name)
        assert replayed.is_same
        assert replayed.state == digest_of(live.state())


def test_implied_flags_count(ledger: Ledger, name: str) -> None:
    """A decision with a pair that its ratings call unfair is a flagged one, for the target and in the history."""
    with Desk.open(ledger, name, n_features=D, metric="BayesPoint", seed=3, target_unfair_share=0.1) as desk:
        reviews = play(desk, 12)
        flagged = {event.body["decision"] for event in reviews if event.body["unfair"]}
        safeguards = desk.projection.bandit.safeguards
        assert len(safeguards.flagged_rounds) == len(flagged) > 0
        assert safeguards.margin.scale < 1.0
        assert desk.projection.history.flags[:, 0].sum() == len(flagged)


def test_a_withdrawn_rating_leaves_no_trace(ledger: Ledger, name: str) -> None:
    """After a withdrawal the desk is one that never got the rating."""
    with Desk.open(ledger, name, n_features=D, metric="BayesPoint", seed=3) as desk:
        reviews = play(desk, 8)
        done(desk.execute([Withdraw(reviews[2].id), Withdraw(reviews[5].id)]))
        desk.catch_up(wait=True)
        bandit = desk.settings.first_bandit()
        decisions = {event.id: event for event in desk.events() if event.kind == "decision"}
        for event in desk.events():
            if event.kind == "decision":
                bandit.count_decisions()
            elif event.kind == "review" and event.id not in (reviews[2].id, reviews[5].id):
                body = decisions[event.body["decision"]].body
                bandit.learn(decision_of(body), review=review_of(event.body, body["candidates"]))
        assert np.array_equal(desk.projection.bandit.metric.matrix(), bandit.metric.matrix())
        assert replay(ledger, name).is_same


@pytest.mark.parametrize(
    ("review", "error", "message"),
    [
        (
            {"ratings": {"0": 7, "1": 2}},
            InvalidInput,
            "the rating of candidate '0' must be within the scale 1 to 5, got 7",
        ),
        ({"ratings": {"0": 3, "9": 2}}, UnknownPair, "unknown candidate '9'"),
        ({"ratings": {}}, InvalidInput, "ratings must be a dict from candidates' ids to scores, got {}"),
        ({"ratings": None}, InvalidInput, "ratings must be a dict from candidates' ids to scores, got None"),
        ({"ratings": {"0": 3}, "scale": [5, 1]}, InvalidInput, "scale must be two numbers, the lower first"),
        ({"ratings": {"0": 3}, "tolerance": 2}, InvalidInput, "tolerance must be a number >= 0 and < 1, got 2"),
        ({"ratings": {"0": 3}, "unfair": [["0", "1"]]}, InvalidInput, "unfair must be empty in a ratings review"),
        ({"ratings": {"0": 3}, "any_unfair": True}, InvalidInput, "any_unfair must be None in a ratings review"),
        ({"kind": "complete", "ratings": {"0": 3}}, InvalidInput, "ratings must be None in a complete review"),
        ({"kind": "comparisons", "ratings": {"0": 3}}, InvalidInput, "ratings must be None in a comparisons review"),
        ({"kind": "comparisons", "comparisons": {("0", "1"): "same"}}, InvalidInput, "must be 'alike', 'first' or 'se"),
        ({"kind": "comparisons", "comparisons": {("0", "0"): "alike"}}, InvalidInput, "two different candidates' ids"),
        ({"kind": "comparisons", "comparisons": {("0", "9"): "alike"}}, UnknownPair, "unknown candidate '9'"),
        ({"kind": "comparisons", "comparisons": []}, InvalidInput, "comparisons must be a dict from pairs"),
        ({"kind": "comparisons", "comparisons": [["0", "1"]]}, InvalidInput, "comparisons must be a dict from pairs"),
    ],
)
def test_what_is_refused_changes_nothing(review: dict[str, Any], error: type[Exception], message: str) -> None:
    """A refusal says what was expected and what it got, and adds no event."""
    with Desk.open("memory:", "loans", n_features=2, seed=3) as desk:
        decision = desk.decide(np.eye(2))
        before = desk.head
        with pytest.raises(error) as refused:
            desk.review(decision.id, **{"kind": "ratings", **review})
        assert message in str(refused.value)
        assert desk.head == before


def test_the_same_ratings_twice_are_refused() -> None:
    """A second review with the same ratings is a repetition; with the same key it is the same event."""
    with Desk.open("memory:", "loans", n_features=2, seed=3) as desk:
        decision = desk.decide(np.eye(2))
        compared = {("0", "1"): "alike"}
        first = desk.review(decision.id, "comparisons", comparisons=compared, reviewer="Kim", idempotency_key="k")
        again = desk.review(decision.id, "comparisons", comparisons=compared, reviewer="Kim", idempotency_key="k")
        assert again.id == first.id
        with pytest.raises(AlreadyRecorded):
            desk.review(decision.id, "comparisons", comparisons={("1", "0"): "alike"}, reviewer="Kim")


def test_how_a_desk_asks_is_a_setting() -> None:
    """Scale and tolerance of a review are the desk's where it names none; they may change while it runs."""
    with Desk.open("memory:", "loans", n_features=2, reviewing={"ask": "ratings", "scale": [0, 9]}) as desk:
        first, second = desk.decide(np.eye(2)), desk.decide(np.eye(2))
        assert desk.review(first.id, "ratings", ratings={"0": 9, "1": 0}).body["scale"] == [0.0, 9.0]
        desk.change_settings(reviewing={"scale": [1, 3], "tolerance": 0.2})
        assert desk.settings.reviewing.ask == "ratings"
        body = desk.review(second.id, "ratings", ratings={"0": 3, "1": 1}).body
        assert (body["scale"], body["tolerance"]) == ([1.0, 3.0], 0.2)


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ({"ask": "grades"}, "reviewing.ask must be 'verdicts', 'ratings' or 'comparisons', got 'grades'"),
        (
            {"scale": [1, 5.5]},
            "reviewing.scale must be two whole numbers from 1 to 9 apart, as in [1, 5], got [1, 5.5]",
        ),
        ({"scale": [0, 100]}, "reviewing.scale must be two whole numbers from 1 to 9 apart"),
        ({"scale": 5}, "reviewing.scale must be two whole numbers from 1 to 9 apart"),
        ({"tolerance": -0.1}, "reviewing.tolerance must be a number >= 0 and < 1, got -0.1"),
    ],
)
def test_rules_that_are_refused(rules: dict[str, Any], message: str) -> None:
    """A refusal says what the setting must be."""
    with pytest.raises(InvalidInput) as refused:
        Desk.open("memory:", "loans", n_features=2, reviewing=rules)
    assert message in str(refused.value)


def test_another_desk_imports_them(tmp_path: Path) -> None:
    """An exported ledger with ratings and comparisons teaches another desk as much as the reviews themselves."""
    with (
        Desk.open("memory:", "loans", n_features=D, metric="BayesPoint", seed=3) as desk,
        Desk.open("memory:", "cards", n_features=D, metric="BayesPoint") as other,
    ):
        reviews = play(desk, 8)
        report = import_jsonl(other, exported(desk, tmp_path / "loans.jsonl"))
        assert report.refused == []
        assert report.reviews == len(reviews)
        other.catch_up(wait=True)
        imported = [review for event in other.events() if event.kind == "imported" for review in event.body["reviews"]]
        assert [review["ratings"] for review in imported if review["kind"] == "ratings"]
        assert json.dumps(imported)
        rng = np.random.default_rng(5)
        contexts = rng.normal(size=(4, D)) / 4
        assert np.allclose(
            other.projection.bandit.distances(contexts).estimate,
            desk.projection.bandit.distances(contexts).estimate,
            atol=0.05,
        )
