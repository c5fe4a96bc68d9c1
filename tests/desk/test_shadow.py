"""A desk in shadow mode: it plays nothing, is told what was done, and learns from that; then it goes live."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evenhand.adapters.dsjson_ledger import to_dsjson
from evenhand.bandit.safeguards import STEP
from evenhand.desk import Decide, Desk, Event, Ledger, RecordAction, Switch, open_ledger
from evenhand.desk.imports.importing import import_jsonl
from evenhand.desk.projection.projection import RoundHistory
from evenhand.desk.projection.snapshots import from_bytes
from evenhand.desk.replay import digest_of, replay
from evenhand.errors import AlreadyRecorded, Erased, EvenhandError, InvalidInput, NotChosen
from evenhand.ledger.verify import to_jsonl, verify
from tests.support.desk_play import D, done, people, play
from tests.support.shadow_play import RULE, SHADOW, one_day, proposed


@pytest.fixture
def desk(ledger: Ledger, name: str) -> Desk:
    """A new desk in shadow mode."""
    return Desk.open(ledger, name, **SHADOW)


def refusal_of(desk: Desk, command: Any) -> EvenhandError:
    """The error of a command, which has written nothing."""
    before = desk.head
    (error,) = desk.execute([command])
    assert isinstance(error, EvenhandError)
    assert desk.head == before
    return error


# Deciding, and what was done.


def test_it_plays_nothing(desk: Desk) -> None:
    """Nobody is chosen; whom the desk would have drawn is recorded beside, and its probabilities are as ever."""
    decision = proposed(desk)
    live = Desk.open("memory:", "other", **{**SHADOW, "shadow": False}).decide(people(np.random.default_rng(0)))
    assert (decision.chosen, decision.shadow, live.shadow) == ([], True, False)
    assert decision.would_choose == live.chosen == live.would_choose
    assert decision.probabilities == live.probabilities
    assert decision.event.body["action"] == RULE
    assert "nobody is chosen in shadow mode" in str(decision)


def test_outcomes_are_of_those_really_chosen(desk: Desk) -> None:
    """Not before it is known who they are; then the reward model learns them as any others, whoever was drawn."""
    decision = proposed(desk, action=None)
    with pytest.raises(NotChosen, match=r"must be known before their outcomes: .* record the action of the system"):
        desk.outcome(decision.id, {decision.would_choose[0]: 0.5})
    other = next(name for name in decision.candidates if name not in decision.would_choose)
    desk.action(decision.id, [other])
    with pytest.raises(NotChosen, match=rf"chosen were \['{other}'\]"):
        desk.outcome(decision.id, {decision.would_choose[0]: 0.5})
    desk.outcome(decision.id, {other: 0.9})
    model = desk.settings.first_bandit().reward
    model.learn(np.array([decision.event.body["contexts"][decision.candidates.index(other)]]), np.array([0.9]))
    assert np.array_equal(desk.projection.bandit.reward.optimistic(np.eye(D)), model.optimistic(np.eye(D)))
    assert desk.projection.history.system_rewards.tolist() == [1.0, 0.9, 0.81]
    assert not desk.projection.history.rewards.any()


def test_what_was_done_is_told_once(desk: Desk) -> None:
    """With the decision or after it; sent again with its key it is the same event."""
    told, later = proposed(desk), proposed(desk, 1, action=None)
    with pytest.raises(AlreadyRecorded, match="is in the ledger already"):
        desk.action(told.id, ["person 1"])
    events = [desk.action(later.id, ["person 1"], idempotency_key="once") for _ in range(2)]
    assert events[0] == events[1]
    with pytest.raises(AlreadyRecorded, match="is in the ledger already"):
        desk.action(later.id, ["person 1"])


@pytest.mark.parametrize(
    ("action", "sentence"),
    [
        (["person 0"], 'action must be a dict with "chosen"'),
        ({"chose": []}, 'action must be a dict with "chosen"'),
        ({**RULE, "odds": 1}, "action has the unknown field odds; its fields are chosen, probabilities, scores"),
        ({"chosen": "person 0"}, "chosen must be a list of candidates' ids, got 'person 0'"),
        ({"chosen": ["person 9"]}, "unknown candidate 'person 9'"),
        ({"chosen": ["person 0"] * 2}, "chosen must be different candidates"),
        ({**RULE, "probabilities": [1.0]}, "probabilities must be one number for each of the 4 candidates"),
        ({**RULE, "probabilities": {"person 0": 1.0}}, "probabilities must be one number for each of the 4 candidates"),
        (
            {**RULE, "probabilities": [0.5, 0.5, 0.5, 2]},
            "probabilities of candidate 'person 3' must be a number from 0",
        ),
        ({**RULE, "probabilities": [0, 0.5, 0.5, 0]}, "candidate 'person 0' was chosen, got 0"),
        ({**RULE, "probabilities": [0.5, 1, 0.5, 0]}, "candidate 'person 1' was not chosen, got 1"),
        ({**RULE, "scores": [1, 2, 3, float("nan")]}, "scores of candidate 'person 3' must be a finite number"),
    ],
)
def test_an_action_that_cannot_be_is_refused(desk: Desk, action: Any, sentence: str) -> None:
    """With a sentence that says what was wrong, and nothing is written; with the decision and after it."""
    assert sentence in str(refusal_of(desk, Decide(people(np.random.default_rng(0)), action=action)))
    if isinstance(action, dict) and set(action) <= {"chosen", "probabilities", "scores"}:
        decision = proposed(desk, action=None)
        assert sentence in str(refusal_of(desk, RecordAction(decision.id, **action)))


def test_live_and_shadow_are_not_mixed_up(desk: Desk) -> None:
    """A live decision has no action and no system to review; a decision in shadow mode has no override."""
    shadow = proposed(desk)
    with pytest.raises(InvalidInput, match="made in shadow mode and chose nobody: record the action instead"):
        desk.override(shadow.id, ["person 0"])
    with pytest.raises(InvalidInput, match=r"shadow is changed with a switch"):
        desk.change_settings(shadow=False)
    desk.switch("live")
    assert "action must be None: this desk is live" in str(
        refusal_of(desk, Decide(people(np.random.default_rng(0)), action=RULE))
    )
    live = desk.decide(people(np.random.default_rng(2)))
    with pytest.raises(InvalidInput, match="was made live: if others were chosen, record an override"):
        desk.action(live.id, ["person 0"])
    with pytest.raises(InvalidInput, match=r"subject must be 'desk' or None: decision .* was made live"):
        desk.review(live.id, "complete", subject="system")
    with pytest.raises(InvalidInput, match="subject must be 'desk', 'system' or None, got 'rule'"):
        desk.review(shadow.id, "complete", subject="rule")


def test_those_left_out_may_have_been_chosen(ledger: Ledger, name: str) -> None:
    """The system in force may choose somebody who does not fit the desk's features: noted, and not learned from."""
    desk = Desk.open(ledger, name, features=["income", "debt", "years"], reviewer_error=1e-3, shadow=True)
    fits = {"income": 0.1, "debt": 0.2, "years": 0.3}
    rows = [{"id": "a", "features": fits}, {"id": "b", "features": {**fits, "income": 9.0}}]
    decision = desk.decide(rows, on_invalid="skip", action={"chosen": ["b", "a"], "scores": {"a": 1, "b": 2}})
    assert decision.event.body["action"] == {"chosen": ["a"], "left_out": ["b"]}
    assert decision.event.body["scores"] == [1.0]
    with pytest.raises(NotChosen):
        desk.outcome(decision.id, {"b": 0.5})


