"""The pages themselves: HTML, styles, scripts and the icon, read once, served with a strict content security policy.

Static files are served under a digest of all of them: they may be kept for ever, and a new version has new addresses.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import TYPE_CHECKING

from starlette.exceptions import HTTPException
from starlette.responses import RedirectResponse
from starlette.routing import Route

from evenhand.service.door import door_of
from evenhand.service.pages.file import ALWAYS, FOR_EVER, KINDS, File
from evenhand.service.pages.table import PAGE_OPERATIONS
from evenhand.service.route import StraightRoute

if TYPE_CHECKING:
    from fastapi import FastAPI
    from starlette.applications import Starlette
    from starlette.requests import Request

    from evenhand.service.service import Service

PAGES = {
    "/sign-in": "sign-in",
    "/review/{desk}": "review",
    "/interview/{desk}": "interview",
    "/desks": "desks",
    "/desks/{desk}": "dashboard",
    "/desks/{desk}/decisions/{decision}": "decision",
}
"""Which page is at which path. Pages hold no data: what they show, they ask the service for in the visitor's name."""

META = re.compile(r"<!-- (\w+): (.*?) -->\n")


def add_pages(app: FastAPI, service: Service) -> None:
    """Add the pages, the static files and the pages' requests to an application."""
    for operation in PAGE_OPERATIONS:
        app.router.routes.append(StraightRoute(operation, door_of(operation, service), include_in_schema=False))
    add_files(app)


def add_files(app: Starlette, pages: dict[str, str] | None = None) -> None:
    """Add pages, by path, and all static files."""
    for path, name in (PAGES if pages is None else pages).items():
        app.router.routes.append(Route(path, _endpoint(name), methods=["GET", "HEAD"], include_in_schema=False))
    app.router.routes.append(Route("/", _to_desks, methods=["GET", "HEAD"], include_in_schema=False))
    app.router.routes.append(Route("/static/{version}/{path:path}", _static, methods=["GET", "HEAD"]))


def not_found(request: Request) -> File | None:
    """A page for a browser that asks for what is not there; None for programs, and of what the API has."""
    wants = "text/html" in request.headers.get("accept", "")
    is_page = request.method in ("GET", "HEAD") and not request.url.path.startswith(("/api", "/static"))
    return File(page_of("not-found"), "html", "no-cache", 404) if wants and is_page else None


def _endpoint(name: str) -> Callable[[Request], File]:
    def page(request: Request) -> File:
        return File(page_of(name), "html", "no-cache")

    return page


def _to_desks(request: Request) -> RedirectResponse:
    """The way in is the list of desks, which sends on to signing in whoever has not."""
    return RedirectResponse("/desks", 303, {**ALWAYS, "cache-control": "no-cache"})


def _static(request: Request) -> File:
    asked, path = request.path_params["version"], request.path_params["path"]
    if path not in static_files():
        raise HTTPException(404)
    # Under the address of another version, as a page from before an update asks: the file, but not for ever.
    cache_control = FOR_EVER if asked == version() else "no-cache"
    return File(static_files()[path], path.rpartition(".")[2], cache_control)


@cache
def static_files() -> dict[str, bytes]:
    """All that may be asked for, by path."""
    root = files("evenhand.service").joinpath("web")
    return {path: text for path, text in _read(root, "") if not path.endswith(".html")}


def _read(folder: Traversable, prefix: str) -> list[tuple[str, bytes]]:
    found: list[tuple[str, bytes]] = []
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if entry.is_dir():
            found += _read(entry, f"{prefix}{entry.name}/")
        elif entry.name.rpartition(".")[2] in KINDS:
            found.append((prefix + entry.name, entry.read_bytes()))
    return found


@cache
def version() -> str:
    """A digest of all static files."""
    digest = hashlib.blake2b(digest_size=8)
    for path, text in static_files().items():
        digest.update(path.encode() + b"\0" + text + b"\0")
    return digest.hexdigest()


@cache
def page_of(name: str) -> bytes:
    """A page: its own content in the layout that all share. Comments at its top name title, styles and scripts.
    """
    root = files("evenhand.service").joinpath("web")
    text = root.joinpath("pages", f"{name}.html").read_text("utf-8")
    said = dict(META.findall(text))
    styles = "".join(f'<link rel="stylesheet" href="/static/@version@/{s}">' for s in said.get("styles", "").split())
    scripts = "".join(f'<script type="module" src="/static/@version@/{s}"></script>' for s in said["scripts"].split())
    page = root.joinpath("layout.html").read_text("utf-8")
    parts = {"title": said["title"], "styles": styles, "scripts": scripts, "main": META.sub("", text).strip()}
    for part, content in parts.items():
        page = page.replace(f"@{part}@", content)
    return page.replace("@version@", version()).encode()
