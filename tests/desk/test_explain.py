"""Why these probabilities: rewards, binding pairs, the price of fairness, and the reviews behind a distance."""

from __future__ import annotations

import json

import numpy as np
import pytest

from evenhand.desk import Desk, Ledger, Withdraw
from evenhand.desk.explain.explanation import Price, price_in_words
from evenhand.errors import UnknownRecord
from tests.support.desk_play import QUICK, bound, done, play

HOPED = "Fairness cost 0.360 of the optimistic reward, which the probabilities maximise"


def test_an_explanation_says_what_the_record_says(ledger: Ledger, name: str) -> None:
    """Probabilities, rewards and binding pairs are those of the ledger; a binding pair's gap is the distance played."""
    with Desk.open(ledger, name, **QUICK, seed=1) as desk:
        play(desk, 5)
        event = bound(desk, np.random.default_rng(4))
        desk.catch_up(wait=True)
        reported = desk.explain(event.id)
        body = event.body
        assert [share.probability for share in reported.candidates] == body["probabilities"]
        assert [share.id for share in reported.candidates if share.chosen] == body["chosen"]
        names = body["candidates"]
        tight = [(names[i], names[j]) for i, j in body["tight_pairs"]]
        assert [(pair.first, pair.second) for pair in reported.binding_pairs] == tight
        for pair in reported.binding_pairs:
            assert 0 <= pair.lower <= pair.distance <= pair.upper
            assert 0 <= pair.chance_unfair <= 1
        assert reported.price is not None
        assert reported.price.optimistic_reward >= 0
        assert sum(reported.price.probabilities_without.values()) <= 1 + 1e-9
        json.dumps(reported.to_dict())


@pytest.mark.parametrize("capacity", [1, 2, None])
def test_the_worst_residual_is_measured(ledger: Ledger, name: str, capacity: int | None) -> None:
    """Record and explanation state by how much probabilities exceed their limits, as computed here independently."""
    found = []
    with Desk.open(ledger, name, **QUICK, seed=1, capacity=capacity) as desk:
        play(desk, 4)
        rng = np.random.default_rng(4)
        for _ in range(12):
            event = bound(desk, rng)
            bandit, p = desk.projection.bandit, np.array(event.body["probabilities"])
            assert event.body["state"] == desk.projection.seq
            allowed = bandit.safeguards.distances_to_play(bandit.metric, np.array(event.body["contexts"]))
            gaps = (np.abs(p[:, None] - p) - allowed)[np.triu_indices(len(p), 1)]
            most = len(p) if capacity is None else capacity
            worst = max(0.0, p.sum() - most, (-p).max(), (p - 1).max(), gaps.max())
            assert event.body["worst_residual"] == pytest.approx(worst, abs=2e-16)
            assert desk.explain(event.id).worst_residual == event.body["worst_residual"]
            found.append(event.body["worst_residual"])
    assert max(found) <= 1e-9


def test_fairness_costs_what_the_best_probabilities_would_bring_more(ledger: Ledger, name: str) -> None:
    """Without fairness constraints the best candidate gets everything: the price is the difference, by hand."""
    with Desk.open(ledger, name, **QUICK, seed=1) as desk:
        play(desk, 3)
        event = bound(desk, np.random.default_rng(4))
        hopes, probabilities = np.array(event.body["optimistic_rewards"]), np.array(event.body["probabilities"])
        reported = desk.explain(event.id).price
        assert reported is not None
        assert reported.optimistic_reward == pytest.approx(max(hopes.max(), 0.0) - hopes @ probabilities)
        best = np.array(list(reported.probabilities_without.values()))
        assert reported.expected_reward == pytest.approx(
            np.array(event.body["estimated_rewards"]) @ (best - probabilities)
        )


def test_quoted_reviews_are_in_the_ledger(ledger: Ledger, name: str) -> None:
    """Every quoted verdict names a review that contains it; one that was withdrawn is not quoted any more."""
    with Desk.open(ledger, name, **QUICK, seed=1) as desk:
        play(desk, 6)
        event = bound(desk, np.random.default_rng(4))
        desk.catch_up(wait=True)
        quoted = [stated for pair in desk.explain(event.id).binding_pairs for stated in pair.shaped_by]
        assert quoted
        for stated in quoted:
            body = desk.event(stated.review).body
            assert body["decision"] == stated.decision
            assert ({stated.first, stated.second} in [set(pair) for pair in body["unfair"]]) == stated.unfair
            assert 0 <= stated.likeness <= 1 + 1e-9
        done(desk.execute([Withdraw(quoted[0].review)]))
        desk.catch_up(wait=True)
        again = [stated.review for pair in desk.explain(event.id).binding_pairs for stated in pair.shaped_by]
        assert quoted[0].review not in again


