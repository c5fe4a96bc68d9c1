"""The charts in a real browser: under the strict policy, live, in the page's colours, and in words."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, Route, expect

from tests.support.dashboard_steps import decide, open_dashboard, review, widest_pair
from tests.support.serving import Serving
from tests.support.steps import enter

pytestmark = pytest.mark.browser

FLAGGED, REWARD = "#chart-flagged", "#chart-reward"
WATCH = """
window.refused = [];
document.addEventListener("securitypolicyviolation", (event) => window.refused.push(event.violatedDirective));
"""
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
  const boxes = (s) => [...document.querySelectorAll(s)].map((e) => {
    const r = e.getBoundingClientRect();
    return [r.left, r.right, r.top, r.bottom];
  });
  return { tracks: boxes(".effect-track"), bars: boxes(".effect-bar"), ends: boxes(".effect-whisker") };
}"""


def point(page: Page, chart: str, across: float = 0.6) -> Locator:
    """Point at a place of a chart; its readout."""
    frame = page.locator(f"{chart} .plot-frame")
    frame.scroll_into_view_if_needed()
    box = frame.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + across * box["width"], box["y"] + box["height"] / 2, steps=3)
    return page.locator(f"{chart} .readout")


@pytest.fixture(params=[(360, 740), (1600, 1000)])
def sized(browser: Browser, request: pytest.FixtureRequest) -> Iterator[Page]:
    """A narrow and a wide window."""
    context = browser.new_context(viewport={"width": request.param[0], "height": request.param[1]})
    yield context.new_page()
    context.close()


def test_charts_need_nothing_that_the_policy_refuses(page: Page, serving: Serving) -> None:
    """No inline style or script is allowed or tried, and no other host is contacted; a chart can be saved."""
    page.add_init_script(WATCH)
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    open_dashboard(page, serving)
    response = page.request.get(f"{serving.url}/desks/loans")
    assert "unsafe" not in response.headers["content-security-policy"]
    for chart, words in ((FLAGGED, "Called unfair"), (REWARD, "So far")):
        readout = point(page, chart)
        expect(readout).to_contain_text(re.compile(r"Decisions made: \d+"))
        expect(readout).to_contain_text(words)
    with page.expect_download() as saved:
        page.locator(REWARD).get_by_role("button", name="Save as picture").click()
    assert saved.value.suggested_filename == "loans-rewards.png"
    assert saved.value.path().read_bytes().startswith(b"\x89PNG")
    page.get_by_role("button", name="Theme").click()
    assert page.evaluate("window.refused") == []
    assert [url for url in requests if not url.startswith((serving.url, "data:", "blob:"))] == []


def test_a_saved_picture_has_title_legend_and_lines(page: Page, serving: Serving) -> None:
    """In the colours of the page: a picture that lost its styles would be black on black."""
    open_dashboard(page, serving)
    with page.expect_download() as saved:
        page.locator(FLAGGED).get_by_role("button", name="Save as picture").click()
    content = saved.value.path().read_bytes()
    colours = page.evaluate(
        """async (bytes) => {
          const image = await createImageBitmap(new Blob([new Uint8Array(bytes)]));
          const canvas = new OffscreenCanvas(image.width, image.height);
          const pen = canvas.getContext("2d");
          pen.drawImage(image, 0, 0);
          const count = (from, to) => {
            const { data } = pen.getImageData(0, from, image.width, to - from);
            return new Set(Array.from({ length: data.length / 4 }, (_, i) => data.slice(4 * i, 4 * i + 3).join())).size;
          };
          const plain = pen.getImageData(2, 2, 1, 1).data.join();
          return { width: image.width, plain, title: count(20, 90), legend: count(image.height - 90, image.height) };
        }""",
        list(content),
    )
    assert colours["width"] == 1920
    assert colours["plain"] == "255,255,255,255"
    assert colours["title"] > 2
    assert colours["legend"] > 4


def test_a_readout_stays_within_the_window(sized: Page, serving: Serving) -> None:
    """Wherever one points, on a phone as on a desktop, it can be read whole."""
    open_dashboard(sized, serving)
    for chart in (FLAGGED, REWARD):
        for across in (0.25, 0.6, 0.9):
            readout = point(sized, chart, across)
            expect(readout).to_be_visible()
            assert readout.evaluate(INSIDE, "#main")


def test_a_readout_has_the_numbers_of_the_table(page: Page, serving: Serving) -> None:
    """At the right end it reads as the table's last row; away from the chart it is hidden."""
    open_dashboard(page, serving)
    page.locator(f"{FLAGGED} summary").click()
    number, flagged = (page.locator(f"{FLAGGED} tbody tr").last.locator(cell).first for cell in ("th", "td"))
    readout = point(page, FLAGGED, 0.99)
    expect(readout).to_contain_text(f"Decisions made: {number.inner_text()}")
    expect(readout).to_contain_text(f"Called unfair: {flagged.inner_text()}")
    page.mouse.move(0, 0)
    expect(readout).to_be_hidden()


def test_charts_follow_the_theme(browser: Browser, serving: Serving) -> None:
    """Another theme, chosen here or in the system, applies at once."""
    context = browser.new_context(color_scheme="light")
    page = context.new_page()
    open_dashboard(page, serving)
    line = page.locator(f"{FLAGGED} .plot .line.main")
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


def test_charts_are_visible_in_high_contrast(browser: Browser, serving: Serving) -> None:
    """Where the system forces its colours, lines still differ from the paper, and from each other."""
    context = browser.new_context(forced_colors="active")
    page = context.new_page()
    open_dashboard(page, serving)
    paper = page.locator(f"{FLAGGED}").evaluate("e => getComputedStyle(e).backgroundColor")
    lines = page.locator(f"{FLAGGED} .plot .line")
    assert len({paper, *(line.evaluate(STROKE) for line in lines.all())}) == 1 + lines.count() > 2
    context.close()


