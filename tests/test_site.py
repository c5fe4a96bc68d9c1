"""The documentation site works from a folder, without a server and without a network."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from scripts.sizing import CANDIDATES, FEATURES, HEAD, REVIEWS, TABLE, WEEKS

if TYPE_CHECKING:
    from playwright.sync_api import Page

ROOT = Path(__file__).parent.parent
PAGES = ("glossary.md", "faq.md", "sizing.md")


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """Some pages of the site with its theme, its search and its assets, without tutorials and API reference."""
    settings = (ROOT / "mkdocs.yml").read_text()
    before, _, rest = settings.partition("  - mkdocs-jupyter:")
    extensions = rest.partition("markdown_extensions:")[2].partition("validation:")[0]
    (tmp_path / "mkdocs.yml").write_text(
        before.replace("strict: true", "strict: false") + "markdown_extensions:" + extensions
    )
    shutil.copytree(ROOT / "docs" / "assets", tmp_path / "docs" / "assets")
    for name in PAGES:
        shutil.copy(ROOT / "docs" / name, tmp_path / "docs" / name)
    subprocess.run([sys.executable, "-m", "mkdocs", "build", "--quiet"], cwd=tmp_path, check=True, timeout=120)
    return tmp_path / "site"


@pytest.mark.browser
def test_the_search_works_from_a_folder(site: Path, page: Page) -> None:
    """It finds a word of another page; nothing is fetched from elsewhere."""
    from playwright.sync_api import expect

    fetched: list[str] = []
    page.on("request", lambda request: fetched.append(request.url))
    page.goto((site / "faq.html").as_uri())
    page.keyboard.press("s")
    page.keyboard.type("propensity")
    expect(page.locator(".md-search-result__link").first).to_have_attribute("href", re.compile(r"/glossary\.html"))
    assert [url for url in fetched if not url.startswith("file:")] == []


def test_every_size_was_simulated_in_enough_worlds() -> None:
    """All combinations are there, in so many worlds that the line has the probability that the page says."""
    sizes = {"-".join(map(str, size)) for size in product(FEATURES, CANDIDATES, REVIEWS)}
    table = json.loads(TABLE.read_text()[len(HEAD) :].rstrip(";\n"))
    assert set(table) == sizes
    for name, cell in table.items():
        assert cell["worlds"] >= 9, name
        assert len(cell["weeks"]) == WEEKS, name
        assert all(lower <= median <= upper for median, lower, upper in cell["weeks"]), name


@pytest.mark.browser
def test_the_sizing_page_says_what_was_simulated(site: Path, page: Page) -> None:
    """The numbers of the chosen size, in words and as a bar a week."""
    from playwright.sync_api import expect

    table = json.loads(TABLE.read_text()[len(HEAD) :].rstrip(";\n"))
    page.goto((site / "sizing.html").as_uri())
    for name, value in (("features", 24), ("candidates", 50), ("reviews", 1)):
        page.locator(f"#sizing [name={name}]").select_option(str(value))
    cell, words = table["24-50-1"], page.locator(".sizing-words")
    expect(words).to_contain_text(
        f"10 of 50 are chosen, 20 answers a week. Half of the simulated worlds have at most "
        f"{cell['weeks'][-1][0]:g} unfair pairs in the fourth week."
    )
    expect(words).to_contain_text(f"Simulated in {cell['worlds']} worlds.")
    expect(page.locator(".sizing-bars > *")).to_have_count(WEEKS)
