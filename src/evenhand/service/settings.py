"""What a service is told before it starts: where the ledger is, who may come in, and how much is too much."""

from __future__ import annotations

import ipaddress
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Self, get_type_hints

from evenhand.errors import InvalidInput

LEAST_TOKEN = 20
"""Characters of a token that somebody chose: fewer can be guessed."""


@dataclass(frozen=True)
class Settings:
    """The settings of one service process; all processes of a service have the same ones.

    >>> Settings(max_candidates=0)
    Traceback (most recent call last):
    ...
    evenhand.errors.InvalidInput: max_candidates is 0; allowed is a number above 0
    """

    database_url: str = "sqlite:///evenhand.db"
    """Where ledgers and tokens are: memory:, sqlite:///path, or postgresql+psycopg://..."""
    admin_token: str | None = field(default=None, repr=False)
    """A token that may do everything, kept nowhere; without it there is one printed at the first start."""
    metrics_token: str | None = field(default=None, repr=False)
    """A token that may read /metrics and nothing else."""
    tokens: bool = True
    """False: whoever reaches the service may do everything. Only for loopback."""
    max_body: int = 1_048_576
    """Bytes of a request's body."""
    max_candidates: int = 500
    """Candidates of one decision. A desk decides one after the other: a thousand on a line take it seconds."""
    rate: float = 1_000.0
    """Requests a second that one token may send to one process."""
    burst: float = 2_000.0
    """Requests that one token may send at once after a pause."""
    wrong_tokens: float = 30.0
    """Wrong tokens a minute from one address that are answered with 401; more get 429. Right ones always open."""
    max_waiting: int = 4_096
    """Commands of one desk that may wait for their turn; more are refused, to be sent again later."""
    max_batch: int = 256
    """Commands written in one transaction."""
    page: int = 100
    """Entries of a page unless asked otherwise."""
    max_page: int = 1_000
    apart: bool = True
    """Whether desks have a process of their own beside the one that speaks HTTP; a ledger in memory never does."""
    log_requests: bool = True
    """One line of JSON for every request."""

    def __post_init__(self) -> None:
        numbers = ("max_body", "max_candidates", "rate", "burst", "wrong_tokens", "max_waiting", "max_batch")
        for name in (*numbers, "page", "max_page"):
            if not getattr(self, name) > 0:
                raise InvalidInput(f"{name} is {getattr(self, name)!r}; allowed is a number above 0")
        for name in ("admin_token", "metrics_token"):
            token = getattr(self, name)
            if token is not None and (len(token) < LEAST_TOKEN or not token.isascii() or " " in token):
                raise InvalidInput(
                    f"{name} can be guessed or cannot be sent; allowed are {LEAST_TOKEN} or more ASCII signs, no blank"
                )

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] | None = None, **given: Any) -> Self:
        """The settings in variables EVENHAND_<NAME>; what is given in the call goes first.

        >>> Settings.from_environment({"EVENHAND_MAX_BODY": "1000"}, max_candidates=5).max_body
        1000
        """
        environment = os.environ if environment is None else environment
        kinds = get_type_hints(cls)
        values = {}
        for name in (entry.name for entry in fields(cls)):
            text = environment.get(f"EVENHAND_{name.upper()}")
            if text:
                values[name] = _read(name, text, kinds[name])
        return cls(**{**values, **given})

    def to_environment(self) -> dict[str, str]:
        """The variables that `from_environment` reads back: how worker processes learn their settings."""
        values = {entry.name: getattr(self, entry.name) for entry in fields(self)}
        return {f"EVENHAND_{name.upper()}": str(value) for name, value in values.items() if value is not None}


def _read(name: str, text: str, kind: Any) -> Any:
    if kind is bool:
        known = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}
        if text.lower() not in known:
            raise InvalidInput(f"EVENHAND_{name.upper()} is {text!r}; allowed are true and false")
        return known[text.lower()]
    if kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            raise InvalidInput(f"EVENHAND_{name.upper()} is {text!r}; allowed is a number") from None
    return text


def is_loopback(host: str) -> bool:
    """Whether a host to listen on is reached from this machine only.

    >>> [is_loopback(host) for host in ("127.0.0.1", "::1", "localhost", "0.0.0.0", "example.org")]
    [True, True, True, False, False]
    """
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
