"""A service with a desk that has a past, for each file of tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.dashboard_past import past_and_empty
from tests.support.local_service import LocalService
from tests.support.serving import Serving


@pytest.fixture(scope="module")
def serving(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    """A running service with a desk that has a past, one without, an owner, and reviewers of each."""
    service = LocalService(tmp_path_factory.mktemp("service"))
    (service.folder / "ledger.db").write_bytes(past_and_empty())
    service.token("owner", ["admin"])
    service.token("Kim", ["review"], ["loans"])
    service.token("Eve", ["review"], ["empty"])
    with service:
        yield service
