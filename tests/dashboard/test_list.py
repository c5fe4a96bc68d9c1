"""The list of decisions in a real browser: older ones and those called unfair, by keyboard, while news come."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from evenhand.service.dashboard.decision_list import LATEST, PAGE
from tests.support.dashboard_past import SETTINGS, open_with_a_past
from tests.support.dashboard_steps import decide, review, wait_until_projected, widest_pair
from tests.support.local_service import LocalService
from tests.support.serving import Serving
from tests.support.steps import enter

pytestmark = pytest.mark.browser

DECISIONS = 80


@pytest.fixture(scope="module")
def serving(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    """A desk with more decisions than fit on two pages, an owner and a reviewer."""
    service = LocalService(tmp_path_factory.mktemp("service"))
    open_with_a_past(service.database, "loans", DECISIONS)
    service.token("owner", ["admin"])
    service.token("Kim", ["review"], ["loans"])
    with service:
        yield service


def look(page: Page, serving: Serving, by: str = "owner", query: str = "") -> None:
    """Look at the desk, up to date with the ledger, until it is live."""
    wait_until_projected(serving)
    enter(page, serving, by, f"/desks/loans{query}")
    expect(page.locator("#live-state")).to_have_text("Live")


def listed(page: Page) -> list[int]:
    """The numbers on the screen."""
    return [int(text.removeprefix("No. ")) for text in page.locator("#latest tbody th").all_inner_texts()]


def test_chances_in_a_column_have_the_same_digits(page: Page, serving: Serving) -> None:
    """A whole number of per cent is written out as the others are, in the list and on a decision's page."""
    alike = [{"id": name, "context": [0.1] * SETTINGS["schema"].n_features} for name in ("one", "two")]
    made = serving.ask("POST", "/api/desks/loans/decisions", by="owner", body={"candidates": alike}).json()
    assert made["probabilities"] == [0.5, 0.5]
    look(page, serving)
    expect(page.locator("#latest tbody tr").first).to_contain_text("50.0%")
    page.goto(f"{serving.url}/desks/loans/decisions/{made['id']}")
    expect(page.get_by_role("region", name="Candidates", exact=True)).to_contain_text("50.0%")
    expect(page.locator("#chances")).to_contain_text("50.0%")


def test_older_decisions_by_keyboard_while_news_come(page: Page, serving: Serving) -> None:
    """ "Older" leads to the decisions before, the focus stays on it, and news neither lead away nor go unseen there."""
    look(page, serving)
    newest = listed(page)
    assert len(newest) == LATEST
    older = page.get_by_role("button", name="Older")
    older.press("Enter")
    expect(page.locator("#latest tbody tr")).to_have_count(PAGE)
    page_two = listed(page)
    assert page_two == list(range(newest[-1] - 1, newest[-1] - 1 - PAGE, -1))
    expect(page.locator("#latest nav [role=status]")).to_contain_text(f"No. {page_two[0]} to No. {page_two[-1]}")
    expect(older).to_be_focused()
    made = decide(serving, ["late", "later"])
    expect(page.locator("#figure-decisions")).to_have_text(f"{made['number'] + 1}")
    plain = page.locator("#latest tbody tr").filter(has_not_text="review").filter(has_not_text="unfair").first
    name = plain.locator("th").inner_text()
    which = serving.ask("GET", f"/api/desks/loans/window/decisions?before={page_two[0] + 1}", by="owner").json()
    (found,) = [line for line in which["lines"] if f"No. {line['number']}" == name]
    record = serving.ask("GET", f"/api/desks/loans/decisions/{found['id']}/window", by="owner").json()["record"]["body"]
    review(serving, {"id": found["id"], "candidates": record["candidates"]}, verdict="fair")
    row = page.locator("#latest tbody tr").filter(has_text=name)
    expect(row).to_contain_text("1 review")
    assert listed(page) == page_two
    page.get_by_role("button", name="Newest").press("Enter")
    expect(page.locator("#latest tbody th").first).to_have_text(f"No. {made['number']}")


def test_every_decision_called_unfair_can_be_reached(page: Page, serving: Serving) -> None:
    """The number at the top leads to as many decisions, each marked; they are there again on coming back from one."""
    made = decide(serving, ["one", "two", "three"])
    review(serving, made, pair=widest_pair(made))
    look(page, serving)
    link = page.locator("#figure-flagged a")
    expect(page.locator("#latest tbody tr").first).to_contain_text("called unfair")
    total = int(link.inner_text())
    link.press("Enter")
    expect(page.locator("#latest-title")).to_have_text("Decisions called unfair")
    expect(page.locator("#latest-title")).to_be_focused()
    seen = listed(page)
    while page.get_by_role("button", name="Older").get_attribute("aria-disabled") == "false":
        before = page.locator("#latest-where").inner_text()
        page.get_by_role("button", name="Older").click()
        expect(page.locator("#latest-where")).not_to_have_text(before)
        seen += listed(page)
    assert len(seen) == len(set(seen)) == total
    expect(page.locator("#latest .chip.marked")).to_have_count(page.locator("#latest tbody tr").count())
    page.locator("#latest tbody a").last.click()
    expect(page.locator("#called-unfair")).to_be_visible()
    page.go_back()
    expect(page.locator("#latest-title")).to_have_text("Decisions called unfair")
    page.get_by_label("Show", exact=True).select_option("all decisions")
    expect(page.locator("#latest tbody tr")).to_have_count(LATEST)


def test_a_new_flag_appears_among_those_called_unfair(page: Page, serving: Serving) -> None:
    """Who looks at them sees another without doing anything."""
    look(page, serving, query="?decisions=unfair")
    expect(page.locator("#latest .chip.marked").first).to_be_visible()
    made = decide(serving, ["left", "right", "middle"])
    review(serving, made, pair=widest_pair(made))
    expect(page.locator("#latest tbody th").first).to_have_text(f"No. {made['number']}")


def test_a_reviewer_has_no_such_list(page: Page, serving: Serving) -> None:
    """Older decisions, yes; which of them others called unfair, or how many, no."""
    look(page, serving, "Kim", "?decisions=unfair")
    assert page.locator("#latest-show, #figure-flagged, #chart-flagged").count() == 0
    expect(page.locator("#rounds-title")).to_have_text("Rewards over time")
    expect(page.locator("#chart-reward")).to_be_visible()
    expect(page.locator("#latest tbody tr")).to_have_count(LATEST)
    page.get_by_role("button", name="Older").click()
    expect(page.locator("#latest tbody tr")).to_have_count(PAGE)
    expect(page.locator("#latest")).not_to_contain_text("unfair")
