"""The interview page of a desk with many features: what differs first, the rest folded away."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.support.local_service import LocalService
from tests.support.serving import Serving
from tests.support.steps import enter, pair_or_end, ready
from tests.support.wide_people import WIDE, csv_of, wide_people

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def wide(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    """A desk of 24 features that has decided about nobody yet."""
    service = LocalService(tmp_path_factory.mktemp("wide"))
    service.open_desk("wide", 0, schema=WIDE, structure="diagonal", metric="BayesPoint")
    service.token("Kim", ["review"])
    with service:
        yield service


def test_what_is_the_same_is_folded(page: Page, wide: Serving, tmp_path: Path) -> None:
    """At most three rows are in sight, all marked; the others are one click away, and the fold says how many."""
    enter(page, wide, "Kim", "/interview/wide")
    expect(page.locator("#ending-title")).to_have_text("There is nobody to ask about yet")
    (tmp_path / "people.csv").write_text(csv_of(wide_people(50)))
    page.get_by_label("A CSV file").set_input_files(tmp_path / "people.csv")
    page.get_by_role("button", name="Use these people").click()
    ready(page)
    for key in "uau":
        marked = page.locator("#pair > table tr.differs").count()
        assert 1 <= marked <= 3
        assert page.locator("#pair > table tr.same").count() == 0
        expect(page.locator("#same > summary")).to_have_text(f"{24 - marked} features alike")
        expect(page.locator("#same tbody")).to_be_hidden()
        with page.expect_response(lambda response: "/interview/answers" in response.url):
            page.keyboard.press(key)
        pair_or_end(page)
    page.locator("#same > summary").click()
    expect(page.locator("#same tbody")).to_be_visible()
    assert page.locator("#same tr.same").count() == 24 - page.locator("#pair > table tr.differs").count()