def test_then_is_what_was_known_when_it_was_decided(ledger: Ledger, name: str) -> None:
    """Asked for then, distances are those of the state it was decided from, whatever was learned since."""
    with Desk.open(ledger, name, **QUICK, seed=1) as desk:
        play(desk, 2)
        event = bound(desk, np.random.default_rng(4))
        before = desk.projection
        reviews = play(desk, 5, seed=3)
        done(desk.execute([Withdraw(reviews[0].id)]))
        desk.catch_up(wait=True)
        reported = desk.explain(event.id, then=True)
        assert reported.state == reported.decided_from == before.seq
        known = before.bandit.distances(event.body["contexts"]).estimate
        i, j = event.body["tight_pairs"][0]
        assert reported.binding_pairs[0].distance == known[i, j]
        assert desk.explain(event.id).state == desk.head.seq


def test_verdicts_after_a_decision_are_marked(ledger: Ledger, name: str) -> None:
    """They describe a distance as it is known now, and had no part in the probabilities."""
    with Desk.open(ledger, name, **QUICK, seed=1) as desk:
        play(desk, 2)
        event = bound(desk, np.random.default_rng(4))
        quoted = [stated for pair in desk.explain(event.id).binding_pairs for stated in pair.shaped_by]
        assert quoted
        assert not any(stated.is_later for stated in quoted)
        play(desk, 8, seed=3)
        marks = {
            stated.is_later == (desk.event(stated.review).seq > event.body["state"])
            for pair in desk.explain(event.id).binding_pairs
            for stated in pair.shaped_by
        }
        later = [stated.is_later for pair in desk.explain(event.id).binding_pairs for stated in pair.shaped_by]
        assert marks == {True}
        assert any(later)
        then = [stated for pair in desk.explain(event.id, then=True).binding_pairs for stated in pair.shaped_by]
        assert not any(stated.is_later for stated in then)


def test_a_verdict_is_quoted_with_the_review_that_gave_it(ledger: Ledger, name: str) -> None:
    """Of one person's reviews of single pairs each is found by its pair, and by it whether it came later."""
    with Desk.open(ledger, name, **QUICK, seed=1) as desk:
        event = bound(desk, np.random.default_rng(4))
        names, decided = event.body["candidates"], event.seq
        pairs = [(names[0], names[1]), (names[2], names[3]), (names[1], names[4]), (names[0], names[3])]
        recorded = [desk.review(event.id, "partial", fair=[pair], reviewer="Kim") for pair in pairs[:2]]
        recorded += [desk.review(event.id, "partial", unfair=[pair], reviewer="Kim") for pair in pairs[2:]]
        desk.catch_up(wait=True)
        assert decided < recorded[0].seq
        later = bound(desk, np.random.default_rng(5))
        for about, is_later in ((event, True), (later, False)):
            quoted = [stated for pair in desk.explain(about.id).binding_pairs for stated in pair.shaped_by]
            assert quoted
            for stated in quoted:
                expected = recorded[[set(pair) for pair in pairs].index({stated.first, stated.second})]
                assert (stated.review, stated.is_later) == (expected.id, is_later)


def test_only_decisions_are_explained(ledger: Ledger, name: str) -> None:
    """Anything else, and what is not there, is reported as unknown."""
    with Desk.open(ledger, name, **QUICK) as desk:
        for nothing in ("dec_0", desk.events()[0].id, "x\x00y"):
            with pytest.raises(UnknownRecord):
                desk.explain(nothing)
            with pytest.raises(UnknownRecord):
                desk.decision(nothing)


@pytest.mark.parametrize(
    ("expected", "hoped", "words"),
    [
        (0.01, 0.36, f"{HOPED}, and 0.010 of the expected reward"),
        (-0.009, 0.36, f"{HOPED}, and nothing of the expected reward"),
        (-0.0, 1e-12, "Fairness cost nothing: "),
    ],
)
def test_the_price_in_words_is_never_below_zero(expected: float, hoped: float, words: str) -> None:
    """Probabilities follow optimistic rewards; where the estimates prefer the fairer ones, fairness cost nothing."""
    assert price_in_words(Price(expected, hoped, {})).startswith(words)
