"""A service for each file of browser tests, and one browser for all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support import chromium

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

    from tests.support.serving import Serving

FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
DESKS = {"loans": 60, "cards": 4}
PATIENCE = 60_000
"""Milliseconds: a busy machine may be slow."""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A real Chromium. Where there is none the tests are skipped, but never in continuous integration.

    One for each file: while Playwright runs, no other event loop can run in this thread.
    """
    path = chromium.find()
    if path is None:
        reason = f"no browser: {chromium.HOW}"
        pytest.fail(reason) if os.environ.get("CI") else pytest.skip(reason)
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=path, args=list(FLAGS))
        yield running
        running.close()


@cache
def two_desks() -> bytes:
    """A database with DESKS, made once."""
    from tests.support.serving import Serving

    with tempfile.TemporaryDirectory() as folder:
        service = Serving(Path(folder))
        for name, decisions in DESKS.items():
            service.open_desk(name, decisions)
        return (service.folder / "ledger.db").read_bytes()


@pytest.fixture(scope="module")
def serving(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    """A running service with two desks, reviewers of each, and an owner."""
    from tests.support.local_service import LocalService

    service = LocalService(tmp_path_factory.mktemp("service"))
    (service.folder / "ledger.db").write_bytes(two_desks())
    service.token("owner", ["admin"])
    for name in ("Kim", "Lee", "Ada", "Max", "Zoe", "Ola"):
        service.token(name, ["review"], ["loans"])
    service.token("Eve", ["review"], ["cards"])
    with service:
        yield service


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A window of a browser that nobody has used. An error in a script fails the test."""
    context = browser.new_context(viewport={"width": 1280, "height": 1000})
    context.set_default_timeout(PATIENCE)
    window = context.new_page()
    errors: list[str] = []
    window.on("pageerror", lambda error: errors.append(str(error)))
    yield window
    context.close()
    assert errors == []


@pytest.fixture(scope="session")
def screenshots() -> Path:
    """Where screenshots are kept, to be looked at."""
    folder = Path(__file__).parents[2] / "build" / "screenshots"
    folder.mkdir(parents=True, exist_ok=True)
    return folder