# Reviews.


def test_a_review_of_each_subject(desk: Desk) -> None:
    """On the same pair of one decision, by the same reviewer: each learned with its own gap; repeats are refused."""
    decision = proposed(desk)
    first, second = decision.candidates[:2]
    pair: dict[str, Any] = {"unfair": [(first, second)], "reviewer": "Kim"}
    own = desk.review(decision.id, "partial", **pair)
    of_system = desk.review(decision.id, "partial", subject="system", **pair)
    assert (own.body["subject"], of_system.body["subject"]) == ("desk", "system")
    assert of_system.body["treatment"] == [1.0, 0.0, 0.0, 0.0]
    known = desk.projection.bandit.safeguards.log.verdicts()
    assert sorted(known.gaps.tolist()) == sorted(
        [1.0, abs(decision.probabilities[first] - decision.probabilities[second])]
    )
    assert desk.projection.history.taught == 2
    for subject in ("desk", "system"):
        with pytest.raises(AlreadyRecorded, match="this review is in the ledger"):
            desk.review(decision.id, "partial", subject=subject, **pair)
    with pytest.raises(InvalidInput, match="supersedes must be a review of the same decision and subject"):
        desk.review(decision.id, "complete", supersedes=own.id, subject="system")
    desk.withdraw(of_system.id)
    assert len(desk.projection.bandit.safeguards.log.verdicts()) == 1


