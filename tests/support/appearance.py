"""What every page must look like, at three widths in two themes; `survey_demos` has all six."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page

FITS = "document.documentElement.scrollWidth <= window.innerWidth"
"""Whether the page is no wider than its window."""


@pytest.fixture(params=[(360, 740, "light"), (360, 740, "dark"), (768, 1000, "dark"), (1600, 1000, "light")])
def window(browser: Browser, request: pytest.FixtureRequest) -> Iterator[tuple[Page, str]]:
    """A window of this size and theme, and what its screenshots are called."""
    width, height, theme = request.param
    context = browser.new_context(
        viewport={"width": width, "height": height}, color_scheme=theme, reduced_motion="reduce"
    )
    yield context.new_page(), f"{width}-{theme}"
    context.close()


def check_appearance(page: Page, screenshot: Path, *, full_page: bool = True) -> None:
    """axe finds no violation, nothing reaches beyond the window, and the screenshot is there to be looked at."""
    page.screenshot(path=screenshot, full_page=full_page)
    assert violations_of(page) == []
    assert page.evaluate(FITS)


def violations_of(page: Page) -> list[tuple[str, list[str]]]:
    """What axe finds, and where."""
    found = Axe().run(page).response["violations"]
    return [(one["id"], [node["target"] for node in one["nodes"]]) for one in found]
