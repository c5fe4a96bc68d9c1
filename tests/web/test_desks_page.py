"""The list of desks, and what the dashboard offers to whom."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.support.local_service import LocalService
from tests.support.serving import Serving
from tests.support.steps import enter

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def several(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    """A desk that has decided, and one that has not."""
    service = LocalService(tmp_path_factory.mktemp("several"))
    service.open_desk("loans", 6)
    service.open_desk("empty", 0)
    service.token("owner", ["admin"])
    service.token("Kim", ["review"])
    with service:
        yield service


def test_every_link_says_of_which_desk_it_is(page: Page, several: Serving) -> None:
    """No two links of the list have one name; of a desk that has not decided yet the interview is the main one."""
    enter(page, several, "Kim", "/desks")
    expect(page.get_by_role("heading", name="loans")).to_be_visible()
    names = page.locator("#desks a.button").all_inner_texts()
    assert len(set(names)) == len(names) == 6
    for desk, first in (("loans", "Review loans"), ("empty", "Interview empty")):
        card = page.locator("#desks li").filter(has=page.get_by_role("heading", name=desk, exact=True))
        expect(card.locator(".primary")).to_have_text(first)


def test_a_desk_that_is_not_there(page: Page, several: Serving) -> None:
    """A sentence and the way to the desks that are there; no empty sections."""
    enter(page, several, "owner", "/desks/nowhere")
    expect(page.get_by_role("alert")).to_contain_text("There is no desk 'nowhere'.")
    expect(page.get_by_role("link", name="Go to your desks")).to_have_attribute("href", "/desks")
    expect(page.get_by_role("heading", level=2).locator("visible=true")).to_have_count(0)


def test_an_empty_desk_offers_an_interview(page: Page, several: Serving) -> None:
    """There is nothing to review yet: the dashboard's main button leads to the interview, later to the reviews."""
    for desk, words, path in (("empty", "Interview", "/interview/empty"), ("loans", "Review pairs", "/review/loans")):
        enter(page, several, "Kim", f"/desks/{desk}")
        main = page.locator("main .row .button.primary")
        expect(main).to_have_text(words)
        expect(main).to_have_attribute("href", path)


def test_nothing_to_take_away_is_not_offered(page: Page, several: Serving) -> None:
    """A reviewer may take nothing away, and is shown no empty section; the owner is."""
    for name, shown in (("Kim", 0), ("owner", 1)):
        enter(page, several, name, "/desks/loans")
        expect(page.locator("#to-review")).to_be_visible()
        expect(page.get_by_role("heading", name="Download the ledger")).to_have_count(shown)
