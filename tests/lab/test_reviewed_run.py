"""The run under a named reviewer: she is who her settings say, and everything else stays as it is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import evenhand as eh
from evenhand.auditors import MahalanobisAuditor, NoisyAuditor, Truth, WobblingAuditor, arriving
from evenhand.errors import InvalidInput
from evenhand.lab.reviewers import FOLLOWS, PANELS, SHOWS, ReviewerSetting
from evenhand.lab.runs import ASSUMED_ERROR, interviewed_run, reviewed_run, standard_run
from tests.support.made_auditors import made, some

A = 0.4 * np.eye(3)
SHAPE: dict[str, Any] = {"d": 3, "k": 4, "rounds": 30, "epsilon": 0.05, "seed": 2}


def answers(setting: ReviewerSetting, n: int = 40, seed: int = 0) -> list[eh.Review]:
    """What comes in from a reviewer in so many rounds of made-up decisions."""
    auditor, _ = setting.made(A, None, seed)
    return [review for decision in some(n) for _, review in arriving(auditor, decision)]


@pytest.mark.parametrize("policy", ["evenhand", "equal-probabilities", "known-metric"])
def test_an_exact_reviewer_makes_the_standard_run(policy: str) -> None:
    """To the bit: the same truth, candidates, luck and draws, so that experiments can be held against each other."""
    standard, reviewed = standard_run(policy=policy, **SHAPE), reviewed_run(policy=policy, **SHAPE)
    assert {name: reviewed[name] for name in standard} == dict(standard)


def test_no_question_makes_the_standard_run_too() -> None:
    """To the bit; and with questions the candidates are still the same: the best fair probabilities earn as much."""
    standard, live = standard_run(policy="evenhand", **SHAPE), interviewed_run(questions=0, **SHAPE)
    assert {name: live[name] for name in standard if name != "conflicts"} == {
        name: column for name, column in standard.items() if name != "conflicts"
    }
    assert live["asked"][-1] == 0
    interviewed = interviewed_run(questions=20, **SHAPE)
    assert interviewed["asked"][-1] == 20
    assert interviewed["expected"][-1] < live["expected"][-1]
    best = [[r + lost for r, lost in zip(run["reward"], run["regret"], strict=True)] for run in (live, interviewed)]
    assert best[0] == pytest.approx(best[1])


def test_what_is_taken_for_granted_is_what_the_bandit_takes_for_granted() -> None:
    """Leaving reviewer_error out is leaving it out."""
    assert eh.FairBandit(2, reviewer_error=1e-3).metric.state()["error_rate"] == ASSUMED_ERROR


@pytest.mark.statistical
@pytest.mark.parametrize("follows", FOLLOWS)
@pytest.mark.parametrize("policy", ["evenhand", "equal-probabilities"])
def test_everybody_can_be_played_under_everybody(policy: str, follows: str) -> None:
    """Whoever follows no distance is held to the world's; equal probabilities are flagged by nobody."""
    curve = reviewed_run(policy=policy, follows=follows, **SHAPE)
    assert len(curve["round"]) == len(curve["learned_rate"]) > 5
    if policy == "equal-probabilities":
        assert curve["unfair_pairs"][-1] == curve["flagged_rounds_by_reviewer"][-1] == 0


@pytest.mark.statistical
@pytest.mark.parametrize("shows", SHOWS)
def test_every_kind_of_answer_can_be_played(shows: str) -> None:
    """With errors, late, and a bandit that learns how many there are."""
    curve = reviewed_run(policy="evenhand", shows=shows, wrong=0.2, late=3, reviewer_error=None, **SHAPE)
    assert curve["round"][-1] == SHAPE["rounds"]


def test_reviews_are_of_the_configured_kind() -> None:
    """Complete reviews, partial ones of two pairs, single reports, bits."""
    assert {review.kind for review in answers(ReviewerSetting())} == {"complete"}
    few = answers(ReviewerSetting(shows="random pairs"))
    assert {len(review.unfair) + len(review.fair) for review in few} == {2}
    reports = answers(ReviewerSetting(shows="one report"))
    assert {len(review.unfair) for review in reports} <= {0, 1}
    assert {review.kind for review in answers(ReviewerSetting(shows="one bit"))} == {"one_bit"}


def test_the_bandit_is_asked_for_proposals() -> None:
    """The two pairs it would have looked at, and no others."""
    bandit = eh.FairBandit(3, epsilon=0.05, seed=0, reviewer_error=1e-3)
    auditor, _ = ReviewerSetting(shows="proposed pairs").made(A, bandit, 0)
    rng = np.random.default_rng(0)
    for _ in range(5):
        contexts = rng.normal(size=(5, 3))
        decision = bandit.decide(contexts / np.linalg.norm(contexts, axis=1, keepdims=True))
        review = auditor.review(decision)
        assert set(review.unfair + review.fair) == {each.pair for each in bandit.pairs_to_review(decision, 2)}
        bandit.learn(decision, review=review)


