"""Ratings as answers on pairs: a rating is compared with earlier ones of the same reviewer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from evenhand._internal.arrays import Floats
from evenhand.metrics.ratings import Ratings
from evenhand.metrics.score_model.answers import ScoreAnswers
from evenhand.metrics.score_model.tuning import ScoreTuning

LEAST_STEP = 0.01
"""Ratings closer than this are taken to be rounded to it."""


@dataclass(frozen=True, eq=False)
class Rated:
    """Who was rated, and how: contexts (r, d), scores (r,)."""

    contexts: Floats
    scores: Floats

    @classmethod
    def nobody(cls, n_features: int) -> Self:
        """No ratings."""
        return cls(np.zeros((0, n_features)), np.zeros(0))

    def followed_by(self, ratings: Ratings, most: int) -> Rated:
        """These and later ratings, the newest `most` of them."""
        contexts = np.vstack([self.contexts, np.asarray(ratings.contexts, dtype=np.float64)])[-most:]
        return Rated(contexts, np.append(self.scores, np.asarray(ratings.scores, dtype=np.float64))[-most:])

    def answers(self, n_new: int, tolerance: float, tuning: ScoreTuning) -> ScoreAnswers:
        """What the newest `n_new` ratings say of pairs: each is compared with some before it, and counts once.

        Ratings are rounded, so that many are equal: a difference of s says that the gaps that this reviewer accepts end
        between s + tolerance - step/2 and s + tolerance + step/2.
        """
        rows = [(i, j) for i in range(len(self.scores) - n_new, len(self.scores)) for j in _partners(i, tuning)]
        if not rows:
            return ScoreAnswers.none(self.contexts.shape[1])
        first, second = np.array(rows).T
        shares = 1.0 / np.bincount(first)[first]
        step = self._step(tuning)
        moved = self.scores[first] - self.scores[second]
        gaps, equal = np.abs(moved) + tolerance, np.abs(moved) < 0.5 * step
        wide, narrow = gaps + 0.5 * step, np.maximum(gaps - 0.5 * step, 0.0)
        wide = np.where(wide >= 1.0, np.inf, wide)
        narrow = np.where(equal, -wide, narrow)
        lower, upper = np.where(moved < 0.0, -wide, narrow), np.where(moved < 0.0, -narrow, wide)
        n = len(rows)
        by_chance = np.full(n, min(0.5 * step, 0.4))
        return ScoreAnswers(
            self.contexts[first] - self.contexts[second], lower, upper, np.ones(n, np.bool_), shares, by_chance
        )

    def _step(self, tuning: ScoreTuning) -> float:
        """The step of the scale: the least difference between two ratings that differ."""
        steps = np.diff(np.unique(np.round(self.scores, 9)))
        steps = steps[steps >= LEAST_STEP]
        return float(steps.min()) if len(steps) else tuning.rating_step

    def state(self) -> dict[str, Any]:
        """The arrays."""
        return {"contexts": self.contexts, "scores": self.scores}

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """The ratings with this `state`."""
        return cls(state["contexts"].copy(), state["scores"].copy())


def _partners(row: int, tuning: ScoreTuning) -> list[int]:
    """The earlier ratings that rating `row` is compared with: some from all times."""
    return sorted({int(j) for j in np.linspace(0, row - 1, tuning.rating_partners)}) if row else []
