"""Desks that are out of the ordinary: long names, one candidate, no names, large letters, few judgements in common."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from evenhand.desk import Desk
from evenhand.schema import Number, Schema, YesNo
from tests.support.appearance import FITS
from tests.support.dashboard_steps import call_script, prove
from tests.support.local_service import LocalService
from tests.support.serving import SCHEMA, Serving, person
from tests.support.steps import enter

pytestmark = pytest.mark.browser

WORDS = "number_of_full_years_of_uninterrupted_employment_with_the_present_employer"
COMPOUND = "Donaudampfschifffahrtsgesellschaftskapitaenswitwenrentenversicherungsnummer"
LONG = Schema([Number(WORDS, low=0, high=9), YesNo(COMPOUND), *(Number(f"n{i}", low=-5, high=5) for i in range(8))])
MINUS = re.compile(r"(?<!\w)-[\d.]+")
TEXTS = r"""() => {
  const labelled = [...document.querySelectorAll("svg text, [title], [aria-label]")];
  const texts = labelled.flatMap((e) => [e.textContent, e.title, e.ariaLabel]);
  return [document.body.innerText, ...texts].filter((text) => typeof text === "string").join("\n");
}"""


@pytest.fixture(scope="module")
def serving(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    """A desk of each kind, and an owner."""
    service = LocalService(tmp_path_factory.mktemp("service"))
    rng = np.random.default_rng(0)
    service.open_desk("loans", 12)
    with Desk.open(service.database, "long", schema=LONG, seed=1) as desk:
        row = dict.fromkeys(LONG.names, 1.0) | {COMPOUND: True}
        desk.decide([{"id": name, "features": row} for name in ("one", "two")])
        desk.catch_up(wait=True)
    with Desk.open(service.database, "single", schema=SCHEMA, seed=1, capacity=None) as desk:
        for number in range(3):
            desk.decide([person(rng, f"applicant {number}")])
        desk.catch_up(wait=True)
    with Desk.open(service.database, "nameless", n_features=2, seed=1) as desk:
        for _ in range(6):
            made = desk.decide((rng.random((3, 2)) / 2 - 0.4).round(2).tolist())
            desk.outcome(made.id, dict.fromkeys(made.chosen, -0.125)) if made.chosen else None
        desk.catch_up(wait=True)
    service.token("owner", ["admin"])
    with service:
        yield service


def look(page: Page, serving: Serving, desk: str) -> None:
    """Look at a desk until it is live."""
    enter(page, serving, "owner", f"/desks/{desk}")
    expect(page.locator("#live-state")).to_have_text("Live")


def look_at_newest(page: Page, serving: Serving, desk: str) -> None:
    """Look at the newest decision of a desk."""
    newest = serving.ask("GET", f"/api/desks/{desk}/window", by="owner").json()["desk"]["latest"][0]["id"]
    enter(page, serving, "owner", f"/desks/{desk}/decisions/{newest}")
    expect(page.locator("#proofs")).not_to_be_empty()
    if page.locator("#prove").count():
        prove(page)


@pytest.mark.parametrize("width", [360, 1280])
def test_long_names_leave_the_matrix_legible(page: Page, serving: Serving, width: int) -> None:
    """Names take no more than their room, stay in sight when the table is scrolled, and can be had whole; the line that
    says that the table goes on says where, and no page is wider than its window."""
    page.set_viewport_size({"width": width, "height": 900})
    look(page, serving, "long")
    page.locator("#in-words > summary").click()
    frame = page.get_by_role("region", name="The learned matrix")
    first = frame.locator("tbody th").first
    room = "e => e.getBoundingClientRect().width"
    assert all(head.evaluate(room) < 180 for head in frame.locator("th").all())
    expect(first).to_have_attribute("title", WORDS)
    expect(frame.locator(".goes-on")).to_have_text("Scroll right for more →")
    frame.evaluate("e => { e.scrollLeft = e.scrollWidth; }")
    expect(frame.locator(".goes-on")).to_have_text("← Scroll left for more")
    seen = "e => e.getBoundingClientRect().left - e.closest('.table-frame').getBoundingClientRect().left"
    assert 0 <= first.evaluate(seen) < 12
    assert page.evaluate(FITS)


def test_words_are_broken_only_where_they_must_be(page: Page, serving: Serving) -> None:
    """A name of many short words is broken between them."""
    look(page, serving, "long")
    page.locator("#in-words > summary").click()
    lines = page.get_by_role("region", name="The learned matrix").locator("tbody th bdi").first.inner_text()
    heights = r"""e => {
      const range = document.createRange();
      const [text, tops] = [e.firstChild, []];
      for (const word of text.data.matchAll(/\S+/g)) {
        range.setStart(text, word.index);
        range.setEnd(text, word.index + word[0].length);
        tops.push(range.getClientRects().length);
      }
      return tops;
    }"""
    pieces = page.get_by_role("region", name="The learned matrix").locator("tbody th bdi").first.evaluate(heights)
    assert lines.split() == WORDS.split("_")
    assert pieces == [1] * len(WORDS.split("_"))


@pytest.mark.parametrize("width", [360, 1600])
def test_large_letters_have_room(page: Page, serving: Serving, width: int) -> None:
    """With letters of twice the size the axis' name stands below its numbers, and no page is wider than its window."""
    page.set_viewport_size({"width": width + 40, "height": 900})
    look(page, serving, "loans")
    page.evaluate("document.documentElement.style.fontSize = '32px'")
    page.set_viewport_size({"width": width, "height": 900})
    name = page.locator("#chart-flagged .x-name")
    expect(name).to_have_css("font-size", "25px")
    box = "e => { const { top, bottom } = e.getBoundingClientRect(); return [top, bottom]; }"
    below = max(tick.evaluate(box)[1] for tick in page.locator("#chart-flagged .x-tick").all())
    assert name.evaluate(box)[0] >= below - 1
    assert name.evaluate(box)[1] <= page.locator("#chart-flagged .plot").evaluate(box)[1]
    assert page.evaluate(FITS)


