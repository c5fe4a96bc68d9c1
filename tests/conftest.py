"""For all tests: no property has a deadline, since a busy machine may be slow; and one browser, as Playwright asks."""

from __future__ import annotations

from hypothesis import settings

from tests.support.browser import browser, page, screenshots

__all__ = ["browser", "page", "screenshots"]

settings.register_profile("evenhand", deadline=None)
settings.load_profile("evenhand")
