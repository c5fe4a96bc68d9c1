"""Steps that tests of the dashboard share: decisions and reviews through the service, and pages that are ready."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Page, expect

from tests.support.dashboard_past import SETTINGS
from tests.support.serving import Serving
from tests.support.steps import enter
from tests.support.waiting import wait_for


def decide(serving: Serving, ids: list[str], desk: str = "loans") -> dict[str, Any]:
    """A decision about people who differ, through the service."""
    n = SETTINGS["schema"].n_features
    candidates = [{"id": name, "context": [0.05 + 0.3 * i, *[0.1] * (n - 1)]} for i, name in enumerate(ids)]
    answer = serving.ask("POST", f"/api/desks/{desk}/decisions", by="owner", body={"candidates": candidates})
    assert answer.status_code == 201, answer.text
    decision: dict[str, Any] = answer.json()
    return decision


def widest_pair(decision: dict[str, Any]) -> list[str]:
    """The pair with the widest gap: a flag on equal probabilities is not counted."""
    ordered = sorted(zip(decision["probabilities"], decision["candidates"], strict=True))
    assert ordered[-1][0] - ordered[0][0] > 1e-6
    return [ordered[0][1], ordered[-1][1]]


def review(
    serving: Serving,
    decision: dict[str, Any],
    reviewer: str = "Kim",
    pair: list[str] | None = None,
    verdict: str = "unfair",
) -> None:
    """Call the first two candidates, or another pair, unfair or fair."""
    body = {"kind": "partial", verdict: [pair or decision["candidates"][:2]], "reviewer": reviewer}
    answer = serving.ask("POST", f"/api/desks/loans/decisions/{decision['id']}/reviews", by="owner", body=body)
    assert answer.status_code == 201, answer.text


def wait_until_projected(serving: Serving, desk: str = "loans") -> None:
    """Wait until the desk has learned from all events: a page that is loaded then shows them."""

    def is_up_to_date() -> bool:
        behind: int = serving.ask("GET", f"/api/desks/{desk}/window", by="owner").json()["desk"]["behind"]
        return behind == 0

    wait_for(is_up_to_date, what="a projection that is up to date", pause=0.02)


def open_dashboard(page: Page, serving: Serving, desk: str = "loans") -> None:
    """Open a desk's dashboard, up to date with the ledger, and wait until it is live and drawn."""
    wait_until_projected(serving, desk)
    enter(page, serving, "owner", f"/desks/{desk}")
    is_live(page)
    for chart in ("#chart-flagged", "#chart-reward"):
        expect(page.locator(f"{chart} .plot")).to_be_visible()


def is_live(page: Page) -> None:
    """Wait until a dashboard gets live updates."""
    expect(page.locator("#live-state")).to_have_text("Live")


def open_decision(page: Page, serving: Serving, decision: dict[str, Any]) -> None:
    """Open the page of a decision, once the desk is up to date, and wait for its certificate."""
    wait_until_projected(serving)
    enter(page, serving, "owner", f"/desks/loans/decisions/{decision['id']}")
    prove(page)


def prove(page: Page) -> None:
    """Have the certificate of a decision computed, and wait for it."""
    page.get_by_role("button", name="Compute the certificate").click()
    expect(page.locator("#proofs table")).to_be_visible()


def call_script(page: Page, serving: Serving, module: str, function: str, *arguments: Any) -> Any:
    """The result of a function of the dashboard's scripts."""
    if not page.url.startswith(serving.url):
        page.goto(f"{serving.url}/sign-in")
    script = f"async (values) => (await import('/static/0/js/dashboard/{module}.js')).{function}(...values)"
    return page.evaluate(script, list(arguments))
