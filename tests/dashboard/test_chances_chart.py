"""The chart of chances and links in a real browser: nothing overlaps, and every mark is there."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from evenhand.desk import Desk
from tests.support.local_service import LocalService
from tests.support.serving import SCHEMA, Serving, person
from tests.support.steps import enter

pytestmark = pytest.mark.browser

SIZES = {"seven": 7, "forty": 40, "alone": 1}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Serving, dict[str, str]]]:
    """Decisions among so many candidates, by name, with links that cross, and a service with them."""
    service = LocalService(tmp_path_factory.mktemp("service"))
    rng, ids = np.random.default_rng(1), {}
    with Desk.open(service.database, "loans", schema=SCHEMA, seed=3, epsilon=0.05) as desk:
        for name, k in SIZES.items():
            for turn in range(6 if k == 7 else 1):
                made = desk.decide([person(rng, f"applicant {turn}-{i}") for i in range(k)])
            ids[name] = made.id
        desk.catch_up(wait=True)
    service.token("owner", ["admin"])
    with service:
        yield service, ids


def look(page: Page, made: tuple[Serving, dict[str, str]], which: str, width: int) -> None:
    """Look at the page of a decision in a window of this width."""
    service, ids = made
    page.set_viewport_size({"width": width, "height": 900})
    enter(page, service, "owner", f"/desks/loans/decisions/{ids[which]}")
    names = page.locator(".chances-frame text.name")
    if which == "forty":  # only the candidate that is looked at, and those it is at the limit with
        expect(names.first).to_be_visible()
        assert 2 <= names.count() <= 9
    else:
        expect(names).to_have_count(SIZES[which])


OVERLAPS = """() => {
  const boxes = (what) => [...document.querySelectorAll(`.chances-frame ${what}`)]
    .map((e) => ({ what, box: e.getBoundingClientRect(), text: e.textContent }));
  const hit = ({ box: a }, { box: b }) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
  const [labels, names, beyond] = [boxes(".link-label"), boxes("text.name"), boxes(".beyond")];
  const rest = [...names, ...beyond, ...boxes(".link-end"), ...boxes(".chance-bar"), ...boxes("text.muted-text")];
  const found = [];
  const note = (one, others) => {
    for (const other of others) if (hit(one, other)) found.push([one.what, one.text, other.what, other.text]);
  };
  labels.forEach((label, i) => note(label, [...rest, ...labels.slice(i + 1)]));
  for (const link of document.querySelectorAll(".chances-frame .link")) {
    const [frame, length] = [link.getScreenCTM(), link.getTotalLength()];
    for (let at = 0; at <= length; at += 2) {
      const { x, y } = link.getPointAtLength(at).matrixTransform(frame);
      const box = { left: x - 2, right: x + 2, top: y - 2, bottom: y + 2 };
      note({ what: "link", text: "", box }, [...labels, ...names, ...beyond]);
    }
  }
  return found;
}"""


@pytest.mark.parametrize("width", [360, 600, 1600])
@pytest.mark.parametrize("which", ["seven", "forty"])
def test_nothing_is_written_over_anything(
    page: Page, made: tuple[Serving, dict[str, str]], which: str, width: int
) -> None:
    """No label lies on a name, bar, link's end or other label, and no link on a name or label."""
    look(page, made, which, width)
    links = page.locator(".chances-frame .link").count()
    assert links >= 1
    assert links < page.locator(".chances-frame text.name").count(), "links of one candidate only"
    assert page.evaluate(OVERLAPS) == []


@pytest.mark.parametrize("width", [360, 1600])
def test_whoever_would_be_chosen_without_fairness_has_a_mark(
    page: Page, made: tuple[Serving, dict[str, str]], width: int
) -> None:
    """Everybody has one mark of the chance without fairness: a stroke, or a number where it lies beyond the picture."""
    look(page, made, "seven", width)
    assert page.locator(".chances-frame .without, .chances-frame .beyond").count() == SIZES["seven"]
    expect(page.locator(".chances-frame .beyond")).to_have_text("→ 100%")
    inside = "e => e.getBoundingClientRect().right <= e.closest('.card').getBoundingClientRect().right"
    assert page.locator(".chances-frame .beyond").evaluate(inside)
    expect(page.locator("#chances .legend")).to_contain_text("→ beyond the chart")


def test_names_that_are_cut_still_differ(page: Page, made: tuple[Serving, dict[str, str]]) -> None:
    """Where there is little room names lose their middle: those that begin alike stay distinct."""
    look(page, made, "forty", 360)
    names = page.locator(".chances-frame text.name tspan.strong").all_text_contents()
    assert len(set(names)) == len(names)


def test_the_track_of_a_bar_ends_at_a_hundred_per_cent(page: Page, made: tuple[Serving, dict[str, str]]) -> None:
    """The only candidate's bar fills its track, and the axis says 100% where both end."""
    look(page, made, "alone", 1600)
    ends = "e => Math.round(e.getBoundingClientRect().right)"
    track, axis = (
        page.locator(".chances-frame .track").evaluate(ends),
        page.locator(".chances-frame .axis").last.evaluate(ends),
    )
    assert abs(track - axis) <= 1
    expect(page.locator(".chances-frame .muted-text").last).to_have_text("100%")
