"""WaitingPairs: the review queue of all desks, leased in transactions so that no two reviewers get the same place."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any, Literal, NamedTuple, get_args

from sqlalchemy import Connection, Engine

from evenhand.ledger.transaction import transaction

Subject = Literal["desk", "system"]
"""Whose treatment of a pair is in question: the desk's own, or that of the system in force beside a shadow decision."""
SUBJECTS: tuple[Subject, ...] = get_args(Subject)

FIRST_PLACE: dict[Subject, int] = {"desk": 0, "system": 2}
"""The first place of a pair; the one after it is for a second reviewer."""

PLACE = "desk, decision, first_id, second_id, place"
ESTIMATES = "reason, gap, distance, doubt, chance_unfair, priority"
COLUMNS = f"decision, first_id, second_id, {ESTIMATES}, place, leased_to, leased_until, not_for"
SELECT = f"SELECT {COLUMNS} FROM waiting_pairs"
COUNT = "SELECT count(*) FROM waiting_pairs WHERE desk = ?"
AT_PLACE = "desk = ? AND decision = ? AND first_id = ? AND second_id = ? AND place = ?"


class QueuePosition(NamedTuple):
    """Where a pair is in the order of the queue."""

    priority: float
    decision: str
    first: str
    second: str


@dataclass(frozen=True)
class WaitingPair:
    """A pair of a decision that a reviewer should look at, and why."""

    decision: str
    """The id of the decision's event."""
    first: str
    second: str
    """The candidates' ids."""
    reason: str
    gap: float
    distance: float
    """The estimated distance when the pair was queued."""
    uncertainty: float
    chance_unfair: float
    priority: float
    """Pairs with the highest priority come first."""
    copy: int = 0
    """Its place: 0, or 1 where a second reviewer is asked about the same pair; 2 and 3 likewise for the pair as the
    system in force treated it."""

    @property
    def subject(self) -> Subject:
        """Whose treatment of the two is in question."""
        return subject_at(self.copy)

    @property
    def position(self) -> QueuePosition:
        """Where it is in the order of the queue."""
        return QueuePosition(self.priority, self.decision, self.first, self.second)

    def to_dict(self) -> dict[str, Any]:
        """Plain strings and numbers."""
        fields = {**asdict(self), "copy": self.copy - FIRST_PLACE[self.subject], "subject": self.subject}
        return {("doubt" if name == "uncertainty" else name): value for name, value in fields.items()}


@dataclass(frozen=True)
class Answered:
    """The pairs of a decision that a reviewer has answered; None for all."""

    decision: str
    pairs: frozenset[frozenset[str]] | None
    reviewer: str | None
    subject: Subject = "desk"


def subject_at(place: int) -> Subject:
    """Whose treatment of a pair is in question at a place.

    >>> subject_at(1), subject_at(2)
    ('desk', 'system')
    """
    return "system" if place >= FIRST_PLACE["system"] else "desk"


class _Place(NamedTuple):
    """A row of the queue: a pair that is to be answered once."""

    pair: WaitingPair
    leased_to: str | None
    leased_until: float
    not_for: tuple[str | None, ...]
    """Reviewers who have answered or declined the pair."""

    @classmethod
    def of(cls, row: Any) -> _Place:
        *pair, leased_to, leased_until, not_for = row
        return cls(WaitingPair(*pair), leased_to, leased_until, tuple(json.loads(not_for)) if not_for else ())

    @property
    def names(self) -> tuple[str, str, str]:
        return (self.pair.decision, self.pair.first, self.pair.second)

    @property
    def question(self) -> tuple[str, ...]:
        """What one reviewer is asked once: the pair, and whose treatment of it is in question."""
        return (*self.names, self.pair.subject)

    @property
    def order(self) -> tuple[Any, ...]:
        return (*self.pair.position, self.pair.copy)

    def at(self, desk: str) -> tuple[Any, ...]:
        return (desk, *self.names, self.pair.copy)


