"""A running service, new for every test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.ledgers import postgresql, same_lottery
from tests.support.running_service import Asking, asking

__all__ = ["postgresql", "same_lottery"]


@pytest.fixture
def ask() -> Iterator[Asking]:
    """A service with a ledger in memory."""
    with asking() as running:
        yield running
