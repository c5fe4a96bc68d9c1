"""The page where a token is exchanged for a session: what it says to whom, and what it never shows."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.support.serving import Serving
from tests.support.steps import enter

pytestmark = pytest.mark.browser


def test_what_was_typed_is_never_shown(page: Page, serving: Serving) -> None:
    """Whatever is wrong with a token, the sentence repeats nothing of it."""
    page.goto(f"{serving.url}/sign-in")
    for typed, message in (
        ("eh_" + "secret" * 80, "This is too long to be a token."),
        ("eh_secret", "This token is unknown, has expired or was revoked. Check that you copied all of it."),
        ("", "Enter your token."),
    ):
        page.get_by_label("Token").fill(typed)
        page.keyboard.press("Enter")
        expect(page.locator("#token-error")).to_have_text(message)
        expect(page.get_by_label("Token")).to_be_focused()
        assert "secret" not in page.locator("body").inner_text()


def test_what_the_service_says_of_it_is_not_shown_either(page: Page, serving: Serving) -> None:
    """A refusal that quotes what was sent becomes a sentence of the page's own."""
    page.route(
        "**/session", lambda route: route.fulfill(status=400, json={"status": 400, "detail": "token is 'eh_secret'"})
    )
    page.goto(f"{serving.url}/sign-in")
    page.get_by_label("Token").fill("eh_secret")
    page.keyboard.press("Enter")
    expect(page.locator("#token-error")).to_contain_text("This is not a token.")
    assert "secret" not in page.locator("body").inner_text()


def test_whoever_is_signed_in_is_shown_the_way(page: Page, serving: Serving) -> None:
    """The page says who one is, and leads on without a token; another token can still be given."""
    enter(page, serving, "Kim", "/sign-in?next=/review/loans")
    expect(page.locator("#signed-in")).to_contain_text("You are already signed in as Kim.")
    expect(page.get_by_label("Token")).to_be_visible()
    page.get_by_role("link", name="Continue").click()
    page.wait_for_url(f"{serving.url}/review/loans")


def test_answers_that_wait_are_shown(page: Page, serving: Serving) -> None:
    """Whoever comes to sign in sees how many answers this browser keeps, undone ones not counted."""
    page.goto(f"{serving.url}/sign-in")
    expect(page.locator("#why")).to_have_count(0)
    page.evaluate("""() => {
      const kept = [{ method: "POST", key: "1" }, { method: "POST", key: "2" }, { method: "DELETE", key: "3" }];
      localStorage.setItem("evenhand-outbox:Kim:loans", JSON.stringify(kept));
    }""")
    page.reload()
    expect(page.locator("#why")).to_have_text(
        "2 answers are saved on this computer and will be sent after you sign in."
    )


def test_signing_out_is_confirmed(page: Page, serving: Serving) -> None:
    """The page says it, and not to whoever has signed in again since."""
    enter(page, serving, "Kim", "/review/loans")
    page.get_by_role("button", name="Sign out").click()
    expect(page.locator("#banners")).to_have_text("You are signed out.")
    assert page.request.get(f"{serving.url}/session").status == 401
    enter(page, serving, "Kim", "/sign-in?why=out")
    expect(page.locator("#banners")).to_contain_text("You are already signed in as Kim.")
    expect(page.locator("#banners")).not_to_contain_text("signed out")


def test_a_session_that_is_gone_is_mentioned_once_and_only_if_there_was_one(page: Page, serving: Serving) -> None:
    """A newcomer sees the form alone; after a session ended the page says why, and at the next visit no more."""
    page.goto(f"{serving.url}/review/loans")
    page.wait_for_url(f"{serving.url}/sign-in?**")
    expect(page.locator("#why")).to_have_count(0)
    page.get_by_label("Token").fill(serving.tokens["Kim"])
    page.keyboard.press("Enter")
    page.wait_for_url(f"{serving.url}/review/loans")
    page.context.clear_cookies()
    page.reload()
    expect(page.locator("#why")).to_have_text("Your session has ended. Sign in to continue.")
    page.goto(f"{serving.url}/review/loans")
    page.wait_for_url(f"{serving.url}/sign-in?**")
    expect(page.locator("#why")).to_have_count(0)


def test_a_link_of_somebody_else_asks_first(page: Page, serving: Serving) -> None:
    """Whoever is signed in stays so, unless they press the button; a link of one's own just works."""
    enter(page, serving, "Kim", "/sign-in")
    link = f"{serving.url}/sign-in?next=/desks#token={serving.tokens['owner']}"
    page.goto("about:blank")
    page.goto(link)
    expect(page.locator("#swap")).to_contain_text("You are signed in as Kim. This link is for owner.")
    page.get_by_role("link", name="Continue as Kim").click()
    page.wait_for_url(f"{serving.url}/desks")
    assert page.request.get(f"{serving.url}/session").json()["name"] == "Kim"
    page.goto("about:blank")
    page.goto(link)
    page.get_by_role("button", name="Sign in as owner").click()
    page.wait_for_url(f"{serving.url}/desks")
    assert page.request.get(f"{serving.url}/session").json()["name"] == "owner"
    page.goto("about:blank")
    page.goto(link)
    page.wait_for_url(f"{serving.url}/desks")
