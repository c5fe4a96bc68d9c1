"""The service goes away and comes back: the page says so, and nothing that was answered is lost."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.web.serving import Serving
from tests.web.steps import answer, enter, people, ready


def _answers(serving: Serving, name: str) -> list[str]:
    reviews = [event for event in serving.events("review") if event["body"]["reviewer"] == name]
    return [event["body"]["circumstances"]["answer"] for event in reviews]


def test_an_answer_waits_for_the_service(page: Page, serving: Serving) -> None:
    """An answer given while the service is away is kept, announced, and sent once when it is back."""
    enter(page, serving, "Kim", "/review/loans")
    ready(page)
    answer(page, "a")
    serving.stop()
    pair = people(page)
    page.keyboard.press("u")
    expect(page.locator("#away")).to_contain_text("1 answer is kept in this browser")
    page.keyboard.press("a")
    serving.start()
    page.get_by_role("button", name="Try now").click()
    expect(page.locator("#back")).to_contain_text("The service is back", timeout=30_000)
    ready(page)
    assert set(people(page)) != set(pair)
    assert _answers(serving, "Kim") == ["acceptable", "unfair"]


def test_a_page_closed_while_the_service_is_away(page: Page, serving: Serving) -> None:
    """What could not be sent before the page was closed is sent when it is opened again."""
    enter(page, serving, "Lee", "/review/loans")
    ready(page)
    serving.stop()
    page.keyboard.press("c")
    expect(page.locator("#away")).to_be_visible()
    context = page.context
    page.close()
    serving.start()
    again = context.new_page()
    again.goto(f"{serving.url}/review/loans")
    ready(again)
    assert _answers(serving, "Lee") == ["conflict"]
    assert again.evaluate("Object.keys(localStorage).filter((name) => name.startsWith('evenhand-outbox'))") == []
