"""The desks a process has open: each with a thread that writes for it and one that folds, or follows who folds."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from evenhand.desk.desk import Desk
from evenhand.desk.opening import open_once
from evenhand.errors import UnknownRecord
from evenhand.service.gather import Gatherer
from evenhand.service.problems import Problem
from evenhand.service.writable import Writable

if TYPE_CHECKING:
    from evenhand.desk.commands import Command
    from evenhand.ledger.event import Event
    from evenhand.ledger.ledger import Ledger
    from evenhand.service.measures import DeskMeasures
    from evenhand.service.settings import Settings


@dataclass(frozen=True)
class OpenDesk:
    """An open desk and the place where its commands are gathered."""

    desk: Desk
    gatherer: Gatherer[Command, Event]

    def record(self, command: Command) -> asyncio.Future[Event]:
        """The event of a command, once it is durable."""
        return self.gatherer.submit(command)


class Desks:
    """Opens desks when they are first asked for; from then on they fold in the background."""

    def __init__(self, ledger: Ledger, settings: Settings, measures: DeskMeasures) -> None:
        self.ledger, self._settings, self._measures = ledger, settings, measures
        self._open: dict[str, OpenDesk] = {}
        self._opening = asyncio.Lock()
        self.writable = Writable(ledger)

    def at_hand(self, name: str) -> OpenDesk | None:
        """The desk of this name if it is open already."""
        return self._open.get(name)

    async def get(self, name: str) -> OpenDesk:
        """The desk of this name; a Problem if there is none."""
        opened = self._open.get(name)
        return opened if opened is not None else await self._opened(name)

    async def _opened(self, name: str) -> OpenDesk:
        async with self._opening:
            if name not in self._open:
                try:
                    desk = await asyncio.to_thread(Desk.open, self.ledger, name)
                except UnknownRecord:
                    # The error itself may list desks that the caller must not know of.
                    raise Problem("not-found", f"there is no desk {name!r}") from None
                desk.project_in_background()
                self._open[name] = OpenDesk(desk, self._gatherer(desk))
            return self._open[name]

    def _gatherer(self, desk: Desk) -> Gatherer[Command, Event]:
        return Gatherer(
            desk.name,
            self.writable.noting(desk.execute),
            max_batch=self._settings.max_batch,
            max_waiting=self._settings.max_waiting,
            written=self._measures.batch,
        )

    async def create(self, name: str, settings: dict[str, Any], key: str | None, actor: str) -> Event:
        """The first event of a new desk, or of the one that the same request made before."""
        once = partial(open_once, self.ledger, settings=settings, actor=actor, key=key)
        return await asyncio.to_thread(self.writable.noting(once), name)

    async def names(self) -> list[str]:
        """The names of all desks, sorted."""
        return await asyncio.to_thread(self.ledger.names)

    def standing(self) -> dict[str, tuple[int, bool]]:
        """Of every open desk: how far its state has come, and whether this process folds it."""
        return {name: (opened.desk.projection.seq, opened.desk.is_projecting) for name, opened in self._open.items()}

    async def close(self) -> None:
        """Write what waits, and stop folding. The ledger stays open."""
        for opened in self._open.values():
            await opened.gatherer.close()
        for opened in self._open.values():
            await asyncio.to_thread(opened.desk.close)
        self._open.clear()
