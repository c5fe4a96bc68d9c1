"""HTTP over desks: `create_app(settings)`, and `evenhand serve` on the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evenhand.service.settings import ServiceSettings

if TYPE_CHECKING:
    from fastapi import FastAPI

__all__ = ["ServiceSettings", "create_app"]


def create_app(settings: ServiceSettings) -> FastAPI:
    """The application of one process. FastAPI is imported here, because it is large."""
    from evenhand.service.app import create_app as create

    return create(settings)
