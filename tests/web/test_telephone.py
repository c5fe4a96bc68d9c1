"""On a telephone: what a finger leaves behind, and what is in sight without scrolling."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.support.serving import Serving
from tests.support.steps import answer, enter, ready

pytestmark = pytest.mark.browser

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


@pytest.mark.parametrize("path", ["/review/loans", "/interview/loans"])
def test_the_gap_is_in_sight_at_once(telephone: Page, serving: Serving, path: str) -> None:
    """A newcomer sees, without scrolling, the chances and the gap that is asked about, above the answers, and so does
    whoever has gone down the list."""
    enter(telephone, serving, "Lee", path)
    ready(telephone)
    chip, words = telephone.locator(".gap-chip"), telephone.locator("#gap").inner_text()
    for _ in range(2):
        above = telephone.locator("#ask").bounding_box()
        assert above is not None
        for part in (chip, *telephone.locator(".chance-number").all()):
            box = part.bounding_box()
            assert box is not None
            assert 0 <= box["y"] <= box["y"] + box["height"] <= above["y"]
        telephone.mouse.wheel(0, 200)
    expect(chip).to_have_text(f"gap {words.replace('percentage ', '')}")


def test_the_last_answer_is_shown_whole(telephone: Page, serving: Serving) -> None:
    """After a reload the answer itself is there to be read, nothing of it cut off; why one was asked opens by a button
    that a keyboard reaches."""
    enter(telephone, serving, "Max", "/review/loans")
    answer(telephone, "c")
    more = telephone.get_by_role("button", name="More")
    expect(telephone.locator("#why")).to_be_hidden()
    more.focus()
    telephone.keyboard.press("Enter")
    expect(more).to_have_attribute("aria-expanded", "true")
    expect(telephone.locator("#why")).to_be_visible()
    telephone.reload()
    ready(telephone)
    words = telephone.locator("#last p")
    expect(words).to_have_text("Your last answer: conflict of interest.")
    assert words.evaluate("(p) => p.scrollWidth <= p.clientWidth && p.scrollHeight <= p.clientHeight")
    expect(more).to_have_count(0)
