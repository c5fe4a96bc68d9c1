"""The demo at a bank's size: 50 candidates, 10 places, 24 features; every page at three widths in two themes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from evenhand.service.demo.past import make_past
from evenhand.service.demo.server import add_story
from evenhand.service.demo.sizes import LARGE
from tests.support.appearance import check_appearance
from tests.support.local_service import LocalService
from tests.support.serving import Serving
from tests.support.steps import enter, ready

pytestmark = pytest.mark.browser

WINDOWS = [(width, theme) for width in (360, 768, 1600) for theme in ("light", "dark")]
SCREEN = {"width": 1366, "height": 768}
SCREENS = 3
DECISIONS = 8

SENTENCES = """() => {
  const all = [...document.querySelectorAll("main p, main li, main span, main div")];
  const seen = all.filter((e) => e.checkVisibility());
  const own = seen.filter((e) => e.tagName === "P" || !e.children.length);
  const texts = own.filter((e) => !e.closest("table, .meaning, .visually-hidden")).map((e) => e.innerText.trim());
  return [...new Set(texts)].filter((text) => text.split(" ").length > 3 && text.endsWith("."));
}"""
"""The sentences that can be seen on a page: texts of more than three words that end with a full stop."""


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    """The large demo with a short past."""
    service = LocalService(tmp_path_factory.mktemp("large"))
    world = make_past(service.database, LARGE, decisions=DECISIONS)
    service.token("owner", ["admin", "review", "decide"])
    with service:
        assert service.app is not None
        add_story(service.app, world.story.to_dict(LARGE))
        yield service


def _review(page: Page, serving: Serving) -> None:
    enter(page, serving, "owner", "/review/loans")
    ready(page)


def _dashboard(page: Page, serving: Serving) -> None:
    enter(page, serving, "owner", "/desks/loans")
    expect(page.locator("#live-state")).to_have_text("Live")
    expect(page.locator("#chart-reward .plot")).to_be_visible()
    expect(page.locator("#groups tbody tr")).to_have_count(2)


def _decision(page: Page, serving: Serving) -> None:
    _dashboard(page, serving)  # a link that still moves as the page is drawn may not get the click
    page.locator("#latest a").nth(1).click()
    expect(page.locator("#people tbody tr")).to_have_count(14)


def _story(page: Page, serving: Serving) -> None:
    enter(page, serving, "owner", "/story")
    expect(page.locator("#story > li")).to_have_count(5)


PAGES: dict[str, Callable[[Page, Serving], None]] = {
    "review": _review,
    "dashboard": _dashboard,
    "decision": _decision,
    "story": _story,
}


@pytest.mark.parametrize("name", PAGES)
def test_every_page(name: str, browser: Browser, large: Serving, screenshots: Path) -> None:
    """No violation that axe finds, nothing wider than the window; three screens of 1366 by 768 at most."""
    for width, theme in WINDOWS:
        context = browser.new_context(
            viewport={"width": width, "height": 900},
            color_scheme=theme,  # type: ignore[arg-type]
            reduced_motion="reduce",
        )
        page = context.new_page()
        PAGES[name](page, large)
        check_appearance(page, screenshots / f"large-{name}-{width}-{theme}.png")
        context.close()
    context = browser.new_context(viewport=SCREEN)  # type: ignore[arg-type]
    page = context.new_page()
    PAGES[name](page, large)
    height = page.evaluate("document.documentElement.scrollHeight")
    context.close()
    assert height <= SCREENS * SCREEN["height"]


def test_a_reviewer_sees_the_largest_differences_first(page: Page, large: Serving) -> None:
    """Marked rows by share of the range, the others folded by group; buttons only while there is a pair."""
    _review(page, large)
    pair = page.evaluate("fetch('/api/desks/loans/review/next').then((response) => response.json())")
    marked = sorted((row for row in pair["rows"] if row["marked"]), key=lambda row: -row["share"])
    names = page.locator("table.pair.compact tbody:not(.chances) .name").all_inner_texts()
    shares = {row["name"].replace("_", " "): row["share"] for row in marked}
    assert [shares[name.split("\n")[0].strip()] for name in map(_without_group, names)] == [r["share"] for r in marked]
    alike = len(pair["rows"]) - len(marked)
    expect(page.locator("#same > summary")).to_have_text(f"{alike} features alike")
    page.locator("#same > summary").click()
    expect(page.locator("#same tr.same")).to_have_count(alike)
    expect(page.locator("#same th.group").first).to_be_visible()
    page.route("**/review/next", lambda route: None)  # never answered
    page.reload()
    expect(page.locator("#question")).to_be_visible()
    expect(page.get_by_role("button", name="Unfair")).to_have_count(0)


def _without_group(name: str) -> str:
    """The name of a row without that of its group, which follows it."""
    groups = "|".join(LARGE.settings["reviewing"]["groups"])
    return re.sub(rf"\s*({groups})$", "", name)


def test_candidates_can_be_sorted_searched_and_looked_at(page: Page, large: Serving) -> None:
    """By chance at first, then by any column; the pairs of one candidate are drawn, and no others."""
    _decision(page, large)
    rows = page.locator("#people tbody tr")
    chances = [float(text.rstrip("%")) for text in page.locator("#people .with-bar span").all_inner_texts()]
    assert chances == sorted(chances, reverse=True)
    page.get_by_role("button", name="Show all 50").click()
    expect(rows).to_have_count(50)
    page.get_by_role("button", name="Expected reward", exact=True).first.press("Enter")
    expect(page.locator("#people th[aria-sort=descending]")).to_contain_text("Expected reward")
    shown = page.locator("#people tbody td:nth-child(5)").all_inner_texts()
    assert all(re.fullmatch(r"−?\d\.\d\d", text) for text in shown)
    rewards = [float(text.replace("−", "-")) for text in shown]
    assert rewards == sorted(rewards, reverse=True)
    id_ = rows.nth(7).locator(".pick").inner_text()
    page.get_by_label("Find").fill(id_)
    expect(rows).to_have_count(1)
    rows.locator(".pick").press("Enter")
    expect(page.locator("#chances > p")).to_contain_text(id_)
    links = page.locator("#chances .link-group title")
    expect(links).to_have_count(min(8, int(rows.locator("td").nth(1).inner_text().replace("–", "0"))))
    assert all(id_ in title for title in links.all_text_contents())


def test_a_certificate_is_made_on_demand(page: Page, large: Serving) -> None:
    """The page says what it may take, and asks for nothing before the button is pressed."""
    requests: list[str] = []
    made: list[str] = []  # a busy service may ask the page to come again, which it does
    page.on("request", lambda request: requests.append(request.url))
    page.on("response", lambda response: made.append(response.url) if response.ok else None)
    _decision(page, large)
    expect(page.locator("#proofs")).to_contain_text("1,225 pairs; at most 10 seconds")
    assert not [url for url in requests if url.endswith("/proofs")]
    page.get_by_role("button", name="Compute the certificate").click()
    expect(page.locator("#proofs tbody tr")).to_have_count(25)
    assert len([url for url in made if url.endswith("/proofs")]) == 1


def test_the_dashboard_has_five_sentences_at_most(page: Page, large: Serving) -> None:
    """Each once."""
    _dashboard(page, large)
    sentences = page.evaluate(SENTENCES)
    assert 1 <= len(sentences) <= 5, sentences


def test_a_term_is_explained_by_keyboard_and_by_touch(browser: Browser, page: Page, large: Serving) -> None:
    """Enter or a tap shows the meaning within the window; Escape closes it and keeps the focus."""
    _dashboard(page, large)
    button = page.get_by_role("button", name="Flags left")
    button.press("Enter")
    note = page.locator(".meaning:not([hidden])")
    expect(note).to_contain_text("can ever be called unfair")
    expect(button).to_have_attribute("aria-expanded", "true")
    page.keyboard.press("Escape")
    expect(note).to_have_count(0)
    expect(button).to_be_focused()
    context = browser.new_context(viewport={"width": 360, "height": 740}, has_touch=True)
    phone = context.new_page()
    _dashboard(phone, large)
    phone.get_by_role("button", name="To review").tap()
    box = phone.locator(".meaning:not([hidden])").bounding_box()
    assert box is not None
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 360
    context.close()


def test_groups_by_an_attribute_that_nobody_learns_from(page: Page, large: Serving) -> None:
    """Gender at first, which is only carried; then any feature."""
    _dashboard(page, large)
    expect(page.locator("#groups-about")).to_contain_text("never learns from this")
    page.get_by_label("Group by").select_option("district")
    expect(page.locator("#groups tbody tr")).to_have_count(4)
    expect(page.locator("#groups-about")).not_to_contain_text("never learns from this")
