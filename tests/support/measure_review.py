"""Measure a review in a real browser: from the key to the next pair on the screen, with many pairs waiting.

python -m tests.support.measure_review [pairs waiting] [answers]
"""

from __future__ import annotations

import sys
import tempfile
import time
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from playwright.sync_api import sync_playwright

from evenhand.desk import Decide, Desk, Event, WaitingPair
from evenhand.ledger.ledger import open_ledger
from tests.support import chromium
from tests.support.browser import FLAGS
from tests.support.serving import SCHEMA, Serving, person
from tests.support.steps import ANSWERABLE, ready, sign_in

GOAL = 150.0
K = 3
"""Candidates of a decision, and its pairs."""
BATCH = 256

# Runs in the page: from keydown to the first frame after the new pair is in the document.
WATCH = """() => {
  window.times = [];
  let pressed = null;
  document.addEventListener("keydown", () => { pressed = performance.now(); }, true);
  new MutationObserver(() => {
    if (pressed === null) return;
    const from = pressed;
    pressed = null;
    requestAnimationFrame(() => requestAnimationFrame(() => window.times.push(performance.now() - from)));
  }).observe(document.querySelector("#pair"), { childList: true });
}"""


def wait_in_line(serving: Serving, pairs: int) -> None:
    """Make decisions, and put so many of their pairs into the queue."""
    rng = np.random.default_rng(0)
    ledger = open_ledger(serving.database)
    rules = {"session": 100_000}
    settings: dict[str, Any] = {
        "schema": SCHEMA,
        "epsilon": 0.05,
        "seed": 3,
        "pairs_per_decision": 0,
        "reviewing": rules,
    }
    try:
        with Desk.open(ledger, "loans", **settings) as desk:
            for start in range(0, pairs, BATCH * K):
                everybody = ([person(rng, f"applicant {i}") for i in range(K)] for _ in range(BATCH))
                made = [
                    event for event in desk.execute([Decide(some) for some in everybody]) if isinstance(event, Event)
                ]
                waiting = [
                    WaitingPair(event.id, a, b, "measured", 0.1, 0.1, 0.1, 0.5, float(rng.random()))
                    for event in made
                    for a, b in combinations(event.body["candidates"], 2)
                ]
                ledger.pairs.put("loans", waiting[: pairs - start], pairs)
            print(f"pairs waiting: {ledger.pairs.count('loans'):,}, decisions: {desk.head.decisions:,}")
    finally:
        ledger.close()


def measured(serving: Serving, answers: int) -> list[float]:
    """Milliseconds from key to next pair, for each of so many answers."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium.find(), args=list(FLAGS))
        page = browser.new_page(viewport={"width": 1280, "height": 1000})
        sign_in(page, serving, "Kim", "/review/loans")
        ready(page)
        page.evaluate(WATCH)
        for number in range(answers):
            page.wait_for_selector(f"#work{ANSWERABLE}")  # outside of what is measured: from the key on
            page.keyboard.press("ua"[number % 2])
            while page.evaluate("window.times.length") <= number:
                time.sleep(0.01)
        times: list[float] = page.evaluate("window.times")
        browser.close()
    return times


def main() -> None:
    """Print the percentiles."""
    pairs, answers = (int(number) for number in (*sys.argv[1:], "100000", "200")[:2])
    with tempfile.TemporaryDirectory() as folder:
        serving = Serving(Path(folder))
        wait_in_line(serving, pairs)
        serving.token("Kim", ["review"])
        serving.start()
        try:
            times = measured(serving, answers)
        finally:
            serving.stop()
    low, middle, high, most = np.percentile(times, [5, 50, 95, 100])
    summary = f"p5 {low:.0f}, p50 {middle:.0f}, p95 {high:.0f}, max {most:.0f}"
    print(f"key to next pair over {len(times)} answers, ms: {summary}")
    print(f"goal: p95 <= {GOAL:.0f} ms: {'met' if high <= GOAL else 'missed'}")


if __name__ == "__main__":
    main()
