"""Shadow mode over HTTP: what was done, reviews of both, the report, and the switch."""

from __future__ import annotations

from typing import Any

import pytest

from evenhand.client import DeskClient
from tests.support.running_service import ADMIN, Asking, candidates, is_problem
from tests.support.waiting import wait_for

DESK = "/api/desks/beside"


@pytest.fixture
def shadow(ask: Asking) -> Asking:
    """A service with a desk in shadow mode."""
    settings = {"name": "beside", "n_features": 2, "seed": 3, "shadow": True, "reviewer_error": 0.001}
    opened = ask("POST", "/api/desks", settings)
    assert opened.status_code == 201, opened.text
    assert opened.json()["settings"]["shadow"] is True
    ask.token("decider", ["decide"])
    ask.token("reviewer", ["review"])
    return ask


def decided(ask: Asking, **more: Any) -> dict[str, Any]:
    """A decision in shadow mode."""
    answer = ask("POST", f"{DESK}/decisions", {**candidates(3), **more}, by="decider")
    assert answer.status_code == 201, answer.text
    made: dict[str, Any] = answer.json()
    return made


def catch_up(ask: Asking) -> None:
    """Wait until the desk has learned from all events."""
    seq = ask.service.ledger.head("beside").seq
    wait_for(lambda: ask("GET", DESK).json()["state"] >= seq, what=f"the state at {seq}", pause=0.02)


def test_shadow_then_live(shadow: Asking) -> None:
    """Decide, be told, learn, be reviewed, report, go live: with requests, each with the role that it takes."""
    ask = shadow
    made = decided(ask)
    assert (made["chosen"], made["shadow"], len(made["would_choose"])) == ([], True, 1)
    about = f"{DESK}/decisions/{made['id']}"
    is_problem(ask("POST", f"{about}/outcomes", {"rewards": {"c0": 0.5}}, by="decider"), 422)
    told = ask("POST", f"{about}/actions", {"chosen": ["c0"], "scores": {"c0": 3, "c1": 2, "c2": 1}}, by="decider")
    assert (told.status_code, told.json()["kind"], told.json()["decision"]) == (201, "action", made["id"])
    is_problem(ask("POST", f"{about}/actions", {"chosen": ["c1"]}, by="decider"), 409)
    assert ask("POST", f"{about}/outcomes", {"rewards": {"c0": 0.5}}, by="decider").status_code == 201
    review = {"kind": "partial", "unfair": [["c0", "c1"]], "subject": "system"}
    assert ask("POST", f"{about}/reviews", review, by="reviewer").status_code == 201
    decided(ask, action={"chosen": [], "probabilities": {"c0": 0.2, "c1": 0.2, "c2": 0.2}})
    catch_up(ask)

    report = ask("GET", f"{DESK}/differences", by="decider").json()
    assert (report["compared"], report["outcomes"], report["system"]["flagged"]) == (2, 1, 1)
    assert report["sentences"][0].startswith("In 2 decisions the desk and the system in force agree by")
    assert ask("GET", f"{DESK}/differences?last=1", by="decider").json()["compared"] == 1
    is_problem(ask("GET", f"{DESK}/differences?last=0", by="decider"), 422)
    is_problem(ask("GET", f"{DESK}/differences", by="reviewer"), 403)

    is_problem(ask("POST", f"{DESK}/switches", {"to": "live"}, by="decider"), 403)
    is_problem(ask("POST", f"{DESK}/settings", {"changes": {"shadow": False}}), 422)
    assert ask("POST", f"{DESK}/switches", {"to": "live", "reason": "ready"}).json()["kind"] == "switch"
    is_problem(ask("POST", f"{DESK}/switches", {"to": "live"}), 409)
    assert ask("GET", DESK).json()["settings"]["shadow"] is False
    live = ask.decide("beside")
    assert (live["shadow"], live["would_choose"], len(live["chosen"])) == (False, [], 1)
    refused = is_problem(ask("POST", f"{DESK}/decisions", {**candidates(), "action": {"chosen": []}}), 422)
    assert refused["detail"] == "action must be None: this desk is live, and decides itself"


