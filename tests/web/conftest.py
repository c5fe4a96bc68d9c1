"""A service for the tests of the pages."""

from tests.support.browser import serving

__all__ = ["serving"]
