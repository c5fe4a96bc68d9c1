"""A person reviews pairs in a browser."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from evenhand.review.item import WHY
from tests.support.serving import Serving
from tests.support.steps import answer, enter, people, ready, sign_in
from tests.support.waiting import wait_for

pytestmark = pytest.mark.browser


def test_twenty_pairs_by_keyboard(page: Page, serving: Serving) -> None:
    """Sign in, review twenty pairs, undo one: each answer is in the ledger, and the metric is another one."""
    before = serving.metric()
    sign_in(page, serving, "Kim", "/review/loans")
    ready(page)
    for number in range(19):
        answer(page, "ua"[number % 2])
    pair = people(page)
    answer(page, "u")
    expect(page.locator("#ending-title")).to_have_text("Session of 20 pairs complete")
    expect(page.locator("#ending-title")).to_be_focused()
    with page.expect_response(lambda response: "/review/next" in response.url):
        page.keyboard.press("Backspace")
    ready(page)
    assert people(page) == pair
    answer(page, "a")
    reviews = [event for event in serving.events("review") if event["body"]["reviewer"] == "Kim"]
    (withdrawal,) = serving.events("withdrawal")
    assert len(reviews) == 21
    assert withdrawal["body"]["review"] == reviews[19]["id"]
    assert reviews[20]["body"]["circumstances"]["again_of"] == reviews[19]["id"]
    assert reviews[20]["body"]["fair"]
    _wait_for_change(serving, before)


def test_the_question_is_about_likeness_not_merit(page: Page, serving: Serving) -> None:
    """Both pages explain the question in the same words, below a short heading."""
    for path in ("/review/loans", "/interview/loans"):
        enter(page, serving, "Ada", path)
        ready(page)
        assert len(page.get_by_role("heading", level=1).inner_text()) <= 50
        intro = page.locator("#intro").inner_text()
        assert "Who has the higher chance does not matter, nor who deserves it; only the gap does." in intro
        assert "unfair to one of them, or are they different enough to make it acceptable?" in intro


def _wait_for_change(serving: Serving, before: Any) -> None:
    wait_for(lambda: serving.metric()["matrix"] != before["matrix"], what="another metric", pause=0.1)


def test_a_record_says_what_was_shown(page: Page, serving: Serving) -> None:
    """A review records sides, attributes shown and hidden, chances, why it was asked, times, reason and note."""
    hidden = {"changes": {"reviewing": {"hidden": ["guarantor"], "repeats": 0.0, "controls": 0.0}}}
    assert serving.ask("POST", "/api/desks/loans/settings", by="owner", body=hidden).status_code == 201
    enter(page, serving, "Ada", "/review/loans")
    ready(page)
    left, right = people(page)
    shown_text = page.locator("main").inner_text()
    assert "guarantor" not in shown_text
    expect(page.locator("#withheld")).to_have_text("Some attributes are not shown here.")
    page.get_by_text("Add a reason or note").click()
    page.get_by_label("Reason").select_option("alike")
    page.get_by_label("Note").fill("u a s - typed letters are no answers")
    assert people(page) == (left, right)
    page.get_by_role("button", name="Unfair").click()
    expect(page.locator("#why")).to_contain_text("Why you were asked")
    (review,) = [event for event in serving.events("review") if event["body"]["reviewer"] == "Ada"]
    metadata = review["body"]["circumstances"]
    assert metadata["queue"]["reason"] in ("most telling", "random control")  # queued for somebody before
    expect(page.locator("#why")).to_contain_text(WHY[metadata["queue"]["reason"]])
    assert set(metadata["sides"]) == {"left", "right"}
    ids = [metadata["sides"][side] for side in ("left", "right")]
    assert not metadata["ids_shown"]
    assert not any(name in shown_text for name in ids)
    assert metadata["hidden"] == ["guarantor"]
    assert metadata["shown"] == ["income", "years employed", "purpose"]
    assert (metadata["reason"], metadata["answer"]) == ("alike", "unfair")
    assert metadata["note"].startswith("u a s")
    assert metadata["started"] < metadata["ended"]
    assert metadata["instruction"] == "3"
    assert set(metadata["probabilities"]) == set(ids)
    assert review["body"]["unfair"] == [ids]
    for name, person in zip(ids, (left, right), strict=True):
        assert person.startswith(f"{100 * metadata['probabilities'][name]:.1f}".removesuffix(".0"))
    shown: dict[str, object] = {"changes": {"reviewing": {}}}
    assert serving.ask("POST", "/api/desks/loans/settings", by="owner", body=shown).status_code == 201


def test_the_browser_is_closed_in_the_middle(browser: Browser, serving: Serving) -> None:
    """Somebody who comes back, in another window, goes on with the very pair they left."""
    seen = []
    for _ in range(2):
        context = browser.new_context()
        page = context.new_page()
        enter(page, serving, "Lee", "/review/loans")
        ready(page)
        seen.append(people(page))
        answer(page, "n")
        seen.append(people(page))
        context.close()
    assert seen[1] == seen[2]
    assert len({frozenset(pair) for pair in seen}) == 3


def test_two_reviewers_at_once(browser: Browser, serving: Serving) -> None:
    """Two people who look at the same time never see the same pair of a decision."""
    contexts = [browser.new_context() for _ in range(2)]
    pages = [context.new_page() for context in contexts]
    for page, name in zip(pages, ("Max", "Zoe"), strict=True):
        enter(page, serving, name, "/review/loans")
        ready(page)
    for _ in range(5):
        assert set(people(pages[0])) != set(people(pages[1]))
        for page in pages:
            answer(page, "s")
    for context in contexts:
        context.close()
    skipped = [e for e in serving.events("review") if e["body"]["circumstances"]["answer"] == "skip"]
    assert len(skipped) == 10
    assert all(event["body"]["unfair"] == event["body"]["fair"] == [] for event in skipped)


def test_a_reviewer_of_another_desk_is_turned_away(page: Page, serving: Serving) -> None:
    """Whose token is for another desk sees a sentence and the way to their own, and nothing of this one."""
    enter(page, serving, "Eve", "/review/loans")
    expect(page.get_by_role("alert")).to_contain_text("Your token is not for the desk “loans”.")
    expect(page.get_by_role("link", name="Go to the desk “cards”")).to_have_attribute("href", "/desks/cards")
    expect(page.locator("#work")).to_be_hidden()
    assert page.locator("table.pair").count() == 0


def test_help_and_switching_keys_off(page: Page, serving: Serving) -> None:
    """Help opens and closes by key; with single keys switched off, letters answer nothing."""
    enter(page, serving, "Zoe", "/review/loans")
    ready(page)
    pair = people(page)
    page.keyboard.press("h")
    for words in ("Sides are random", "chance of being chosen", "UTC"):
        expect(page.get_by_role("dialog")).to_contain_text(words)
    page.get_by_label("Answer with single keys").uncheck()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()
    page.keyboard.press("u")
    page.keyboard.press("F1")
    expect(page.get_by_role("dialog")).to_be_visible()
    assert people(page) == pair


def test_signing_out(page: Page, serving: Serving) -> None:
    """After signing out the cookie opens nothing, and no script ever saw it."""
    enter(page, serving, "Zoe", "/review/loans")
    ready(page)
    assert page.evaluate("document.cookie") == ""
    cookies = page.context.cookies()
    assert [(c["httpOnly"], c["sameSite"]) for c in cookies] == [(True, "Strict")]
    page.get_by_role("button", name="Sign out").click()
    page.wait_for_url("**/sign-in?why=out")
    page.context.add_cookies([dict(cookies[0])])  # type: ignore[list-item]
    assert page.request.get(f"{serving.url}/api/desks/loans/review/next").status == 401
