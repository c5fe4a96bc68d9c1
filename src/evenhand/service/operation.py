"""An operation: a method on a path, who may call it, what it takes and gives. One line of the table of operations."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evenhand.service.answer import Answer
    from evenhand.service.call import Call

ANYONE = frozenset({"decide", "review", "admin"})
ADMIN = frozenset({"admin"})


@dataclass(frozen=True)
class Operation:
    """What is known of one operation."""

    method: str
    path: str
    run: Callable[[Call], Awaitable[Answer]]
    reply: type[Any] | None
    roles: frozenset[str] | None = ANYONE
    """Who may call it; None for everybody, without a token."""
    status: int = 200
    body: type[Any] | None = None
    query: dict[str, dict[str, Any]] = field(default_factory=dict)
    """The names it takes in the query, each with its schema."""
    problems: tuple[str, ...] = ()
    """The kinds of problems it may answer with, beside those that every operation has."""
    tag: str = "desk"

    @property
    def name(self) -> str:
        """How it is called in the document, in logs and in measures."""
        return self.run.__name__

    @property
    def words(self) -> str:
        """What the document says of it."""
        return self.run.__doc__ or ""

    @property
    def is_write(self) -> bool:
        """Whether it takes an idempotency key."""
        return self.method in ("POST", "DELETE")

    @property
    def is_of_office(self) -> bool:
        """Whether it needs desks, and so runs where they are; all others run at the door."""
        return self.path.startswith("/api/")
