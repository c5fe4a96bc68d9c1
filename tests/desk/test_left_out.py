"""Candidates who do not fit are left out alone: the event names them, the others are decided on, replay is exact."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from evenhand.desk import Decide, Desk
from evenhand.desk.replay import replay
from evenhand.errors import EvenhandError, IdempotencyConflict, InvalidInput
from evenhand.ledger.verify import verify
from evenhand.review.display import features_of, rows_of
from evenhand.schema import Category, Number, Schema, YesNo

SCHEMA = Schema(
    [
        Number("income", low=0, high=100, unit="EUR"),
        Category("job", ("nurse", "clerk"), other="other"),
        YesNo("member", missing="unknown"),
    ],
    carry=("branch",),
)
PEOPLE: list[dict[str, Any]] = [
    {"id": "ada", "features": {"income": 20, "job": "nurse", "member": True, "branch": "Bern"}},
    {"id": "bob", "features": {"income": 250, "job": "spy", "member": None, "branch": "Rome"}},
    {"id": "cyn", "features": {"income": 80, "job": "clerk", "member": False}},
    {"id": "dan", "features": {"income": "much", "job": "clerk", "member": False}},
]


def opened(**settings: Any) -> Desk:
    """A desk in memory."""
    return Desk.open("memory:", "loans", **({"schema": SCHEMA, "seed": 1} | settings))


def test_refuse_names_candidates_by_id_and_records_nothing() -> None:
    """The default, as before: nothing is decided, and the error names both, with the reasons."""
    with opened() as desk:
        with pytest.raises(InvalidInput) as caught:
            desk.decide(PEOPLE)
        assert desk.head.decisions == 0
    assert str(caught.value).split("\n")[:2] == [
        "candidate bob: income must be a number from 0 to 100 EUR, got 250",
        "candidate dan: income must be a number from 0 to 100 EUR, got 'much'",
    ]


def test_skip_decides_on_the_others_as_if_alone() -> None:
    """The same lottery gives the same decision among those who fit; the event says who was left out, and why."""
    with opened() as desk, opened() as alone:
        made, same = desk.decide(PEOPLE, on_invalid="skip"), alone.decide([PEOPLE[0], PEOPLE[2]])
        assert made.probabilities == same.probabilities
        assert made.chosen == same.chosen
        assert made.left_out == {
            "bob": ["income must be a number from 0 to 100 EUR, got 250"],
            "dan": ["income must be a number from 0 to 100 EUR, got 'much'"],
        }
        assert "Candidate bob was left out: income must be a number" in "\n".join(desk.explain(made.id).sentences)
        assert "left out: bob: income must be" in str(made)
        assert not {"left_out", "counted_as"} & set(same.event.body)


def test_clip_counts_and_records_and_shows_values_as_given() -> None:
    """What counts as another is in the event; the features there, and on the review page, are those that were given."""
    with opened() as desk:
        made = desk.decide(PEOPLE, on_invalid="clip")
        body = made.event.body
        assert (made.candidates, list(made.left_out)) == (["ada", "bob", "cyn"], ["dan"])
        assert made.counted_as == [
            {"id": "bob", "feature": "income", "value": 100.0},
            {"id": "bob", "feature": "job", "value": "other"},
        ]
        assert str(made).endswith("2 values counted as another: see counted_as")
        np.testing.assert_array_equal(
            body["contexts"][1], SCHEMA.encode([{"income": 100, "job": "other", "member": None}])[0]
        )
        assert body["carried"] == [{"branch": "Bern"}, {"branch": "Rome"}, {"branch": None}]
        ada, bob = features_of(body, ["ada", "bob"], desk.settings)
        shown = {row["name"]: (row["left"], row["right"]) for row in rows_of(ada, bob, desk.settings, [])}
        assert shown == {"income": ("20 EUR", "250 EUR"), "job": ("nurse", "spy"), "member": ("yes", "not known")}


@pytest.mark.parametrize("mode", ["skip", "clip"])
def test_replay_stays_exact(mode: Any) -> None:
    """Decisions with people left out are made again to the bit, reviews of them are learned, and the chain holds."""
    with opened(capacity=2) as desk:
        for _ in range(3):
            made = desk.decide(PEOPLE, on_invalid=mode)
            desk.review(made.id, unfair=[("ada", "cyn")], reviewer="kim")
            desk.outcome(made.id, dict.fromkeys(made.chosen, 0.5))
        replayed = replay(desk.ledger, "loans")
        assert (replayed.is_same, replayed.decisions) == (True, 3)
        assert verify(desk.ledger, "loans").decisions == 3


def test_one_candidate_left_out_may_not_be_reviewed() -> None:
    """Who took no part is no candidate of the decision."""
    with opened() as desk:
        made = desk.decide(PEOPLE, on_invalid="skip")
        with pytest.raises(EvenhandError, match="unknown candidate 'bob'"):
            desk.review(made.id, unfair=[("ada", "bob")])


def test_the_same_key_means_the_same_people() -> None:
    """Sent again it is the same event; another mode, or another person left out, is another command."""
    with opened() as desk:
        first = desk.decide(PEOPLE, on_invalid="skip", idempotency_key="k")
        assert desk.decide(PEOPLE, on_invalid="skip", idempotency_key="k").id == first.id
        with pytest.raises(IdempotencyConflict):
            desk.decide(PEOPLE, on_invalid="clip", idempotency_key="k")
        with pytest.raises(IdempotencyConflict):
            desk.decide(PEOPLE[:3], on_invalid="skip", idempotency_key="k")


@pytest.mark.parametrize(
    ("settings", "people", "reason"),
    [
        (
            {"n_features": 2},
            [("a", [0.1, 0.2]), ("b", [3.0, 4.0])],
            "the context must be 2 finite numbers of norm <= 1, got a norm of 5",
        ),
        (
            {"n_features": 2},
            [("a", [0.1, 0.2]), ("b", [0.1])],
            "the context must be 2 finite numbers of norm <= 1, got 1",
        ),
        (
            {"n_features": 2},
            [("a", [0.1, 0.2]), ("b", [0.1, float("nan")])],
            "the context must be 2 finite numbers of norm <= 1, got nan in it",
        ),
        (
            {"features": ["x", "y"]},
            [("a", {"x": 0.1, "y": 0.2}), ("b", {"x": 0.1, "z": 0.2})],
            "the features must be x, y, got x, z",
        ),
        (
            {"features": ["x", "y"]},
            [("a", {"x": 0.1, "y": 0.2}), ("b", {"x": 0.1, "y": "?"})],
            "the context must be 2 finite numbers of norm <= 1, got '?' in it",
        ),
    ],
)
@pytest.mark.parametrize("mode", ["skip", "clip"])
def test_desks_without_a_schema_leave_out_too(settings: Any, people: Any, reason: str, mode: Any) -> None:
    """A context that is none concerns one candidate; there is no range to clip to."""
    field = "context" if "n_features" in settings else "features"
    entries = [{"id": name, field: value} for name, value in people]
    with Desk.open("memory:", "plain", seed=1, **settings) as desk:
        made = desk.decide(entries, on_invalid=mode)
        assert (made.candidates, made.left_out) == (["a"], {"b": [reason]})
        assert len(made.event.body.get("features", [None])) == 1
        with pytest.raises(EvenhandError, match="at least one candidate must fit, got none of 1: b: "):
            desk.decide(entries[1:], on_invalid=mode)
        with pytest.raises(EvenhandError):
            desk.decide(entries)


def test_rows_of_arrays_and_frames_are_left_out_by_number_and_index() -> None:
    """An array numbers its candidates, a frame has an index; numbers beyond the unit ball concern one of them."""
    rows = np.array([[0.1, 0.2], [3.0, 4.0], [0.3, 0.1]])
    with Desk.open("memory:", "plain", n_features=2, seed=1) as desk:
        assert list(desk.decide(rows, on_invalid="skip").left_out) == ["1"]
        assert list(desk.decide(pd.DataFrame(rows, index=["x", "y", "z"]), on_invalid="skip").left_out) == ["y"]


def test_an_unknown_mode_is_refused() -> None:
    """Nothing is guessed."""
    with opened() as desk:
        (error,) = desk.execute([Decide(PEOPLE, "drop")])  # type: ignore[arg-type]
        assert str(error) == "on_invalid must be 'refuse', 'skip' or 'clip', got 'drop'"


def test_ids_may_come_from_a_carried_column() -> None:
    """A frame without an index of its own, such as one of polars or from CSV."""
    schema = Schema([Number("income", low=0, high=100)], carry=("id",))
    with opened(schema=schema) as desk:
        made = desk.decide(pd.DataFrame({"id": ["x", "y"], "income": [3, 300]}), on_invalid="skip")
        assert (made.candidates, list(made.left_out)) == (["x"], ["y"])
