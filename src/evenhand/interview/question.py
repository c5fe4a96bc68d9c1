"""Questions and answers, and the next question: the pair with the most uncertain distance, the gap at its estimate.

Distances above 1 count as 1. docs/interview.md has the measurements of this choice and of others.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

import numpy as np

from evenhand._internal.arrays import Floats, Mask
from evenhand._internal.checks import check_one_of
from evenhand.metrics import MetricLearner
from evenhand.metrics.verdicts import Pairs
from evenhand.records.decision import Pair

Judgement = Literal["unfair", "acceptable", "unsure"]

Label = str | int
"""A feature: its name, or the number of its column."""


@dataclass(frozen=True)
class Question:
    """Would it be unfair to choose these two candidates with these probabilities? They are of a draw between the two.

    >>> Question(1, (0, 3), (0.35, 0.65), 0.3, "").gap
    0.3
    """

    number: int
    """Counted from 1."""
    pair: Pair
    """The indices of two candidates, the smaller one first; of a partial profile, of the first person and the donor."""
    probabilities: tuple[float, float]
    """In the order of the pair."""
    gap: float
    """Their difference."""
    why: str
    """Why it is asked, in a sentence that suggests no answer."""
    replaced: tuple[Label, ...] | None = None
    """A partial profile: the second person is the first with these features of the donor. None: both are real."""

    def to_dict(self) -> dict[str, Any]:
        """Lists, numbers and strings, exact through JSON; `replaced` only of a partial profile."""
        record = {**asdict(self), "pair": list(self.pair), "probabilities": list(self.probabilities)}
        replaced = record.pop("replaced")
        return record if replaced is None else {**record, "replaced": list(replaced)}

    @classmethod
    def from_dict(cls, record: dict[str, Any]) -> Question:
        """The question that `to_dict` wrote. Version 0.1 called the probabilities "odds"."""
        (i, j), (first, second) = record["pair"], record["odds" if "odds" in record else "probabilities"]
        told = (int(record["number"]), (int(i), int(j)), (float(first), float(second)), float(record["gap"]))
        replaced = record.get("replaced")
        return cls(*told, str(record["why"]), None if replaced is None else tuple(replaced))


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


REST = 20  # For this many questions, a pair without a usable answer is not asked about again, nor are similar ones.
SIMILAR = 0.9  # Two pairs are similar when the squared cosine of their differences is above this.
FINER = 5.0  # Probabilities are multiples of a power of ten, at least this many to an epsilon.


def sample_pairs(candidates: Floats, n_pairs: int, rng: np.random.Generator) -> Pairs:
    """All pairs of the candidates (n, d), or, if there are more, n_pairs random ones."""
    n = len(candidates)
    if n * (n - 1) // 2 <= n_pairs:
        return Pairs.of(candidates)
    first, second = rng.integers(n, size=n_pairs), rng.integers(n - 1, size=n_pairs)
    second = second + (second >= first)
    first, second = np.minimum(first, second), np.maximum(first, second)
    return Pairs(np.stack([first, second], axis=1), candidates[first] - candidates[second])


def uncertainties(metric: MetricLearner, pairs: Pairs) -> Floats:
    """Half the width of one standard deviation of each distance to either side, (n,); distances above 1 count as 1.

    >>> from evenhand.metrics import KnownMetric
    >>> uncertainties(KnownMetric([[0.5]]), Pairs.of(np.array([[1.0], [0.0]]))).tolist()
    [0.0]
    """
    mean, sd = metric.moments(pairs)
    upper, lower = np.sqrt(np.clip(mean + sd, 0.0, 1.0)), np.sqrt(np.clip(mean - sd, 0.0, 1.0))
    return np.asarray((upper - lower) / 2.0)


def most_uncertain(uncertainty: Floats, pairs: Pairs, resting: Sequence[tuple[int, Floats]], number: int) -> int:
    """The row of the most uncertain pair that does not rest; if all rest, of those that rest the longest.

    resting: questions without a usable answer: their number, and the difference of the two candidates.
    """
    since = np.full(len(pairs), -math.inf)
    for at, difference in resting:
        since[_similar(pairs.differences, difference)] = at
    ready = since < number - REST
    ready = ready if ready.any() else since == since.min()
    return int(np.argmax(np.where(ready, uncertainty, -1.0)))


def _similar(differences: Floats, difference: Floats) -> Mask:
    squares = np.sum(differences**2, axis=1) * float(difference @ difference)
    return np.asarray((differences @ difference) ** 2 > SIMILAR * squares)


def steps_in_one(epsilon: float) -> int:
    """The number of steps from probability 0 to 1.

    >>> steps_in_one(0.01), steps_in_one(0.05)
    (1000, 100)
    """
    return int(10 ** max(1, -math.floor(math.log10(epsilon / FINER))))


def gap_in_steps(metric: MetricLearner, pair: Pairs, epsilon: float) -> int:
    """The estimate of one pair's distance, in steps; no less than epsilon, and no more than 1."""
    steps = steps_in_one(epsilon)
    distance = math.sqrt(min(max(float(metric.estimate(pair)[0]), 0.0), 1.0))
    return min(max(round(distance * steps), math.ceil(epsilon * steps)), steps)


def probabilities_of(gap: int, steps: int) -> tuple[float, float]:
    """The probabilities, the higher first, of a draw between two people with this gap; they add up to 1.

    >>> probabilities_of(300, 1000), probabilities_of(1, 10)
    ((0.65, 0.35), (0.55, 0.45))
    """
    return (steps + gap) / (2 * steps), (steps - gap) / (2 * steps)
