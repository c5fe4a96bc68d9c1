"""A service and a browser."""

from tests.support.browser import browser, page, screenshots, serving

__all__ = ["browser", "page", "screenshots", "serving"]
