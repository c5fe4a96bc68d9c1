"""Every refusal names the field, what it must be and what was sent, at the desk and over HTTP."""

from __future__ import annotations

from typing import Any

import pytest

from evenhand.desk import Desk
from evenhand.errors import EvenhandError, InvalidInput
from tests.support.running_service import DECISIONS, Asking, is_problem

NAME = "1 to 100 letters, digits, dots, underscores and hyphens, a letter or digit first"


def one(**person: Any) -> dict[str, Any]:
    """A request for a decision about one candidate."""
    return {"candidates": [person]}


@pytest.mark.parametrize(
    ("path", "body", "detail"),
    [
        ("/api/desks", {"name": 5}, "name must be text, got 5"),
        ("/api/desks", {"name": "a b", "n_features": 2}, f"name must be {NAME}, got 'a b'"),
        (
            "/api/desks",
            {"name": "x", "structure": "round"},
            "structure must be 'auto', 'full' or 'diagonal', got 'round'",
        ),
        ("/api/desks", {"name": "x", "capacity": "1"}, "capacity must be a number, got '1'"),
        ("/api/desks", {"name": "x", "epsilon": 3}, "epsilon must be <= 1, got 3"),
        ("/api/desks", {"name": "x", "colour": 3}, "unknown field 'colour'; the body may have name, n_features,"),
        ("/api/desks", {"name": "x", "reward": {"kind": "Boosted"}}, "reward.kind must be 'RidgeUCB', 'LogisticUCB', "),
        ("/api/desks", {"name": "x", "reward": {"kind": "Predictor", "modle": ""}}, "unknown field 'reward.modle'"),
        (
            "/api/desks",
            {"name": "x", "reward": {"kind": "Predictor", "model": "e" * 6_000_000}},
            "reward.model must be",
        ),
        ("/api/desks", {"name": "x", "reward": {"kind": "KnownReward", "theta": [1, "a"]}}, "reward.theta[1] must be"),
        (
            "/api/desks",
            {"name": "x", "reward": {"kind": "Predictor", "width": []}},
            "reward.width must be a number or text, got []",
        ),
        ("/api/desks", {}, "name is required"),
        ("/api/desks", [], "the body must be an object, got []"),
        (DECISIONS, one(id="a", context=[0, "1"]), "candidates[0].context[1] must be a number, got '1'"),
        (DECISIONS, one(id="", context=[0, 1]), "candidates[0].id must be at least 1 character long, got ''"),
        (DECISIONS, one(context=[0, 1]), "candidates[0].id is required"),
        (
            DECISIONS,
            one(id="a", features={"b": 1, "x": []}),
            "candidates[0].features.x must be a number or text or",
        ),
        (DECISIONS, one(id="a", context=[0, 1], floor=0.2), "unknown field 'candidates[0].floor'"),
        (DECISIONS, one(id="a"), 'candidate 0 must be {"id": ..., "context": [...]}'),
        (DECISIONS, {"candidates": []}, "candidates must be at least 1 entry long, got []"),
        ("outcomes", {"rewards": {"c0": 1.0, "c1": "x"}}, "rewards.c1 must be a number, got 'x'"),
        ("outcomes", {"rewards": {"": 1.0}}, "a key of rewards must be at least 1 character long, got ''"),
        ("outcomes", {"rewards": {"c9": 1.0}}, "candidate 'c9' was not chosen; chosen were ['c"),
        (
            "reviews",
            {"kind": "full"},
            "kind must be 'complete', 'partial', 'one_bit', 'ratings' or 'comparisons', got 'full'",
        ),
        ("reviews", {"kind": "partial", "unfair": [["c0"]]}, 'unfair[0] must be at least 2 entries long, got ["c0"]'),
        (
            "reviews",
            {"kind": "partial", "unfair": [["c0", "c0"]]},
            "unfair must be pairs of two different candidates",
        ),
        (
            "reviews",
            {"kind": "partial", "fair": [["c0", "c9"]]},
            "unknown candidate 'c9'; the candidates of this decision are",
        ),
        ("reviews", {"kind": "complete", "fair": [["c0", "c1"]]}, "fair must be empty in a complete review"),
        ("reviews", {"kind": "complete", "any_unfair": True}, "any_unfair must be None in a complete review"),
        (
            "reviews",
            {"kind": "one_bit", "any_unfair": True, "unfair": [["c0", "c1"]]},
            "unfair must be empty in a one_bit review",
        ),
        ("reviews", {"kind": "one_bit"}, "any_unfair must be True or False, got None"),
        (
            "reviews",
            {"kind": "partial", "unfair": [["c0", "c1"]], "fair": [["c1", "c0"]]},
            "a pair must be either fair or unfair",
        ),
        ("overrides", {"chosen": [1]}, "chosen[0] must be text, got 1"),
        ("overrides", {"chosen": ["c0", "c1"]}, "chosen must be at most 1 candidates"),
        (
            "/api/desks/loans/answers",
            {"x": [0.1, 0.2], "y": [0.3], "gap": 0.1, "unfair": True},
            "y must be a list of 2 finite numbers",
        ),
        (
            "/api/desks/loans/answers",
            {"x": [0], "y": [0], "gap": 2, "unfair": True},
            "gap must be <= 1, got 2",
        ),
        (
            "/api/desks/loans/answers",
            {"x": [0], "y": [0], "gap": 1, "unfair": 1},
            "unfair must be true or false, got 1",
        ),
    ],
)
def test_a_problem_is_a_sentence(ask: Asking, path: str, body: Any, detail: str) -> None:
    """The field, what it must be, what was sent; and no name of a type that only programmers know."""
    where = path if path.startswith("/") else f"{DECISIONS}/{ask.decide()['id']}/{path}"
    sentence = is_problem(ask("POST", where, body), 422, "invalid")["detail"]
    assert sentence.startswith(detail)


