"""What a session is like: notes are kept, the end stays, everything is in sight, and no id gives a repeat away."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from tests.support.local_service import LocalService
from tests.support.serving import Serving
from tests.support.steps import answer, enter, people, ready
from tests.support.waiting import wait_for

pytestmark = pytest.mark.browser

LINES = """all => all.map((button) => {
  const range = document.createRange();
  range.selectNodeContents(button.firstChild);
  return range.getClientRects().length;
})"""


def person(number: int) -> dict[str, object]:
    """Features of somebody."""
    return {"income": 20_000 * (number + 1), "years employed": 3 * number, "purpose": "car", "guarantor": number == 0}


@pytest.fixture(scope="module")
def short(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    """A desk where a session has three answers."""
    service = LocalService(tmp_path_factory.mktemp("short"))
    service.open_desk("loans", 30, reviewing={"session": 3})
    service.open_desk("none", 0)
    service.token("owner", ["admin"])
    for name in ("Kim", "Lee", "Ada", "Max", "Zoe", "Ben"):
        service.token(name, ["review"])
    with service:
        yield service


class LaterClock:
    """The `time` module of a desk, for tests that let leases run out."""

    def __init__(self) -> None:
        self.later, self.monotonic = 0.0, time.monotonic

    def time(self) -> float:
        """Seconds since the epoch, and some more."""
        return time.time() + self.later


@pytest.fixture(scope="module")
def leasing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    """A desk where a pair is kept for a quarter of an hour."""
    service = LocalService(tmp_path_factory.mktemp("leasing"))
    service.open_desk("loans", 30, reviewing={"lease": 900.0, "repeats": 0.0, "controls": 0.0})
    for name in ("Kim", "Lee", "Ada"):
        service.token(name, ["review"])
    with service:
        yield service


def test_a_note_survives_a_closed_window(page: Page, short: Serving) -> None:
    """What was written on a pair is there when the page is opened again, and gone with the answer."""
    enter(page, short, "Kim", "/review/loans")
    ready(page)
    page.get_by_text("Add a reason or note").click()
    page.get_by_label("Note").fill("half a thou")
    context = page.context
    page.close()
    again = context.new_page()
    again.goto(f"{short.url}/review/loans")
    ready(again)
    expect(again.get_by_label("Note")).to_have_value("half a thou")
    again.get_by_role("heading", level=1).click()
    answer(again, "u")
    expect(again.get_by_label("Note")).to_have_value("")
    again.reload()
    ready(again)
    expect(again.get_by_label("Note")).to_have_value("")
    assert again.evaluate("Object.keys(localStorage).filter((name) => name.startsWith('evenhand-drafts'))") == []


def test_undo_reaches_back_over_a_reload(page: Page, short: Serving) -> None:
    """A page opened anew offers to take the last answers of today back, the newest first, remarks and all; when there
    is none it says so."""
    enter(page, short, "Zoe", "/review/loans")
    ready(page)
    page.keyboard.press("Backspace")
    expect(page.locator("#last")).to_contain_text("Nothing to undo")
    expect(page.locator("#announcer")).to_contain_text("Nothing to undo")
    first = people(page)
    page.get_by_text("Add a reason or note").click()
    page.get_by_label("Note").fill("look twice")
    page.get_by_role("heading", level=1).click()
    answer(page, "u")
    second = people(page)
    answer(page, "a")
    page.reload()
    ready(page)
    expect(page.locator("#last")).to_contain_text("Your last answer: acceptable.")
    for pair, note in ((second, ""), (first, "look twice")):
        with page.expect_response(lambda response: "/review/next" in response.url):
            page.keyboard.press("Backspace")
        expect(page.locator("#last")).to_contain_text("Here is the pair again")
        expect(page.locator("#announcer")).to_contain_text("was undone. The same pair again.")
        assert people(page) == pair
        expect(page.get_by_label("Note")).to_have_value(note)
    page.keyboard.press("Backspace")
    expect(page.locator("#last")).to_contain_text("Nothing to undo")


@pytest.mark.parametrize("size", [(1366, 700), (1280, 900), (360, 740)])
def test_all_that_is_needed_is_in_sight(browser: Browser, short: Serving, size: tuple[int, int]) -> None:
    """Without scrolling: every answer and what became of the last one; on a desktop chances, gap and attributes."""
    width, height = size
    context = browser.new_context(viewport={"width": width, "height": height})
    page = context.new_page()
    enter(page, short, "Lee" if width > 1300 else "Ada" if width > 1000 else "Max", "/review/loans")
    ready(page)
    answer(page, "n")
    needed = [".answers .button", "#last", "#undo"]
    needed += ["h1", "#intro", "#gap", ".pair .chances td.side", ".pair tbody tr"] if width > 1000 else []
    for selector in needed:
        for part in page.locator(selector).all():
            box = part.bounding_box()
            assert box is not None
            assert box["y"] >= 0, selector
            assert box["y"] + box["height"] <= height, selector
    context.close()


def test_a_finger_needs_no_keys(browser: Browser, short: Serving) -> None:
    """On a touch screen no key is drawn on a button, and no answer takes two lines."""
    context = browser.new_context(viewport={"width": 360, "height": 740}, has_touch=True, is_mobile=True)
    page = context.new_page()
    enter(page, short, "Max", "/review/loans")
    ready(page)
    for key in page.locator(".button kbd").all():
        expect(key).to_be_hidden()
    assert page.locator(".answers .button").evaluate_all(LINES) == [1] * 5
    context.close()


def test_the_end_of_a_session_stays_until_somebody_goes_on(page: Page, short: Serving) -> None:
    """After the last answer, loaded again, the end is there, with ways onward; going on holds after a reload too."""
    enter(page, short, "Kim", "/review/loans")
    ready(page)
    while page.locator("#ending:not([hidden])").count() == 0:
        answer(page, "n")
    for _ in range(2):
        expect(page.locator("#ending-title")).to_have_text("Session of 3 pairs complete")
        expect(page.locator("#onward")).to_have_attribute("href", "/desks/loans")
        page.reload()
    # Asked for anew: it may be somebody else's by now.
    with page.expect_response(lambda response: "/review/next" in response.url):
        page.get_by_role("button", name="Start another session").click()
    for _ in range(2):
        ready(page)
        expect(page.locator("#ending")).to_be_hidden()
        page.reload()


def test_the_summary_of_a_session(page: Page, short: Serving) -> None:
    """Pairs passed on count as done and not as answered; nothing asks at the end, and the way out is the main one."""
    enter(page, short, "Ben", "/review/loans")
    ready(page)
    expect(page.locator("#answered")).to_contain_text("Session 1:")
    for number, key in enumerate("usn"):
        expect(page.locator("#answered-value")).to_have_text(f"{number} of 3")
        answer(page, key)
    expect(page.locator("#ending-words")).to_contain_text("You answered 2 pairs and passed 1 in this session.")
    expect(page.get_by_role("heading", level=1)).to_have_text("Review")
    expect(page.locator("#ending .primary")).to_have_text("Stop and view the desk")
    page.get_by_role("button", name="Start another session").click()
    ready(page)
    expect(page.get_by_role("heading", level=1)).to_have_text("Is this gap unfair, or acceptable?")
    answer(page, "a")
    expect(page.locator("#answered")).to_contain_text("Session 2:")
    expect(page.locator("#answered-value")).to_have_text("1 of 3 · 4 today")
    expect(page.locator("#answered")).to_have_attribute("title", re.compile("midnight UTC"))
    expect(page).to_have_title("Review · loans · evenhand")


def test_the_end_of_what_waits_looks_out_for_more(page: Page, short: Serving) -> None:
    """Where nothing waits nothing is counted that was not; while the page is in sight it looks now and then, takes no
    pair by looking, and says when some have come."""
    page.clock.install()
    enter(page, short, "Lee", "/review/none")
    expect(page.locator("#ending-title")).to_have_text("Nothing to review now")
    expect(page.get_by_role("heading", level=1)).to_have_text("Review")
    expect(page.locator("#ending")).not_to_contain_text("answered")
    expect(page.locator("#ending .primary")).to_have_text("View the desk")
    expect(page.locator("#waiting")).to_have_text("No other answers wanted.")
    with page.expect_response(lambda response: "/review/ahead" in response.url):
        page.clock.run_for(16_000)
    expect(page.locator("#ending-title")).to_have_text("Nothing to review now")
    looked: list[str] = []
    page.on("request", lambda request: looked.append(request.url))
    page.evaluate("Object.defineProperty(document, 'hidden', { get: () => true, configurable: true })")
    page.clock.run_for(60_000)
    assert looked == []
    page.evaluate("Object.defineProperty(document, 'hidden', { get: () => false })")
    body = {"candidates": [{"id": f"new {i}", "features": person(i)} for i in range(3)]}
    assert short.ask("POST", "/api/desks/none/decisions", by="owner", body=body).status_code == 201
    wait_for(lambda: short.ask("GET", "/api/desks/none/queue", by="owner").json()["pairs"], pause=0.05)
    page.clock.run_for(16_000)
    expect(page.locator("#ending-title")).to_have_text("New pairs to review")
    expect(page.locator("#ending-title")).to_be_focused()
    expect(page.locator("#announcer")).to_have_text("New pairs to review")
    expect(page.locator("#waiting")).to_have_text(re.compile("[23] answers wanted on this desk."))
    page.get_by_role("button", name="Review them").click()
    page.clock.run_for(1000)
    ready(page)


def test_a_pair_is_kept_while_somebody_looks(page: Page, leasing: Serving, monkeypatch: pytest.MonkeyPatch) -> None:
    """Looked at, its lease is renewed and nothing on the page changes; after a long absence, when somebody else has it,
    the page shows another pair and says so."""
    clock = LaterClock()
    monkeypatch.setattr("evenhand.desk.desk.time", clock)
    page.clock.install()

    def pass_time(seconds: int) -> None:
        clock.later += seconds
        page.clock.fast_forward(1000 * seconds)

    enter(page, leasing, "Kim", "/review/loans")
    ready(page)
    pair = people(page)
    page.get_by_text("Add a reason or note").click()
    page.get_by_label("Note").fill("half a thou")
    for _ in range(3):
        with page.expect_response(lambda response: "/review/next" in response.url):
            pass_time(600)
    lee = leasing.ask("GET", "/api/desks/loans/review/next", by="Lee").json()
    assert people(page) == pair
    expect(page.get_by_label("Note")).to_have_value("half a thou")
    page.evaluate("Object.defineProperty(document, 'hidden', { get: () => true, configurable: true })")
    pass_time(1000)
    leasing.ask("GET", "/api/desks/loans/review/next", by="Ada")
    page.evaluate("Object.defineProperty(document, 'hidden', { get: () => false })")
    with page.expect_response(lambda response: "/review/next" in response.url):
        page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    expect(page.locator("#last")).to_contain_text("answered by somebody else or is being reviewed")
    assert set(people(page)) != set(pair)
    shown = {f"{100 * chance:.1f}".removesuffix(".0") for chance in lee["probabilities"]}
    assert not all(person.startswith(tuple(shown)) for person in pair)


def test_a_slow_service_is_waited_for_aloud(page: Page, short: Serving) -> None:
    """After two seconds without an answer the page says that it waits, and no longer when the answer is there."""
    enter(page, short, "Lee", "/review/loans")
    ready(page)
    held: list[Route] = []
    page.route("**/review/answers", lambda route: held.append(route))
    page.keyboard.press("n")
    expect(page.locator("#waits")).to_be_visible()
    (route,) = held
    route.continue_()
    ready(page)
    expect(page.locator("#waits")).to_have_count(0)


def test_no_id_reveals_that_a_pair_came_before(page: Page, short: Serving) -> None:
    """Neither the page nor its responses say who the two are, or which decision they come from."""
    with page.expect_response(lambda response: "/review/next" in response.url) as response:
        enter(page, short, "Ada", "/review/loans")
    item = response.value.json()
    assert item["names"] is None
    assert "decision" not in item
    assert "applicant" not in response.value.text()
