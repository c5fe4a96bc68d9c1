"""People that an interview asks about: uploaded ones, or else the candidates of the desk's decisions."""

from __future__ import annotations

import io
import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray
from sqlalchemy import delete, insert, select

from evenhand.desk.candidates import encode
from evenhand.desk.settings import DeskSettings, coordinates
from evenhand.errors import EvenhandError, InvalidInput
from evenhand.interview import ReviewPlan
from evenhand.interview.people import read_people, read_table
from evenhand.ledger.event import is_name, now
from evenhand.ledger.ledger import Ledger
from evenhand.ledger.tables import interview_people
from evenhand.records.contexts import NORM_TOLERANCE, as_contexts
from evenhand.review.display import by_coordinate, features_of

MOST_PEOPLE = 5_000
LARGEST_SQUARE = (1.0 + NORM_TOLERANCE) ** 2
"""Maximum sum of squares of one person's numbers, without a schema to scale them."""
NEWEST_DECISIONS = 100
"""How many of the newest decisions people are taken from."""


@dataclass(frozen=True, eq=False)
class KnownPeople:
    """People as features by name, and as contexts (n, d)."""

    rows: list[dict[str, Any]]
    contexts: NDArray[np.float64]
    uploaded: bool
    together: int = 0
    """The largest number of candidates in one decision; 0 for uploaded people."""
    ids: list[str] | None = None
    """The ids of candidates, or of uploaded people whose table has them."""

    @property
    def always_alone(self) -> bool:
        """Whether every decision had one candidate only, so that there are no pairs."""
        return self.together == 1


def profile_labels(people: KnownPeople, settings: DeskSettings, hidden: Sequence[str]) -> tuple[str | None, ...]:
    """The feature of each column that partial profiles may replace; None for the intercept and what is not shown.

    Reviewers could not see that two people differ in a hidden feature. Where people cannot be shown by the schema's
    features, nothing may be replaced.
    """
    schema = settings.schema
    labels = (settings.features or coordinates(settings.n_features)) if schema is None else schema.block_labels
    shown = set() if not people.rows else set(people.rows[0]) - set(hidden)
    shown &= set(labels if schema is None else schema.names)
    last = len(labels) - 1 if schema is not None and schema.intercept else len(labels)
    return tuple(name if name in shown and place < last else None for place, name in enumerate(labels))


def people_in_csv(text: str, settings: DeskSettings) -> list[dict[str, Any]]:
    """People from comma-separated values, by feature; InvalidInput says what is wrong in which line."""
    source = io.StringIO(text.removeprefix("\ufeff"), newline="")
    if settings.schema is not None:
        rows = [dict(row) for row in read_people(source, settings.schema, "the file").rows]
    elif settings.features is not None:
        rows = _numbers(source, settings.features)
    else:
        raise InvalidInput("this desk has no named features; its interviews use the candidates of its decisions")
    if not 2 <= len(rows) <= MOST_PEOPLE:
        raise InvalidInput(f"the file must have 2 to {MOST_PEOPLE:,} people, got {len(rows)}")
    return rows


def _numbers(source: io.StringIO, names: tuple[str, ...]) -> list[dict[str, Any]]:
    """People of a desk without a schema: scaled numbers."""
    table = read_table(source, names, "the file")
    texts = table.values(names)
    wrong = [(i, name, text) for i, row in enumerate(texts) for name, text in row.items() if not _is_number(text)]
    if wrong:
        got = ((i, name, repr(text) if text else "nothing") for i, name, text in wrong)
        raise table.misfit([(i, name, f"must be a number such as 0.25, got {what}") for i, name, what in got])
    rows = [{name: float(text) for name, text in row.items()} for row in texts]
    squares = [math.fsum(value**2 for value in row.values()) for row in rows]
    long = [(i, square) for i, square in enumerate(squares) if square > LARGEST_SQUARE]
    if long:
        limit = "must have a sum of squares <= 1, as this desk has no schema to scale its numbers"
        raise table.misfit([(i, None, f"{limit}, got {square:,.4g}") for i, square in long])
    return rows


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def known_people(ledger: Ledger, desk: str, settings: DeskSettings) -> KnownPeople:
    """The people that an interview can ask about now, perhaps none."""
    uploaded = select(interview_people.c.rows).where(interview_people.c.desk == desk)
    with ledger.transaction() as connection:
        text = connection.execute(uploaded).scalar_one_or_none()
    if text is not None:
        with suppress(EvenhandError):  # stored under another schema
            ids, rows = _stored(text)
            return KnownPeople(rows, encode(rows, settings), True, ids=ids)
    return _people_of_decisions(ledger, desk, settings)


