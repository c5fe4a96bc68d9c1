"""The dashboard of a desk that models its reviewers one by one: what it says about each of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from evenhand.desk import Desk
from evenhand.ledger.ledger import open_ledger
from tests.support.dashboard_past import judged
from tests.support.local_service import LocalService
from tests.support.serving import Serving
from tests.support.steps import enter

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def serving(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    """A desk with Score, and one with a fixed reviewer error, each with the same sixty answers of two people."""
    service = LocalService(tmp_path_factory.mktemp("service"))
    ledger = open_ledger(service.database)
    for name, settings in (("loans", {"metric": "Score"}), ("plain", {"metric": "BayesPoint", "reviewer_error": 0.0})):
        with Desk.open(ledger, name, n_features=2, seed=1, **settings) as desk:
            judged(desk, 60)
            desk.catch_up(wait=True)
    ledger.close()
    service.token("owner", ["admin"])
    with service:
        yield service


def test_each_reviewer_is_described(page: Page, serving: Serving, screenshots: Path) -> None:
    """Lapses with their interval, how far the threshold moves, agreement with the others, how far weights differ."""
    enter(page, serving, "owner", "/desks/loans")
    for name in ("Ana", "Ben"):
        row = page.locator("#reviewers tbody tr").filter(has_text=name)
        for words in ("threshold ±", "% like the others", "weights differ"):
            expect(row).to_contain_text(words)
    expect(page.locator("#reviewers")).to_contain_text("a model of the other reviewers predicts")
    expect(page.locator("#promise")).to_contain_text("follows no metric but a model of the reviewers")
    page.locator("#reviewers").screenshot(path=screenshots / "panel-of-reviewers.png")
    page.set_viewport_size({"width": 390, "height": 844})
    page.locator("#reviewers").screenshot(path=screenshots / "panel-of-reviewers-narrow.png")


def test_nothing_is_said_where_nobody_is_modelled(page: Page, serving: Serving) -> None:
    """A desk with a fixed reviewer error has neither rates nor a panel."""
    enter(page, serving, "owner", "/desks/plain")
    expect(page.locator("#reviewers")).to_contain_text("assumes a fixed reviewer error")
    expect(page.locator("#reviewers")).not_to_contain_text("like the others")
