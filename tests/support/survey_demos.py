"""Look at every page of both demos at three widths in two themes: what axe finds, what is too wide, and how high it is.

python -m tests.support.survey_demos [small|large ...]
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Browser, Page, expect, sync_playwright

from evenhand.service.demo.past import make_past
from evenhand.service.demo.server import add_story
from evenhand.service.demo.sizes import SIZES
from tests.support import chromium
from tests.support.appearance import FITS, violations_of
from tests.support.browser import FLAGS, PATIENCE
from tests.support.local_service import LocalService
from tests.support.steps import enter

WINDOWS = [(width, theme) for width in (360, 768, 1600) for theme in ("light", "dark")]
SCREEN = (1366, 768)


def _wait(path: str, place: str) -> Callable[[Page, LocalService], None]:
    def visit(page: Page, service: LocalService) -> None:
        enter(page, service, "owner", path)
        expect(page.locator(place).first).to_be_visible()

    return visit


def _decision(page: Page, service: LocalService) -> None:
    enter(page, service, "owner", "/desks/loans")
    page.locator("#latest a").nth(1).click()
    expect(page.locator("#people tbody tr").first).to_be_visible()


def _certificate(page: Page, service: LocalService) -> None:
    _decision(page, service)
    page.locator("#prove").click()
    expect(page.locator("#proofs table")).to_be_visible()


PAGES: dict[str, Callable[[Page, LocalService], None]] = {
    "sign-in": _wait("/sign-in", "#signed-in"),
    "desks": _wait("/desks", "#desks h2"),
    "story": _wait("/story", "#story > li"),
    "review": _wait("/review/loans", "#work[data-settled]"),
    "interview": _wait("/interview/loans", "#work[data-settled], #ending:not([hidden])"),
    "desk": _wait("/desks/loans", "#groups tbody tr"),
    "decision": _decision,
    "certificate": _certificate,
    "not found": _wait("/no/such/page", "h1"),
}


def survey(browser: Browser, service: LocalService, size: str) -> int:
    """Print a line for each page; returns how many have something wrong."""
    wrong = 0
    for name, visit in PAGES.items():
        found = []
        for width, theme in WINDOWS:
            page = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=theme).new_page()  # type: ignore[arg-type]
            visit(page, service)
            found += [f"{width} {theme}: {one}" for one in violations_of(page)]
            found += [] if page.evaluate(FITS) else [f"{width} {theme}: too wide"]
            page.context.close()
        page = browser.new_context(viewport={"width": SCREEN[0], "height": SCREEN[1]}).new_page()
        visit(page, service)
        height = page.evaluate("document.documentElement.scrollHeight")
        page.context.close()
        print(f"{size} {name}: {height / SCREEN[1]:.2f} screens, {'; '.join(found) or 'nothing found'}", flush=True)
        wrong += bool(found)
    return wrong


def main(sizes: list[str]) -> int:
    """Survey the demos of these sizes; returns the exit status."""
    wrong = 0
    for size in sizes:
        chosen = SIZES[size]
        with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
            service = LocalService(Path(folder))
            world = make_past(service.database, chosen, decisions=12 * chosen.together)
            service.token("owner", ["admin", "review", "decide"])
            with service:
                assert service.app is not None
                add_story(service.app, world.story.to_dict(chosen))
                expect.set_options(timeout=PATIENCE)
                browser = playwright.chromium.launch(executable_path=chromium.find(), args=list(FLAGS))
                wrong += survey(browser, service, size)
                browser.close()
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or list(SIZES)))
