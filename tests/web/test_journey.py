"""One whole journey: what a newcomer does with a desk, from signing in to an interview."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.support.dashboard_past import open_with_a_past
from tests.support.dashboard_steps import is_live, prove
from tests.support.local_service import LocalService
from tests.support.serving import Serving
from tests.support.steps import answer, answers_of, people, ready, sign_in

pytestmark = [pytest.mark.browser, pytest.mark.smoke]


@pytest.fixture(scope="module")
def serving(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    """A desk with a past, and its owner."""
    service = LocalService(tmp_path_factory.mktemp("service"))
    open_with_a_past(service.database, "loans", decisions=8)
    service.token("owner", ["admin"])
    with service:
        yield service


def test_from_signing_in_to_an_interview(page: Page, serving: Serving) -> None:
    """Sign in, review pairs by keyboard, undo, see it on the dashboard and the decision's page, and be interviewed."""
    sign_in(page, serving, "owner", "/review/loans")
    seen = []
    for key in "uan":
        ready(page)
        seen.append(people(page))
        answer(page, key)
    page.keyboard.press("Backspace")
    expect(page.locator("#last")).to_contain_text("Your last answer was undone. Here is the pair again.")
    assert people(page) == seen[2]
    answer(page, "a")
    assert answers_of(serving, "owner") == ["unfair", "acceptable", "unsure", "acceptable"]

    page.get_by_role("link", name="Desk", exact=True).click()
    is_live(page)
    row = page.locator("#reviewers tbody tr").filter(has_text="owner").locator("td")
    expect(row.nth(0)).to_have_text("3")
    expect(row.nth(4)).to_have_text("1")  # withdrawn
    for chart in ("#chart-flagged", "#chart-reward"):
        expect(page.locator(f"{chart} .plot .line").first).to_be_visible()
    expect(page.locator(".effect-bar").first).to_be_visible()

    (flag,) = [event["body"] for event in serving.events("review") if event["body"]["reviewer"] == "owner"][:1]
    page.goto(f"{serving.url}/desks/loans/decisions/{flag['decision']}")
    expect(page.locator("#called-unfair")).to_contain_text("Called unfair by owner")
    expect(page.locator("#since")).to_contain_text("owner called unfair:")
    expect(page.locator(".chances-frame .chance-bar")).to_have_count(4)
    prove(page)

    page.get_by_role("link", name="Interview", exact=True).click()
    ready(page)
    first = people(page)
    with page.expect_response(lambda response: "/interview/answers" in response.url):
        page.keyboard.press("u")
    ready(page)
    assert people(page) != first
    answers = [event["body"] for event in serving.events("answer") if event["body"]["reviewer"] == "owner"]
    assert [body["unfair"] for body in answers] == [True]
    page.get_by_role("button", name="Sign out").click()
    expect(page.locator("#why")).to_have_text("You are signed out.")
