"""The service goes away and comes back: the page says so, and nothing that was answered is lost."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.support.serving import Serving
from tests.support.steps import answer, answers_of, back_by_hand, enter, people, ready

pytestmark = pytest.mark.browser


def _opened_again(page: Page, serving: Serving) -> Page:
    """The page in a new window, after the old one was closed and the service came back."""
    context = page.context
    page.close()
    serving.start()
    again = context.new_page()
    again.goto(f"{serving.url}/review/loans")
    ready(again)
    return again


def test_an_answer_waits_for_the_service(page: Page, serving: Serving) -> None:
    """An answer given while the service is away is kept, announced, and sent once when it is back."""
    page.clock.install()
    enter(page, serving, "Kim", "/review/loans")
    ready(page)
    answer(page, "a")
    serving.stop()
    pair = people(page)
    page.keyboard.press("u")
    expect(page.locator("#away")).to_contain_text("1 answer is saved in this browser")
    back_by_hand(page, serving)
    expect(page.locator("#back")).to_contain_text("The service is back")
    ready(page)
    assert set(people(page)) != set(pair)
    assert answers_of(serving, "Kim") == ["acceptable", "unfair"]


def test_a_page_closed_while_the_service_is_away(page: Page, serving: Serving) -> None:
    """What could not be sent before the page was closed is sent when it is opened again."""
    enter(page, serving, "Lee", "/review/loans")
    ready(page)
    serving.stop()
    page.keyboard.press("c")
    expect(page.locator("#away")).to_be_visible()
    again = _opened_again(page, serving)
    expect(again.locator("#last")).to_contain_text("1 saved answer sent.")
    assert answers_of(serving, "Lee") == ["conflict"]
    assert again.evaluate("Object.keys(localStorage).filter((name) => name.startsWith('evenhand-outbox'))") == []


def test_several_answers_wait_in_order(page: Page, serving: Serving) -> None:
    """One goes on with pairs at hand while the service is away; all answers are kept through a closed window, one can
    be taken back, and they are sent in their order when the service is back."""
    with page.expect_response(lambda response: "/review/ahead" in response.url):
        enter(page, serving, "Max", "/review/loans")
        ready(page)
    seen = [people(page)]
    serving.stop()
    for number, key in enumerate("uans"):
        page.keyboard.press(key)
        ready(page)
        assert f"{number + 1} answer" in page.locator("#away").inner_text()  # at once, not when it is tried again
        seen.append(people(page))
    assert len({frozenset(pair) for pair in seen}) == 5
    page.keyboard.press("z")
    expect(page.locator("#away")).to_contain_text("3 answers")
    assert people(page) == seen[3]
    page.keyboard.press("c")
    expect(page.locator("#away")).to_contain_text("4 answers")
    _opened_again(page, serving)
    assert answers_of(serving, "Max") == ["unfair", "acceptable", "unsure", "conflict"]
    reviews = [event for event in serving.events("review") if event["body"]["reviewer"] == "Max"]
    for pair, metadata in zip(seen, (event["body"]["circumstances"] for event in reviews), strict=False):
        for shown, side in zip(pair, ("left", "right"), strict=True):
            assert shown.startswith(
                f"{100 * metadata['probabilities'][metadata['sides'][side]]:.1f}".removesuffix(".0")
            )


def test_going_on_when_the_service_is_back(page: Page, serving: Serving) -> None:
    """The pair that is before somebody stays when the service comes back, and the next answers go straight to it."""
    page.clock.install()
    with page.expect_response(lambda response: "/review/ahead" in response.url):
        enter(page, serving, "Zoe", "/review/loans")
        ready(page)
    serving.stop()
    page.keyboard.press("u")
    expect(page.locator("#away")).to_contain_text("1 answer is saved")
    ready(page)
    before = people(page)
    back_by_hand(page, serving)
    expect(page.locator("#back")).to_be_visible(timeout=30_000)
    assert people(page) == before
    answer(page, "a")
    assert answers_of(serving, "Zoe") == ["unfair", "acceptable"]
    with page.expect_response(lambda response: "/review/next" in response.url):
        page.keyboard.press("z")
    ready(page)
    assert people(page) == before


def test_what_is_taken_back_unsent_is_not_counted(page: Page, serving: Serving) -> None:
    """While the service is away every answer counts, one that is taken back no more; when it is back, the page says
    what was recorded."""
    page.clock.install()
    with page.expect_response(lambda response: "/review/ahead" in response.url):
        enter(page, serving, "Ola", "/review/loans")
        ready(page)
    done = page.locator("#answered-value")
    serving.stop()
    for key, number in (("a", 1), ("u", 2), ("Backspace", 1), ("n", 2), ("s", 3), ("z", 2)):
        ready(page)
        page.keyboard.press(key)
        expect(done).to_have_text(f"{number} of 20")
    ready(page)
    back_by_hand(page, serving)
    expect(page.locator("#back")).to_be_visible(timeout=30_000)
    expect(done).to_have_text("2 of 20")
    assert answers_of(serving, "Ola") == ["acceptable", "unsure"]
    answer(page, "a")
    expect(done).to_have_text("3 of 20")
