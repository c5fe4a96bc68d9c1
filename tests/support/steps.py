"""Steps that tests of the pages share."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.support.serving import Serving

ANSWERABLE = "[aria-busy=false][data-settled]:not([hidden])"
"""A pair that is on the screen, and has been for the short time before which no answer counts."""


def sign_in(page: Page, serving: Serving, name: str, path: str) -> None:
    """Go to a page, be sent to sign in, do so by keyboard, and arrive."""
    page.goto(serving.url + path)
    expect(page.get_by_label("Token")).to_be_focused()
    page.keyboard.type(serving.tokens[name])
    page.keyboard.press("Enter")
    page.wait_for_url(serving.url + path)


def enter(page: Page, serving: Serving, name: str, path: str) -> None:
    """The same without typing, where signing in is not what is tested."""
    page.request.post(f"{serving.url}/session", data={"token": serving.tokens[name], "replace": True})
    page.goto(serving.url + path)


def people(page: Page) -> tuple[str, str]:
    """The two on the screen, by all that is shown of each: nobody's id is."""
    left, right = (
        " | ".join(page.locator(f"table.pair td.side.{side}").all_inner_texts()) for side in ("left", "right")
    )
    return left, right


def answer(page: Page, key: str) -> None:
    """Press a key once it counts, and wait for the next pair, or for the end of the session."""
    ready(page)
    with page.expect_response(lambda response: "/review/answers" in response.url):
        page.keyboard.press(key)
    pair_or_end(page)


def pair_or_end(page: Page) -> None:
    """Wait until a pair can be answered, or a natural end is reached."""
    expect(page.locator(f"#work{ANSWERABLE}").or_(page.locator("#ending:not([hidden])"))).to_have_count(1)


def ready(page: Page) -> None:
    """Wait until a pair is there, long enough to be answered."""
    expect(page.locator(f"#work{ANSWERABLE}")).to_have_count(1)


def back_by_hand(page: Page, serving: Serving, key: str = "") -> None:
    """The service comes back, and "Try now" is what sends the answers kept, by a click or a key: the page would have
    done so by itself, were its clock (installed before it was opened) not held meanwhile."""
    page.clock.pause_at(page.evaluate("Date.now()") / 1000 + 1)
    serving.start()
    button = page.get_by_role("button", name="Try now")
    with page.expect_response(lambda response: "/review/answers" in response.url):
        button.press(key) if key else button.click()
    page.clock.resume()


def answers_of(serving: Serving, name: str, desk: str = "loans") -> list[str]:
    """What this person answered on the review page, as the ledger has it, the oldest first."""
    reviews = [event for event in serving.events("review", desk) if event["body"]["reviewer"] == name]
    return [event["body"]["circumstances"]["answer"] for event in reviews]
