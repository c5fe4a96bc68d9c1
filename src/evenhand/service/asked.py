"""What goes from the door to the office and back: a request that may be carried out, and its answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import numpy as np

from evenhand.desk.candidates import Candidates

if TYPE_CHECKING:
    from typing import Self


class Caller(msgspec.Struct, array_like=True, frozen=True):
    """Whoever sent a request, by their token."""

    name: str
    """The actor in the ledger."""
    roles: tuple[str, ...]
    desks: tuple[str, ...] | None = None
    """The desks the token is for; None for all."""
    token: str | None = None
    """The token's id: what logs say, since its name is that of a person."""

    def may(self, roles: frozenset[str]) -> bool:
        """Whether one of these roles is theirs; admin may do everything."""
        return "admin" in self.roles or not roles.isdisjoint(self.roles)

    def sees(self, desk: str) -> bool:
        """Whether their token is for this desk."""
        return self.desks is None or desk in self.desks


class Packed(msgspec.Struct, array_like=True, frozen=True, gc=False):
    """Candidates of a decision, read and checked at the door: text becomes numbers once, and not in the office."""

    ids: list[str]
    contexts: bytes
    """Doubles, row by row."""

    @classmethod
    def of(cls, candidates: Candidates) -> Self:
        """The same, to be sent."""
        return cls(candidates.ids, candidates.contexts.tobytes())

    def candidates(self) -> Candidates:
        """What was packed."""
        return Candidates(self.ids, np.frombuffer(self.contexts).reshape(len(self.ids), -1))


class Asked(msgspec.Struct, array_like=True, frozen=True, gc=False):
    """One request, once its token, rate, role and desk were found to allow it; of its body only candidates are read."""

    operation: str
    caller: Caller
    path: dict[str, str]
    key: bytes | None
    """The idempotency key as it was sent."""
    query: bytes
    body: bytes
    packed: Packed | None = None
    """In place of a body that asks for a decision."""


class Told(msgspec.Struct, array_like=True, frozen=True, gc=False):
    """The answer to one request."""

    body: bytes
    status: int
    media_type: bytes
    headers: tuple[tuple[bytes, bytes], ...] = ()
    is_line: bool = False
    """Whether the body is a decision's line as the ledger has it: the door cuts the answer out, which has the time."""
