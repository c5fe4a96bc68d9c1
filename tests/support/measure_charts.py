"""Measure the dashboard in a real browser: until its numbers and charts are there, and how long an update takes.

python -m tests.support.measure_charts [times]
"""

from __future__ import annotations

import statistics
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from tests.support import chromium
from tests.support.browser import FLAGS
from tests.support.dashboard_past import open_with_a_past
from tests.support.serving import Serving
from tests.support.steps import enter

WATCH = """new MutationObserver(() => {
  const drawn = (chart) => document.querySelector(`${chart} .plot .line`);
  const numbers = document.querySelector("#figure-decisions")?.textContent;
  if (!window.numbersAt && numbers) window.numbersAt = performance.now();
  if (!window.chartsAt && drawn("#chart-flagged") && drawn("#chart-reward")) window.chartsAt = performance.now();
}).observe(document, { subtree: true, childList: true, characterData: true });"""
TIMES = "() => [window.numbersAt, window.chartsAt]"
AGAIN = """async () => {
  const script = document.querySelector('script[src$="dashboard/dashboard.js"]').src;
  const { roundCharts } = await import(script.replace("dashboard.js", "rounds.js"));
  const { desk } = await (await fetch("/api/desks/loans/window")).json();
  const place = document.querySelector("#charts");
  const charts = roundCharts(place, "loans", true);
  charts.update(desk);
  await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  const start = performance.now();
  charts.update(desk);
  place.getBoundingClientRect();
  return performance.now() - start;
}"""


def look(page: Page, serving: Serving) -> tuple[float, float]:
    """Milliseconds until the numbers are on the page, and until the charts are drawn."""
    enter(page, serving, "owner", "/desks/loans")
    page.wait_for_function("() => window.chartsAt", timeout=60_000)
    numbers, charts = page.evaluate(TIMES)
    return numbers, charts


def fresh(browser: Browser) -> BrowserContext:
    """A browser that has kept nothing."""
    context = browser.new_context(viewport={"width": 1440, "height": 1000})
    context.add_init_script(WATCH)
    return context


def measure(browser: Browser, serving: Serving, times: int) -> None:
    """Print medians, of first visits and of later ones."""
    first, later = [], []
    for _ in range(times):
        context = fresh(browser)
        first.append(look(context.new_page(), serving))
        context.close()
    context = fresh(browser)
    page = context.new_page()
    look(page, serving)
    later = [look(page, serving) for _ in range(times)]
    for name, seen in (("first visit", first), ("later visits", later)):
        numbers, charts = (statistics.median(column) for column in zip(*seen, strict=True))
        print(f"{name}: numbers after {numbers:.0f} ms, charts after {charts:.0f} ms (medians of {times})")
    print(f"update: {statistics.median(page.evaluate(AGAIN) for _ in range(40)):.1f} ms to draw both charts again")
    context.close()


def main() -> None:
    """A service with a short past, and a browser."""
    path = chromium.find()
    if path is None:
        raise SystemExit(chromium.HOW)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        serving = Serving(Path(folder))
        open_with_a_past(serving.database, "loans", decisions=240)
        serving.token("owner", ["admin"])
        browser = playwright.chromium.launch(executable_path=path, args=list(FLAGS))
        with serving:
            measure(browser, serving, int(sys.argv[1]) if len(sys.argv) > 1 else 9)
        browser.close()


if __name__ == "__main__":
    main()