class WaitingPairs:
    """The review queue of all desks."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    @contextmanager
    def _exclusively(self, desk: str) -> Iterator[Connection]:
        """A transaction in which nobody else changes this desk's queue."""
        with transaction(self._engine, writes=True) as connection:
            if connection.dialect.name == "postgresql":
                digest = hashlib.blake2b(f"evenhand queue {desk}".encode(), digest_size=8).digest()
                connection.exec_driver_sql("SELECT pg_advisory_xact_lock(?)", (int.from_bytes(digest, signed=True),))
            yield connection

    def put(self, desk: str, pairs: Sequence[WaitingPair], most: int, *, replace: bool = False) -> None:
        """Add pairs; those there already stay as they are, or with `replace` get this reason and this priority.

        Beyond `most` those with the lowest priority are dropped.
        """
        if not pairs:
            return
        update = f"({PLACE}) DO UPDATE SET reason = excluded.reason, priority = excluded.priority"
        rows = [
            (desk, p.decision, p.first, p.second, p.copy)  # noqa: RUF005 - two groups of columns
            + (p.reason, p.gap, p.distance, p.uncertainty, p.chance_unfair, p.priority, 0.0)
            for p in pairs
        ]
        with self._exclusively(desk) as connection:
            connection.exec_driver_sql(
                f"INSERT INTO waiting_pairs ({PLACE}, {ESTIMATES}, leased_until) VALUES (?{', ?' * 11}) "
                f"ON CONFLICT {update if replace else 'DO NOTHING'}",
                rows,
            )
            count = connection.exec_driver_sql(COUNT, (desk,)).scalar_one()
            if count > most:
                connection.exec_driver_sql(
                    f"DELETE FROM waiting_pairs WHERE ({PLACE}) IN (SELECT {PLACE} FROM waiting_pairs "
                    "WHERE desk = ? ORDER BY priority, decision, first_id, second_id, place LIMIT ?)",
                    (desk, count - most),
                )

    def page(self, desk: str, n: int, now: float, after: QueuePosition | None = None) -> list[WaitingPair]:
        """The first n pairs that are not leased, each once; or the first n after a position.

        The pair at `after` need not wait any more. A pair with two places of different priority may be on two pages.
        """
        with transaction(self._engine, writes=False) as connection:
            return [place.pair for place in self._free(connection, desk, n, None, now, [], after)]

    def lease(self, desk: str, n: int, reviewer: str, now: float, until: float) -> list[WaitingPair]:
        """The first n pairs that nobody else has leased, leased to this reviewer.

        What the reviewer has leased already comes again, before anything else. Nobody gets both places of a pair.
        """
        with self._exclusively(desk) as connection:
            rows = connection.exec_driver_sql(
                f"{SELECT} INDEXED BY waiting_pairs_leases WHERE desk = ? AND leased_to = ? AND leased_until > ?",
                (desk, reviewer, now),
            ).fetchall()
            mine = sorted(map(_Place.of, rows), key=lambda place: place.order, reverse=True)
            found = [*mine[:n], *self._free(connection, desk, n - len(mine), reviewer, now, mine)]
            if found:
                connection.exec_driver_sql(
                    f"UPDATE waiting_pairs SET leased_to = ?, leased_until = ? WHERE {AT_PLACE}",
                    [(reviewer, until, *place.at(desk)) for place in found],
                )
        return [place.pair for place in sorted(found, key=lambda place: place.order, reverse=True)]

    @staticmethod
    def _free(
        connection: Connection,
        desk: str,
        n: int,
        reviewer: str | None,
        now: float,
        mine: Sequence[_Place],
        after: QueuePosition | None = None,
    ) -> list[_Place]:
        """Up to n places that are not leased, one for each pair, in order."""
        beyond = "" if after is None else " AND (priority, decision, first_id, second_id) < (?, ?, ?, ?)"
        statement = (
            f"{SELECT} INDEXED BY waiting_pairs_order WHERE desk = ? AND leased_until <= ?{beyond} "
            "ORDER BY priority DESC, decision DESC, first_id DESC, second_id DESC, place DESC LIMIT ? OFFSET ?"
        )
        seen, found, offset, limit = {place.question for place in mine}, list[_Place](), 0, 2 * max(n, 0) + 20
        while len(found) < n:
            rows = connection.exec_driver_sql(statement, (desk, now, *(after or ()), limit, offset)).fetchall()
            for place in map(_Place.of, rows):
                if (
                    len(found) < n
                    and place.question not in seen
                    and (reviewer is None or reviewer not in place.not_for)
                ):
                    found.append(place)
                    seen.add(place.question)
            offset += limit
            if len(rows) < limit:
                break
        return found

    def settle(self, desk: str, answers: Sequence[Answered]) -> None:
        """Remove one place of each answered pair: the reviewer's own, or else one that is not leased. Idempotent."""
        if answers:
            with self._exclusively(desk) as connection:
                for answer in answers:
                    self._settle_one(connection, desk, answer)

    @staticmethod
    def _of_decision(connection: Connection, desk: str, decision: str) -> list[_Place]:
        rows = connection.exec_driver_sql(f"{SELECT} WHERE desk = ? AND decision = ? ORDER BY place", (desk, decision))
        return [_Place.of(row) for row in rows.fetchall()]

    def _settle_one(self, connection: Connection, desk: str, answer: Answered) -> None:
        by_pair: dict[tuple[str, str, str], list[_Place]] = {}
        for place in self._of_decision(connection, desk, answer.decision):
            answered_before = answer.reviewer is not None and answer.reviewer in place.not_for
            if place.pair.subject != answer.subject:
                continue
            if not answered_before and (answer.pairs is None or frozenset(place.names[1:]) in answer.pairs):
                by_pair.setdefault(place.names, []).append(place)
        for places in by_pair.values():
            own = [place for place in places if place.leased_to == answer.reviewer]
            free = [place for place in places if place.leased_to is None]
            settled = [*own, *free, *places][0]
            connection.exec_driver_sql(f"DELETE FROM waiting_pairs WHERE {AT_PLACE}", settled.at(desk))
            for place in places:
                if place is not settled:
                    lease = (place.leased_to, place.leased_until)
                    _change(connection, desk, place, (*place.not_for, answer.reviewer), lease)

    def decline(self, desk: str, decision: str, pair: frozenset[str], reviewer: str, subject: Subject = "desk") -> None:
        """A reviewer will not answer on a pair: it goes on waiting, for others."""
        with self._exclusively(desk) as connection:
            for place in self._of_decision(connection, desk, decision):
                is_meant = frozenset(place.names[1:]) == pair and place.pair.subject == subject
                if is_meant and reviewer not in place.not_for:
                    is_own = place.leased_to == reviewer
                    lease = (None, 0.0) if is_own else (place.leased_to, place.leased_until)
                    _change(connection, desk, place, (*place.not_for, reviewer), lease)

    def claim(
        self, desk: str, decision: str, pair: frozenset[str], place: int, reviewer: str, now: float, until: float
    ) -> bool:
        """Lease a place to a reviewer who wants the pair after all, even if they declined it before.

        False if somebody else has leased it; True also if it does not wait: then nobody else gets it.
        """
        with self._exclusively(desk) as connection:
            places = self._of_decision(connection, desk, decision)
            subject = subject_at(place)
            places = [one for one in places if frozenset(one.names[1:]) == pair and one.pair.subject == subject]
            wanted = next((one for one in places if one.pair.copy == place), None)
            if wanted is None or (wanted.leased_to != reviewer and wanted.leased_until > now):
                return wanted is None
            for one in places:
                not_for = [name for name in one.not_for if name != reviewer]
                lease = (reviewer, until) if one.pair.copy == place else (one.leased_to, one.leased_until)
                _change(connection, desk, one, not_for, lease)
            return True

    def remove(self, desk: str, pair: WaitingPair) -> None:
        """Remove one place of a pair."""
        with self._exclusively(desk) as connection:
            place = (desk, pair.decision, pair.first, pair.second, pair.copy)
            connection.exec_driver_sql(f"DELETE FROM waiting_pairs WHERE {AT_PLACE}", place)

    def count(self, desk: str) -> int:
        """How many places wait."""
        with transaction(self._engine, writes=False) as connection:
            return int(connection.exec_driver_sql(COUNT, (desk,)).scalar_one())


def _change(
    connection: Connection,
    desk: str,
    place: _Place,
    not_for: Sequence[str | None],
    lease: tuple[str | None, float],
) -> None:
    connection.exec_driver_sql(
        f"UPDATE waiting_pairs SET not_for = ?, leased_to = ?, leased_until = ? WHERE {AT_PLACE}",
        (json.dumps(list(not_for)), *lease, *place.at(desk)),
    )
