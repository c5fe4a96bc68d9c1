"""What goes wrong at a keyboard or in a browser, and answers nothing that was not meant, nor loses what was."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from tests.support.serving import Serving
from tests.support.steps import answer, answers_of, back_by_hand, enter, people, ready

pytestmark = pytest.mark.browser

BURST = """(key) => new Promise((resolve) => {
  const how = { key, bubbles: true, cancelable: true };
  const press = () => document.body.dispatchEvent(new KeyboardEvent("keydown", how));
  const seen = new MutationObserver(() => {
    seen.disconnect();
    for (let pressed = 1; pressed < 5; pressed += 1) press();
    resolve();
  });
  seen.observe(document.querySelector("#pair"), { childList: true });
  press();
})"""
"""Five presses: the first, and four as soon as another pair is in the document."""


@pytest.fixture
def two(browser: Browser, serving: Serving) -> Iterator[tuple[Page, Page]]:
    """Two windows of one browser, in which Ada has signed in."""
    context = browser.new_context(viewport={"width": 1280, "height": 1000})
    pages = context.new_page(), context.new_page()
    for page in pages:
        enter(page, serving, "Ada", "/review/loans")
        ready(page)
    yield pages
    context.close()


def test_a_double_click_answers_once(page: Page, serving: Serving) -> None:
    """The second click would fall on a pair that nobody has seen."""
    enter(page, serving, "Kim", "/review/loans")
    ready(page)
    first = people(page)
    with page.expect_response(lambda response: "/review/answers" in response.url):
        page.locator("#answer-unfair").click()
    ready(page)
    second = people(page)
    assert set(second) != set(first)
    page.locator("#answer-unfair").dispatch_event("click", {"detail": 2})
    assert people(page) == second
    answer(page, "a")  # answers are sent in order
    assert answers_of(serving, "Kim") == ["unfair", "acceptable"]


def test_a_held_key_answers_once(page: Page, serving: Serving) -> None:
    """Enter held down on a focused answer repeats by itself: it answers the pair that was there when it was pressed."""
    enter(page, serving, "Lee", "/review/loans")
    ready(page)
    page.locator("#answer-acceptable").focus()
    with page.expect_response(lambda response: "/review/answers" in response.url):
        page.keyboard.down("Enter")
    ready(page)
    second = people(page)
    for _ in range(5):
        page.keyboard.down("Enter")  # of a key that is down already: a repeat
    page.keyboard.up("Enter")
    assert people(page) == second
    answer(page, "u")  # answers are sent in order
    assert answers_of(serving, "Lee") == ["acceptable", "unfair"]


def test_a_burst_of_keys_answers_once(page: Page, serving: Serving) -> None:
    """Keys pressed right after one another were meant for the pair that was there; what is pressed later counts."""
    enter(page, serving, "Eve", "/review/cards")
    ready(page)
    first = people(page)
    page.evaluate(BURST, "u")
    ready(page)
    assert set(people(page)) != set(first)
    answer(page, "a")
    assert answers_of(serving, "Eve", "cards") == ["unfair", "acceptable"]


def test_undo_by_button_keeps_the_note_and_the_focus(page: Page, serving: Serving) -> None:
    """The note and the reason are in their fields again, and the keyboard is at the question."""
    enter(page, serving, "Max", "/review/loans")
    ready(page)
    pair = people(page)
    page.get_by_text("Add a reason or note").click()
    page.get_by_label("Reason").select_option("gap")
    page.get_by_label("Note").fill("far too wide")
    page.locator("#answer-unfair").click()
    expect(page.locator("#undo")).to_be_visible()
    ready(page)
    expect(page.get_by_label("Note")).to_have_value("")
    page.locator("#undo").focus()
    with page.expect_response(lambda response: "/review/next" in response.url):
        page.keyboard.press("Enter")
    expect(page.locator("#last")).to_contain_text("Here is the pair again")
    assert people(page) == pair
    expect(page.get_by_label("Note")).to_have_value("far too wide")
    expect(page.get_by_label("Reason")).to_have_value("gap")
    expect(page.locator("#question")).to_be_focused()
    answer(page, "u")
    reviews = [event["body"] for event in serving.events("review") if event["body"]["reviewer"] == "Max"]
    assert [body["circumstances"]["note"] for body in reviews] == ["far too wide"] * 2


def test_signing_in_again_in_another_window(two: tuple[Page, Page], serving: Serving) -> None:
    """As the same person: the first window goes on. As another: its answer is kept, and she is asked to sign in."""
    first, second = two
    enter(second, serving, "Ada", "/review/loans")
    ready(second)
    answer(first, "u")
    ready(first)
    expect(first.locator("#refusal")).to_have_count(0)
    assert answers_of(serving, "Ada") == ["unfair"]
    enter(second, serving, "Zoe", "/review/loans")
    ready(second)
    first.keyboard.press("a")
    first.wait_for_url("**/sign-in**")
    expect(first.locator("#why")).to_contain_text("Somebody else signed in")
    assert answers_of(serving, "Ada") == ["unfair"]
    enter(first, serving, "Ada", "/review/loans")
    ready(first)
    assert answers_of(serving, "Ada") == ["unfair", "acceptable"]


def test_a_session_that_has_ended(page: Page, serving: Serving) -> None:
    """The answer is kept through signing in again, and signing out of what has ended leads to the sign-in page."""
    enter(page, serving, "Zoe", "/review/loans")
    ready(page)
    page.context.clear_cookies()
    page.keyboard.press("u")
    page.wait_for_url("**/sign-in**")
    saved = "1 answer is saved on this computer and will be sent after you sign in."
    expect(page.locator("#why")).to_have_text(f"Your session has ended. Sign in to continue. {saved}")
    page.get_by_label("Token").fill(serving.tokens["Zoe"])
    page.keyboard.press("Enter")
    page.wait_for_url("**/review/loans")
    ready(page)
    expect(page.locator("#last")).to_contain_text("1 saved answer sent. Your last answer: unfair.")
    expect(page.locator("#announcer")).to_contain_text("1 saved answer sent. Next pair.")
    assert answers_of(serving, "Zoe") == ["unfair"]
    page.context.clear_cookies()
    page.get_by_role("button", name="Sign out").click()
    page.wait_for_url("**/sign-in?why=out")


def test_an_error_of_the_services_own_loses_nothing(page: Page, serving: Serving) -> None:
    """The page says so, and the answer is sent with the next visit; signing out while the service is away says so."""
    before = answers_of(serving, "Zoe")
    enter(page, serving, "Zoe", "/review/loans")
    ready(page)

    def fails(route: Route) -> None:
        route.fulfill(status=500, json={"status": 500, "detail": "something broke"})

    page.route("**/review/answers", fails)
    page.keyboard.press("a")
    expect(page.get_by_role("alert")).to_contain_text("Something broke")
    page.unroute("**/review/answers")
    page.reload()
    ready(page)
    assert answers_of(serving, "Zoe") == [*before, "acceptable"]
    page.route("**/session", lambda route: route.abort())
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("alert")).to_contain_text("The service is unreachable")


def test_an_error_is_shown_until_something_succeeds(page: Page, serving: Serving) -> None:
    """It stays while nothing else happens, and goes with the next answer that is taken."""
    enter(page, serving, "Max", "/review/loans")
    ready(page)
    page.route("**/review/answers", lambda route: route.fulfill(status=409, json={"status": 409, "detail": "no"}))
    page.keyboard.press("n")
    expect(page.locator("#refusal")).to_contain_text("Something went wrong. No.")
    ready(page)
    expect(page.locator("#refusal")).to_be_visible()
    page.unroute("**/review/answers")
    answer(page, "n")
    expect(page.locator("#refusal")).to_have_count(0)


def test_a_window_closed_while_the_service_is_away(two: tuple[Page, Page], serving: Serving) -> None:
    """What it had kept is sent by the window that is still open, which says what was refused of it."""
    before = answers_of(serving, "Ada")
    first, second = two
    first.clock.install()
    for page in two:
        with page.expect_response(lambda response: "/review/ahead" in response.url):
            page.reload()
            ready(page)
    serving.stop()
    first.keyboard.press("u")
    expect(first.locator("#away")).to_contain_text("1 answer is saved")
    ready(first)
    second.keyboard.press("n")  # on the very pair that the first window answered
    expect(second.locator("#away")).to_be_visible()
    ready(second)
    second.keyboard.press("s")
    expect(second.locator("#away")).to_contain_text("3 answers are saved")  # by both windows
    second.close()
    back_by_hand(first, serving, "Enter")
    expect(first.locator("#refusal")).to_contain_text("answered this pair already")
    expect(first.locator("h1")).to_be_focused()
    assert first.evaluate("Object.keys(localStorage).filter((name) => name.startsWith('evenhand-outbox'))") == []
    assert sorted(answers_of(serving, "Ada")[len(before) :]) == ["skip", "unfair"]


def test_what_comes_next_is_known_after_the_last_answer(page: Page, serving: Serving) -> None:
    """All pairs at hand answered while the service was away: nothing is asked that was answered, and none is lost."""
    page.clock.install()
    with page.expect_response(lambda response: "/review/ahead" in response.url):
        enter(page, serving, "Kim", "/review/loans")
        ready(page)
    before, seen = len(answers_of(serving, "Kim")), [frozenset(people(page))]
    serving.stop()
    for number in range(6):
        page.keyboard.press("a")
        expect(page.locator("#away")).to_contain_text(f"{number + 1} answer")
        if number < 5:
            ready(page)
            seen.append(frozenset(people(page)))
    expect(page.locator("#work")).to_have_attribute("aria-busy", "true")
    expect(page.locator("#none-at-hand")).to_contain_text("no other pair is available")
    for button in page.locator(".answers .button").all():
        expect(button).to_be_hidden()
    expect(page.locator("#note")).to_be_hidden()
    expect(page.locator("h1")).to_have_text("Review")
    back_by_hand(page, serving)
    expect(page.locator("#back")).to_be_visible()
    ready(page)
    expect(page.locator("#answer-unfair")).to_be_enabled()
    assert len(set(seen)) == 6
    assert frozenset(people(page)) not in seen
    assert answers_of(serving, "Kim")[before:] == ["acceptable"] * 6
