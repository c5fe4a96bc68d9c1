"""A desk with VersionSpace on its pages: the promise in one line, a meter in the interview, and the certificate."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.support.dashboard_steps import prove
from tests.support.local_service import LocalService
from tests.support.serving import Serving
from tests.support.steps import enter, ready

pytestmark = pytest.mark.browser

SETTINGS: dict[str, Any] = {"metric": "VersionSpace", "reviewer_error": 0.0, "epsilon": 0.01}


@pytest.fixture(scope="module")
def serving(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    """Desks with VersionSpace: one that trusts its reviewers, one that learns their error rates; and one without."""
    service = LocalService(tmp_path_factory.mktemp("service"))
    service.open_desk("loans", 8, **SETTINGS)
    service.open_desk("learned", 1, metric="VersionSpace")
    service.open_desk("plain", 8)
    service.token("owner", ["admin"])
    service.token("Kim", ["review"], ["loans"])
    with service:
        yield service


def test_the_dashboard_shows_the_promise_in_one_line(page: Page, serving: Serving, screenshots: Path) -> None:
    """As the learner states it; a desk that learns error rates says why there is no number, others have no line."""
    enter(page, serving, "owner", "/desks/loans")
    line = page.locator("#promise")
    line.wait_for()
    before = serving.ask("GET", "/api/desks/loans", by="owner").json()
    assert f"At most {before['flags_left']} more decisions can ever be flagged" in line.inner_text()
    assert before["promise"] in line.inner_text()
    assert page.locator("#figure-flags-left").inner_text() == f"{before['flags_left']:,}"
    page.screenshot(path=screenshots / "flags-left-dashboard.png")
    page.set_viewport_size({"width": 390, "height": 844})
    page.screenshot(path=screenshots / "flags-left-dashboard-narrow.png", full_page=True)
    page.goto(f"{serving.url}/desks/learned")
    page.locator("#promise", has_text="no number of flags is proved").wait_for()
    page.goto(f"{serving.url}/desks/plain")
    page.locator("#figure-decisions", has_text="8").wait_for()
    assert page.locator("#figure-flags-left").inner_text() == "no proof"
    assert page.locator("#figures .headline b").get_attribute("id") == "figure-flagged"
    assert page.locator("#promise").is_hidden()
    assert serving.ask("GET", "/api/desks/plain", by="owner").json()["flags_left"] is None


def test_the_interview_lowers_it(page: Page, serving: Serving, screenshots: Path) -> None:
    """A third meter, with the number proved at the start as its full length; it falls as answers come in."""
    enter(page, serving, "Kim", "/interview/loans")
    value = page.locator("#flags-value")
    ready(page)
    first = serving.ask("GET", "/api/desks/loans", by="owner").json()["flags_left"]
    assert value.inner_text() == f"{first} of {first}"
    for number in range(9):
        with page.expect_response(lambda response: "/interview/answers" in response.url):
            page.keyboard.press("ua"[number % 3 == 0])
        ready(page)
    left, of = value.inner_text().split(" of ")
    assert int(left) < int(of) == first
    expect(page.locator("#meters-fold p")).to_contain_text(f"At most {left} more decisions can ever be flagged")
    page.screenshot(path=screenshots / "flags-left-interview.png")
    page.set_viewport_size({"width": 390, "height": 844})
    page.screenshot(path=screenshots / "flags-left-interview-narrow.png")
    enter(page, serving, "owner", "/interview/plain")
    ready(page)
    expect(page.locator("#flags")).to_be_hidden()


def test_the_certificate_shows_it(page: Page, serving: Serving, screenshots: Path) -> None:
    """Below the table, and in the file, which can be checked."""
    decision = serving.events("decision")[-1]
    assert decision["body"]["flags_left"] > 0
    certificate = serving.ask("GET", f"/api/desks/loans/decisions/{decision['id']}/certificate", by="owner").json()
    assert certificate["promise"].startswith(f"At most {certificate['flags_left']} more decision")
    enter(page, serving, "owner", f"/desks/loans/decisions/{decision['id']}")
    prove(page)
    page.get_by_text(certificate["promise"]).wait_for()
    page.screenshot(path=screenshots / "flags-left-certificate.png", full_page=True)
