"""What a screen reader has of the review page: names, tables, announcements, and where the focus goes."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.support.local_service import LocalService
from tests.support.serving import Serving
from tests.support.steps import answer, enter, ready

pytestmark = pytest.mark.browser

NEXT = re.compile(r"^Recorded: unfair\. Next pair\. They .* Chances: left .*, right .*, a gap of")
SNAPSHOT = """
- region "Is this gap unfair, or acceptable?":
  - group:
    - paragraph: /These two were candidates in the same decision/
  - table "The two people, attribute by attribute":
    - rowgroup:
      - row "Attribute Person on the left Person on the right"
    - rowgroup:
      - row /Chance of being chosen .*%/
    - rowgroup:
      - row /income (differs|same) .* EUR .* EUR/
  - paragraph: /Gap between their chances .* percentage points/
  - group: Add a reason or note
  - group "Your answer":
    - button "Unfair"
    - button "Acceptable"
    - button "Unsure"
    - button "Skip"
    - button "Conflict of interest"
"""


@pytest.fixture(scope="module")
def short(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    """A desk where a session has two answers."""
    service = LocalService(tmp_path_factory.mktemp("short"))
    service.open_desk("loans", 12, reviewing={"session": 2})
    service.token("Kim", ["review"])
    with service:
        yield service


def test_a_session_without_seeing_it(page: Page, short: Serving) -> None:
    """Everything has a name; each answer is confirmed and the next pair announced; the focus is never lost."""
    enter(page, short, "Kim", "/review/loans")
    ready(page)
    expect(page.locator("main")).to_match_aria_snapshot(SNAPSHOT)
    announcer, focused = page.locator("#announcer"), "document.activeElement.id"
    expect(announcer).to_contain_text("a gap of")
    page.locator("#answer-unfair").focus()
    with page.expect_response(lambda response: "/review/answers" in response.url):
        page.keyboard.press("Enter")
    ready(page)
    expect(announcer).to_have_text(NEXT)
    assert page.evaluate(focused) == "answer-unfair"
    answer(page, "n")
    expect(announcer).to_have_text("Recorded: unsure. Session of 2 pairs complete")
    assert page.evaluate(focused) == "ending-title"
    page.get_by_role("button", name="Start another session").press("Enter")
    ready(page)
    assert page.evaluate(focused) == "question"
    with page.expect_response(lambda response: "/review/next" in response.url):
        page.keyboard.press("z")
    ready(page)
    expect(announcer).to_contain_text("Your last answer was undone.")
    page.keyboard.press("h")
    expect(page.get_by_role("dialog", name="How to review")).to_be_visible()
    page.keyboard.press("Escape")
    assert page.evaluate(focused) == "question"
