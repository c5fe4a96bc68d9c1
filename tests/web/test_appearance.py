"""Every page at two widths in two themes: no violation that axe finds, nothing wider than the window, a screenshot."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.support.appearance import check_appearance, window
from tests.support.serving import Serving
from tests.support.steps import answer, enter, pair_or_end, ready

__all__ = ["window"]

pytestmark = pytest.mark.browser


def _sign_in_page(page: Page, serving: Serving) -> None:
    page.goto(f"{serving.url}/sign-in")
    expect(page.get_by_label("Token")).to_be_focused()
    page.keyboard.type("eh_wrong")
    page.keyboard.press("Enter")
    expect(page.locator("#token-error")).to_contain_text("unknown")


def _home(page: Page, serving: Serving) -> None:
    enter(page, serving, "Kim", "/")
    page.wait_for_url(f"{serving.url}/desks")
    expect(page.get_by_role("heading", name="loans")).to_be_visible()
    for name, path in (("Review loans", "/review/loans"), ("Interview loans", "/interview/loans")):
        expect(page.get_by_role("link", name=name, exact=True)).to_have_attribute("href", path)


def _review(page: Page, serving: Serving) -> None:
    enter(page, serving, "Kim", "/review/loans")
    ready(page)
    answer(page, "n")
    page.get_by_text("Add a reason or note").click()


def _help(page: Page, serving: Serving) -> None:
    enter(page, serving, "Kim", "/review/loans")
    ready(page)
    page.keyboard.press("h")
    expect(page.get_by_role("dialog")).to_be_visible()


def _ending(page: Page, serving: Serving) -> None:
    enter(page, serving, "Eve", "/review/cards")
    while page.locator("#ending:not([hidden])").count() == 0:
        pair_or_end(page)
        if page.locator("#ending:not([hidden])").count() == 0:
            answer(page, "n")


def _turned_away(page: Page, serving: Serving) -> None:
    enter(page, serving, "Eve", "/review/loans")
    expect(page.get_by_role("alert")).to_be_visible()


def _interview(page: Page, serving: Serving) -> None:
    enter(page, serving, "Ada", "/interview/loans")
    ready(page)
    page.keyboard.press("u")
    expect(page.locator("#last")).to_be_visible()
    ready(page)


def _interview_help(page: Page, serving: Serving) -> None:
    enter(page, serving, "Ada", "/interview/loans")
    ready(page)
    page.keyboard.press("h")
    expect(page.get_by_role("dialog")).to_contain_text("How the interview works")


def _interview_end(page: Page, serving: Serving) -> None:
    over = {"item": None, "meter": None, "people": 7, "ended": "every pair is known to within 0.05", "is_live": True}
    page.route("**/interview/next", lambda route: route.fulfill(json=over))
    enter(page, serving, "Ada", "/interview/loans")
    expect(page.locator("#ending-title")).to_have_text("The interview is over")


def _not_found(page: Page, serving: Serving) -> None:
    page.goto(f"{serving.url}/no/such/page")
    expect(page.get_by_role("heading", level=1)).to_be_visible()


def _away(page: Page, serving: Serving) -> None:
    with page.expect_response(lambda response: "/review/ahead" in response.url):
        enter(page, serving, "Zoe", "/review/loans")
        ready(page)
    page.route("**/review/answers", lambda route: route.abort())
    page.keyboard.press("u")
    expect(page.locator("#away")).to_contain_text("1 answer is saved")
    ready(page)


PAGES: dict[str, Callable[[Page, Serving], None]] = {
    "sign-in": _sign_in_page,
    "home": _home,
    "review": _review,
    "help": _help,
    "ending": _ending,
    "turned-away": _turned_away,
    "interview": _interview,
    "interview-help": _interview_help,
    "interview-end": _interview_end,
    "not-found": _not_found,
    "away": _away,
}


@pytest.mark.parametrize("name", PAGES)
def test_every_page(name: str, window: tuple[Page, str], serving: Serving, screenshots: Path) -> None:
    """It is accessible, fits its window, and leaves a screenshot."""
    page, kind = window
    PAGES[name](page, serving)
    check_appearance(page, screenshots / f"{name}-{kind}.png", full_page="help" not in name)


def test_a_chosen_theme_is_kept(browser: Browser, serving: Serving) -> None:
    """The switch goes from the system's theme to light and dark, and a page loaded later has what was chosen."""
    context = browser.new_context(color_scheme="light")
    page = context.new_page()
    page.goto(f"{serving.url}/sign-in")
    colour = "getComputedStyle(document.documentElement).backgroundColor"
    light = page.evaluate(colour)
    for _ in range(2):
        page.get_by_role("button", name="Theme").click()
    dark = page.evaluate(colour)
    page.reload()
    assert page.evaluate(colour) == dark != light
    context.close()
