"""On a telephone: what a finger leaves behind, and what is in sight without scrolling."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page

from tests.web.serving import Serving
from tests.web.steps import enter, ready

LOOKS = """all => all.map((button) => {
  const style = getComputedStyle(button);
  return [style.backgroundColor, style.borderColor, style.color, style.outlineStyle, style.boxShadow].join(" ");
})"""
"""How each of some buttons is drawn."""


@pytest.fixture
def telephone(browser: Browser) -> Iterator[Page]:
    """A window as small as a telephone's, for fingers."""
    context = browser.new_context(
        viewport={"width": 360, "height": 740}, has_touch=True, is_mobile=True, reduced_motion="reduce"
    )
    yield context.new_page()
    context.close()


@pytest.mark.parametrize("path", ["/review/loans", "/interview/loans"])
def test_a_tap_marks_no_answer_on_the_next_pair(telephone: Page, serving: Serving, path: str) -> None:
    """Every answer looks as it did before the tap: nothing seems chosen for a pair that nobody has answered."""
    enter(telephone, serving, "Kim", path)
    buttons = telephone.locator(".answers .button")
    ready(telephone)
    before = buttons.evaluate_all(LOOKS)
    for name in ("unfair", "acceptable", "unsure"):
        with telephone.expect_response(lambda response: "/answers" in response.url):
            telephone.locator(f"#answer-{name}").tap()
        ready(telephone)
        assert buttons.evaluate_all(LOOKS) == before
