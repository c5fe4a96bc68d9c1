"""What goes from the door to the office and back: a request that may be carried out, and its answer."""

from __future__ import annotations

import msgspec


class Caller(msgspec.Struct, array_like=True, frozen=True):
    """Whoever sent a request, by their token."""

    name: str
    """The actor in the ledger."""
    roles: tuple[str, ...]
    desks: tuple[str, ...] | None = None
    """The desks the token is for; None for all."""

    def may(self, roles: frozenset[str]) -> bool:
        """Whether one of these roles is theirs; admin may do everything."""
        return "admin" in self.roles or not roles.isdisjoint(self.roles)

    def sees(self, desk: str) -> bool:
        """Whether their token is for this desk."""
        return self.desks is None or desk in self.desks


class Asked(msgspec.Struct, array_like=True, frozen=True, gc=False):
    """One request, once its token, rate, role and desk were found to allow it; its body is not read yet."""

    operation: str
    caller: Caller
    path: dict[str, str]
    key: bytes | None
    """The idempotency key as it was sent."""
    query: bytes
    body: bytes


class Told(msgspec.Struct, array_like=True, frozen=True, gc=False):
    """The answer to one request."""

    body: bytes
    status: int
    media_type: bytes
    headers: tuple[tuple[bytes, bytes], ...] = ()
