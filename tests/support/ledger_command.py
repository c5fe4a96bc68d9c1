"""The command line of ledgers, in this process."""

from __future__ import annotations

from evenhand.cli.main import main


def run(*arguments: str) -> int:
    """The exit status of `evenhand ledger` with these arguments."""
    try:
        return main(["ledger", *arguments])
    except SystemExit as ended:
        return int(ended.code or 0)
