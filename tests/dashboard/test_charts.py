"""The charts in a real browser: drawn under the strict policy, alive, in the page's colours, and not needed."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, Route, expect

from tests.dashboard.test_pages import PATIENCE, decide, most_apart, review
from tests.support.serving import Serving
from tests.support.steps import enter

FLAGGED, REWARD = "#chart-flagged", "#chart-reward"
WATCH = """
window.refused = [];
document.addEventListener("securitypolicyviolation", (event) => window.refused.push(event.violatedDirective));
"""
LAST = "() => document.querySelector('#chart-flagged .picture').data[0].x.at(-1)"
INSIDE = """(inner, outer) => {
  const [a, b] = [inner.getBoundingClientRect(), document.querySelector(outer).getBoundingClientRect()];
  const across = a.left >= b.left - 1 && a.right <= b.right + 1;
  return a.width > 0 && across && a.top >= b.top - 1 && a.bottom <= b.bottom + 1;
}"""
STROKE = "e => getComputedStyle(e).stroke"
ACCENT = """() => {
  const probe = document.createElement("i");
  probe.style.color = "var(--accent)";
  document.body.append(probe);
  const colour = getComputedStyle(probe).color;
  probe.remove();
  return colour;
}"""
BARS = """() => {
  const box = (e) => { const r = e.getBoundingClientRect(); return [r.left, r.right, r.top, r.bottom]; };
  const all = (s) => [...document.querySelectorAll(s)].map(box);
  const layer = document.querySelectorAll(".effects .barlayer .trace")[1];
  return {
    tracks: all(".effect-track"),
    bars: [...layer.querySelectorAll(".point path")].map(box),
    ends: [...layer.querySelectorAll("path.xerror")].map(box),
  };
}"""


def open_window(page: Page, serving: Serving, desk: str = "loans") -> None:
    """Look at a desk, and wait until its charts are drawn and it is live."""
    enter(page, serving, "owner", f"/desks/{desk}")
    expect(page.locator(f"{REWARD} .main-svg").first).to_be_visible(timeout=PATIENCE)
    expect(page.locator(f"{FLAGGED} .main-svg").first).to_be_visible(timeout=PATIENCE)
    expect(page.locator("#live-state")).to_have_text("Live", timeout=PATIENCE)


def point(page: Page, chart: str, across: float = 0.6) -> Locator:
    """Point at a place of a chart; its readout."""
    frame = page.locator(f"{chart} .plot-frame")
    frame.scroll_into_view_if_needed()
    box = frame.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + across * box["width"], box["y"] + box["height"] / 2, steps=3)
    return page.locator(f"{chart} .hoverlayer .legend")


@pytest.fixture(params=[(360, 740), (1600, 1000)])
def sized(browser: Browser, request: pytest.FixtureRequest) -> Iterator[Page]:
    """A narrow and a wide window."""
    context = browser.new_context(viewport={"width": request.param[0], "height": request.param[1]})
    yield context.new_page()
    context.close()


def test_charts_and_their_readouts_need_nothing_that_the_policy_refuses(page: Page, serving: Serving) -> None:
    """No style or script of the page itself is allowed, none is tried, and no other host is asked for anything."""
    page.add_init_script(WATCH)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    open_window(page, serving)
    response = page.request.get(f"{serving.url}/desks/loans")
    assert "unsafe" not in response.headers["content-security-policy"]
    for chart, words in ((FLAGGED, "Called unfair"), (REWARD, "All so far")):
        readout = point(page, chart)
        expect(readout).to_contain_text(re.compile(r"Decisions made: \d+"))
        expect(readout).to_contain_text(words)
        assert readout.locator(".bg").first.evaluate("e => getComputedStyle(e).fill") == "rgb(255, 255, 255)"
    with page.expect_download() as saved:
        page.locator(REWARD).get_by_role("button", name="Save as picture").click()
    assert saved.value.suggested_filename == "loans-rewards.png"
    assert saved.value.path().read_bytes().startswith(b"\x89PNG")
    page.get_by_role("button", name="Theme").click()
    assert page.evaluate("window.refused") == []
    assert [url for url in asked if not url.startswith((serving.url, "data:", "blob:"))] == []


def test_a_readout_stays_within_the_window(sized: Page, serving: Serving) -> None:
    """Wherever one points, on a phone as on a desktop, it can be read whole."""
    open_window(sized, serving)
    for chart in (FLAGGED, REWARD):
        for across in (0.25, 0.6, 0.9):
            readout = point(sized, chart, across)
            expect(readout).to_be_visible()
            assert readout.evaluate(INSIDE, "#main")


@pytest.mark.parametrize("status", [None, 404])
def test_without_the_library_everything_is_told_in_words(page: Page, serving: Serving, status: int | None) -> None:
    """Where the file does not come the page says so, opens the tables, and keeps sentences and numbers."""

    def refuse(route: Route) -> None:
        route.abort() if status is None else route.fulfill(status=status)

    page.route("**/plotly.min.js", refuse)
    enter(page, serving, "owner", "/desks/loans")
    for chart in (FLAGGED, REWARD):
        expect(page.locator(f"{chart} .plot-frame")).to_contain_text("cannot be drawn", timeout=PATIENCE)
        expect(page.locator(f"{chart} tbody tr").first).to_be_visible()
        expect(page.locator(f"{chart}").get_by_role("button", name="Save")).to_have_count(0)
    expect(page.locator(f"{FLAGGED}-summary")).to_contain_text("called unfair of")
    expect(page.locator("#metric")).to_contain_text("The bars cannot be drawn")
    expect(page.locator(".effect-value b").first).to_contain_text("points")
    assert page.locator(".js-plotly-plot").count() == 0


def test_charts_follow_the_theme(browser: Browser, serving: Serving) -> None:
    """Another theme, chosen here or in the system, is drawn at once, in the colours that the page has then."""
    context = browser.new_context(color_scheme="light")
    page = context.new_page()
    open_window(page, serving)
    line = page.locator(f"{FLAGGED} .scatterlayer path.js-line").first
    seen = [line.evaluate(STROKE)]
    for by_the_system in (True, False):
        if by_the_system:
            page.emulate_media(color_scheme="dark")
        else:
            page.get_by_role("button", name="Theme").click()  # to light
        expect(line).not_to_have_css("stroke", seen[-1])
        expect(line).to_have_css("stroke", page.evaluate(ACCENT))
        seen.append(line.evaluate(STROKE))
    assert seen[0] == seen[2] != seen[1]
    context.close()


def test_charts_are_seen_in_high_contrast(browser: Browser, serving: Serving) -> None:
    """Where the system forces its colours, lines still differ from the paper, and from each other."""
    context = browser.new_context(forced_colors="active")
    page = context.new_page()
    open_window(page, serving)
    paper = page.locator(f"{FLAGGED} .main-svg").first.evaluate("e => getComputedStyle(e).backgroundColor")
    lines = page.locator(f"{FLAGGED} .scatterlayer path.js-line")
    assert len({paper, *(line.evaluate(STROKE) for line in lines.all())}) == 1 + lines.count() > 2
    context.close()


def test_news_add_a_point_and_leave_the_readout_where_it_is(page: Page, serving: Serving) -> None:
    """A decision lengthens the lines while somebody reads them; neither the readout nor the focus is lost."""
    open_window(page, serving)
    page.locator(f"{REWARD} summary").focus()
    before = page.evaluate(LAST)
    readout = point(page, FLAGGED)
    expect(readout).to_be_visible()
    page.evaluate(
        """() => {
          const layer = document.querySelector("#chart-flagged .hoverlayer");
          window.lost = 0;
          const look = () => { if (!layer.isConnected || !layer.childElementCount) window.lost += 1; };
          const chart = document.querySelector("#chart-flagged");
          new MutationObserver(look).observe(chart, { subtree: true, childList: true });
        }"""
    )
    decide(serving, ["once", "more"])
    page.wait_for_function(f"before => ({LAST})() > before", arg=before, timeout=PATIENCE)
    expect(readout).to_contain_text(re.compile(r"Decisions made: \d+"))
    assert page.evaluate("window.lost") == 0
    assert page.evaluate("document.activeElement.closest('#chart-reward') !== null")


@pytest.mark.parametrize("above", [False, True])
def test_the_bound_is_in_the_picture(page: Page, serving: Serving, above: bool) -> None:
    """Drawn below the upper edge, or named there with its number where it lies far above."""

    def lift(route: Route) -> None:
        told: dict[str, Any] = json.loads(route.fetch().text())
        flagged = told["desk"]["rounds"]["flagged"]
        flagged["bound_by"] = [5000.0 if above else 22.0 for _ in flagged["edges"]]
        route.fulfill(json=told)

    page.route("**/api/desks/loans/window", lift)
    page.route("**/api/desks/loans/stream", lambda route: route.abort())
    enter(page, serving, "owner", "/desks/loans")
    expect(page.locator(f"{FLAGGED} .main-svg").first).to_be_visible(timeout=PATIENCE)
    named = page.locator(f"{FLAGGED} .annotation")
    if above:
        expect(named).to_have_text("↑ Promised limit: 5,000")
        assert named.evaluate(INSIDE, f"{FLAGGED} .plot-frame")
    else:
        expect(named).to_have_count(0)
    drawn = page.locator(f"{FLAGGED} .scatterlayer path.js-line")
    expect(drawn).to_have_count(2 if above else 3)
    for i in range(drawn.count()):
        assert drawn.nth(i).evaluate(INSIDE, f"{FLAGGED} .plot-frame")


def test_a_screen_reader_has_a_sentence_for_each_picture(page: Page, serving: Serving) -> None:
    """One image, named by its title and by what it shows; its letters and lines are not read."""
    open_window(page, serving)
    for chart in (FLAGGED, REWARD):
        told = page.locator(f"{chart}-summary").inner_text()
        title = page.locator(f"{chart}-title").inner_text()
        expect(page.get_by_role("img", name=f"{title} {told}", exact=True)).to_have_count(1)
        assert page.locator(f"{chart} .picture").get_attribute("aria-hidden") == "true"
    expect(page.get_by_role("img")).to_have_count(2)  # and not what the library measures letters with
    assert page.locator(".js-plotly-plot a, .js-plotly-plot button, .js-plotly-plot [tabindex]").count() == 0


def test_bars_lie_on_their_tracks(sized: Page, serving: Serving) -> None:
    """As long as their share, with ends where the estimate may lie, at any width and after another width was chosen."""
    open_window(sized, serving)
    metric = serving.ask("GET", "/api/desks/loans/window", by="owner").json()["metric"]["effects"]
    assert sized.viewport_size is not None
    for width in sized.viewport_size["width"], 700:
        sized.set_viewport_size({"width": width, "height": 900})
        sized.wait_for_function("w => document.querySelector('.effects .main-svg').clientWidth <= w", arg=width)
        sized.wait_for_timeout(300)
        seen = sized.evaluate(BARS)
        assert len(seen["tracks"]) == len(seen["bars"]) == len(metric)
        for track, bar, ends, effect in zip(seen["tracks"], seen["bars"], seen["ends"], metric, strict=True):
            long = track[1] - track[0]
            assert (bar[1] - track[0]) / long == pytest.approx(min(1, effect["value"]), abs=0.02)
            assert (ends[0] - track[0]) / long == pytest.approx(min(1, effect["lower"]), abs=0.02)
            assert (ends[1] - track[0]) / long == pytest.approx(min(1, effect["upper"] or 1), abs=0.02)
            assert track[2] < bar[2] < bar[3] < track[3]


def test_where_a_bar_stood_can_be_read(page: Page, serving: Serving) -> None:
    """A row whose bar has moved since the page was opened says from where, when one points at it."""
    open_window(page, serving)
    before = page.locator(".effect-value b").all_inner_texts()
    made = decide(serving, ["alike", "as well", "other"])
    review(serving, made, pair=most_apart(made))
    page.wait_for_function("() => document.querySelector('.effects .picture').layout.shapes.length", timeout=PATIENCE)
    moved = page.evaluate("() => document.querySelector('.effects .picture').data[0].x.findIndex((x) => x !== null)")
    page.locator(".effect").nth(moved).hover()
    expect(page.locator(".effects .hoverlayer")).to_contain_text(f"When you first opened this page: {before[moved]}")


def test_a_finger_on_a_chart_scrolls_the_page(browser: Browser, serving: Serving) -> None:
    """A swipe is for the page, a tap for the readout."""
    context = browser.new_context(viewport={"width": 360, "height": 740}, has_touch=True, is_mobile=True)
    page = context.new_page()
    open_window(page, serving)
    frame = page.locator(f"{FLAGGED} .plot-frame")
    frame.evaluate("e => e.scrollIntoView({ block: 'center' })")
    box = frame.bounding_box()
    assert box is not None
    x, y = box["x"] + 150, box["y"] + 150
    page.touchscreen.tap(x, y)
    expect(page.locator(f"{FLAGGED} .hoverlayer .legend")).to_contain_text(re.compile(r"Decisions made: \d+"))
    was, finger = page.evaluate("scrollY"), context.new_cdp_session(page)
    for step in range(12):
        kind = "touchMove" if step else "touchStart"
        finger.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": x, "y": y - 10 * step}]})
        page.wait_for_timeout(16)
    finger.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    page.wait_for_function("was => scrollY > was + 50", arg=was)
    context.close()