def test_the_systems_probabilities_are_its_gaps(desk: Desk) -> None:
    """A system that draws is judged by its probabilities; ratings imply verdicts on those."""
    decision = proposed(desk, action={"chosen": ["person 1"], "probabilities": [0.1, 0.6, 0.2, 0.1]})
    event = desk.review(
        decision.id, "ratings", ratings={"person 0": 3, "person 1": 3}, subject="system", reviewer="Kim"
    )
    assert event.body["treatment"] == [0.1, 0.6, 0.2, 0.1]
    assert event.body["unfair"] == [["person 0", "person 1"]]
    assert desk.projection.bandit.safeguards.log.verdicts().gaps == pytest.approx([0.5])


def test_reviews_of_the_system_wait_for_what_it_did(desk: Desk) -> None:
    """Before that there is nothing to judge."""
    decision = proposed(desk, action=None)
    with pytest.raises(NotChosen, match="must be known before reviews of what was done"):
        desk.review(decision.id, "complete", subject="system")


def test_only_the_desks_own_proposals_count(ledger: Ledger, name: str) -> None:
    """Safeguards are to the bit those of a live desk with the same reviews, whatever is said of the system."""
    settings = {**SHADOW, "target_unfair_share": 0.05, "max_unfair_rounds": 3}
    shadow = Desk.open(ledger, f"{name}-shadow", **settings)
    live = Desk.open(ledger, f"{name}-live", **{**settings, "shadow": False})
    for seed in range(3):
        pair = ("person 0", "person 1")
        made = [proposed(shadow, seed), live.decide(people(np.random.default_rng(seed)))]
        for desk, decision in zip((shadow, live), made, strict=True):
            desk.review(decision.id, "partial", unfair=[pair], reviewer="Kim")
    states = [desk.projection.bandit.safeguards.state() for desk in (shadow, live)]
    counted = [{name: state[name] for name in ("margin", "rounds", "capped_at", "refuted")} for state in states]
    assert counted[0] == counted[1]
    assert np.array_equal(states[0]["flagged_rounds"], states[1]["flagged_rounds"])
    assert len(states[0]["flagged_rounds"]) == 3
    decision = proposed(shadow, 9)
    shadow.review(decision.id, "complete", unfair=[("person 0", "person 2")], subject="system", reviewer="Kim")
    shadow.review(decision.id, "one_bit", any_unfair=True, subject="system", reviewer="Lee")
    after = shadow.projection.bandit.safeguards
    assert sorted(after.flagged_rounds) == [0, 1, 2]
    assert after.margin.s == states[0]["margin"]["s"] + STEP * 0.05


def test_the_margin_holds_for_a_reviewer_who_flags_everything(desk: Desk, ledger: Ledger) -> None:
    """Flagged proposals <= target * T + 1/step + 1, T counting proposals and decisions; the system's flags are free."""
    desk = Desk.open(ledger, "all", **{**SHADOW, "target_unfair_share": 0.2})
    for seed in range(40):
        if seed == 30:
            desk.switch("live")
        decision = proposed(desk, seed, k=2, **({"action": None} if seed >= 30 else {}))
        pair: dict[str, Any] = {"unfair": [("person 0", "person 1")], "reviewer": "Kim"}
        desk.review(decision.id, "complete", **pair)
        if decision.shadow:
            desk.review(decision.id, "complete", subject="system", **pair)
    flagged = desk.projection.bandit.safeguards.flagged_rounds
    assert 10 < len(flagged) <= 0.2 * 40 + 1 / STEP + 1
    assert desk.projection.skipped == 0