def test_news_add_a_point_and_leave_the_readout_where_it_is(page: Page, serving: Serving) -> None:
    """A decision lengthens the lines while somebody reads them; neither the readout nor the focus is lost."""
    open_dashboard(page, serving)
    page.locator(f"{REWARD} summary").focus()
    readout = point(page, FLAGGED, 0.99)
    expect(readout).to_contain_text(re.compile(r"Decisions made: \d+"))
    before = int(readout.locator("b").inner_text().split(": ")[1])
    decide(serving, ["once", "more"])
    expect(readout.locator("b")).to_have_text(f"Decisions made: {before + 1}")
    expect(readout).to_be_visible()
    assert page.evaluate("document.activeElement.closest('#chart-reward') !== null")


@pytest.mark.parametrize("above", [False, True])
def test_the_bound_is_in_the_chart(page: Page, serving: Serving, above: bool) -> None:
    """Drawn below the upper edge, or named there with its number where it lies far above."""

    def lift(route: Route) -> None:
        answer: dict[str, Any] = json.loads(route.fetch().text())
        flagged = answer["desk"]["rounds"]["flagged"]
        flagged["bound_by"] = [5000.0 if above else 22.0 for _ in flagged["edges"]]
        route.fulfill(json=answer)

    page.route("**/api/desks/loans/window", lift)
    page.route("**/api/desks/loans/stream", lambda route: route.abort())
    enter(page, serving, "owner", "/desks/loans")
    expect(page.locator(f"{FLAGGED} .plot")).to_be_visible()
    named = page.locator(f"{FLAGGED} .above")
    if above:
        expect(named).to_have_text("↑ Guaranteed limit: 5,000")
        assert named.evaluate(INSIDE, f"{FLAGGED} .plot-frame")
    else:
        expect(named).to_have_count(0)
    drawn = page.locator(f"{FLAGGED} .plot .line")
    expect(drawn).to_have_count(3)
    for i in range(3):
        assert drawn.nth(i).evaluate(INSIDE, f"{FLAGGED} .plot-frame")


def test_a_screen_reader_has_a_sentence_for_each_chart(page: Page, serving: Serving) -> None:
    """One image, named by its title and by what it shows; its letters and lines are not read."""
    open_dashboard(page, serving)
    for chart in (FLAGGED, REWARD):
        summary = page.locator(f"{chart}-summary").text_content()
        title = page.locator(f"{chart}-title").inner_text()
        expect(page.get_by_role("img", name=f"{title}. {summary}", exact=True)).to_have_count(1)
        assert page.locator(f"{chart} .plot").get_attribute("aria-hidden") == "true"
    expect(page.get_by_role("img")).to_have_count(2)


def test_bars_lie_on_their_tracks(sized: Page, serving: Serving) -> None:
    """As long as their share, with ends where the estimate may lie, at any width."""
    open_dashboard(sized, serving)
    metric = serving.ask("GET", "/api/desks/loans/window", by="owner").json()["metric"]["effects"]
    assert sized.viewport_size is not None
    for width in sized.viewport_size["width"], 700:
        sized.set_viewport_size({"width": width, "height": 900})
        seen = sized.evaluate(BARS)
        assert len(seen["tracks"]) == len(seen["bars"]) == len(metric)
        for track, bar, ends, effect in zip(seen["tracks"], seen["bars"], seen["ends"], metric, strict=True):
            long = track[1] - track[0]
            assert (bar[1] - track[0]) / long == pytest.approx(min(1, effect["value"]), abs=0.01)
            assert (ends[0] - track[0]) / long == pytest.approx(min(1, effect["lower"]), abs=0.01)
            assert (ends[1] - track[0]) / long == pytest.approx(min(1, effect["upper"] or 1), abs=0.01)
            assert track[2] < bar[2] < bar[3] < track[3]


def test_where_a_bar_was_can_be_read(page: Page, serving: Serving) -> None:
    """A bar that has moved since the page was opened says from where."""
    open_dashboard(page, serving)
    before = page.locator(".effect-value b").all_inner_texts()
    made = decide(serving, ["alike", "as well", "other"])
    review(serving, made, pair=widest_pair(made))
    expect(page.locator(".effect-was:not([hidden])").first).to_be_attached()
    titles = page.locator(".effect-track").evaluate_all("tracks => tracks.map((track) => track.title)")
    assert [title.removeprefix("When you first opened this page: ") for title in titles if title] == [
        value for value, title in zip(before, titles, strict=True) if title
    ]


def test_a_finger_on_a_chart_scrolls_the_page(browser: Browser, serving: Serving) -> None:
    """A swipe is for the page, a tap for the readout."""
    context = browser.new_context(viewport={"width": 360, "height": 740}, has_touch=True, is_mobile=True)
    page = context.new_page()
    open_dashboard(page, serving)
    frame = page.locator(f"{FLAGGED} .plot-frame")
    frame.evaluate("e => e.scrollIntoView({ block: 'center' })")
    box = frame.bounding_box()
    assert box is not None
    x, y = box["x"] + 150, box["y"] + 150
    page.touchscreen.tap(x, y)
    expect(page.locator(f"{FLAGGED} .readout")).to_contain_text(re.compile(r"Decisions made: \d+"))
    was, finger = page.evaluate("scrollY"), context.new_cdp_session(page)
    for step in range(12):
        kind = "touchMove" if step else "touchStart"
        finger.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": x, "y": y - 10 * step}]})
        page.evaluate("() => new Promise((done) => requestAnimationFrame(done))")
    finger.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    page.wait_for_function("was => scrollY > was + 50", arg=was)
    context.close()
