"""Ledgers to test with."""

from tests.support.ledgers import durable_ledger, durable_url, ledger, name, path, postgresql, same_lottery, url

__all__ = ["durable_ledger", "durable_url", "ledger", "name", "path", "postgresql", "same_lottery", "url"]
