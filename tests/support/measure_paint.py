"""Measure how soon the review page of the large demo is painted, and how soon a pair can be read: 24 features.

python -m tests.support.measure_paint [visits]
"""

from __future__ import annotations

import statistics
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from evenhand.service.demo.past import make_past
from evenhand.service.demo.sizes import LARGE
from tests.support import chromium
from tests.support.browser import FLAGS
from tests.support.local_service import LocalService
from tests.support.steps import enter, ready

PAINTED = "performance.getEntriesByName('first-contentful-paint')[0].startTime"
PAIR = "performance.getEntriesByType('resource').find((one) => one.name.endsWith('/review/next')).responseEnd"


def main(visits: int) -> None:
    """Print the median and the largest of each."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        service = LocalService(Path(folder))
        make_past(service.database, LARGE, decisions=8)
        service.token("owner", ["admin", "review"])
        with service:
            browser = playwright.chromium.launch(executable_path=chromium.find(), args=list(FLAGS))
            painted, there = [], []
            for _ in range(visits + 1):
                page = browser.new_context(viewport={"width": 1366, "height": 768}).new_page()
                enter(page, service, "owner", "/review/loans")
                ready(page)
                painted.append(page.evaluate(PAINTED))
                there.append(page.evaluate(PAIR))
                page.context.close()
            browser.close()
    for name, values in (("first paint", painted[1:]), ("the pair has arrived", there[1:])):
        print(f"{name}: median {statistics.median(values):.0f} ms, at most {max(values):.0f} ms, {visits} visits")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20)