def _people_of_decisions(ledger: Ledger, desk: str, settings: DeskSettings) -> KnownPeople:
    with ledger.reading(desk) as view:
        made = view.head.decisions
        decisions = view.by_number(range(max(0, made - NEWEST_DECISIONS), made))
    rows: dict[tuple[float, ...], dict[str, Any]] = {}
    ids: dict[tuple[float, ...], str] = {}
    together = max((len(row.event.body["candidates"]) for row in decisions.values()), default=0)
    for _, row in sorted(decisions.items()):
        body = row.event.body
        shown = features_of(body, body["candidates"], settings)
        known = [(i, tuple(context)) for i, context in enumerate(body["contexts"]) if context is not None]
        rows |= {context: shown[i] for i, context in known}
        ids |= {context: body["candidates"][i] for i, context in known}
    contexts = list(rows)[-MOST_PEOPLE:]
    if not contexts:
        return KnownPeople([], np.empty((0, settings.n_features)), False)
    shown = [rows[context] for context in contexts]
    if len({frozenset(row) for row in shown}) > 1:
        shown = by_coordinate(contexts, settings)  # some cannot be decoded: display all by the same rows
    names = [ids[context] for context in contexts]
    return KnownPeople(shown, as_contexts(contexts, settings.n_features), False, together, names)


def plan_in_force(ledger: Ledger, desk: str, settings: DeskSettings) -> ReviewPlan:
    """As many candidates as the newest decisions have, in the median, and the pairs of each that reviewers are shown.

    Before there are decisions with pairs, the usual number of candidates.
    """
    with ledger.reading(desk) as view:
        made = view.head.decisions
        decisions = view.by_number(range(max(0, made - NEWEST_DECISIONS), made))
    sizes = [len(row.event.body["candidates"]) for row in decisions.values()]
    plan, usual = ReviewPlan(pairs=settings.pairs_per_decision), round(float(np.median(sizes))) if sizes else 0
    return plan if usual < 2 else replace(plan, candidates=usual)


def ids_in_csv(text: str, rows: Sequence[dict[str, Any]]) -> list[str] | None:
    """The column "id" of people from comma-separated values, unless it is a feature; None if there is none."""
    table = read_table(io.StringIO(text.removeprefix("\ufeff"), newline=""), (), "the file")
    if table.header.count("id") != 1 or "id" in rows[0]:
        return None
    ids = [row["id"] for row in table.values(["id"])]
    return ids if len(set(ids)) == len(ids) and all(map(is_name, ids)) else None


def _stored(text: str) -> tuple[list[str] | None, list[dict[str, Any]]]:
    """Ids and rows of uploaded people; earlier versions stored rows alone."""
    found = orjson.loads(text)
    return (None, list(found)) if isinstance(found, list) else (found["ids"], list(found["rows"]))


def keep_people(ledger: Ledger, desk: str, rows: list[dict[str, Any]], ids: list[str] | None = None) -> None:
    """Store people for this desk's interview, replacing earlier ones; with ids they can be erased one by one."""
    text = orjson.dumps(rows if ids is None else {"ids": ids, "rows": rows}).decode()
    with ledger.transaction(writes=True) as connection:
        connection.execute(delete(interview_people).where(interview_people.c.desk == desk))
        connection.execute(insert(interview_people).values(desk=desk, kept=now(), rows=text))
