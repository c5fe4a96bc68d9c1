"""Floors, ceilings and shares over HTTP."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from evenhand.client import DeskClient, ServiceProblem
from tests.support.running_service import ADMIN, Asking

PEOPLE = [
    {"id": "ada", "context": [0.9, 0.1]},
    {"id": "bob", "context": [0.9, 0.1]},
    {"id": "cyn", "context": [-0.5, 0.8]},
]


@pytest.fixture
def client(ask: Asking) -> Iterator[DeskClient]:
    """A client of the service with a desk that decides in shares."""
    with DeskClient(ask.url, ADMIN) as client:
        opened = client.open_desk("lines", n_features=2, mode="shares", capacity=1.5, seed=1)["settings"]
        assert (opened["mode"], opened["capacity"]) == ("shares", 1.5)
        yield client


def test_bounds_are_kept_and_in_the_response(client: DeskClient) -> None:
    """By id, in order, or one for all; with the same key the same response."""
    client.open_desk("draws", n_features=2, seed=1)
    made = client.decide("draws", PEOPLE, lower={"cyn": 0.2}, upper=[0.5, 0.5, 1], key="one")
    assert (made["mode"], made["lower"], made["upper"]) == ("lottery", [0, 0, 0.2], [0.5, 0.5, 1])
    assert made["probabilities"][2] >= 0.2 - 1e-12
    assert client.decide("draws", PEOPLE, lower=[0, 0, 0.2], upper={"ada": 0.5, "bob": 0.5}, key="one") == made
    shown = client.decision("draws", made["id"])["explanation"]
    assert {one["id"]: one["lower"] for one in shown["candidates"]} == {"ada": 0, "bob": 0, "cyn": 0.2}
    assert max(client.decide("draws", PEOPLE, upper=0.3)["probabilities"]) <= 0.3 + 1e-12
    assert "lower" not in client.decide("draws", PEOPLE)


def test_what_collides_is_a_problem_of_its_own(client: DeskClient) -> None:
    """422, with the pairs by id, the amounts, and what each way out is worth."""
    with pytest.raises(ServiceProblem) as caught:
        client.decide("lines", PEOPLE, lower={"ada": 0.8}, upper={"bob": 0.1})
    problem = caught.value
    assert (problem.status, problem.kind) == (422, "colliding-bounds")
    assert "floor 0.8 of candidate ada and the ceiling 0.1 of candidate bob" in str(problem)
    found = problem.document["collisions"]
    (pair,) = found["pairs"]
    assert (pair["floor_of"], pair["ceiling_of"]) == ("ada", "bob")
    assert pair["excess"] == pytest.approx(0.7)
    ways = {tuple(way["kinds"]): way for way in found["choices"]}
    lowered = ways[("floors",)]["lower"]
    assert lowered["ada"] == pytest.approx(0.1)
    client.decide("lines", PEOPLE, lower=lowered, upper={"bob": 0.1})


@pytest.mark.parametrize(
    ("bounds", "message"),
    [
        ({"lower": {"dan": 0.1}}, "lower must be of candidates, got one of the unknown candidate 'dan'"),
        ({"lower": {"ada": 2}}, "lower.ada must be <= 1, got 2"),
        ({"upper": "half"}, "upper must be an object, got 'half'"),
    ],
)
def test_bad_bounds_are_refused(client: DeskClient, ask: Asking, bounds: dict[str, object], message: str) -> None:
    """In a sentence with the field."""
    response = ask("POST", "/api/desks/lines/decisions", {"candidates": PEOPLE, **bounds})
    assert response.status_code == 422
    assert message in response.json()["detail"]


def test_shares_from_decision_to_outcome(client: DeskClient) -> None:
    """Everybody with a share may have an outcome; there is no draw to override."""
    made = client.decide("lines", PEOPLE, upper={"cyn": 0.25})
    assert made["mode"] == "shares"
    assert sum(made["probabilities"]) <= 1.5 + 1e-9
    shares = dict(zip(made["candidates"], made["probabilities"], strict=True))
    client.outcome("lines", made["id"], {name: 0.5 * shares[name] for name in made["chosen"]})
    with pytest.raises(ServiceProblem, match="no draw to override"):
        client.override("lines", made["id"], ["ada"])
    assert client.decision("lines", made["id"])["explanation"]["mode"] == "shares"


def test_shares_in_shadow_mode(client: DeskClient) -> None:
    """The system's shares come as probabilities, with the decision or later; outcomes are of those who got one."""
    opened = client.open_desk("beside", n_features=2, mode="shares", capacity=1.5, seed=1, shadow=True)["settings"]
    assert (opened["mode"], opened["shadow"]) == ("shares", True)
    given = {"ada": 0.5, "bob": 0.25, "cyn": 0}
    made = client.decide("beside", PEOPLE, action={"chosen": ["ada", "bob"], "probabilities": given})
    assert (made["chosen"], made["shadow"]) == ([], True)
    client.outcome("beside", made["id"], {"bob": 0.2})
    with pytest.raises(ServiceProblem, match="'cyn' was not chosen"):
        client.outcome("beside", made["id"], {"cyn": 0.2})
    later = client.decide("beside", PEOPLE)
    with pytest.raises(ServiceProblem, match="action must have probabilities, the share that each candidate got"):
        client.action("beside", later["id"], ["ada"])
    client.action("beside", later["id"], ["ada", "bob"], probabilities=given)
    client.switch("beside", "live")
    assert client.decide("beside", PEOPLE)["chosen"]


def test_a_lottery_has_a_whole_capacity(client: DeskClient) -> None:
    """A part of one makes sense in shares only."""
    with pytest.raises(ServiceProblem, match=r"capacity must be a whole number >= 1 or None, got 1\.5"):
        client.open_desk("half", n_features=2, capacity=1.5)