def test_that_something_the_system_did_was_unfair_is_recorded_only(desk: Desk) -> None:
    """It says little about any one of many pairs; that nothing was unfair is a verdict on all of them."""
    decision = proposed(desk)
    before = digest_of(desk.projection.bandit.metric.state())
    desk.review(decision.id, "one_bit", any_unfair=True, subject="system", reviewer="Kim")
    assert digest_of(desk.projection.bandit.metric.state()) == before
    assert desk.projection.history.taught == 0
    desk.review(decision.id, "one_bit", any_unfair=False, subject="system", reviewer="Lee")
    assert digest_of(desk.projection.bandit.metric.state()) != before
    assert desk.projection.history.taught == 1


def test_flags_left_counts_flags_on_proposals(ledger: Ledger, name: str) -> None:
    """With VersionSpace: verdicts on the system leave fewer metrics, and no more flags than were promised come."""
    settings = {"n_features": D, "metric": "VersionSpace", "reviewer_error": 0.0, "epsilon": 0.05, "seed": 5}
    desk = Desk.open(ledger, name, **settings, shadow=True)
    promised = desk.projection.bandit.flags_left
    assert promised is not None
    decision = proposed(desk)
    desk.review(decision.id, "one_bit", any_unfair=True, subject="system", reviewer="Kim")
    assert desk.projection.bandit.flags_left == promised
    desk.review(decision.id, "partial", unfair=[("person 0", "person 1")], subject="system", reviewer="Lee")
    assert desk.projection.bandit.flags_left <= promised
    assert not desk.projection.bandit.safeguards.flagged_rounds.__len__()
    assert decision.event.body["flags_left"] == promised


# The queue.


def test_reviewers_are_asked_about_both(desk: Desk) -> None:
    """Pairs of each subject wait side by side, also where the action came later; each is settled on its own."""
    decision = proposed(desk, action=None)
    desk.catch_up(wait=True)
    assert {pair.subject for pair in desk.queue(50)} == {"desk"}
    desk.action(decision.id, ["person 0"])
    desk.catch_up(wait=True)
    waiting = desk.queue(50)
    assert [pair.subject for pair in waiting[:2]] in (["desk", "system"], ["system", "desk"])
    pair = next(one for one in waiting if one.subject == "system")
    assert pair.gap == 1.0
    assert (pair.to_dict()["subject"], pair.to_dict()["copy"]) == ("system", 0)
    n = {subject: sum(one.subject == subject for one in waiting) for subject in ("desk", "system")}
    desk.review(decision.id, "partial", unfair=[(pair.first, pair.second)], subject="system", reviewer="Kim")
    left = [one.subject for one in desk.queue(50)]
    assert (left.count("desk"), left.count("system")) == (n["desk"], n["system"] - 1)
    leased = desk.queue(2, reviewer="Lee")
    assert [one.subject for one in desk.queue(2, reviewer="Lee")] == [one.subject for one in leased]


# The switch, and the whole journey.


def test_one_switch_and_back(desk: Desk) -> None:
    """An event of its own, in force from the next decision on, in the same batch too; twice is refused."""
    candidates = people(np.random.default_rng(0))
    kinds = done(desk.execute([Decide(candidates), Switch("live", "ready"), Decide(candidates), Switch("shadow")]))
    assert [event.kind for event in kinds] == ["decision", "switch", "decision", "switch"]
    assert [event.body.get("shadow", False) for event in (kinds[0], kinds[2])] == [True, False]
    assert (kinds[1].body["to"], kinds[1].body["reason"]) == ("live", "ready")
    assert desk.settings.shadow
    assert desk.head.settings == kinds[3].seq
    with pytest.raises(AlreadyRecorded, match="the desk is in shadow mode already"):
        desk.switch("shadow")
    with pytest.raises(InvalidInput, match="to must be 'live' or 'shadow', got 'on'"):
        desk.switch("on")  # type: ignore[arg-type]
    desk.catch_up(wait=True)
    assert desk.projection.history.modes == [(0, True), (1, False), (2, True)]
    assert desk.projection.history.shadow_numbers(2, 10) == [0]


