"""A desk whose learner promises: the proved number of flags to come is recorded, and the same after a replay."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from evenhand.desk import Decide, Desk, DeskSettings, GiveReview, Ledger
from evenhand.desk.projection.snapshots import from_bytes
from evenhand.desk.replay import digest_of, replay
from evenhand.errors import InvalidInput
from tests.support.desk_play import D, done, people, play


def opened(ledger: Ledger | str, name: str = "loans", **settings: Any) -> Desk:
    """A desk that trusts its reviewers, unless settings say otherwise."""
    given = {"metric": "VersionSpace", "reviewer_error": 0.0, "epsilon": 0.05, "seed": 5, **settings}
    return Desk.open(ledger, name, n_features=D, **given)


def test_every_decision_is_recorded_with_the_flags_that_can_still_come() -> None:
    """The number never rises while the bound on the metric holds, and the flags that follow never exceed it."""
    with opened("memory:") as desk:
        play(desk, 12, project_every=1)
        decisions = desk.events(kinds=["decision"])
        left = [event.body["flags_left"] for event in decisions]
        flagged = desk.projection.bandit.safeguards.flagged_rounds
        assert left == sorted(left, reverse=True)
        assert left[-1] < left[0]
        assert len(flagged) <= left[0]
        assert desk.metric().flags_left == desk.projection.bandit.flags_left <= left[-1]
        number = f"At most {desk.metric().flags_left} more decisions can ever be flagged"
        assert desk.metric().promise == f"{number}, if each is reviewed before the next and the answers fit a metric."


@pytest.mark.parametrize("reviewer_error", [0.0, 0.05, None])
def test_replay_and_snapshots_agree_with_the_live_desk_to_the_bit(
    ledger: Ledger, name: str, reviewer_error: float | None
) -> None:
    """Projected again from the first event, from a snapshot, or live: the same learner, with the same random stream."""
    with opened(ledger, name, reviewer_error=reviewer_error) as desk:
        reviews = play(desk, 5)
        desk.withdraw(reviews[3].id)
        play(desk, 2, seed=1)
        live = digest_of(desk.projection.bandit.state())
    result = replay(ledger, name)
    assert result.is_same
    assert result.state == live
    assert ledger.snapshots(name)
    for stamp in ledger.snapshots(name):
        assert from_bytes(ledger.snapshot(name, stamp.seq) or b"") is not None
    with Desk.open(ledger, name) as again:
        again.catch_up(wait=True)
        assert digest_of(again.projection.bandit.state()) == live
        decision = again.decide(people(np.random.default_rng(9)))
        assert ("flags_left" in decision.event.body) == (reviewer_error is not None)
    assert replay(ledger, name).is_same


KEY = "from evenhand.desk import DeskSettings; " + (
    "print(DeskSettings.create(n_features=5, metric='VersionSpace', seed=1).first_bandit()._key.hex())"
)


@pytest.mark.process
def test_a_desk_recognises_its_decisions_on_another_processor() -> None:
    """The key that decisions are signed with depends on the settings, not on how a processor rounds the first walk."""
    here, elsewhere = (
        subprocess.run([sys.executable, "-c", KEY], check=True, capture_output=True, env={**os.environ, **env})
        for env in ({}, {"OPENBLAS_CORETYPE": "Nehalem"})
    )
    assert here.stdout == elsewhere.stdout


@pytest.mark.parametrize(("d", "is_promised"), [(5, True), (6, False)])
def test_a_desk_of_few_features_promises_by_default(d: int, is_promised: bool) -> None:
    """Without any setting, with up to five features, the number is in the record, in the answer and in a sentence."""
    with Desk.open("memory:", "loans", n_features=d, seed=5) as desk:
        contexts = np.eye(d)[:3] * 0.9
        (event,) = done(desk.execute([Decide(contexts)]))
        left, promise = desk.metric().flags_left, desk.metric().promise
        assert event.body.get("flags_left") == left
        assert (left is not None) == is_promised
        assert (promise or "").startswith(f"At most {left} more" if is_promised else "")


def test_learned_error_rates_promise_nothing() -> None:
    """VersionSpace with reviewer_error=None has no theorem: no number, and the sentence says why."""
    with opened("memory:", reviewer_error=None) as desk:
        (event,) = done(desk.execute([Decide(people(np.random.default_rng(0)))]))
        assert "flags_left" not in event.body
        assert desk.metric().flags_left is None
        assert "no number of flags is proved" in (desk.metric().promise or "")


def test_an_answer_that_no_metric_explains_ends_the_promise() -> None:
    """With answers that are never wrong, a contradiction leaves no promise; withdrawn, the promise is back."""
    with opened("memory:") as desk:
        x, y = [0.9, 0.0, 0.0], [0.0, 0.9, 0.0]
        desk.answer(x, y, gap=0.3, unfair=True)
        left = desk.metric().flags_left
        contradiction = desk.answer(x, y, gap=0.6, unfair=False)
        assert desk.metric().flags_left is None
        assert "No metric fits" in (desk.metric().promise or "")
        desk.withdraw(contradiction.id)
        desk.catch_up(wait=True)
        assert desk.metric().flags_left == left


def test_a_one_bit_review_is_learned_from() -> None:
    """VersionSpace needs no names of pairs."""
    with opened("memory:") as desk:
        (event,) = done(desk.execute([Decide(people(np.random.default_rng(0)))]))
        assert done(desk.execute([GiveReview(event.id, "one_bit", any_unfair=True)]))
        desk.catch_up(wait=True)
        assert not desk.projection.skipped


def test_other_learners_record_nothing_new() -> None:
    """Decisions of a desk whose learner has no theorem have the fields that they always had."""
    with Desk.open("memory:", "loans", n_features=D, metric="BayesPoint", seed=5) as desk:
        (event,) = done(desk.execute([Decide(people(np.random.default_rng(0)))]))
        assert "flags_left" not in event.body
        assert (desk.metric().flags_left, desk.metric().promise) == (None, None)


def test_too_many_features_are_refused() -> None:
    """By structure; the settings themselves are read without a walk."""
    for structure, most in (("full", 15), ("diagonal", 120)):
        settings = {"metric": "VersionSpace", "structure": structure}
        assert DeskSettings.create(n_features=most, **settings).n_features == most
        with pytest.raises(
            InvalidInput, match=f"at most {most} with metric 'VersionSpace' and structure '{structure}'"
        ):
            DeskSettings.create(n_features=most + 1, **settings)
    with pytest.raises(InvalidInput, match="epsilon"):
        DeskSettings.create(n_features=2, metric="VersionSpace", epsilon=-1.0)
