"""The records of an interview: a Question that is asked, and the Answer it got."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

from evenhand.errors import InvalidInput
from evenhand.records.decision import Pair

Said = Literal["unfair", "acceptable", "unsure"]


@dataclass(frozen=True)
class Question:
    """Would it be unfair to give these two candidates these odds? The odds are made up, of a lottery between the two.

    >>> Question(1, (0, 3), (0.35, 0.65), 0.3, "").gap
    0.3
    """

    number: int
    """Counted from 1."""
    pair: Pair
    """The indices of two candidates, the smaller one first."""
    odds: tuple[float, float]
    """What each of them would get, in the order of the pair."""
    gap: float
    """The difference of the two odds."""
    why: str
    """Why it is asked, in a sentence that gives no answer away."""

    def to_dict(self) -> dict[str, Any]:
        """Plain lists, numbers and texts, exact to the bit through JSON."""
        return {**asdict(self), "pair": list(self.pair), "odds": list(self.odds)}

    @classmethod
    def from_dict(cls, record: dict[str, Any]) -> Question:
        """The question that `to_dict` wrote down."""
        (i, j), (one, other) = record["pair"], record["odds"]
        pair, odds = (int(i), int(j)), (float(one), float(other))
        return cls(int(record["number"]), pair, odds, float(record["gap"]), str(record["why"]))


@dataclass(frozen=True)
class Answer:
    """What was said to a question, and by whom."""

    question: Question
    said: Said
    reviewer: str | None = None
    contradicts: bool = False
    """Whether it contradicts what was said before, and was not believed."""

    @property
    def taught(self) -> bool:
        """Whether anything was learned from it."""
        return self.said != "unsure" and not self.contradicts

    def to_dict(self) -> dict[str, Any]:
        """Plain lists, numbers and texts."""
        return {**asdict(self), "question": self.question.to_dict()}

    @classmethod
    def from_dict(cls, record: dict[str, Any]) -> Answer:
        """The answer that `to_dict` wrote down."""
        question = Question.from_dict(record["question"])
        return cls(question, check_said(record["said"]), record["reviewer"], bool(record["contradicts"]))


def check_said(said: object) -> Said:
    """`said` itself if it is an answer."""
    for allowed in get_args(Said):
        if isinstance(said, str) and said == allowed:
            return said  # type: ignore[return-value]  # one of the three, just compared
    raise InvalidInput(f"the answer is {said!r}; allowed are 'unfair', 'acceptable' and 'unsure'")
