"""What users write is text, whatever it looks like."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.support.local_service import LocalService
from tests.support.serving import Serving
from tests.support.steps import ready, sign_in

pytestmark = pytest.mark.browser

NASTY = ["<script>window.hit=1</script>", '"><img src=x onerror="window.hit=1">']


@pytest.fixture(scope="module")
def nasty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    """A service with a desk whose candidates, features and reviewer are called what they should not be."""
    service = LocalService(tmp_path_factory.mktemp("nasty"))
    features = ["<b>income</b>", "<script>window.hit=1</script>"]
    service.open_desk("loans", 0, schema=None, features=features, reviewing={"ids": True})
    service.token("owner", ["admin"])
    service.token("<script>window.hit=1</script>", ["review"], ["loans"])
    try:
        service.start()
        for _ in range(3):
            candidates = [
                {"id": name, "features": {features[0]: 0.1 + 0.5 * i, features[1]: 0.5 - 0.4 * i}}
                for i, name in enumerate(NASTY)
            ]
            answer = service.ask("POST", "/api/desks/loans/decisions", by="owner", body={"candidates": candidates})
            assert answer.status_code == 201
        yield service
    finally:
        service.stop()


def test_a_candidate_named_script_does_nothing(page: Page, nasty: Serving) -> None:
    """Names that are markup are shown letter by letter and run nowhere; the policy would forbid it besides."""
    sign_in(page, nasty, NASTY[0], "/review/loans")
    ready(page)
    assert set(page.locator(".pseudonym").all_inner_texts()) == set(NASTY)
    expect(page.locator("table.pair")).to_contain_text("<b>income</b>")
    expect(page.get_by_role("banner")).to_contain_text("<script>window.hit=1</script>")
    page.keyboard.press("u")
    expect(page.locator("#last")).to_contain_text("Recorded: unfair")
    assert page.evaluate("window.hit") is None


def test_the_policy_forbids_scripts_from_elsewhere(page: Page, nasty: Serving) -> None:
    """Inline scripts and styles, other hosts and frames are refused by the content security policy."""
    response = page.goto(f"{nasty.url}/sign-in")
    assert response is not None
    policy = response.headers["content-security-policy"]
    for part in ("default-src 'none'", "script-src 'self'", "style-src 'self'", "frame-ancestors 'none'"):
        assert part in policy
    page.evaluate(
        "const s = document.createElement('script'); s.textContent = 'window.hit = 1'; document.body.append(s)"
    )
    assert page.evaluate("window.hit") is None


def test_a_link_can_sign_in_and_leads_nowhere_else(page: Page, nasty: Serving) -> None:
    """A token after the # signs in and vanishes from the address; `next` leads to this service only."""
    page.goto(f"{nasty.url}/sign-in?next=//example.org/#token={nasty.tokens['owner']}")
    page.wait_for_url(f"{nasty.url}/desks")
    expect(page.get_by_role("heading", name="Desks", exact=True)).to_be_visible()
