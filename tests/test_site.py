"""The documentation site works from a folder, without a server and without a network."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Page

ROOT = Path(__file__).parent.parent
PAGES = ("glossary.md", "faq.md")


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """Two pages of the site with its theme, its search and its assets, without tutorials and API reference."""
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
