"""History: a density, the answers that made it, and how it begins again if its bound is too small or points go astray.

Hard answers that contradict earlier ones are refused. All others are learned, and the informative ones remembered.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from evenhand._internal.append_only import GrowingList
from evenhand._internal.arrays import Indices
from evenhand.metrics.features import MetricSpace
from evenhand.metrics.version_space.constraints import Constraints
from evenhand.metrics.version_space.density import Density
from evenhand.metrics.version_space.hard_density import HardDensity
from evenhand.metrics.version_space.likelihood import likelihood_of
from evenhand.metrics.version_space.soft_density import SoftDensity
from evenhand.metrics.version_space.tuning import DensityTuning


@dataclass(frozen=True, eq=False, kw_only=True)
class Beginning:
    """How a density begins: all metrics of norm <= bound, alike."""

    space: MetricSpace
    tuning: DensityTuning
    n_points: int
    error_rate: float | None
    steps: int
    """How many half-spaces stand for one answer."""
    max_bound: float

    @property
    def is_hard(self) -> bool:
        """Whether answers are never wrong."""
        return self.error_rate == 0.0

    def density(self, bound: float, rng: np.random.Generator) -> Density:
        """Before any answer."""
        settings = (self.space, bound, self.n_points, rng, self.tuning)
        if self.is_hard:
            return HardDensity.initial(*settings)
        return SoftDensity.without_reviewers(*settings, likelihood_of(self.error_rate, self.steps))

    def density_after(self, reviews: Iterable[Constraints], bound: float, rng: np.random.Generator) -> Density | None:
        """After the answers of these reviews; None if they fit no metric within the bound."""
        density: Density | None = self.density(bound, rng)
        parts = list(reviews)
        if self.is_hard and parts:
            parts = [functools.reduce(Constraints.joined, parts)]
        for part in parts:
            if density is not None:
                density = density.after(part, rng)
        return density

    def restored(self, saved: dict[str, Any]) -> Density:
        """The density with this `state`."""
        if self.is_hard:
            return HardDensity.from_state(saved, self.space, self.tuning)
        likelihood = likelihood_of(self.error_rate, self.steps)
        return SoftDensity.from_state(saved, self.space, self.tuning, likelihood=likelihood)


@dataclass(frozen=True, eq=False)
class History:
    """A density and the informative answers so far, review by review. Immutable."""

    beginning: Beginning
    density: Density
    remembered: GrowingList[Constraints]
    redrawn_at: int = 0
    """The number of answers when points were last drawn again."""

    def after(self, new: Constraints, rng: np.random.Generator) -> tuple[History, Indices]:
        """After these answers of one reviewer, and those of them that contradict earlier ones."""
        density, refused = self._density_after(new, rng)
        if self.beginning.is_hard:
            new = new.take(~np.isin(np.arange(len(new)), refused))
        after = replace(self, density=density, remembered=self._remembered_with(new))
        return after._enlarged(rng)._redrawn(rng), refused

    def _density_after(self, new: Constraints, rng: np.random.Generator) -> tuple[Density, Indices]:
        after, none = self.density.after(new, rng), np.zeros(0, np.int64)
        if after is not None:
            rate, slip_rate = self.beginning.error_rate or 0.0, self.beginning.tuning.slip_rate
            is_slip = 0.0 < rate < slip_rate and self.beginning.steps == 1
            return after, self.density.contradicting(new) if is_slip else none
        assert isinstance(self.density, HardDensity)  # the others never run out of metrics
        if self.density.may_fit(new):
            larger = self._with_twice_the_bound(self._remembered_with(new), rng)
            if larger is not None:
                return larger, none
        density: HardDensity = self.density
        refused = []
        for row in range(len(new)):  # one by one, the first ones first
            one = new.take(np.arange(len(new)) == row)
            cut = density.after(one, rng) if self.density.may_fit(one) else None
            if cut is None:
                refused.append(row)
            else:
                density = cut
        return density, np.array(refused, np.int64)

    def _remembered_with(self, new: Constraints) -> GrowingList[Constraints]:
        """With the informative ones of these answers; beyond twice a maximum, the newest that have so many rows."""
        new = new.take(self.density.informative(new))
        if not len(new):
            return self.remembered
        most = self.beginning.steps * self.beginning.tuning.max_rows(self.beginning.space.n_unknowns)
        remembered = self.remembered.plus(new)
        if sum(len(part.b) for part in remembered) <= 2 * most:
            return remembered
        parts = list(remembered)
        while sum(len(part.b) for part in parts) > most:
            parts.pop(0)
        return GrowingList(parts)

    def _with_twice_the_bound(self, reviews: Iterable[Constraints], rng: np.random.Generator) -> Density | None:
        bound = 2.0 * self.density.bound
        return None if bound > self.beginning.max_bound else self.beginning.density_after(reviews, bound, rng)

    def _enlarged(self, rng: np.random.Generator) -> History:
        """In a ball of twice the bound if the density leans on the one it has: the truth may lie outside."""
        if not self.density.leans_on_the_ball:
            return self
        return replace(self, density=self._with_twice_the_bound(self.remembered, rng) or self.density)

    def _redrawn(self, rng: np.random.Generator) -> History:
        """With points drawn again, from the answers in another order, if those have more mass.

        Attempted when more answers are wrong than usual: points may have been misled by the order of the reviews.
        """
        rate, tuning = self.beginning.error_rate, self.beginning.tuning
        if not rate or not isinstance(self.density, SoftDensity):
            return self
        n = int(np.sum(self.density.n_answers))
        if n < tuning.redraw_growth * self.redrawn_at or not self.density.is_doubtful(rate):
            return self
        parts = list(self.remembered)
        reviews = [parts[i] for i in rng.permutation(len(parts))]
        other = self.beginning.density_after(reviews, self.density.bound, rng)
        if other is None or other.log_mass <= self.density.log_mass:
            other = self.density
        return replace(self, density=other, redrawn_at=n)

    # Saving.

    def state(self) -> dict[str, Any]:
        """What was remembered, in a few arrays, and how many answers each review had; all but the density."""
        n_unknowns = self.beginning.space.n_unknowns
        joined = functools.reduce(Constraints.joined, self.remembered, Constraints.none(n_unknowns))
        parts = np.array([len(part) for part in self.remembered], np.int64)
        return {"remembered": joined.state(), "parts": parts, "redrawn_at": self.redrawn_at}

    @classmethod
    def from_state(cls, state: dict[str, Any], beginning: Beginning, density: Density) -> History:
        """With this `state`, to the bit."""
        joined, parts = Constraints.from_state(state["remembered"]), state["parts"]
        numbers = np.repeat(np.arange(len(parts)), parts)
        remembered = GrowingList(joined.take(numbers == part) for part in range(len(parts)))
        return cls(beginning, density, remembered, int(state["redrawn_at"]))
