"""What is said in two places is said the same way: pictures and sentences, window and review page, sums and parts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.web.serving import Serving
from tests.web.steps import enter, ready
from tests.window.test_pages import PATIENCE


@pytest.fixture(scope="module")
def serving(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    """A desk where of every second pair two people are asked, and its owner."""
    service = Serving(tmp_path_factory.mktemp("service"))
    service.open_desk("loans", 40, overlap=0.5)
    service.token("owner", ["admin"])
    with service:
        yield service


def said(page: Page, serving: Serving, module: str, function: str, *given: Any) -> Any:
    """What a function of the window's scripts gives."""
    if not page.url.startswith(serving.url):
        page.goto(f"{serving.url}/sign-in")
    script = f"async (given) => (await import('/static/0/js/window/{module}.js')).{function}(...given)"
    return page.evaluate(script, list(given))


def test_window_and_review_page_count_the_same(page: Page, serving: Serving) -> None:
    """As many answers are wanted on both, however many; where two people are asked about a pair, it counts twice."""
    enter(page, serving, "owner", "/review/loans")
    ready(page)
    there = page.locator("#waiting").inner_text().split()
    assert there[1:4] == ["answers", "are", "wanted"]
    assert int(there[0]) > 50
    enter(page, serving, "owner", "/desks/loans")
    expect(page.locator("#figure-waiting")).to_have_text(there[0], timeout=PATIENCE)
    expect(page.locator("#figure-waiting + span")).to_contain_text("answers are wanted from reviewers")


def test_flags_are_told_by_when_they_came(page: Page, serving: Serving) -> None:
    """The picture steps up when a flag comes; the sentence counts the same steps."""
    flagged = {
        "total": 5,
        "target": None,
        "is_capped": False,
        "came": [0, 2, 5],
        "edges": [10, 20, 40],
        "target_by": [],
    }
    words = said(page, serving, "rounds", "flaggedWords", 40, flagged)
    assert words == "5 decisions were called unfair of 40 (12.5%); 3 of these flags came while the last 20 were made."