def journey(url: str, name: str) -> list[Event]:
    """Shadow, live, shadow again; closed and opened in between."""
    with Desk.open(url, name, **SHADOW) as desk:
        for seed in range(4):
            one_day(desk, seed)
        desk.switch("live", reason="agreed in the board of May")
    with Desk.open(url, name) as desk:
        assert not desk.settings.shadow
        play(desk, 2)
        late = desk.events(kinds=["decision"])[0]  # a late word on a decision in shadow mode
        desk.review(late.id, "partial", fair=[("person 0", "person 3")], subject="system", reviewer="Lee")
        desk.switch("shadow")
        one_day(desk, 9)
        desk.withdraw(desk.events(kinds=["review"])[0].id)
        return desk.events()


def test_shadow_then_live_then_replay(durable_url: str, name: str) -> None:
    """The ledger shows both, verifies, and every decision comes out the same to the bit, from any snapshot."""
    events = journey(durable_url, name)
    decisions = [event for event in events if event.kind == "decision"]
    assert [bool(event.body.get("shadow")) for event in decisions] == [True] * 4 + [False] * 4 + [True]
    assert all(event.body["chosen"] for event in decisions[4:8])
    assert [event.body["to"] for event in events if event.kind == "switch"] == ["live", "shadow"]
    ledger = open_ledger(durable_url)
    assert verify(ledger, name).seq == len(events)
    again = replay(ledger, name)
    assert (again.is_same, again.decisions, again.erased) == (True, 9, [])
    with Desk.open(ledger, name) as desk:
        desk.catch_up(wait=True)
        assert digest_of(desk.projection.bandit.state()) == again.state
        assert desk.projection.skipped == 0
        desk.projector._keep_snapshot(desk.projector._reducer)
        blob = ledger.snapshot(name, desk.projection.seq)
        assert blob is not None
        kept = from_bytes(blob)
        assert kept is not None
        assert kept.history.modes == [(0, True), (4, False), (8, True)]
        assert kept.history.system_rewards.tolist() == desk.projection.history.system_rewards.tolist()
    assert replay(ledger, name).is_same
    ledger.close()


# What else reads the ledger.


def test_erased_people_take_scores_and_verdicts_along(desk: Desk, ledger: Ledger, name: str) -> None:
    """Nothing of what was learned from them stays, and nothing more can be said about them."""
    told = proposed(desk, action={**RULE, "scores": [1, 2, 3, 4]})
    later = one_day(desk, 1)
    desk.erase("person 0")
    assert desk.event(told.id).body["scores"] == [None, 2.0, 3.0, 4.0]
    (action,) = desk.events(kinds=["action"])
    assert "scores" not in action.body
    assert action.body["chosen"] == ["person 0"]
    known = desk.projection.bandit.safeguards.log.verdicts()
    assert known.gaps.tolist() == [abs(later.probabilities["person 1"] - later.probabilities["person 2"])]
    untold = desk.decide([{"id": "x", "context": [0.1, 0.2, 0.3]}, {"id": "y", "context": [0.2, 0.2, 0.3]}])
    desk.erase("x")
    with pytest.raises(Erased, match="'x' was erased"):
        desk.action(untold.id, ["y"], scores=[1, 2])
    desk.action(untold.id, ["y"])
    assert verify(ledger, name).seq == desk.head.seq
    assert replay(ledger, name).is_same