def test_errors_come_in_where_they_are_configured() -> None:
    """One who misjudges pairs and reports the worst reports slips; one who errs in answering mostly does not."""
    fair = made([0.3, 0.25, 0.2, 0.15, 0.1], np.vstack([np.eye(3), -np.eye(3)[:2]]))

    def reports(errs: str) -> list[eh.Review]:
        auditor, truth = ReviewerSetting(shows="one report", wrong=0.3, errs=errs).made(A, None, 0)
        assert isinstance(truth, MahalanobisAuditor)
        assert truth.review(fair).unfair == ()
        return [auditor.review(fair) for _ in range(100)]

    slips = [review for review in reports("judging") if review.unfair]
    assert len(slips) > 90
    assert {review.kind for review in slips} == {"partial"}
    assert {review.kind for review in reports("answering")} == {"complete"}


def test_changing_one_thing_changes_nothing_else() -> None:
    """Streams are separate: lateness changes no review, and errors do not change which pairs are drawn."""
    plain = ReviewerSetting(shows="random pairs", wrong=0.3)
    prompt, _ = plain.made(A, None, 1)
    late, _ = ReviewerSetting(shows="random pairs", wrong=0.3, late=4).made(A, None, 1)
    decisions = list(some(40))
    reviews = {decision.round: prompt.review(decision) for decision in decisions}
    came = [(seen.round, review) for decision in decisions for seen, review in arriving(late, decision)]
    assert len(came) > 30
    assert all(reviews[round] == review for round, review in came)
    right = answers(ReviewerSetting(shows="random pairs"), seed=1)
    assert [sorted(review.unfair + review.fair) for review in right] == [
        sorted(review.unfair + review.fair) for review in reviews.values()
    ]


def test_the_truth_is_the_followed_distance_if_there_is_one() -> None:
    """A wobbling reviewer defines the truth, whatever errors are added; for noise it is the world's metric."""
    _, truth = ReviewerSetting(follows="wobble 10%", wrong=0.2, shows="one bit").made(A, None, 0)
    assert isinstance(truth, WobblingAuditor)
    _, truth = ReviewerSetting(follows="pure noise").made(A, None, 0)
    assert isinstance(truth, MahalanobisAuditor)
    assert np.array_equal(truth.A, A)
    assert all(isinstance(ReviewerSetting(follows=name).made(A, None, 0)[1], Truth) for name in FOLLOWS)


def test_a_panel_is_reported_member_by_member() -> None:
    """Each under a name, with a rate that was found; one reviewer without a panel has no name."""
    curve = reviewed_run(policy="evenhand", panel="different", reviewer_error=None, **SHAPE)
    for member in PANELS["different"]:
        assert 0 < curve[f"learned_rate_{member}"][-1] < 1
        assert curve[f"misleading_{member}"][-1] in (0.0, 1.0)
    assert "learned_rate" not in curve
    alone = reviewed_run(policy="evenhand", reviewer_error=None, **SHAPE)
    assert alone["learned_rate"][-1] < 0.1
    assert np.isnan(reviewed_run(policy="evenhand", reviewer_error=1e-3, **SHAPE)["learned_rate"][-1])


def test_members_of_a_panel_err_independently() -> None:
    """Two with one rate are wrong about different pairs."""
    auditor, truth = ReviewerSetting(panel="most toss coins").made(A, None, 0)
    members: dict[str, NoisyAuditor] = auditor.members  # type: ignore[attr-defined]
    decision = next(some(1))
    assert isinstance(truth, MahalanobisAuditor)
    assert members["B"].review(decision) != members["C"].review(decision)


def test_lies_stay_within_the_budget_and_are_counted() -> None:
    """One a decision, or many."""
    slow = reviewed_run(policy="evenhand", lies=12, aim="regret", **SHAPE)
    fast = reviewed_run(policy="evenhand", lies=12, aim="regret", lies_per_decision=6, **SHAPE)
    assert slow["lies_told"][-1] == fast["lies_told"][-1] == 12
    assert slow["regret"] != fast["regret"]
    assert reviewed_run(policy="evenhand", **SHAPE)["lies_told"][-1] == 0


@pytest.mark.parametrize(
    ("setting", "sentence"),
    [
        ({"follows": "nobody"}, "follows must be 'metric', 'wobble 2%'.* got 'nobody'"),
        ({"shows": "all"}, "shows must be 'everything'.* got 'all'"),
        ({"errs": "often"}, "errs must be 'judging' or 'answering', got 'often'"),
        ({"panel": "bad"}, "panel must be 'different'.* or None, got 'bad'"),
        ({"follows": None}, "follows must be .* got None"),
    ],
)
def test_reviewers_who_do_not_exist_are_refused(setting: dict[str, Any], sentence: str) -> None:
    """With a sentence that says which there are."""
    with pytest.raises(InvalidInput, match=sentence):
        ReviewerSetting(**setting)


@pytest.mark.statistical
def test_a_misleading_majority_does_not_end_learning(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three of five are wrong in 90% of answers. Equal probabilities for ever would earn 75 less than the best.

    In this run everybody seemed alike after 46 answers, two of them wrong: too few to refute an error rate.
    """
    panels = {"misleading": {"A": 0.05, "B": 0.05, "C": 0.9, "D": 0.9, "E": 0.9}}
    for module in ("reviewers", "runs"):
        monkeypatch.setattr(f"evenhand.lab.{module}.PANELS", panels)
    run = reviewed_run(policy="evenhand", d=3, k=5, rounds=200, epsilon=0.01, seed=1, panel="misleading")
    assert run["regret"][-1] < 20.0
    assert [name for name in panels["misleading"] if run[f"misleading_{name}"][-1]] == ["C", "D", "E"]
