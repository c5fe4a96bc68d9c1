"""ServiceSettings: where the ledger is, which tokens exist, and the limits on requests."""

from __future__ import annotations

import ipaddress
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Self, get_type_hints

from evenhand.errors import InvalidInput

ROLES = ("decide", "review", "audit", "admin")
"""What a token may be for; audit is for signed heads and proofs, and nothing else."""

MIN_TOKEN_LENGTH = 20
"""Characters of a token from the settings; shorter ones can be guessed."""

KEY_BYTES = 32
KEYS_ARE = "keys must be 64 hexadecimal digits each, as openssl rand -hex 32 prints them, with commas between them"


@dataclass(frozen=True)
class ServiceSettings:
    """The settings of one service process; all processes of a service share them.

    >>> ServiceSettings(max_candidates=0)
    Traceback (most recent call last):
    ...
    evenhand.errors.InvalidInput: max_candidates must be > 0, got 0
    """

    database_url: str = "sqlite:///evenhand.db"
    """Where ledgers and tokens are: memory:, sqlite:///path, or postgresql+psycopg://..."""
    admin_token: str | None = field(default=None, repr=False)
    """A token with the role admin that is not stored; without it one is printed at the first start."""
    metrics_token: str | None = field(default=None, repr=False)
    """A token that may read /metrics and nothing else."""
    keys: str | None = field(default=None, repr=False)
    """Keys of 64 hexadecimal digits that encrypt what pages hold, with commas between them, the newest first; without
    any, a random one in the database does."""
    tokens: bool = True
    """False: every request is allowed everything. Only for loopback."""
    max_body: int = 1_048_576
    """Maximum bytes of a request body."""
    max_candidates: int = 500
    """Maximum candidates of one decision; a thousand on a line take seconds."""
    rate: float = 1_000.0
    """Requests per second and token, in each process."""
    burst: float = 2_000.0
    """Requests that one token may send at once after a pause."""
    wrong_tokens: float = 30.0
    """Wrong tokens per minute and address that are answered with 401; more get 429. Valid tokens always work."""
    idempotency_days: float = 7.0
    """Days for which an idempotency key stands for its request; then its owner may use it for another."""
    max_waiting: int = 4_096
    """Maximum commands waiting at one desk; more are refused with 503."""
    max_batch: int = 256
    """Maximum commands in one transaction."""
    max_seconds: float = 30.0
    """Maximum seconds that a command waits for its event; then it is refused with 503, and dropped if not begun."""
    read_seconds: float = 40.0
    """Seconds within which the response to a request to read must begin; else it is refused with 503."""
    max_streams: int = 20
    """Live streams of one token, in each process; more are refused with 429."""
    max_connections: int = 1_000
    """Open connections of each process, at most; fewer if the system allows fewer files."""
    head_seconds: float = 10.0
    """Seconds within which the head of a request must arrive, after a connection was opened or the last response."""
    body_seconds: float = 30.0
    """Seconds within which the body of a request must arrive."""
    send_seconds: float = 30.0
    """Seconds for which a client may keep a response from being sent on."""
    page: int = 100
    """Default entries per page."""
    max_page: int = 1_000
    close_after: float = 600.0
    """Seconds after which a desk without requests is closed; the next request opens it again."""
    certificate_seconds: float = 10.0
    """How long to look for proofs of one certificate; the pairs that are left are "not attempted"."""
    log_requests: bool = True
    """Whether to log one line of JSON per request."""
    sign_every: float = 60.0
    """Seconds between signed heads of a ledger that grows."""
    signing_key: str | None = field(default=None, repr=False)
    """The secret that heads are signed with, 64 hexadecimal digits; without it the database's own."""
    heads_file: str | None = None
    """The file that signed heads are appended to; by default one beside an SQLite database."""
    witness_url: str | None = None
    """Where new signed heads are sent to: a witness, or anything that accepts JSON over HTTP."""

    def __post_init__(self) -> None:
        for entry in fields(self):
            value = getattr(self, entry.name)
            if isinstance(value, int | float) and not isinstance(value, bool) and not value > 0:
                raise InvalidInput(f"{entry.name} must be > 0, got {value!r}")
        for name in ("admin_token", "metrics_token"):
            token = getattr(self, name)
            if token is not None and (len(token) < MIN_TOKEN_LENGTH or not token.isascii() or " " in token):
                raise InvalidInput(f"{name} must be {MIN_TOKEN_LENGTH} or more ASCII characters without spaces")
        if self.signing_key is not None and not re.fullmatch("[0-9A-Fa-f]{64}", self.signing_key):
            raise InvalidInput("signing_key must be 64 hexadecimal digits")
        if self.witness_url is not None and not self.witness_url.startswith(("http://", "https://")):
            raise InvalidInput(f"witness_url must begin with http:// or https://, got {self.witness_url!r}")

        if not all(len(key) == KEY_BYTES for key in self.service_keys):
            raise InvalidInput(KEYS_ARE)

    @property
    def service_keys(self) -> tuple[bytes, ...]:
        """The keys, the newest first."""
        try:
            return tuple(bytes.fromhex(key) for key in (self.keys or "").replace(",", " ").split())
        except ValueError:
            raise InvalidInput(KEYS_ARE) from None

    @property
    def is_in_memory(self) -> bool:
        """Whether the ledger ends with the process."""
        return self.database_url == "memory:"

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] | None = None, **overrides: Any) -> Self:
        """The settings in variables EVENHAND_<NAME>; overrides take precedence.

        >>> ServiceSettings.from_environment({"EVENHAND_MAX_BODY": "1000"}, max_candidates=5).max_body
        1000
        """
        environment = os.environ if environment is None else environment
        types = get_type_hints(cls)
        texts = {entry.name: environment.get(f"EVENHAND_{entry.name.upper()}") for entry in fields(cls)}
        values = {name: _parse(name, text, types[name]) for name, text in texts.items() if text}
        return cls(**{**values, **overrides})

    def to_environment(self) -> dict[str, str]:
        """The variables that `from_environment` reads back; worker processes get their settings this way."""
        values = {entry.name: getattr(self, entry.name) for entry in fields(self)}
        return {f"EVENHAND_{name.upper()}": str(value) for name, value in values.items() if value is not None}


def _parse(name: str, text: str, type_: Any) -> Any:
    from pydantic import TypeAdapter, ValidationError  # slow to import

    try:
        return TypeAdapter(type_).validate_strings(text)
    except ValidationError:
        wanted = "true or false" if type_ is bool else "a number"
        raise InvalidInput(f"EVENHAND_{name.upper()} must be {wanted}, got {text!r}") from None


def is_loopback(host: str) -> bool:
    """Whether an address is reachable from this machine only.

    >>> [is_loopback(host) for host in ("127.0.0.1", "::1", "localhost", "0.0.0.0", "example.org")]
    [True, True, True, False, False]
    """
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