def test_one_candidate_has_no_pair(page: Page, serving: Serving) -> None:
    """Its certificate says so in place of zeros, and nobody is asked to review pairs that cannot be."""
    look_at_newest(page, serving, "single")
    expect(page.locator("#proofs")).to_contain_text("A single candidate: there are no pairs")
    assert page.locator("#proofs table, #proofs .proof-counts").count() == 0
    look(page, serving, "single")
    expect(page.locator("#welcome")).to_contain_text("A desk decides by lot which")
    expect(page.locator("#welcome")).not_to_contain_text("Try it as a reviewer")


def test_there_is_one_minus_sign(page: Page, serving: Serving) -> None:
    """Nowhere on a desk's pages, in pictures and in what is read out does a number have a hyphen in front."""
    look(page, serving, "nameless")
    expect(page.locator("#chart-reward .plot")).to_be_visible()
    text = page.evaluate(TEXTS)
    look_at_newest(page, serving, "nameless")
    text += page.evaluate(TEXTS)
    assert "−0.1" in text
    assert MINUS.findall(text) == []


AGREEMENT = [
    (3, 1.0, "Reviewers agree in 50% of cases on 3 pairs judged by two or more."),
    (10, -0.12, "judged by two or more (Fleiss’ kappa −0.12: less than chance)."),
    (10, 0.02, "(Fleiss’ kappa 0.02: no more than chance)."),
]


@pytest.mark.parametrize(("pairs", "kappa", "words"), AGREEMENT)
def test_kappa_of_a_handful_is_not_shown(page: Page, serving: Serving, pairs: int, kappa: float, words: str) -> None:
    """Below ten pairs it says next to nothing; below zero people agree less than by chance."""
    agreement, none = {"pairs": pairs, "share": 0.5, "kappa": kappa}, {"repeats": 0, "same": 0}
    assert words in call_script(page, serving, "reviewers", "together", agreement, none)
