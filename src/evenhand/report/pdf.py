"""A report as PDF, with WeasyPrint, from evenhand[report]; it needs the system's Pango library."""

from __future__ import annotations

from typing import Any

from evenhand.errors import CannotWrite

PANGO = (
    "PDF needs the system's Pango library, which was not found (on Debian: apt-get install libpango-1.0-0 "
    "libpangoft2-1.0-0 libharfbuzz-subset0); or print the HTML page with a browser"
)


def check_pdf() -> None:
    """CannotWrite without Pango, ModuleNotFoundError without WeasyPrint."""
    try:
        import weasyprint  # noqa: F401
    except OSError:  # it loads Pango when it is imported
        raise CannotWrite(PANGO) from None


def pdf_of(html: str) -> bytes:
    """The page as PDF."""
    check_pdf()
    from weasyprint import HTML

    made: bytes = HTML(string=html, url_fetcher=_refuse).write_pdf(pdf_tags=True)
    return made


def _refuse(url: str, *args: Any, **options: Any) -> dict[str, Any]:
    """Nothing is loaded: the page has all it needs."""
    raise ValueError(f"a report needs no other file, got {url}")
