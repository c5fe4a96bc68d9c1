"""A ledger goes out to Vowpal Wabbit: it learns from what was seen, and no review is lost on the way."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evenhand.adapters.dsjson_ledger import to_dsjson
from evenhand.desk import Desk, Ledger
from evenhand.schema import Category, Number, Schema
from tests.support.desk_play import D


def exported_lines(desk: Desk) -> list[dict[str, Any]]:
    """The lines of a desk."""
    return [json.loads(line) for line in to_dsjson(desk.ledger, desk.name)]


def test_dsjson_lines_say_what_was_played(played: Desk) -> None:
    """Chosen first, probabilities in the same order, costs are rewards turned round, reviews ride along."""
    lines = [json.loads(line) for line in to_dsjson(played.ledger, played.name)]
    events = {event.id: event for event in played.events()}
    assert len(lines) == sum(len(event.body["chosen"]) for event in events.values() if event.kind == "decision")
    gone = {event.body["review"] for event in events.values() if event.kind == "withdrawal"}
    seen = set()
    for line in lines:
        body = events[line["EventId"]].body
        assert [body["probabilities"][action - 1] for action in line["a"]] == line["p"]
        assert body["candidates"][line["a"][0] - 1] in body["chosen"]
        assert line["_labelIndex"] == line["_label_Action"] - 1 == line["a"][0] - 1
        assert line["_label_cost"] == -line["o"][0]["v"]
        assert len(line["c"]["_multi"]) == len(line["a"])
        seen |= {review["id"] for review in line["evenhand"]["reviews"]}
    assert seen
    assert not seen & gone


def test_features_have_their_names(ledger: Ledger, name: str) -> None:
    """Those of the desk, the coordinates of its schema, or places where nobody named them."""
    purpose = Category("purpose", levels=("car", "house"))
    schema = Schema([Number("income", low=0, high=9), purpose])
    person = {"id": "a", "features": {"income": 3, "purpose": "car"}}
    named = {"id": "a", "context": [0.1, 0.2]}
    cases: list[tuple[dict[str, Any], dict[str, Any], set[str]]] = [
        ({"features": ["income", "debt"]}, named, {"income", "debt"}),
        ({"schema": schema}, person, set(schema.coordinates)),
        ({"n_features": 2}, named, {"0", "1"}),
    ]
    for number, (settings, somebody, names) in enumerate(cases):
        with Desk.open(ledger, f"{name}-{number}", seed=1, **settings) as desk:
            decision = desk.decide([somebody])
            (line,) = exported_lines(desk)
        reported = line["c"]["_multi"][0]["x"]
        assert set(reported) == names
        assert list(reported.values()) == decision.event.body["contexts"][0]


def chose_nobody(desk: Desk) -> Any:
    """A decision that chose nobody: whoever was chosen before brought a loss."""
    for _ in range(100):
        decision = desk.decide(0.9 * np.eye(D))
        if not decision.chosen:
            return decision
        desk.outcome(decision.id, {decision.chosen[0]: -1.0})
    raise AssertionError("somebody was chosen every time")


def test_nothing_is_lost_of_a_decision_that_chose_nobody(ledger: Ledger, name: str) -> None:
    """Its review rides along on a line that Vowpal Wabbit skips."""
    with Desk.open(ledger, name, n_features=D, seed=1) as desk:
        decision = chose_nobody(desk)
        review = desk.review(decision.id, "complete", unfair=[decision.candidates[:2]], reviewer="Kim")
        (line,) = (line for line in exported_lines(desk) if line["EventId"] == decision.id)
    assert line["_skipLearn"] is True
    assert "_label_cost" not in line
    assert [recorded["id"] for recorded in line["evenhand"]["reviews"]] == [review.id]
    assert line["p"] == [decision.event.body["probabilities"][action - 1] for action in line["a"]]


def test_overrides_ride_along_and_what_came_after_is_no_label(ledger: Ledger, name: str) -> None:
    """Also if somebody was drawn and kept: who was kept was not drawn."""
    with Desk.open(ledger, name, n_features=D, capacity=2, seed=1) as desk:
        decision = desk.decide(0.9 * np.eye(D))
        before, after = decision.chosen
        desk.outcome(decision.id, {before: 0.5})
        override = desk.override(decision.id, [after], "a document came late")
        desk.outcome(decision.id, {after: 0.2})
        lines = [line for line in exported_lines(desk) if line["evenhand"]["decision"] == decision.id]
    assert [line.get("_label_cost") for line in lines] == [-0.5, None]
    for line in lines:
        assert line["evenhand"]["overrides"] == [{"id": override.id, **override.body}]


def test_vowpal_wabbit_learns_from_labels_alone(tmp_path: Path) -> None:
    """Lines without a label, to be skipped, or with reviews leave its model as it is without them; names are used."""
    vowpalwabbit = pytest.importorskip("vowpalwabbit")
    url = f"sqlite:///{tmp_path}/ledger.db"
    with Desk.open(url, "loans", features=["income", "_debt", "years"], seed=1) as desk:
        desk.override(desk.decide(0.9 * np.eye(D)).id, [], "withdrawn")
        desk.decide(0.9 * np.eye(D))
        desk.review(chose_nobody(desk).id, "complete", reviewer="Kim")
        lines = list(to_dsjson(desk.ledger, desk.name))
    labelled = [line for line in lines if "_label_cost" in line]
    assert 0 < len(labelled) == len(lines) - 3

    def model(lines: list[str]) -> list[str]:
        data, text = tmp_path / "data.dsjson", tmp_path / "model.txt"
        data.write_text("\n".join(lines) + "\n")
        options = f"--dsjson --cb_explore_adf --noconstant --quiet -d {data} --invert_hash {text}"
        vowpalwabbit.Workspace(options).finish()
        return [line for line in text.read_text().splitlines() if line.startswith("x^")]

    learned = model(lines)
    assert learned == model(labelled)
    assert {line.split(":")[0] for line in learned} == {"x^income", "x^feature _debt", "x^years"}