def test_reviewers_see_whose_decision_waits(shadow: Asking) -> None:
    """But neither scores nor estimates: those would tell how the system sees a person."""
    made = decided(shadow, action={"chosen": ["c0"], "scores": {"c0": 3, "c1": 2, "c2": 1}})
    catch_up(shadow)
    wait_for(lambda: shadow("GET", f"{DESK}/queue").json()["pairs"], what="pairs to review", pause=0.05)
    pairs = shadow("GET", f"{DESK}/queue", by="reviewer").json()["pairs"]
    assert {pair["subject"] for pair in pairs} == {"desk", "system"}
    shown = shadow("GET", f"{DESK}/review/next", by="reviewer").json()
    assert shown["subject"] in ("desk", "system")
    shadow("POST", f"{DESK}/settings", {"changes": {"reviewing": {"hidden": ["feature 2"]}}})
    record = shadow("GET", f"{DESK}/decisions/{made['id']}", by="reviewer").json()["record"]["body"]
    assert "scores" not in record
    assert record["action"] == {"chosen": ["c0"]}


def test_scores_that_came_later_are_not_shown_either(shadow: Asking) -> None:
    """A desk that hides attributes: another system computed its scores from them, and that can be inverted."""
    about = f"{DESK}/decisions/{decided(shadow)['id']}"
    scores = {"c0": 0.7316205, "c1": 0.1234567, "c2": 0.5}
    assert shadow("POST", f"{about}/actions", {"chosen": ["c0"], "scores": scores}, by="decider").status_code == 201
    shown = shadow("GET", about, by="reviewer")
    assert "0.7316205" in shown.text
    shadow("POST", f"{DESK}/settings", {"changes": {"reviewing": {"hidden": ["feature 2"]}}})
    hidden = shadow("GET", about, by="reviewer")
    assert not any(str(score) in hidden.text for score in (0.7316205, 0.1234567))
    assert hidden.json()["explanation"]["action"] == {"chosen": ["c0"]}
    (action,) = hidden.json()["record"]["followed_by"]
    assert action["body"]["chosen"] == ["c0"]
    assert "worst_residual" not in hidden.json()["explanation"]


def test_the_client_does_the_same(shadow: Asking) -> None:
    """With keys: sent twice, each is recorded once."""
    with DeskClient(shadow.url, ADMIN) as client:
        people = candidates(3)["candidates"]
        made = [client.decide("beside", people, action={"chosen": ["c1"]}, key="one") for _ in range(2)]
        assert made[0] == made[1]
        later = client.decide("beside", people)
        told = [
            client.action("beside", later["id"], ["c0"], probabilities={"c0": 0.5, "c1": 0.25, "c2": 0.25}, key="told")
            for _ in range(2)
        ]
        assert told[0] == told[1]
        client.review("beside", later["id"], "complete", unfair=[("c0", "c1")], subject="system", reviewer="Kim")
        assert client.decision("beside", later["id"])["explanation"]["action"]["chosen"] == ["c0"]
        catch_up(shadow)
        assert client.differences("beside", last=10)["compared"] == 2
        switched = [client.switch("beside", "live", reason="ready", key="go") for _ in range(2)]
        assert switched[0] == switched[1]
        assert client.decide("beside", people)["chosen"]


def test_the_dashboard_and_the_table(shadow: Asking) -> None:
    """Whether the desk is in shadow mode, what was really done in each line, and as a column of the table."""
    decided(shadow, action={"chosen": ["c2"]})
    decided(shadow)
    catch_up(shadow)
    window = shadow("GET", f"{DESK}/window").json()["desk"]
    assert (window["shadow"], window["has_shadowed"]) == (True, True)
    untold, told = window["latest"]
    assert (told["shadow"], told["told"], [one["id"] for one in told["chosen"]]) == (True, True, ["c2"])
    assert (untold["shadow"], untold["told"], untold["chosen"]) == (True, False, [])
    header, *rows = (line.split(",") for line in shadow("GET", f"{DESK}/decisions.csv").text.splitlines())
    chosen, instead = header.index("chosen"), header.index("chosen_instead")
    assert [(row[chosen], row[instead]) for row in rows[:3]] == [("no", "no"), ("no", "no"), ("no", "yes")]
    plain = shadow("GET", "/api/desks/loans/window").json()["desk"]
    assert (plain["shadow"], plain["has_shadowed"]) == (False, False)
