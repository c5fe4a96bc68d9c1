"""The library that draws the charts: the file that the installed plotly package brings along, and no copy of ours.

It is served under a digest of its own, so that a new version of the pages does not make browsers fetch it again.
"""

from __future__ import annotations

import gzip
import hashlib
import re
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import NamedTuple

NAME = "plotly.min.js"
MISSING = "missing"
"""What stands for the digest where the package is not installed: the page then says that it cannot draw."""

SHEET = '<link id="plotly.js-style-global" rel="stylesheet" href="/static/@version@/css/chart-library.css">'
ADDRESS = '<meta name="chart-library" content="/static/{digest}/{name}">'
TAKEN = '<template id="{id}"></template>'
OWN_STYLES = re.compile(rb'if\(!document\.getElementById\("([0-9a-f]{64})"\)\)')
_packing = Lock()


def head() -> str:
    """What a page with charts has in its head, so that the library needs no style that the policy refuses.

    The library writes its rules into the sheet of the element with a certain id; without one it would make a style
    element, which is refused, and its layers would lie below each other instead of on each other. The styles of its
    maps, which no page shows, it writes into an element of its own, unless something with that element's id is there.
    """
    taken = "".join(TAKEN.format(id=id_) for id_ in styles_of_maps())
    return SHEET + taken + ADDRESS.format(digest=digest(), name=NAME)


class ChartLibrary(NamedTuple):
    """The script and the headers that describe its encoding."""

    body: bytes
    headers: dict[str, str]


def read(*, gzipped: bool) -> ChartLibrary | None:
    """The script, compressed or not; None if the package is not installed."""
    path = library()
    if path is None:
        return None
    if gzipped:
        return ChartLibrary(packed(), {"vary": "accept-encoding", "content-encoding": "gzip"})
    return ChartLibrary(path.read_bytes(), {"vary": "accept-encoding"})


def accepts_gzip(header: str) -> bool:
    """Whether an Accept-Encoding header allows gzip.

    >>> [accepts_gzip(header) for header in ("gzip, br", "br;q=1.0, gzip;q=0.5", "identity", "gzip;q=0", "")]
    [True, True, False, False, False]
    """
    weights = {name.strip().lower(): weight for name, _, weight in (part.partition(";") for part in header.split(","))}
    weight = weights.get("gzip", weights.get("*"))
    return weight is not None and re.fullmatch(r"\s*q\s*=\s*0(\.0*)?\s*", weight) is None


@cache
def library() -> Path | None:
    """Where the file is. The package is looked up, not imported: nothing but this file of it is wanted."""
    spec = find_spec("plotly")
    if spec is None or spec.origin is None:
        return None
    path = Path(spec.origin).parent / "package_data" / NAME
    return path if path.is_file() else None


@cache
def digest() -> str:
    """A digest of the file."""
    path = library()
    return MISSING if path is None else hashlib.blake2b(path.read_bytes(), digest_size=8).hexdigest()


@cache
def styles_of_maps() -> tuple[str, ...]:
    """The ids of the style elements that the library would make; they are digests and others in every version."""
    path = library()
    return () if path is None else tuple(found.decode() for found in OWN_STYLES.findall(path.read_bytes()))


def packed() -> bytes:
    """The file, compressed: once for a process, however many ask at the same time."""
    with _packing:
        return _packed()


@cache
def _packed() -> bytes:
    path = library()
    assert path is not None
    return gzip.compress(path.read_bytes(), 9, mtime=0)
