"""History: every answer a bandit was given, in the order it came, so that one can be taken back without a trace."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

from evenhand.records.decision import Decision, Review


@dataclass(frozen=True, eq=False)
class Given:
    """One answer: a review of a decision, or a verdict on two contexts that were shown without one."""

    at: int
    """How many decisions had been made when it came."""
    decision: Decision | None
    review: Review | None
    pair: dict[str, Any] | None = None
    """The arguments of learn_pair."""

    def to_dict(self) -> dict[str, Any]:
        """Plain lists, numbers and strings."""
        return {
            "at": self.at,
            "decision": None if self.decision is None else self.decision.to_dict(),
            "review": None if self.review is None else self.review.to_dict(),
            "pair": self.pair,
        }

    @classmethod
    def from_dict(cls, record: dict[str, Any]) -> Given:
        """The answer that `to_dict` wrote down."""
        decision, review = record["decision"], record["review"]
        return cls(
            int(record["at"]),
            None if decision is None else Decision.from_dict(decision),
            None if review is None else Review.from_dict(review),
            record["pair"],
        )


class History:
    """Answers in the order they came; it grows with every one, so a bandit keeps it only if asked to."""

    def __init__(self, answers: tuple[Given, ...] = ()) -> None:
        self._answers = list(answers)
        self._known = {self._key(answer.decision, answer.review) for answer in answers}

    def __len__(self) -> int:
        return len(self._answers)

    def __iter__(self) -> Iterator[Given]:
        return iter(self._answers)

    def has(self, decision: Decision, review: Review) -> bool:
        """Whether this very review of this decision was given."""
        return self._key(decision, review) in self._known

    def add(self, answer: Given) -> None:
        """Enter one answer."""
        self._answers.append(answer)
        self._known.add(self._key(answer.decision, answer.review))

    def without(self, decision: Decision, review: Review) -> History:
        """All answers but this review of this decision."""
        key = self._key(decision, review)
        return History(tuple(a for a in self._answers if self._key(a.decision, a.review) != key))

    @staticmethod
    def _key(decision: Decision | None, review: Review | None) -> tuple[str | None, Review | None]:
        return (None if decision is None else decision.id, review)

    def state(self) -> list[dict[str, Any]]:
        """Every answer, in plain lists."""
        return [answer.to_dict() for answer in self._answers]

    @classmethod
    def from_state(cls, state: list[dict[str, Any]]) -> Self:
        """The same answers."""
        return cls(tuple(Given.from_dict(record) for record in state))