def test_what_is_there_already_is_called_so(ask: Asking) -> None:
    """The title of a conflict is true of every conflict."""
    made = ask.decide()
    rewards = {"rewards": {made["chosen"][0]: 1.0}}
    assert ask("POST", f"{DECISIONS}/{made['id']}/outcomes", rewards).status_code == 201
    again = is_problem(ask("POST", f"{DECISIONS}/{made['id']}/outcomes", rewards), 409, "conflict")
    assert again["title"] == "The ledger holds this already"


@pytest.mark.parametrize("name", ["a b", "", "-a", "a/b", "é", "a" * 101, "a\n", 5, None])
def test_one_rule_for_names_of_desks(ask: Asking, name: Any) -> None:
    """What HTTP refuses the library refuses, with the same words; what one takes the other takes."""
    with pytest.raises(InvalidInput, match="must be"):
        Desk.open("memory:", name, n_features=2)
    is_problem(ask("POST", "/api/desks", {"name": name, "n_features": 2}), 422, "invalid")
    for fine in ("a", "A.b_c-9", "0" * 100):
        with Desk.open("memory:", fine, n_features=2):
            assert ask("POST", "/api/desks", {"name": fine, "n_features": 2}).status_code == 201


@pytest.mark.parametrize(
    ("candidates", "sentence"),
    [
        ([["a", "b"]], "feature 0 of candidate 0 is 'a'"),
        ([[0.1, 0.2], [0.1]], "candidate 1 has 1 features, candidate 0 has 2"),
        ([[0.1, None]], "feature 1 of candidate 0 is None"),
        ([[0.1, 0.2], 5], "candidate 1 is 5, not a list of numbers"),
        ([{"id": "a", "context": [0, "x"]}], "feature 1 of candidate 0 is 'x'"),
        ([[1.7e308, 1.7e308]], "contexts must have norm <= 1, context 0 has inf"),  # numpy would warn
    ],
)
def test_contexts_that_are_no_numbers_are_shown(candidates: Any, sentence: str) -> None:
    """Which value of whom, in place of the name of a type of numpy's, or of a warning."""
    with Desk.open("memory:", "loans", n_features=2) as desk, pytest.raises(InvalidInput) as raised:
        desk.decide(candidates)
    assert sentence in str(raised.value)
    assert "dtype" not in str(raised.value)
    assert "<U" not in str(raised.value)


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"reviewer_error": 0.7}, "reviewer_error must be a number >= 0 and < 0.5"),
        ({"target": "often"}, "target must be 'flagged' or 'estimated', got 'often'"),
        ({"schema": 5}, "schema must be an evenhand.Schema"),
        ({"n_features": "two"}, "n_features must be a whole number from 1 to 200, got 'two'"),
        ({"n_features": 101, "structure": "full"}, "n_features must be at most 100 with structure 'full'"),
        *(
            (
                {"n_features": 46, "metric": metric},
                f"n_features must be at most 15 with metric '{metric}' and structure 'auto', got 46",
            )
            for metric in ("ProjectedVolume", "Guarded", "VersionSpace")
        ),
        (
            {"n_features": None, "features": [f"f{i}" for i in range(201)], "structure": "diagonal"},
            "n_features must be a whole number from 1 to 200, got 201",
        ),
    ],
)
def test_settings_are_called_by_their_names(wrong: dict[str, Any], field: str) -> None:
    """Not by what the part is called that they are for."""
    with pytest.raises(EvenhandError, match=field):
        Desk.open("memory:", "loans", **{"n_features": 2, **wrong})


def test_an_unsure_answer_is_taken(ask: Asking) -> None:
    """null says unsure: it is kept and teaches nothing; without a word the answer is refused."""
    body = {"x": [0.1, 0.2], "y": [0.3, 0.1], "gap": 0.4, "unfair": None}
    before = ask("GET", "/api/desks/loans/metric").json()["matrix"]
    assert ask("POST", "/api/desks/loans/answers", body).status_code == 201
    last = ask("GET", "/api/desks/loans/events").json()["events"][-1]
    assert (last["kind"], last["body"]["unfair"]) == ("answer", None)
    assert ask("GET", "/api/desks/loans/metric").json()["matrix"] == before
    del body["unfair"]
    is_problem(ask("POST", "/api/desks/loans/answers", body), 422, "invalid")


@pytest.mark.parametrize("capacity", [1_000_001, 2**64 - 1])
def test_a_capacity_has_one_limit(ask: Asking, capacity: int) -> None:
    """For opening a desk and for changing one."""
    is_problem(ask("POST", "/api/desks", {"name": "wide", "n_features": 2, "capacity": capacity}), 422, "invalid")
    is_problem(ask("POST", "/api/desks/loans/settings", {"changes": {"capacity": capacity}}), 422, "invalid")
    assert ask("POST", "/api/desks/loans/settings", {"changes": {"capacity": 1_000_000}}).status_code == 201
