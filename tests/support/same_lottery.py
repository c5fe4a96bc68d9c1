"""Lotteries that draw the same in every run."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch


@contextmanager
def same_secrets() -> Iterator[None]:
    """Desks that this process opens meanwhile get the same secret."""
    with (
        patch("evenhand.desk.opening.new_secret", lambda: bytes(32)),
        patch("evenhand.desk.lottery.new_secret", lambda: bytes(32)),
    ):
        yield
