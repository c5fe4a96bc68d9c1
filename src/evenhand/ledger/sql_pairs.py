"""SqlPairs: waiting pairs in an SQL database, leased in its transactions so that no two processes hand out the same."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from sqlalchemy import Engine

from evenhand.ledger.engine import transaction
from evenhand.ledger.sql_view import Statements
from evenhand.ledger.waiting_pairs import Answered, Listed, WaitingPair

PLACE = "desk, decision, first_id, second_id, place"
KNOWN = "reason, gap, distance, doubt, chance_unfair, priority"
SELECT = f"SELECT decision, first_id, second_id, {KNOWN}, place, leased_to, leased_until, not_for FROM waiting_pairs"
ANEW = "reason = excluded.reason, priority = excluded.priority"
AT_THIS_PLACE = "desk = ? AND decision = ? AND first_id = ? AND second_id = ? AND place = ?"


class _Place(NamedTuple):
    pair: WaitingPair
    leased_to: str | None
    leased_until: float
    not_for: tuple[str | None, ...]

    @classmethod
    def of(cls, row: Any) -> _Place:
        *told, leased_to, leased_until, not_for = row
        return cls(WaitingPair(*told), leased_to, leased_until, tuple(json.loads(not_for)) if not_for else ())

    @property
    def names(self) -> tuple[str, str, str]:
        return (self.pair.decision, self.pair.first, self.pair.second)

    def at(self, desk: str) -> tuple[Any, ...]:
        return (desk, *self.names, self.pair.copy)


class SqlPairs:
    """Waiting pairs of all desks."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    @contextmanager
    def _alone(self, desk: str) -> Iterator[Statements]:
        """A transaction in which nobody else changes this desk's queue."""
        with transaction(self._engine, writes=True) as connection:
            statements = Statements(connection)
            if statements.is_postgresql:
                digest = hashlib.blake2b(f"evenhand queue {desk}".encode(), digest_size=8).digest()
                statements.run("SELECT pg_advisory_xact_lock(?)", (int.from_bytes(digest, signed=True),))
            yield statements

    def put(self, desk: str, pairs: Sequence[WaitingPair], most: int, *, anew: bool = False) -> None:
        """Add pairs that are not there; beyond `most` the least telling go."""
        if not pairs:
            return
        with self._alone(desk) as statements:
            statements.run(
                f"INSERT INTO waiting_pairs ({PLACE}, {KNOWN}, leased_until) VALUES (?{', ?' * 11}) "
                + (f"ON CONFLICT ({PLACE}) DO UPDATE SET {ANEW}" if anew else "ON CONFLICT DO NOTHING"),
                [(desk, p.decision, p.first, p.second, p.copy, *_known(p), p.priority, 0.0) for p in pairs],
            )
            there = statements.run("SELECT count(*) FROM waiting_pairs WHERE desk = ?", (desk,)).scalar()
            if there > most:
                statements.run(
                    f"DELETE FROM waiting_pairs WHERE ({PLACE}) IN (SELECT {PLACE} FROM waiting_pairs "
                    "WHERE desk = ? ORDER BY priority, decision, first_id, second_id, place LIMIT ?)",
                    (desk, there - most),
                )

    def listed(self, desk: str, n: int, now: float, after: Listed | None = None) -> list[WaitingPair]:
        """The n most telling pairs that nobody looks at, from one on."""
        with transaction(self._engine, writes=False) as connection:
            return [place.pair for place in self._free(Statements(connection), desk, n, None, now, [], after)]

    def lease(self, desk: str, n: int, reviewer: str, now: float, until: float) -> list[WaitingPair]:
        """The n most telling pairs that nobody else looks at."""
        with self._alone(desk) as statements:
            mine = [
                _Place.of(row)
                for row in statements.run(
                    f"{SELECT}{statements.using('waiting_pairs_leases')} "
                    "WHERE desk = ? AND leased_to = ? AND leased_until > ?",
                    (desk, reviewer, now),
                ).fetchall()
            ]
            mine.sort(key=lambda place: place.pair.order, reverse=True)
            found = [*mine[:n], *self._free(statements, desk, n - len(mine), reviewer, now, mine)]
            if found:
                statements.run(
                    f"UPDATE waiting_pairs SET leased_to = ?, leased_until = ? WHERE {AT_THIS_PLACE}",
                    [(reviewer, until, *place.at(desk)) for place in found],
                )
        return sorted((place.pair for place in found), key=lambda pair: pair.order, reverse=True)

    @staticmethod
    def _free(
        statements: Statements,
        desk: str,
        n: int,
        reviewer: str | None,
        now: float,
        mine: Sequence[_Place],
        after: Listed | None = None,
    ) -> list[_Place]:
        """Up to n places that are on nobody's lease, one for each pair, in order."""
        beyond = "" if after is None else " AND (priority, decision, first_id, second_id) < (?, ?, ?, ?)"
        taken, found, offset, page = {place.names for place in mine}, list[_Place](), 0, 2 * max(n, 0) + 20
        while len(found) < n:
            rows = statements.run(
                f"{SELECT}{statements.using('waiting_pairs_order')} "
                f"WHERE desk = ? AND leased_until <= ?{beyond} "
                "ORDER BY priority DESC, decision DESC, first_id DESC, second_id DESC, place DESC LIMIT ? OFFSET ?",
                (desk, now, *(after or ()), page, offset),
            ).fetchall()
            for place in map(_Place.of, rows):
                if len(found) < n and place.names not in taken and (reviewer is None or reviewer not in place.not_for):
                    found.append(place)
                    taken.add(place.names)
            offset += page
            if len(rows) < page:
                break
        return found

    def settle(self, desk: str, answers: Sequence[Answered]) -> None:
        """One place of each answered pair waits no more: the reviewer's own, or else one on nobody's lease."""
        decisions = sorted({answer.decision for answer in answers})
        if not any(self._waiting(desk, decisions[at : at + 500]) for at in range(0, len(decisions), 500)):
            return
        with self._alone(desk) as statements:
            for answer in answers:
                self._settle_one(statements, desk, answer)

    def _waiting(self, desk: str, decisions: Sequence[str]) -> bool:
        """Whether any pair of these decisions waits: looking is cheaper than writing."""
        marks = ", ".join("?" * len(decisions))
        with transaction(self._engine, writes=False) as connection:
            statements = Statements(connection)
            table = f"waiting_pairs{statements.using('sqlite_autoindex_waiting_pairs_1')}"
            found = statements.run(
                f"SELECT 1 FROM {table} WHERE desk = ? AND decision IN ({marks}) LIMIT 1", (desk, *decisions)
            )
            return found.fetchone() is not None

    @staticmethod
    def _settle_one(statements: Statements, desk: str, answer: Answered) -> None:
        rows = statements.run(f"{SELECT} WHERE desk = ? AND decision = ? ORDER BY place", (desk, answer.decision))
        by_pair: dict[tuple[str, str, str], list[_Place]] = {}
        for place in map(_Place.of, rows.fetchall()):
            answered_before = answer.reviewer is not None and answer.reviewer in place.not_for
            if not answered_before and (answer.pairs is None or frozenset(place.names[1:]) in answer.pairs):
                by_pair.setdefault(place.names, []).append(place)
        for places in by_pair.values():
            order = [
                *(p for p in places if p.leased_to == answer.reviewer),
                *(p for p in places if p.leased_to is None),
            ]
            gone = (order or places)[0]
            statements.run(f"DELETE FROM waiting_pairs WHERE {AT_THIS_PLACE}", gone.at(desk))
            for rest in places:
                if rest is not gone:
                    not_for = json.dumps([*rest.not_for, answer.reviewer])
                    statements.run(
                        f"UPDATE waiting_pairs SET not_for = ? WHERE {AT_THIS_PLACE}", (not_for, *rest.at(desk))
                    )

    def decline(self, desk: str, decision: str, pair: frozenset[str], reviewer: str) -> None:
        """The pair waits on, for others."""
        with self._alone(desk) as statements:
            rows = statements.run(f"{SELECT} WHERE desk = ? AND decision = ?", (desk, decision)).fetchall()
            for place in map(_Place.of, rows):
                if frozenset(place.names[1:]) == pair and reviewer not in place.not_for:
                    own = place.leased_to == reviewer
                    lease = (None, 0.0) if own else (place.leased_to, place.leased_until)
                    statements.run(
                        f"UPDATE waiting_pairs SET not_for = ?, leased_to = ?, leased_until = ? WHERE {AT_THIS_PLACE}",
                        (json.dumps([*place.not_for, reviewer]), *lease, *place.at(desk)),
                    )

    def claim(
        self, desk: str, decision: str, pair: frozenset[str], place: int, reviewer: str, now: float, until: float
    ) -> bool:
        """Keep a place for a reviewer, unless it is somebody else's."""
        with self._alone(desk) as statements:
            rows = statements.run(f"{SELECT} WHERE desk = ? AND decision = ?", (desk, decision)).fetchall()
            places = [found for found in map(_Place.of, rows) if frozenset(found.names[1:]) == pair]
            wanted = next((one for one in places if one.pair.copy == place), None)
            if wanted is None or (wanted.leased_to != reviewer and wanted.leased_until > now):
                return wanted is None
            for one in places:
                not_for = json.dumps([name for name in one.not_for if name != reviewer])
                lease = (reviewer, until) if one.pair.copy == place else (one.leased_to, one.leased_until)
                statements.run(
                    f"UPDATE waiting_pairs SET not_for = ?, leased_to = ?, leased_until = ? WHERE {AT_THIS_PLACE}",
                    (not_for, *lease, *one.at(desk)),
                )
            return True

    def count(self, desk: str) -> int:
        """How many places wait."""
        with transaction(self._engine, writes=False) as connection:
            found = Statements(connection).run("SELECT count(*) FROM waiting_pairs WHERE desk = ?", (desk,)).scalar()
            return int(found)


def _known(pair: WaitingPair) -> tuple[str, float, float, float, float]:
    return (pair.reason, pair.gap, pair.distance, pair.doubt, pair.chance_unfair)