def test_dsjson_has_what_was_really_done(desk: Desk, ledger: Ledger, name: str) -> None:
    """With the system's probabilities as those of the label; without them nothing can be learned from the line."""
    drawn = proposed(desk, action={"chosen": ["person 1"], "probabilities": [0.1, 0.6, 0.2, 0.1]})
    desk.outcome(drawn.id, {"person 1": 0.5})
    rule, untold = proposed(desk, 1), proposed(desk, 2, action=None)
    desk.outcome(rule.id, {"person 0": 0.5})
    first, second, third = (json.loads(line) for line in to_dsjson(ledger, name))
    assert (first["_label_cost"], first["_label_probability"], first["_label_Action"]) == (-0.5, 0.6, 2)
    assert (first["a"], first["p"]) == ([2, 1, 3, 4], [0.6, 0.1, 0.2, 0.1])
    assert first["evenhand"]["probabilities"] == list(drawn.probabilities.values())
    assert first["evenhand"]["would_choose"] == drawn.would_choose
    assert second["_skipLearn"]
    assert second["evenhand"]["action"] == RULE
    assert third["_skipLearn"]
    assert third["evenhand"]["action"] is None
    assert third["p"] == list(untold.probabilities.values())


def test_another_desk_imports_what_was_learned(desk: Desk, ledger: Ledger, name: str, tmp_path: Path) -> None:
    """Outcomes of the really chosen, and each verdict with the gap that it was about."""
    for seed in range(3):
        one_day(desk, seed)
    file = tmp_path / "shadow.jsonl"
    file.write_text("\n".join(to_jsonl(ledger, name)))
    other = Desk.open("memory:", "other", **{**SHADOW, "shadow": False})
    report = import_jsonl(other, file)
    assert (report.outcomes, report.reviews, report.refused) == (3, 6, [])
    other.catch_up(wait=True)
    gaps = [sorted(one.projection.bandit.safeguards.log.verdicts().gaps.tolist()) for one in (desk, other)]
    assert gaps[0] == gaps[1]
    x = np.eye(D)
    assert np.array_equal(other.projection.bandit.reward.estimate(x), desk.projection.bandit.reward.estimate(x))


def test_an_explanation_says_whose_choice_it_was(desk: Desk) -> None:
    """Those chosen are the system's; verdicts on the system are quoted with their gap and their review."""
    review = None
    for seed in range(3):
        decision = proposed(desk, seed)
        review = desk.review(
            decision.id, "partial", unfair=[("person 0", "person 1")], subject="system", reviewer="Kim"
        )
    found = desk.explain(decision.id)
    assert found.shadow
    assert found.action == RULE
    assert [one.id for one in found.candidates if one.chosen] == ["person 0"]
    assert found.sentences[0].endswith("chose nobody. The system in force chose person 0.")
    quoted = {one for pair in found.binding_pairs for one in pair.shaped_by}
    assert review is not None
    assert (review.id, decision.id, 1.0) in {(one.review, one.decision, one.gap) for one in quoted}
    untold = desk.explain(proposed(desk, 7, action=None).id)
    assert untold.sentences[0].endswith("What the system in force did is not known yet.")
    assert not any(one.chosen for one in untold.candidates)


def test_a_switch_by_another_process_holds_at_once(desk: Desk, ledger: Ledger, name: str) -> None:
    """Whoever decides next does so in the new mode, though their process has not seen the switch."""
    other = Desk.open(ledger, name)
    proposed(desk, 0)
    other.switch("live")
    assert desk.settings.shadow  # as far as it knows
    live = desk.decide(people(np.random.default_rng(1)))
    assert not live.shadow
    assert live.chosen
    assert live.event.body["settings"] == other.head.settings
    assert replay(ledger, name).is_same


def test_snapshots_from_before_shadow_mode_are_read() -> None:
    """They know no modes: the desk was live all the time."""
    history = RoundHistory()
    history.outcome(0, {"a": 0.5})
    before = {field: value for field, value in history.state().items() if field not in ("modes", "system_rewards")}
    restored = RoundHistory.from_state(before)
    assert (restored.modes, restored.system_rewards.tolist()) == ([], [0.0, 0.0, 0.0])
    assert restored.shadow_numbers(5, 5) == []
