"""HTTP over desks: `create_app(settings)`, and `evenhand serve` on the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evenhand.service.settings import Settings

if TYPE_CHECKING:
    from fastapi import FastAPI

__all__ = ["Settings", "create_app"]


def create_app(settings: Settings) -> FastAPI:
    """The application of one process; see `evenhand.service.app`, which is loaded only here: it is large."""
    from evenhand.service.app import create_app as create

    return create(settings)
