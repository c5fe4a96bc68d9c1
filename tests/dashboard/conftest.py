"""A service with a desk that has a past, and a browser: one of each for a file of tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.browser import browser, page, screenshots
from tests.support.dashboard_past import open_with_a_past
from tests.support.serving import Serving

__all__ = ["browser", "page", "screenshots", "serving"]


@pytest.fixture(scope="module")
def serving(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    """A running service with a desk that has a past, one without, an owner, and reviewers of each."""
    service = Serving(tmp_path_factory.mktemp("service"))
    open_with_a_past(service.database, "loans")
    service.open_desk("empty", 0)
    service.token("owner", ["admin"])
    service.token("Kim", ["review"], ["loans"])
    service.token("Eve", ["review"], ["empty"])
    with service:
        yield service
