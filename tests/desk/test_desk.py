"""What a desk does with commands, over every kind of ledger."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args, get_type_hints

import numpy as np
import pandas as pd
import pytest

from evenhand.desk import (
    AnswerQuestion,
    ChangeSettings,
    Decide,
    Desk,
    Event,
    GiveReview,
    Ledger,
    Override,
    RecordOutcome,
    Withdraw,
)
from evenhand.desk.commands import Command, CommandFields
from evenhand.desk.event_records import decision_of
from evenhand.desk.lottery import keyed_draw
from evenhand.desk.metric_settings import MetricName
from evenhand.desk.settings import DeskSettings
from evenhand.errors import (
    AlreadyRecorded,
    ContradictoryReview,
    EvenhandError,
    ExtraColumns,
    IdempotencyConflict,
    InvalidInput,
    NotChosen,
    UnknownPair,
    UnknownRecord,
    UnsupportedReview,
)
from evenhand.ledger.verify import verify
from evenhand.schema import Category, Number, Schema
from tests.support.desk_play import D, done, outcome_of, people, play, review_of


@pytest.fixture
def desk(ledger: Ledger, name: str) -> Iterator[Desk]:
    """A new desk on every kind of ledger."""
    with Desk.open(ledger, name, n_features=D, seed=1) as opened:
        yield opened


def decided(desk: Desk, rng: np.random.Generator) -> Event:
    """A decision that chose somebody."""
    while True:
        (event,) = done(desk.execute([Decide(people(rng))]))
        if event.body["chosen"]:
            return event


def test_a_day_at_the_desk(desk: Desk) -> None:
    """Every kind of command becomes a line; the chain is whole; the state has learned."""
    rng = np.random.default_rng(0)
    event = decided(desk, rng)
    outcome = outcome_of(event, rng)
    assert outcome is not None
    review = done(desk.execute([outcome, review_of(event)]))[1]
    done(
        desk.execute(
            [
                Withdraw(review.id, "a slip"),
                Override(event.id, ["person 0"], "a promise"),
                ChangeSettings({"capacity": 2}),
                AnswerQuestion([0.5, 0, 0], [0, 0.5, 0], 0.2, True, "Kim"),
            ]
        )
    )
    desk.catch_up(wait=True)
    kinds = [line.kind for line in desk.events()]
    assert kinds[-6:] == ["outcome", "review", "withdrawal", "override", "settings", "answer"]
    assert verify(desk.ledger, desk.name).seq == len(kinds) == desk.head.seq == desk.projection.seq
    assert desk.settings.capacity == 2
    assert desk.decision(event.id)["followed_by"][-1]["kind"] == "override"


def test_a_decision_in_the_ledger_is_the_decision_to_the_bit(desk: Desk) -> None:
    """What is read back is what the published bandit proposes for this number and these draws."""
    play(desk, 3)
    rng = np.random.default_rng(5)
    before = desk.projection
    event = done(desk.execute([Decide(people(rng, k=6))]))[0]
    draw = keyed_draw(bytes.fromhex(event.body["lottery"]["key"]))
    again = before.bandit.propose(event.body["contexts"], number=event.body["number"], rng=draw.rng)
    reported = decision_of(event.body)
    assert reported.id == again.id
    assert reported.chosen == again.chosen
    assert np.array_equal(reported.probabilities, again.probabilities)
    assert event.body["state"] == before.seq


def test_one_bad_command_does_not_stop_the_others(desk: Desk) -> None:
    """Each command has its own result; errors write nothing."""
    rng = np.random.default_rng(0)
    event = decided(desk, rng)
    before = desk.head.seq
    bad: list[Any] = [
        Decide([[2.0, 0, 0]]),
        Decide([{"id": "a", "context": [1, 0]}]),
        Decide([{"id": "a", "context": [1, 0, 0]}, {"id": "a", "context": [0, 1, 0]}]),
        Decide([{"id": "a\x00", "context": [1, 0, 0]}]),
        Decide([{"id": "a", "features": {"income": 3}}]),
        Decide("nonsense"),
        Decide([]),
        "no command",
        RecordOutcome("dec_nothing", {"a": 1.0}),
        RecordOutcome("dec\x00", {"a": 1.0}),
        RecordOutcome(event.id, {"nobody": 1.0}),
        RecordOutcome(event.id, {event.body["chosen"][0]: float("nan")}),
        RecordOutcome(event.id, {event.body["chosen"][0]: 1e9}),
        RecordOutcome(event.id, {}),
        GiveReview(event.id, "complete", [("person 0", "person 0")]),
        GiveReview(event.id, "complete", [("person 0", "person 77")]),
        GiveReview(event.id, "partial", [("person 0", "person 1")], [("person 1", "person 0")]),
        GiveReview(event.id, "thorough"),
        GiveReview(event.id, "one_bit"),
        GiveReview(event.id, "complete", [7]),  # type: ignore[list-item]
        GiveReview(event.id, circumstances={"seen": object()}),
        GiveReview(event.id, circumstances={"seen": "\ud800"}),
        Withdraw(event.id),
        Withdraw(7),  # type: ignore[arg-type]
        Override(event.id, ["person 77"]),
        ChangeSettings({"seed": 3}),
        ChangeSettings({"capacity": 0}),
        AnswerQuestion([2, 0, 0], [0, 0, 0], 0.3, True),
        AnswerQuestion([0, 0, 0], [0, 0, 0], 1.3, True),
    ]
    results = desk.execute([*bad, Decide(people(rng), actor="the good one")])
    assert [index for index, result in enumerate(results[:-1]) if not isinstance(result, EvenhandError)] == []
    assert done(results[-1:])[0].actor == "the good one"
    assert desk.head.seq == before + 1
    kinds = {type(result) for result in results[:-1]}
    assert {InvalidInput, UnknownRecord, NotChosen, UnknownPair, ContradictoryReview} <= kinds


def test_the_same_key_gives_the_same_event(desk: Desk) -> None:
    """In one batch, in the next one, and from another desk object; another command of the actor is a conflict."""
    rng = np.random.default_rng(0)
    command = Decide(people(rng), idempotency_key="once")
    first, second = done(desk.execute([command, command]))
    (third,) = done(desk.execute([command]))
    with Desk.open(desk.ledger, desk.name) as other:
        (fourth,) = done(other.execute([command]))
        (conflict,) = other.execute([Decide(people(rng), idempotency_key="once")])
        (other_kind,) = other.execute([ChangeSettings({"capacity": 2}, idempotency_key="once")])
    assert first == second == third == fourth
    assert all(isinstance(result, IdempotencyConflict) for result in (conflict, other_kind))
    assert desk.head.decisions == 1


def test_a_command_that_failed_may_use_its_key_again(desk: Desk) -> None:
    """An error records nothing, so its key is free."""
    assert isinstance(desk.execute([Decide([[9.0, 0, 0]], idempotency_key="k")])[0], InvalidInput)
    assert done(desk.execute([Decide([[0.9, 0, 0]], idempotency_key="k")]))


def test_an_outcome_is_recorded_once(desk: Desk) -> None:
    """Of a chosen candidate there is one outcome, also within a batch."""
    rng = np.random.default_rng(0)
    event = decided(desk, rng)
    outcome = RecordOutcome(event.id, {event.body["chosen"][0]: 0.5})
    first, second = desk.execute([outcome, outcome])
    assert isinstance(first, Event)
    assert isinstance(second, AlreadyRecorded)
    assert isinstance(desk.execute([outcome])[0], AlreadyRecorded)


def test_a_review_is_recorded_once_unless_asked_for_again(desk: Desk) -> None:
    """The same review again is refused; as a repeat it is recorded, and teaches nothing more."""
    event = decided(desk, np.random.default_rng(0))
    review = review_of(event)
    done(desk.execute([review]))
    assert isinstance(desk.execute([review])[0], AlreadyRecorded)
    desk.catch_up(wait=True)
    before = desk.projection.bandit.metric.matrix()
    repeat = GiveReview(event.id, "complete", review.unfair, reviewer="Kim", circumstances={"repeat": True})
    done(desk.execute([repeat]))
    desk.catch_up(wait=True)
    assert desk.projection.seq == desk.head.seq
    assert np.array_equal(desk.projection.bandit.metric.matrix(), before)


def test_a_review_is_withdrawn_once_and_may_be_recorded_again(desk: Desk) -> None:
    """After a withdrawal the same review can be given anew; a second withdrawal is refused."""
    event = decided(desk, np.random.default_rng(0))
    (recorded,) = done(desk.execute([review_of(event)]))
    results = desk.execute([Withdraw(recorded.id), Withdraw(recorded.id)])
    assert isinstance(results[0], Event)
    assert isinstance(results[1], AlreadyRecorded)
    assert isinstance(desk.execute([Withdraw(recorded.id)])[0], AlreadyRecorded)
    assert done(desk.execute([review_of(event)]))


def test_a_superseded_review_cannot_be_withdrawn(desk: Desk) -> None:
    """A review that replaces another takes it back."""
    event = decided(desk, np.random.default_rng(0))
    (recorded,) = done(desk.execute([review_of(event)]))
    better = GiveReview(event.id, "complete", [], reviewer="Kim", supersedes=recorded.id)
    assert done(desk.execute([better]))
    assert isinstance(desk.execute([Withdraw(recorded.id)])[0], AlreadyRecorded)
    other = decided(desk, np.random.default_rng(1))
    elsewhere = GiveReview(other.id, "partial", [], reviewer="Kim", supersedes=desk.events()[-2].id)
    assert isinstance(desk.execute([elsewhere])[0], EvenhandError)


def test_new_settings_hold_for_the_next_decision(desk: Desk) -> None:
    """Also before they are projected, also in the same batch, also in another desk object."""
    rng = np.random.default_rng(0)
    with Desk.open(desk.ledger, desk.name) as other:
        wanted = [Decide(people(rng)), ChangeSettings({"capacity": None}), Decide(people(rng))]
        before, _, after = done(desk.execute(wanted))
        (elsewhere,) = done(other.execute([Decide(people(rng))]))
        assert other.settings.capacity is None
    assert [event.body["capacity"] for event in (before, after, elsewhere)] == [1, None, None]
    assert after.body["settings"] == elsewhere.body["settings"] == after.seq - 1


def test_one_bit_that_the_learner_cannot_use_is_refused(ledger: Ledger, name: str) -> None:
    """ProjectedVolume needs names of pairs; a desk says so when the review is sent, not when it is projected."""
    with Desk.open(ledger, name, n_features=D, seed=1, metric="ProjectedVolume") as desk:
        event = decided(desk, np.random.default_rng(0))
        assert isinstance(desk.execute([GiveReview(event.id, "one_bit", any_unfair=True)])[0], UnsupportedReview)
        assert done(desk.execute([GiveReview(event.id, "one_bit", any_unfair=False)]))


@pytest.mark.parametrize("metric", get_args(MetricName))
def test_every_metric_learner_works_at_a_desk(metric: str) -> None:
    """A few days with each learner; the next desk object comes to the same state."""
    prior = {"prior": np.eye(D)} if metric == "KnownMetric" else {}
    with Desk.open("memory:", "loans", n_features=D, seed=1, metric=metric, epsilon=0.05, **prior) as desk:
        play(desk, 4)
        with Desk.open(desk.ledger, "loans") as again:
            again.catch_up(wait=True)
            assert np.array_equal(again.projection.bandit.metric.matrix(), desk.projection.bandit.metric.matrix())


def test_a_closed_desk_writes_nothing(ledger: Ledger, name: str) -> None:
    """What is asked of a desk that was closed is refused, and the ledger stays as it is, also one that stays open."""
    with Desk.open(ledger, name, n_features=D, seed=1) as desk:
        desk.decide(people(np.random.default_rng(0)))
    for late in (lambda: desk.decide(people(np.random.default_rng(0))), desk.catch_up, desk.project_in_background):
        with pytest.raises(InvalidInput, match="was closed; open it again"):
            late()
    assert desk.head.seq == 2


def test_a_reward_in_other_units_is_refused(desk: Desk) -> None:
    """A reward far beyond what is usual says so, with its candidate and what is allowed, and nothing is recorded."""
    decision = desk.decide(people(np.random.default_rng(0)))
    with pytest.raises(InvalidInput, match=r"must be from -20 to 20, got 1500\.0; divide rewards"):
        desk.outcome(decision.id, {decision.chosen[0]: 1500.0})
    assert desk.head.seq == 2


def test_what_is_hidden_stays_hidden(desk: Desk) -> None:
    """A change of one rule of reviewing leaves the others as they are; an empty list shows everything again."""
    desk.change_settings(reviewing={"ids": True, "session": 7})
    desk.change_settings(reviewing={"lease": 60})
    desk.change_settings(overlap=0.5)
    rules = desk.settings.reviewing
    assert (rules.ids, rules.session, rules.lease) == (True, 7, 60)
    with Desk.open("memory:", "named", features=["a", "b"], reviewing={"hidden": ["a"]}) as named:
        named.change_settings(reviewing={"lease": 60})
        assert named.settings.reviewing.hidden == ("a",)
        named.change_settings(reviewing={"hidden": []})
        assert not named.settings.reviewing.hidden


def test_opening_again_needs_the_same_settings(desk: Desk) -> None:
    """Other settings than it has are refused; the same, or none, are fine; an unknown desk needs some."""
    Desk.open(desk.ledger, desk.name, n_features=D, seed=1).close()
    for other in ({"n_features": D + 1}, {"n_features": D, "capacity": 2}, {"n_features": D, "seed": 2}):
        with pytest.raises(InvalidInput):
            Desk.open(desk.ledger, desk.name, **other)
    with pytest.raises(UnknownRecord):
        Desk.open(desk.ledger, desk.name + "'")
    for wrong in ({"n_features": 0}, {"capacity": 1}, {"n_features": 3, "metric": "Euclid"}, {"n_features": 3, "x": 1}):
        with pytest.raises(InvalidInput):
            Desk.open(desk.ledger, desk.name + "'", **wrong)


def test_candidates_by_name_and_by_schema(ledger: Ledger, name: str) -> None:
    """Named features, a schema, a data frame; what was given is in the record."""
    with Desk.open(ledger, name, features=["a", "b"]) as desk:
        made = desk.decide([{"id": "x", "features": {"b": 0.2, "a": 0.1}}, {"id": "y", "features": {"a": 0.3, "b": 0}}])
        assert made.event.body["contexts"] == [[0.1, 0.2], [0.3, 0.0]]
        assert made.event.body["features"][0] == {"a": 0.1, "b": 0.2}
        with pytest.raises(InvalidInput):
            desk.decide([{"id": "x", "features": {"a": 0.1}}])
    schema = Schema([Number("income", low=0, high=100), Category("purpose", levels=("car", "home"))])
    with Desk.open(ledger, name + "-2", schema=schema) as desk:
        frame = pd.DataFrame({"income": [10, 90], "purpose": ["car", "home"]}, index=["p", "q"])
        made = desk.decide(frame)
        assert made.candidates == ["p", "q"]
        assert np.allclose(made.event.body["contexts"], schema.encode(frame))
        assert made.event.body["schema"] == schema.digest
        assert desk.metric().sentences


def test_a_field_that_a_candidate_does_not_have_is_refused(desk: Desk) -> None:
    """A floor written beside the context would otherwise have no effect, and nobody would notice."""
    with pytest.raises(InvalidInput, match="candidate 1 must have an id, and a context or features, got 'floor' besi"):
        desk.decide([{"id": "x", "context": [0.1, 0.2]}, {"id": "y", "context": [0.1, 0.2], "floor": 0.3}])


def test_a_decision_in_place_of_its_id_is_refused(desk: Desk) -> None:
    """A bandit takes the decision, a desk its id; the sentence says so."""
    decision: Any = desk.decide(people(np.random.default_rng(0)))
    for call in (lambda: desk.outcome(decision, {"0": 1.0}), lambda: desk.explain(decision)):
        with pytest.raises(
            InvalidInput, match=r"must be the id of an? (decision|event), such as decision\.id, got Desk"
        ):
            call()


@pytest.mark.parametrize("url", [None, 3, Path("ledger.db"), "ledger.db"])
def test_what_is_no_database_is_refused(url: Any) -> None:
    """The sentence says how databases are named."""
    with pytest.raises(InvalidInput, match=r"database must be memory:, sqlite:///PATH or postgresql.*, got "):
        Desk.open(url, "loans", n_features=2)


def test_a_folder_is_no_database(tmp_path: Path) -> None:
    """The sentence names the folder."""
    with pytest.raises(InvalidInput, match=f"database must be a file, got the folder {re.escape(str(tmp_path))}"):
        Desk.open(f"sqlite:///{tmp_path}", "loans", n_features=2)


def test_threads_share_a_desk(desk: Desk) -> None:
    """Many threads at once: no number is given twice, none is lost, and the chain holds."""
    contexts = [people(np.random.default_rng(i)) for i in range(8)]
    results: list[Event] = []

    def work(i: int) -> None:
        for _ in range(5):
            results.extend(done(desk.execute([Decide(contexts[i]), Decide(contexts[i])])))

    desk.project_in_background()
    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(event.body["number"] for event in results) == list(range(80))
    assert verify(desk.ledger, desk.name).decisions == 80


def test_reviews_in_conflict_are_counted_not_warned(ledger: Ledger, name: str) -> None:
    """A warning of a projector would reach nobody: conflicts are counted in the projection."""
    rng = np.random.default_rng(0)
    x, y = people(rng)[0]["context"], people(rng)[1]["context"]
    answers = [AnswerQuestion(x, y, 0.3, True, f"r{i}") for i in range(30)]
    with Desk.open(ledger, name, n_features=D, seed=1, reviewer_error=0.001) as desk:
        done(desk.execute([*answers, AnswerQuestion(x, y, 0.99, False, "contrary")]))
        desk.catch_up(wait=True)
        assert desk.projection.bandit.conflicts >= 1
        assert desk.metric().reviews_in_conflict == desk.projection.bandit.conflicts


def test_people_who_err_are_found_out_by_default(ledger: Ledger, name: str) -> None:
    """Without a word about it a desk learns how often each reviewer errs, from answers on what is known."""
    rng = np.random.default_rng(0)
    x, y = people(rng)[0]["context"], people(rng)[1]["context"]
    reported = [(gap, who) for gap in rng.permutation(np.linspace(0.05, 0.95, 40)) for who in ("Ada", "Bob", "Cyn")]
    answers = [AnswerQuestion(x, y, gap, (gap > 0.5) != (who == "Cyn"), who) for gap, who in reported]
    with Desk.open(ledger, name, n_features=D, seed=1) as desk:
        done(desk.execute(answers))
        desk.catch_up(wait=True)
        rates = {who: report.error_rate for who, report in desk.projection.bandit.reviewers().items()}
    assert rates["Ada"] < 0.1
    assert rates["Bob"] < 0.1
    assert rates["Cyn"] > 0.5


def test_a_frame_is_read_by_its_columns() -> None:
    """Columns in another order mean the same; a column that is not there is refused: no debt passes for an income."""
    with Desk.open("memory:", "frames", features=["income", "debt"], capacity=1, seed=1) as desk:
        decision = desk.decide(pd.DataFrame({"debt": [0.9, 0.2], "income": [0.1, 0.3]}))
        record = desk.decision(decision.id)["body"]
        assert record["contexts"] == [[0.1, 0.9], [0.3, 0.2]]
        with pytest.raises(InvalidInput, match="must be income, debt, got debt, inc"):
            desk.decide(pd.DataFrame({"debt": [0.9, 0.2], "inc": [0.1, 0.3]}))
        with pytest.warns(ExtraColumns, match="are not used: name"):
            desk.decide(pd.DataFrame({"debt": [0.9, 0.2], "income": [0.1, 0.3], "name": ["Ada", "Bob"]}))


@pytest.mark.parametrize(
    ("wrong", "reported"),
    [
        ({"capacity": 2**64 - 1}, "capacity must be at most 1,000,000 or None, got 18446744073709551615"),
        (
            {"max_unfair_rounds": 2**53 + 1},
            "max_unfair_rounds must be at most 9,007,199,254,740,992 or None, got 9007199254740993",
        ),
        ({"reviewing": {"hidden": ["gender"]}}, "reviewing.hidden has unknown attributes gender"),
    ],
)
def test_what_may_not_be_opened_with_may_not_be_changed_to(wrong: dict[str, Any], reported: str) -> None:
    """One limit for both; a desk that has more from before opens, and its other settings can be changed."""
    with pytest.raises(InvalidInput, match=reported):
        Desk.open("memory:", "loans", n_features=2, **wrong)
    with Desk.open("memory:", "loans", n_features=2) as desk:
        with pytest.raises(InvalidInput, match=reported):
            desk.change_settings(**wrong)
        assert desk.head.seq == 1
        old = DeskSettings.from_dict({**desk.settings.to_dict(), **wrong})
    assert old.changed({"overlap": 0.5}).overlap == 0.5
    assert DeskSettings.from_dict(old.to_dict()) == old


def test_methods_take_the_fields_of_every_command() -> None:
    """What editors and type checkers are told of them is what a command has."""
    assert get_type_hints(CommandFields) == get_type_hints(Command)
