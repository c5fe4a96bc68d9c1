"""The records of an interview: a Question, and the Answer to it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

from evenhand._internal.checks import check_one_of
from evenhand.records.decision import Pair

Judgement = Literal["unfair", "acceptable", "unsure"]


@dataclass(frozen=True)
class Question:
    """Would it be unfair to choose these two candidates with these probabilities? They are of a draw between the two.

    >>> Question(1, (0, 3), (0.35, 0.65), 0.3, "").gap
    0.3
    """

    number: int
    """Counted from 1."""
    pair: Pair
    """The indices of two candidates, the smaller one first."""
    probabilities: tuple[float, float]
    """In the order of the pair."""
    gap: float
    """Their difference."""
    why: str
    """Why it is asked, in a sentence that suggests no answer."""

    def to_dict(self) -> dict[str, Any]:
        """Lists, numbers and strings, exact through JSON."""
        return {**asdict(self), "pair": list(self.pair), "probabilities": list(self.probabilities)}

    @classmethod
    def from_dict(cls, record: dict[str, Any]) -> Question:
        """The question that `to_dict` wrote. Version 0.1 called the probabilities "odds"."""
        (i, j), (first, second) = record["pair"], record["odds" if "odds" in record else "probabilities"]
        probabilities = (float(first), float(second))
        return cls(int(record["number"]), (int(i), int(j)), probabilities, float(record["gap"]), str(record["why"]))


@dataclass(frozen=True)
class Answer:
    """The answer to a question, and by whom."""

    question: Question
    judgement: Judgement
    reviewer: str | None = None
    contradicts: bool = False
    """Whether it contradicts earlier answers, and was left out."""

    @property
    def taught(self) -> bool:
        """Whether anything was learned from it."""
        return self.judgement != "unsure" and not self.contradicts

    def to_dict(self) -> dict[str, Any]:
        """Lists, numbers and strings."""
        question, reviewer, contradicts = self.question.to_dict(), self.reviewer, self.contradicts
        return {"question": question, "said": self.judgement, "reviewer": reviewer, "contradicts": contradicts}

    @classmethod
    def from_dict(cls, record: dict[str, Any]) -> Answer:
        """The answer that `to_dict` wrote."""
        question = Question.from_dict(record["question"])
        return cls(question, check_judgement(record["said"]), record["reviewer"], bool(record["contradicts"]))


def check_judgement(value: Any) -> Judgement:
    """`value`, if it is a judgement."""
    check_one_of("answer", value, get_args(Judgement))
    judgement: Judgement = value
    return judgement
