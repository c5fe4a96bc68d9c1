"""A desk that asks for ratings or comparisons: the review page asks that way, and records what was said."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.support.serving import Serving
from tests.support.steps import answer, enter, people, ready
from tests.support.waiting import wait_for

pytestmark = pytest.mark.browser

QUIET = {"repeats": 0.0, "controls": 0.0}


def set_rules(serving: Serving, **rules: Any) -> None:
    """Change how the desk asks."""
    changes = {"changes": {"reviewing": {**QUIET, **rules}}}
    assert serving.ask("POST", "/api/desks/loans/settings", by="owner", body=changes).status_code == 201


def reviews_of(serving: Serving, name: str) -> list[dict[str, Any]]:
    """The bodies of somebody's reviews, the oldest first."""
    return [event["body"] for event in serving.events("review") if event["body"]["reviewer"] == name]


def rate(page: Page, keys: str) -> None:
    """Rate both people by keyboard, and wait for the next pair."""
    ready(page)
    page.keyboard.press(keys[0])
    answer(page, keys[1])


def test_ratings_by_keyboard(page: Page, serving: Serving, screenshots: Path) -> None:
    """Two digits rate the left and the right person; the ledger has both scores, and the metric is another one.

    The page of the decision tells in words what was said.
    """
    set_rules(serving, ask="ratings", scale=[1, 5])
    before = serving.metric()
    enter(page, serving, "Kim", "/review/loans")
    ready(page)
    expect(page.get_by_role("heading", level=1)).to_have_text("How strong is each person’s case?")
    assert "chance of being chosen" not in page.locator("#pair").inner_text().lower()
    expect(page.locator("#gap-place")).to_be_empty()
    page.keyboard.press("4")
    expect(page.locator("#rate-left-4")).to_have_attribute("aria-pressed", "true")
    expect(page.locator(".rating.right")).to_have_class("rating right next")
    page.screenshot(path=screenshots / "review-ratings.png")
    page.keyboard.press("Backspace")
    expect(page.locator("#rate-left-4")).to_have_attribute("aria-pressed", "false")
    pair = people(page)
    rate(page, "42")
    expect(page.locator("#last")).to_contain_text("Recorded: rated 4 and 2.")
    (review,) = reviews_of(serving, "Kim")
    sides = review["circumstances"]["sides"]
    assert review["ratings"] == {sides["left"]: 4.0, sides["right"]: 2.0}
    assert (review["kind"], review["scale"], review["circumstances"]["answer"]) == ("ratings", [1.0, 5.0], "rated")
    assert "probabilities" not in review["circumstances"]
    assert [frozenset(one) for one in (*review["unfair"], *review["fair"])] == [frozenset(sides.values())]

    with page.expect_response(lambda response: "/review/next" in response.url):
        page.keyboard.press("Backspace")
    ready(page)
    assert people(page) == pair
    rate(page, "33")
    for keys in ("12", "55", "31"):
        rate(page, keys)
    answer(page, "s")
    assert len(reviews_of(serving, "Kim")) == 6
    assert reviews_of(serving, "Kim")[-1]["circumstances"]["answer"] == "skip"
    wait_for(lambda: serving.metric()["matrix"] != before["matrix"], what="another metric", pause=0.1)
    page.reload()
    expect(page.locator("#last")).to_contain_text("Your last answer: skipped.")
    enter(page, serving, "owner", f"/desks/loans/decisions/{review['decision']}")
    expect(page.locator("#since")).to_contain_text("Kim rated ")
    expect(page.locator("#since")).to_contain_text("on a scale from 1 to 5.")


def test_ratings_by_mouse_and_with_ten_steps(page: Page, serving: Serving) -> None:
    """Buttons rate in either order; a rating may be corrected until the other is given; 0 is the key of 10."""
    set_rules(serving, ask="ratings", scale=[1, 10])
    enter(page, serving, "Lee", "/review/loans")
    ready(page)
    page.get_by_role("button", name="Person on the right: 7").click()
    page.get_by_role("button", name="Person on the right: 8").click()
    with page.expect_response(lambda response: "/review/answers" in response.url):
        page.keyboard.press("0")
    ready(page)
    (review,) = reviews_of(serving, "Lee")
    sides = review["circumstances"]["sides"]
    assert review["ratings"] == {sides["left"]: 10.0, sides["right"]: 8.0}
    page.reload()
    expect(page.locator("#last")).to_contain_text("Your last answer: rated 10 and 8.")


def test_comparisons_by_keyboard(page: Page, serving: Serving, screenshots: Path) -> None:
    """Three answers with a key each; the ledger has who comes first, whichever side that was."""
    set_rules(serving, ask="comparisons")
    enter(page, serving, "Ada", "/review/loans")
    ready(page)
    expect(page.get_by_role("heading", level=1)).to_have_text("Treat them alike, or one of them first?")
    page.screenshot(path=screenshots / "review-comparisons.png")
    for key in "lar":
        answer(page, key)
    expect(page.locator("#last")).to_contain_text("Recorded: right first.")
    reviews = reviews_of(serving, "Ada")
    assert [review["kind"] for review in reviews] == ["comparisons"] * 3
    for review, said in zip(reviews, ("first", "alike", "second"), strict=True):
        sides = review["circumstances"]["sides"]
        assert review["comparisons"] == [{"pair": [sides["left"], sides["right"]], "answer": said}]
    page.keyboard.press("u")  # an answer to another question
    page.keyboard.press("h")
    expect(page.get_by_role("dialog")).to_contain_text("Neither has a better case than the other")
    assert len(reviews_of(serving, "Ada")) == 3


def test_a_reversed_pair_is_told_in_words(page: Page, serving: Serving) -> None:
    """Somebody says that the one with the lower chance comes first: the page of the decision names both, and why."""
    event = next(one for one in serving.events("decision") if len(set(one["body"]["probabilities"])) > 1)
    chances = dict(zip(event["body"]["candidates"], event["body"]["probabilities"], strict=True))
    low, high = min(chances, key=chances.__getitem__), max(chances, key=chances.__getitem__)
    said = {"kind": "comparisons", "comparisons": [{"pair": [low, high], "answer": "first"}]}
    assert serving.ask("POST", f"/api/desks/loans/decisions/{event['id']}/reviews", by="Zoe", body=said).is_success
    enter(page, serving, "owner", f"/desks/loans/decisions/{event['id']}")
    told = f"Zoe: {low} before {high}. But {high} had a higher chance than {low}."
    expect(page.locator("#since")).to_contain_text(told)


def test_what_the_desk_asks_may_change_from_pair_to_pair(page: Page, serving: Serving) -> None:
    """A pair on the screen is answered as it was asked; the next one is asked in the new way."""
    set_rules(serving, ask="comparisons")
    enter(page, serving, "Max", "/review/loans")
    ready(page)
    set_rules(serving, ask="verdicts")
    answer(page, "l")
    ready(page)
    expect(page.get_by_role("heading", level=1)).to_have_text("Is this gap unfair, or acceptable?")
    expect(page.locator("#gap")).to_be_visible()
    answer(page, "a")
    assert [review["kind"] for review in reviews_of(serving, "Max")] == ["comparisons", "partial"]
