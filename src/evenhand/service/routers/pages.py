"""The pages: HTML, styles, scripts and the icon, with a strict content security policy.

Static files are served under a digest of all of them: browsers may keep them, and a new version has new addresses.
"""

from __future__ import annotations

import hashlib
import posixpath
import re
from functools import cache
from pathlib import Path

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse
from starlette.exceptions import HTTPException

WEB = Path(__file__).parents[1] / "web"
PAGES = {
    "/sign-in": "sign-in",
    "/review/{desk}": "review",
    "/interview/{desk}": "interview",
    "/desks": "desks",
    "/desks/{desk}": "dashboard",
    "/desks/{desk}/decisions/{decision}": "decision",
}
"""The page at each path. Pages contain no data: their scripts request it with the visitor's session."""

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "font-src 'self'; base-uri 'none'; frame-ancestors 'none'; form-action 'self'"
)
SECURITY = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}
MEDIA_TYPES = {"css": "text/css", "js": "text/javascript", "svg": "image/svg+xml", "html": "text/html"}
IMMUTABLE = "public, max-age=31536000, immutable"
META = re.compile(r"<!-- (\w+): (.*?) -->\n")
IMPORT = re.compile(r'^import [^"]*"([^"]+)";', re.MULTILINE)
METHODS = ["GET", "HEAD"]

router = APIRouter(include_in_schema=False)


def file_response(body: bytes, kind: str, cache_control: str = "no-cache", status: int = 200) -> Response:
    """A file with the headers that pages and static files have."""
    return Response(body, status, {**SECURITY, "cache-control": cache_control}, MEDIA_TYPES[kind])


@router.api_route("/", methods=METHODS)
async def home() -> Response:
    """The list of desks, which sends visitors who are not signed in on to the sign-in page."""
    return RedirectResponse("/desks", 303, {**SECURITY, "cache-control": "no-cache"})


async def page(request: Request) -> Response:
    """The page at a path."""
    return file_response(page_of(PAGES[request.scope["route"].path]), "html")


for path in PAGES:
    router.add_api_route(path, page, methods=METHODS)


@router.api_route("/static/{version}/{path:path}", methods=METHODS)
async def static_file(version: str, path: str) -> Response:
    """A static file. Under the digest of another version, as an older page requests it, it is not to be kept."""
    if path not in static_files():
        raise HTTPException(404)
    cached = IMMUTABLE if version == static_digest() else "no-cache"
    return file_response(static_files()[path], path.rpartition(".")[2], cached)


def not_found_page(request: Request) -> Response | None:
    """A page for browsers that request an unknown path; None for programs, and under /api and /static."""
    accepts_html = "text/html" in request.headers.get("accept", "")
    is_page = request.method in METHODS and not request.url.path.startswith(("/api", "/static"))
    return file_response(page_of("not-found"), "html", status=404) if accepts_html and is_page else None


@cache
def static_files() -> dict[str, bytes]:
    """All static files, by path."""
    found = (file for file in sorted(WEB.rglob("*")) if file.suffix[1:] in MEDIA_TYPES and file.suffix != ".html")
    return {file.relative_to(WEB).as_posix(): file.read_bytes() for file in found}


@cache
def static_digest() -> str:
    """A digest of all static files."""
    digest = hashlib.blake2b(digest_size=8)
    for path, body in static_files().items():
        digest.update(path.encode() + b"\0" + body + b"\0")
    return digest.hexdigest()


def imports_of(scripts: list[str]) -> list[str]:
    """The modules that scripts import, directly or not: a browser can then request all of them at once."""
    found, waiting = dict.fromkeys(scripts), list(scripts)
    while waiting:
        path = waiting.pop()
        for name in IMPORT.findall(static_files()[path].decode()):
            imported = posixpath.normpath(posixpath.join(posixpath.dirname(path), name))
            if imported not in found:
                found[imported] = None
                waiting.append(imported)
    return [path for path in found if path not in scripts]


@cache
def page_of(name: str) -> bytes:
    """A page: its own content in the shared layout. Comments at its top name title, styles and scripts."""
    text = (WEB / "pages" / f"{name}.html").read_text("utf-8")
    meta = dict(META.findall(text))
    styles = "".join(f'<link rel="stylesheet" href="/static/@version@/{s}">' for s in meta.get("styles", "").split())
    modules = meta["scripts"].split()
    imported = "".join(f'<link rel="modulepreload" href="/static/@version@/{path}">' for path in imports_of(modules))
    scripts = imported + "".join(f'<script type="module" src="/static/@version@/{path}"></script>' for path in modules)
    html = (WEB / "layout.html").read_text("utf-8")
    parts = {"title": meta["title"], "styles": styles, "scripts": scripts, "main": META.sub("", text).strip()}
    for part, content in parts.items():
        html = html.replace(f"@{part}@", content)
    return html.replace("@version@", static_digest()).encode()
