"""Over HTTP, candidates who do not fit are left out alone, if the request says so."""

from __future__ import annotations

import datetime
import math
from collections.abc import Iterator
from typing import Any

import pandas as pd
import polars as pl
import pytest

from evenhand.client import DeskClient, ServiceProblem
from evenhand.errors import ExtraColumns
from evenhand.schema import Category, Date, Number, Schema
from tests.support.running_service import ADMIN, Asking

SCHEMA = Schema(
    [
        Number("income", low=0, high=100),
        Category("job", ("nurse", "clerk"), other="other"),
        Date("since", low="2020-01-01", high="2020-12-31", missing="unknown"),
    ],
    carry=("branch",),
)
PEOPLE: list[dict[str, Any]] = [
    {"id": "ada", "features": {"income": 20, "job": "nurse", "since": "2020-03-01", "branch": "Bern"}},
    {"id": "bob", "features": {"income": 250, "job": "spy", "since": None, "branch": "Rome"}},
    {"id": "cyn", "features": {"income": None, "job": "clerk", "since": "2020-03-01", "branch": "Rome"}},
]
DECISIONS = "/api/desks/tables/decisions"


@pytest.fixture
def client(ask: Asking) -> Iterator[DeskClient]:
    """A client of the service, which has opened a desk with a Schema as it is."""
    with DeskClient(ask.url, ADMIN) as client:
        settings = client.open_desk("tables", schema=SCHEMA, seed=1)["settings"]
        assert settings["schema"] == SCHEMA.to_dict()
        yield client


def test_a_request_is_refused_with_the_ids(client: DeskClient) -> None:
    """The default: status 422, and a sentence for each candidate."""
    with pytest.raises(ServiceProblem) as caught:
        client.decide("tables", PEOPLE)
    assert caught.value.status == 422
    assert "candidate bob: income must be a number from 0 to 100, got 250" in str(caught.value)
    assert "candidate cyn: income must be a number from 0 to 100, got no value" in str(caught.value)


def test_the_response_names_who_was_left_out(client: DeskClient, ask: Asking) -> None:
    """Skip and clip: the others are decided on; the same request with the same key has the same response."""
    made = client.decide("tables", PEOPLE, on_invalid="skip", key="one")
    assert made["candidates"] == ["ada"]
    assert made["left_out"] == [
        {"id": "bob", "reasons": ["income must be a number from 0 to 100, got 250"]},
        {"id": "cyn", "reasons": ["income must be a number from 0 to 100, got no value"]},
    ]
    assert made["counted_as"] == []
    assert client.decide("tables", PEOPLE, on_invalid="skip", key="one") == made
    clipped = client.decide("tables", PEOPLE, on_invalid="clip")
    assert clipped["candidates"] == ["ada", "bob"]
    assert clipped["counted_as"] == [
        {"id": "bob", "feature": "income", "value": 100.0},
        {"id": "bob", "feature": "job", "value": "other"},
    ]
    plain = ask("POST", DECISIONS, {"candidates": PEOPLE[:1]}).json()
    assert (plain["left_out"], plain["counted_as"]) == ([], [])


def test_the_field_is_checked(ask: Asking, client: DeskClient) -> None:
    """Another word is refused before anything is decided."""
    refused = ask("POST", DECISIONS, {"candidates": PEOPLE, "on_invalid": "drop"})
    assert refused.status_code == 422
    assert refused.json()["detail"] == "on_invalid must be 'refuse', 'skip' or 'clip', got 'drop'"


def test_reviewers_see_values_as_given_and_nothing_that_is_carried(client: DeskClient, ask: Asking) -> None:
    """The record has what was sent; what is carried, and hidden attributes in reasons, are not for reviewers."""
    ask.token("kim", ["review"])
    made = client.decide("tables", PEOPLE, on_invalid="clip")

    def body(by: str) -> dict[str, Any]:
        found: dict[str, Any] = ask("GET", f"{DECISIONS}/{made['id']}", by=by).json()["record"]["body"]
        return found

    assert body("kim")["features"][1] == {"income": 250, "job": "spy", "since": None}
    assert "carried" not in body("kim")
    assert body("admin")["carried"] == [{"branch": "Bern"}, {"branch": "Rome"}]
    client.change_settings("tables", {"reviewing": {"hidden": ["income"]}})
    shown = body("kim")
    assert not {"left_out", "counted_as", "carried", "contexts"} & set(shown)
    assert shown["features"][1] == {"job": "spy", "since": None}
    page = ask("GET", f"{DECISIONS}/{made['id']}", by="kim").text
    assert "250" not in page
    assert "got no value" not in page


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_the_client_takes_a_frame(client: DeskClient, make: Any) -> None:
    """Rows are candidates: ids by the column "id", gaps as null, dates in ISO form; the same decision as from dicts."""
    frame = make(
        {
            "id": ["ada", "bob", "cyn"],
            "income": [20.0, 250.0, float("nan")],
            "job": ["nurse", "spy", "clerk"],
            "since": [datetime.datetime(2020, 3, 1), None, datetime.datetime(2020, 3, 1)],
            "branch": ["Bern", "Rome", None],
        }
    )
    made, same = (client.decide("tables", people, on_invalid="clip") for people in (frame, PEOPLE))
    assert made["candidates"] == same["candidates"] == ["ada", "bob"]
    assert made["left_out"] == same["left_out"]
    assert made["counted_as"] == same["counted_as"]


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_other_columns_of_a_frame_are_named_and_not_sent(client: DeskClient, make: Any) -> None:
    """As at a desk in this process. Keys of dicts may be misspelt: they are refused."""
    people = [{"id": one["id"], **one["features"], "shoe size": 39, "x": "y"} for one in PEOPLE[:1]]
    with pytest.warns(ExtraColumns, match="not used: shoe size, x$"):
        assert client.decide("tables", make(people))["candidates"] == ["ada"]
    with pytest.raises(ServiceProblem, match="unknown feature 'shoe size'"):
        client.decide("tables", [{"id": "ada", "features": PEOPLE[0]["features"] | {"shoe size": 39}}])


def test_nan_in_a_dict_is_a_missing_value(client: DeskClient) -> None:
    """`frame.to_dict("records")` has it, and JSON has none; who must have a value is left out with the reason."""
    people = [PEOPLE[0], {"id": "kim", "features": PEOPLE[0]["features"] | {"income": math.nan}}]
    made = client.decide("tables", people, on_invalid="skip")
    assert [one["id"] for one in made["left_out"]] == ["kim"]
    assert "got no value" in made["left_out"][0]["reasons"][0]


def test_a_frame_may_have_its_ids_in_the_index(client: DeskClient) -> None:
    """As at a desk in this process."""
    frame = pd.DataFrame([one["features"] for one in PEOPLE[:1]], index=["ada"])
    assert client.decide("tables", frame)["candidates"] == ["ada"]
