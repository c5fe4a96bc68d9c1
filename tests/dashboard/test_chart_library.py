"""The file that draws the charts: the installed package's, kept by browsers, compressed, for pages with charts."""

from __future__ import annotations

import gzip
import hashlib
import re
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import httpx
import pytest

from evenhand.service.pages import chart_library
from tests.support.serving import Serving


@pytest.fixture
def client(serving: Serving) -> Iterator[httpx.Client]:
    """Somebody who takes nothing compressed unless they say so."""
    with httpx.Client(base_url=serving.url, timeout=30, headers={"Accept-Encoding": "identity"}) as client:
        yield client


def installed() -> bytes:
    """The package's file."""
    spec = find_spec("plotly")
    assert spec is not None
    assert spec.origin is not None
    return (Path(spec.origin).parent / "package_data" / "plotly.min.js").read_bytes()


def address_in(page: str) -> str:
    """Where a page says that the library is."""
    found = re.search(r'<meta name="chart-library" content="([^"]+)">', page)
    assert found is not None
    return found.group(1)


def test_it_is_the_installed_file_under_its_digest_and_kept_for_ever(client: httpx.Client) -> None:
    """The address has a digest of the file's own; under another one the file is there too, but is not kept."""
    address = address_in(client.get("/desks/loans").text)
    assert hashlib.blake2b(installed(), digest_size=8).hexdigest() in address
    answer = client.get(address)
    assert answer.content == installed()
    assert (answer.headers["content-type"], answer.headers["vary"]) == (
        "text/javascript; charset=utf-8",
        "accept-encoding",
    )
    assert "immutable" in answer.headers["cache-control"]
    assert "content-encoding" not in answer.headers
    assert client.get("/static/0000/plotly.min.js").headers["cache-control"] == "no-cache"


def test_it_is_compressed_for_whoever_takes_that(client: httpx.Client) -> None:
    """The same bytes in less than a third of the length, told by HEAD as well."""
    address = address_in(client.get("/desks/loans").text)
    with client.stream("GET", address, headers={"Accept-Encoding": "br, gzip"}) as answer:
        packed = b"".join(answer.iter_raw())
    assert answer.headers["content-encoding"] == "gzip"
    assert answer.headers["content-length"] == str(len(packed))
    assert gzip.decompress(packed) == installed()
    assert 3 * len(packed) < len(installed())
    told = client.head(address, headers={"Accept-Encoding": "gzip"})
    assert (told.headers["content-length"], told.content) == (str(len(packed)), b"")
    assert client.get(address, headers={"Accept-Encoding": "gzip;q=0, identity"}).content == installed()


def test_only_pages_with_charts_ask_for_it(client: httpx.Client) -> None:
    """Whoever reviews does not wait for it, and none of it is among the files of this project."""
    for path in ("/sign-in", "/desks", "/review/loans", "/interview/loans", "/desks/loans/decisions/dec_0"):
        assert "plotly" not in client.get(path).text
    committed = Path(chart_library.__file__).parents[1] / "web"
    assert [path for path in committed.rglob("*") if "plotly" in path.name] == []


def test_a_service_without_the_package_still_has_its_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    """The page names an address where nothing is, and says by itself that it cannot draw."""
    caches = (chart_library.library, chart_library.digest, chart_library.styles_of_maps)
    for cached in caches:
        cached.cache_clear()
    monkeypatch.setattr(chart_library, "find_spec", lambda name: None)
    try:
        assert address_in(chart_library.head()) == "/static/missing/plotly.min.js"
        assert chart_library.answer("missing", "gzip") is None
    finally:
        for cached in caches:
            cached.cache_clear()
