"""Answers of one reviewer: for each pair, an interval that the difference of the two scores lies in, or outside of."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np

from evenhand._internal.arrays import Floats, Mask
from evenhand.metrics.ratings import ABOVE, Comparisons
from evenhand.metrics.verdicts import Verdicts


@dataclass(frozen=True, eq=False)
class ScoreAnswers:
    """Rows are answers. An end of an interval is a signed gap s, which stands for sign(s) h(|s|); it may be infinite.

    A flag at gap g says that the difference lies in (-g, g); no flag, that it lies outside.
    """

    differences: Floats
    """x - y, (n, d)."""
    lower: Floats
    upper: Floats
    """The ends of the interval, each (n,)."""
    inside: Mask
    """Whether the difference lies in the interval, (n,)."""
    shares: Floats
    """How much each answer counts, (n,); 1 for answers on pairs."""
    by_chance: Floats
    """The probability of the answer from somebody who answers at random, (n,)."""

    @classmethod
    def none(cls, n_features: int) -> Self:
        """No answers."""
        empty = np.zeros(0)
        return cls(np.zeros((0, n_features)), empty, empty, np.zeros(0, np.bool_), empty, empty)

    @classmethod
    def of_verdicts(cls, verdicts: Verdicts) -> Self:
        """One answer a verdict."""
        n, gaps = len(verdicts), np.array(verdicts.gaps, dtype=np.float64)
        columns = (np.array(verdicts.unfair, dtype=np.bool_), np.ones(n), np.full(n, 0.5))
        return cls(np.array(verdicts.pairs.differences, dtype=np.float64), -gaps, gaps, *columns)

    @classmethod
    def of_comparisons(cls, comparisons: Comparisons) -> Self:
        """One answer a comparison: alike within the tolerance, or one of the two tails.

        Tolerances below ABOVE count as ABOVE: nobody is within 0, and every answer "alike" would be a lapse.
        """
        answers, reach = np.asarray(comparisons.answers), max(float(comparisons.tolerance), ABOVE)
        lower = np.where(answers > 0, reach, np.where(answers < 0, -np.inf, -reach))
        upper = np.where(answers < 0, -reach, np.where(answers > 0, np.inf, reach))
        n = len(answers)
        differences = np.array(comparisons.pairs.differences, dtype=np.float64)
        return cls(differences, lower, upper, np.ones(n, np.bool_), np.ones(n), np.full(n, 1.0 / 3.0))

    def __len__(self) -> int:
        return len(self.lower)

    @property
    def are_verdicts(self) -> Mask:
        """Which answers are verdicts on a gap, (n,)."""
        return np.asarray((self.lower == -self.upper) & (self.by_chance == 0.5))

    def followed_by(self, later: ScoreAnswers, most: int) -> ScoreAnswers:
        """These and later answers, the newest `most` of them."""
        return ScoreAnswers(*(np.concatenate([mine, theirs])[-most:] for mine, theirs in zip(self, later, strict=True)))

    def take(self, rows: Mask) -> ScoreAnswers:
        """Some of the answers."""
        return ScoreAnswers(*(column[rows] for column in self))

    def __iter__(self) -> Any:
        return (getattr(self, field.name) for field in fields(self))

    def state(self) -> dict[str, Any]:
        """The columns, by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """The answers with this `state`."""
        return cls(**{field.name: np.array(state[field.name]) for field in fields(cls)})
