"""What a reviewer was asked in an interview before, read from the ledger: so that undo works after a restart too."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from evenhand.interview.question import Answer, Question, Said
from evenhand.ledger.ledger import Ledger, Row
from evenhand.review.interview_people import KnownPeople

KINDS = ("answer", "withdrawal")
CHUNK = 1000
SAID: dict[bool | None, Said] = {True: "unfair", False: "acceptable", None: "unsure"}


class Given(NamedTuple):
    """An answer: the id of its line, and what was asked."""

    line: str
    question: Question


@dataclass
class Past:
    """A conversation so far, as it would stand had the process that led it never ended."""

    given: list[Given] = field(default_factory=list)
    """Answers that stand."""
    again: list[Given] = field(default_factory=list)
    """Answers that were taken back; the last one's question is asked next."""
    _unfair: dict[str, bool | None] = field(default_factory=dict)
    _withdrawn: set[str] = field(default_factory=set)

    def add(self, line: str, question: Question, unfair: bool | None) -> None:
        """A question was answered; by another one than was to be asked again, its reviewer has gone on."""
        if self.again and replace(self.again[-1].question, why="") == replace(question, why=""):
            self.again.pop()
        else:
            self.again.clear()
        self.given.append(Given(line, question))
        self._unfair[line] = unfair

    def take_back(self, line: str) -> None:
        """An answer was withdrawn: the latest are asked again."""
        self._withdrawn.add(line)
        while self.given and self.given[-1].line in self._withdrawn:
            self.again.append(self.given.pop())

    @property
    def answers(self) -> list[Answer]:
        """What was said, numbered in its order: pairs that somebody was unsure of rest for a while."""
        return [
            Answer(replace(question, number=number), SAID[self._unfair[line]])
            for number, (line, question) in enumerate(self.given, start=1)
        ]


def past_of(ledger: Ledger, desk: str, reviewer: str, people: KnownPeople) -> Past:
    """The reviewer's questions and answers about people who are still asked about; any others cannot come again."""
    places = {tuple(context): place for place, context in enumerate(people.contexts.tolist())}
    past = Past()
    for row in _lines(ledger, desk):
        body = row.event.body
        if row.kind == "withdrawal":
            past.take_back(body["review"])
        elif body["reviewer"] == reviewer:
            question = _question(body, places)
            if question is not None:
                past.add(row.id, question, body["unfair"])
    return past


def _lines(ledger: Ledger, desk: str) -> Iterator[Row]:
    after = 0
    while True:
        with ledger.reading(desk) as view:
            rows = view.after(after, CHUNK, KINDS)
        yield from rows
        if len(rows) < CHUNK:
            return
        after = rows[-1].seq


def _question(body: Mapping[str, Any], places: Mapping[tuple[float, ...], int]) -> Question | None:
    """The question of a line, about the same two wherever they stand in the list now; None if it has none."""
    both = [places.get(tuple(body[name])) for name in ("x", "y")]
    told = (body["circumstances"] or {}).get("question")
    if both[0] is None or both[1] is None or not isinstance(told, dict):
        return None
    try:
        return Question.from_dict({**told, "pair": both})
    except (KeyError, TypeError, ValueError):  # whatever somebody has sent for one
        return None
