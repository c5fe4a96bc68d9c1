"""People that an interview asks about: uploaded and kept beside the ledger, or else from a desk's own decisions."""

from __future__ import annotations

import io
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray
from sqlalchemy import delete, insert, select

from evenhand.desk.candidates import encode
from evenhand.desk.settings import DeskSettings
from evenhand.errors import EvenhandError, InvalidInput
from evenhand.interview.people import read_people
from evenhand.interview.table import read_table
from evenhand.ledger.event import now
from evenhand.ledger.ledger import Ledger
from evenhand.ledger.tables import interview_people
from evenhand.records.contexts import NORM_TOLERANCE, as_contexts
from evenhand.review.display import by_coordinate, features_of

MOST_PEOPLE = 5_000
LARGEST_SQUARE = (1.0 + NORM_TOLERANCE) ** 2
"""Up to this the squares of somebody's numbers may add up, where no schema scales them."""
NEWEST_DECISIONS = 100
"""From so many decisions, the newest, people are taken where none were uploaded."""


@dataclass(frozen=True, eq=False)
class KnownPeople:
    """People by their features, and as contexts (n, d)."""

    rows: list[dict[str, Any]]
    contexts: NDArray[np.float64]
    uploaded: bool
    together: int = 0
    """The most of them that one decision was about; 0 of people who come from no decision."""

    @property
    def always_alone(self) -> bool:
        """Whether every decision they come from was about one of them: then there was no pair to be unfair."""
        return self.together == 1


def people_in_csv(text: str, settings: DeskSettings) -> list[dict[str, Any]]:
    """Features by name of the people in comma-separated values; InvalidInput says what is wrong with which line."""
    source = io.StringIO(text.removeprefix("\ufeff"), newline="")
    if settings.schema is not None:
        rows = [dict(row) for row in read_people(source, settings.schema, "the file").rows]
    elif settings.features is not None:
        rows = _numbers(source, settings.features)
    else:
        raise InvalidInput(
            "this desk knows no feature by name; people for an interview can come from its decisions only"
        )
    if not 2 <= len(rows) <= MOST_PEOPLE:
        raise InvalidInput(f"the file has {len(rows)} people; allowed are 2 to {MOST_PEOPLE:,}")
    return rows


def _numbers(source: io.StringIO, names: tuple[str, ...]) -> list[dict[str, Any]]:
    """People of a desk without a schema: numbers, scaled already."""
    table = read_table(source, names, "the file")
    given = table.values(names)
    wrong = [(i, name, text) for i, row in enumerate(given) for name, text in row.items() if not _is_number(text)]
    if wrong:
        found = ((i, name, f"is {text!r}" if text else "is missing") for i, name, text in wrong)
        raise table.misfit([(i, name, f"{what}; allowed is a number such as 0.25") for i, name, what in found])
    rows = [{name: float(text) for name, text in row.items()} for row in given]
    squares = [math.fsum(value**2 for value in row.values()) for row in rows]
    long = [(i, square) for i, square in enumerate(squares) if square > LARGEST_SQUARE]
    if long:
        allowed = "this desk has no schema to scale them by, so the squares of a line's numbers may make up 1 at most"
        told = ((i, f"{square:,.3f}".rstrip("0").rstrip(".")) for i, square in long)
        raise table.misfit([(i, None, f"has numbers whose squares make up {sum_}; {allowed}") for i, sum_ in told])
    return rows


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def known_people(ledger: Ledger, desk: str, settings: DeskSettings) -> KnownPeople:
    """Whoever an interview can ask about now; perhaps nobody."""
    rows = kept_people(ledger, desk)
    if rows is not None:
        try:
            return KnownPeople(rows, encode(rows, settings), True)
        except EvenhandError:  # kept under another schema
            pass
    return _people_of_decisions(ledger, desk, settings)


def _people_of_decisions(ledger: Ledger, desk: str, settings: DeskSettings) -> KnownPeople:
    with ledger.reading(desk) as view:
        made = view.head.decisions
        decisions = view.by_number(range(max(0, made - NEWEST_DECISIONS), made))
    rows: dict[tuple[float, ...], dict[str, Any]] = {}
    together = max((len(row.event.body["candidates"]) for row in decisions.values()), default=0)
    for _, row in sorted(decisions.items()):
        body = row.event.body
        shown = features_of(body, body["candidates"], settings)
        rows |= {tuple(context): shown[i] for i, context in enumerate(body["contexts"])}
    contexts = list(rows)[-MOST_PEOPLE:]
    if not contexts:
        return KnownPeople([], np.empty((0, settings.n_features)), False)
    shown = [rows[context] for context in contexts]
    if len({frozenset(row) for row in shown}) > 1:
        shown = by_coordinate(contexts, settings)  # some are nobody's features: two people are shown by the same rows
    return KnownPeople(shown, as_contexts(contexts, settings.n_features), False, together)


def keep_people(ledger: Ledger, desk: str, rows: list[dict[str, Any]]) -> None:
    """Keep people for this desk's interview, in place of any kept before."""
    text = orjson.dumps(rows).decode()
    with ledger.transaction(writes=True) as connection:
        connection.execute(delete(interview_people).where(interview_people.c.desk == desk))
        connection.execute(insert(interview_people).values(desk=desk, kept=now(), rows=text))


def kept_people(ledger: Ledger, desk: str) -> list[dict[str, Any]] | None:
    """The people that were kept for this desk's interview; None if none were."""
    with ledger.transaction() as connection:
        text = connection.execute(
            select(interview_people.c.rows).where(interview_people.c.desk == desk)
        ).scalar_one_or_none()
    return None if text is None else list(orjson.loads(text))
