"""Take the screenshots of README and docs: start the demo, drive a Chromium through it, write the pictures.

python -m scripts.screenshots [--size small|large] [--chromium PATH] [--to docs/figures]
"""

from __future__ import annotations

import argparse
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

from playwright.sync_api import Page, expect, sync_playwright

FLAGS = ("--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-sync")
NAMES = ("chromium", "chromium-browser", "google-chrome")
SIZE = {"width": 1280, "height": 720}
PATIENCE = 60_000
ENDS = {"small": "", "large": "-large"}
"""What the names of pictures end with."""
ANSWERS = "uaaua"
"""What is answered on the first pairs, so that the picture shows a session under way."""


def main() -> int:
    """Make the pictures of one size; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    found = next((path for name in NAMES if (path := shutil.which(name))), None)
    parser.add_argument("--chromium", default=found, help="the browser (%(default)s)")
    parser.add_argument("--to", type=Path, default=Path("docs/figures"), help="the folder (%(default)s)")
    parser.add_argument("--size", choices=("small", "large"), default="small", help="of the demo (%(default)s)")
    options = parser.parse_args()
    if options.chromium is None:
        parser.error("there is no Chromium; on Debian: apt-get install chromium")
    options.to.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "evenhand", "serve", "--demo", "--size", options.size, "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as demo:
        try:
            take(_link(demo), options.chromium, options.to, options.size)
        finally:
            demo.send_signal(signal.SIGINT)
            demo.communicate(timeout=60)
    return 0


def _link(demo: subprocess.Popen[str]) -> str:
    """The link that the demo prints."""
    assert demo.stdout is not None
    for line in demo.stdout:
        match = re.search(r"http://\S+/welcome/\S+", line)
        if match:
            return match.group()
    raise SystemExit("the demo ended before it printed its link")


def take(link: str, chromium: str, folder: Path, size: str) -> None:
    """Sign in, answer on some pairs, and take the pictures."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=list(FLAGS))
        page = browser.new_page(viewport=SIZE, color_scheme="light", device_scale_factor=1.5)  # type: ignore[arg-type]
        page.goto(link)
        expect(page.locator("#story > li")).to_have_count(5, timeout=PATIENCE)
        page.screenshot(path=folder / f"story{ENDS[size]}.png", full_page=True)
        page.locator("#to-review").click()
        _answer(page)
        page.screenshot(path=folder / f"review{ENDS[size]}.png")
        _take_desk(page, folder, size)
        if size == "large":
            page.locator("#latest a").nth(5).click()
            expect(page.locator("#people tbody tr")).to_have_count(14, timeout=PATIENCE)
            page.screenshot(path=folder / "decision-large.png", clip={"x": 0, "y": 0, "width": 1440, "height": 1200})
        browser.close()


def _take_desk(page: Page, folder: Path, size: str) -> None:
    """The dashboard, after a decision has come in."""
    page.goto(page.url.replace("/review/", "/desks/"))
    expect(page.locator("#live-state")).to_have_text("Live", timeout=PATIENCE)
    page.set_viewport_size({"width": 1440, "height": 1480})
    for chart in ("#chart-flagged", "#chart-reward"):
        expect(page.locator(f"{chart} .plot")).to_be_visible(timeout=PATIENCE)
    expect(page.locator("#groups tbody tr").first).to_be_visible(timeout=PATIENCE)
    page.get_by_role("button", name="Got it").click()
    shown = page.locator("#figure-decisions").inner_text()
    expect(page.locator("#figure-decisions")).not_to_have_text(shown, timeout=PATIENCE)
    page.screenshot(path=folder / f"desk{ENDS[size]}.png")


def _answer(page: Page) -> None:
    answerable = page.locator("#work[aria-busy=false][data-settled]")
    for key in ANSWERS:
        expect(answerable).to_have_count(1, timeout=PATIENCE)
        with page.expect_response(lambda response: "/review/answers" in response.url):
            page.keyboard.press(key)
    expect(answerable).to_have_count(1, timeout=PATIENCE)


if __name__ == "__main__":
    sys.exit(main())
