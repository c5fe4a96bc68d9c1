"""What is in sight of a pair, at which size of window, and in which numbers."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Browser, FloatRect, Locator, Page, Route, expect

from evenhand.desk import Desk
from evenhand.ledger.ledger import open_ledger
from evenhand.schema import Number, Schema
from tests.support.local_service import LocalService
from tests.support.serving import Serving
from tests.support.steps import answer, enter, ready

pytestmark = pytest.mark.browser

LONG = 60
"""Features of the desk with the long list, of which two people differ in about forty."""


@pytest.fixture(scope="module")
def long(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    """A desk of people with sixty features, and one of few."""
    service = LocalService(tmp_path_factory.mktemp("long"))
    service.open_desk("loans", 20)
    features = [Number(f"measure {i}", low=0, high=100, unit="points") for i in range(LONG)]
    ledger, rng = open_ledger(service.database), np.random.default_rng(0)
    try:
        with Desk.open(ledger, "long", schema=Schema(features), epsilon=0.05, seed=3) as desk:
            for number in range(4):
                common = rng.integers(0, 100, LONG)
                candidates = []
                for i in range(3):
                    own = np.where(rng.random(LONG) < 0.4, rng.integers(0, 100, LONG), common)
                    values = {feature.name: float(value) for feature, value in zip(features, own, strict=True)}
                    candidates.append({"id": f"{number}-{i}", "features": values})
                desk.decide(candidates)
            desk.catch_up(wait=True)
    finally:
        ledger.close()
    service.token("owner", ["admin"])
    for name in ("Kim", "Lee"):
        service.token(name, ["review"])
    with service:
        yield service


def _window(browser: Browser, width: int, height: int) -> Page:
    return browser.new_context(viewport={"width": width, "height": height}).new_page()


def _box(part: Locator) -> FloatRect:
    box = part.bounding_box()
    assert box is not None
    return box


def _change_response(page: Page, **changes: Any) -> None:
    """The service describes the next pair as it would, with some changes."""

    def change(route: Route) -> None:
        route.fulfill(json={**json.loads(route.fetch().text()), **changes})

    page.route("**/next", change)


@pytest.mark.parametrize(("width", "height"), [(360, 740), (1280, 800)])
def test_the_next_pair_is_seen_from_its_beginning(browser: Browser, long: Serving, width: int, height: int) -> None:
    """Whoever went down a long list sees the chances all the way, and is at the top when another pair comes."""
    page = _window(browser, width, height)
    enter(page, long, "Kim", "/review/long")
    ready(page)
    page.evaluate("window.scrollTo(0, document.querySelectorAll('.pair tbody tr')[19].offsetTop + 600)")
    assert page.locator(".pair thead").first.evaluate("head => head.getBoundingClientRect().bottom < 0")
    chances = page.locator(".pair .chances td.side").first
    assert chances.evaluate("cell => cell.getBoundingClientRect().top >= 0")
    answer(page, "n")
    for part in (page.locator(".pair thead th.side").first, chances):
        assert -0.5 <= _box(part)["y"] <= height / 2
    page.context.close()


def test_many_rows_that_are_the_same_are_collapsed(page: Page, long: Serving) -> None:
    """They stand below those that differ, all of them, behind a line that counts them; opened, they stay open. The
    record names every attribute, collapsed or not."""
    enter(page, long, "Lee", "/review/long")
    ready(page)
    same, details = page.locator("tr.same"), page.locator("#same")
    number = same.count()
    assert number > 12
    assert page.locator("tr.differs").count() == LONG - number
    expect(details.locator("summary")).to_have_text(f"{number} features alike")
    expect(same.first).to_be_hidden()
    details.locator("summary").click()
    expect(same.last).to_be_visible()
    answer(page, "n")
    expect(same.last).to_be_visible()
    (review,) = [event for event in long.events("review", "long") if event["body"]["reviewer"] == "Lee"]
    assert len(review["body"]["circumstances"]["shown"]) == LONG


@pytest.mark.parametrize(("width", "height", "share"), [(360, 640, 0.24), (640, 360, 0.28)])
def test_small_windows_show_the_pair(browser: Browser, long: Serving, width: int, height: int, share: float) -> None:
    """On a telephone, and at 200% zoom: the head is one line, the answers take little of the height, each with its
    key, and the chances are in sight; on a telephone attributes are too."""
    page = _window(browser, width, height)
    enter(page, long, "Kim", "/review/loans")
    ready(page)
    answer(page, "n")
    page.evaluate("window.scrollTo(0, 0)")
    parts = ("#masthead", "#ask", ".chances td.side", "tr.differs")
    head, ask, chances, row = (_box(page.locator(part).first) for part in parts)
    assert head["height"] <= 48
    assert ask["height"] <= share * height
    assert chances["y"] + (chances["height"] if width == 360 else 24) <= ask["y"]
    assert width != 360 or row["y"] + row["height"] <= ask["y"]
    for key in page.locator(".answers kbd").all():
        expect(key).to_be_visible()
    expect(page.locator("#undo kbd")).to_have_text("Backspace")
    expect(page.locator("#undo")).to_have_attribute("aria-keyshortcuts", "Backspace z")
    page.locator("#menu").click()
    expect(page.get_by_role("button", name="Sign out")).to_be_visible()
    expect(page.get_by_role("link", name="Interview")).to_be_visible()
    page.context.close()


@pytest.mark.parametrize(
    ("probabilities", "digits", "shown", "gap"),
    [
        ([0.33452, 0.13128], 1, ["33.5%", "13.1%"], "20.4 percentage points"),
        ([0.14, 0.306], 1, ["14.0%", "30.6%"], "16.6 percentage points"),
        ([0.33541, 0.33459], 1, ["33.5%", "33.5%"], "under 0.1 percentage points"),
        ([0.0003, 0.9998], 1, ["under 0.1%", "over 99.9%"], "100.0 percentage points"),
        ([0.725, 0.275], 0, ["72.5%", "27.5%"], "45.0 percentage points"),
        ([0.72, 0.28], 0, ["72%", "28%"], "44 percentage points"),
        ([0.505, 0.495], 0, ["50.5%", "49.5%"], "1.0 percentage points"),
    ],
)
def test_numbers_add_up(
    page: Page, long: Serving, probabilities: list[float], digits: int, shown: list[str], gap: str
) -> None:
    """The gap is that of the displayed chances; those of a whole add up to 100%, with the same digits."""
    _change_response(page, probabilities=probabilities, digits=digits, gap=abs(probabilities[0] - probabilities[1]))
    enter(page, long, "Kim", "/review/loans")
    ready(page)
    assert page.locator(".chance-number").all_inner_texts() == shown
    expect(page.locator("#gap")).to_have_text(gap)
    expect(page.locator("#announcer")).to_contain_text(f"Chances: left {shown[0]}, right {shown[1]}, a gap of {gap}.")


def test_a_difference_is_stated_in_words(browser: Browser, long: Serving) -> None:
    """The card of whoever has more says by how much; on a telephone the mark does, and rows stay as high as others."""
    more = {"side": "right", "by": "3,200"}
    rows = [
        {"name": "income", "left": "20,000 EUR", "right": "23,200 EUR", "differs": True, "more": more},
        {"name": "purpose", "left": "car", "right": "home", "differs": True, "more": None},
    ]
    for width, seen in ((1280, ".side.right .more"), (360, ".chip .by")):
        page = _window(browser, width, 800)
        _change_response(page, rows=rows)
        enter(page, long, "Kim", "/review/loans")
        ready(page)
        first, second = page.locator("tr.differs").all()
        expect(first.locator(seen)).to_have_text("3,200 more" if width > 1000 else "3,200 more, right")
        visible = [text for text in page.get_by_text("3,200 more").all() if text.is_visible()]
        assert len(visible) == 1
        heights = [_box(row)["height"] for row in (first, second)]
        assert abs(heights[0] - heights[1]) < 2
        page.context.close()
