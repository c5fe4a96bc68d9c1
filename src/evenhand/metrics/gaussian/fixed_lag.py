"""Fixed-lag smoothing: learning from answers that may be wrong while error rates and softness are learned too."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, Self

import numpy as np

from evenhand._internal.arrays import Floats, Indices
from evenhand.metrics.gaussian._moment_matching import repeated_rows
from evenhand.metrics.gaussian.error_rates import TINY, ErrorRates
from evenhand.metrics.gaussian.forms import B, Project
from evenhand.metrics.gaussian.reviewer_grid import ReviewerGrid
from evenhand.metrics.verdicts import HalfSpaces


@dataclass(frozen=True, eq=False)
class AttributedHalfSpaces(HalfSpaces):
    """Half-spaces, and the row of the reviewer who gave each, (n,)."""

    reviewers: Indices

    @classmethod
    def none(cls, n_unknowns: int) -> Self:
        """No answers."""
        return cls(**HalfSpaces.none(n_unknowns).state(), reviewers=np.zeros(0, dtype=np.int64))

    def state(self) -> dict[str, Any]:
        """The arrays by name, the half-spaces' among themselves."""
        columns = super().state()
        return {"reviewers": columns.pop("reviewers"), "half_spaces": columns}

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """The answers with this `state`."""
        return cls(**state["half_spaces"], reviewers=state["reviewers"])


class FixedLagSmoother(Generic[B]):
    """Error rates and softness of reviewers, the newest answers, and the belief before them.

    Moment matching that took early answers for more reliable than they are stays certain of them for good. So a belief
    is kept (`base`) that has processed only older answers, and the newest are processed again from there whenever a
    rate or a softness has changed. Answers leave the window into the base at those known by then; memory stays flat.

    Every method that updates a belief takes `blur`, of thresholds, and `project`, onto positive semidefinite metrics.
    width: the number of numbers in a row of half-spaces. answer_size: how many an answer counts for where their number
    is limited; by default the same.
    """

    def __init__(self, base: B, width: int, grid: ReviewerGrid | None = None, answer_size: int | None = None) -> None:
        self.rates = ErrorRates(base.tuning, grid)
        self.base, self.width, self._answer_size = base, width, answer_size or width
        self.open = AttributedHalfSpaces.none(width)
        self._used = np.zeros(0)
        self._used_softness = np.zeros(0)
        self._new = 0
        self._may_widen = False

    def updated(
        self, belief: B, half_spaces: HalfSpaces, reviewer: str | None, *, blur: float, project: Project[B]
    ) -> tuple[FixedLagSmoother[B], B]:
        """The smoother and the belief after one reviewer's answers."""
        smoother = copy.copy(self)
        smoother.rates = copy.copy(self.rates)
        belief = smoother._update(belief, half_spaces, reviewer, blur, project)
        return smoother, belief

    def expected_of(self, reviewer: str | None) -> tuple[float, float]:
        """The error rate, at most 0.5, and the softness to expect of a reviewer's next answer."""
        rates, tuning = self.rates, self.base.tuning
        if reviewer not in rates.names:
            return tuning.usual_rate, rates.usual_softness()
        row = rates.names.index(reviewer)
        return min(float(rates.means()[row]), tuning.max_rate), float(rates.softness()[row])

    def _update(self, belief: B, half_spaces: HalfSpaces, reviewer: str | None, blur: float, project: Project[B]) -> B:
        row, tuning = self.rates.row(reviewer, n_new=len(half_spaces.sides)), self.base.tuning
        means, softness = self.rates.means(), self.rates.softness()
        repeats = repeated_rows(half_spaces.normals, half_spaces.thresholds, half_spaces.sides)
        half_spaces = half_spaces.take(~repeats)
        n = len(half_spaces.sides)
        self._used = np.append(self._used, means[len(self._used) :])
        self._used_softness = np.append(self._used_softness, softness[len(self._used_softness) :])
        rate = np.minimum(means[[row]], tuning.max_rate)
        belief = project(belief.update(half_spaces, rate, blur=blur, softness=softness[[row]]).belief)
        self.open = self.open.joined(AttributedHalfSpaces(**half_spaces.state(), reviewers=np.full(n, row)))
        self._new += n
        most = min(tuning.open_answers, max(tuning.max_open_numbers // self._answer_size, 1))
        n_open = len(self.open)
        if n_open > 2 * most:
            self._close(belief, n_open - most, blur, project)
        if self._new >= max(tuning.min_new_answers, tuning.new_share * min(n_open, most)):
            self._new = 0
            belief = self._iterated(belief, blur, project)
            belief = self._trusting(belief, blur, project)
            belief = self._less_certain(belief, blur, project)
        return belief

    def _close(self, belief: B, n: int, blur: float, project: Project[B]) -> None:
        """Move the oldest n answers into the base."""
        oldest, chances = self.open.take(slice(None, n)), self._explained(belief, blur, project)
        self.open = self.open.take(slice(n, None))
        self.rates.close(chances[:, :n], oldest.reviewers)
        self.base = project(self._processed(self.base, oldest, self.rates.means(), blur))
        self._may_widen = True

    def _iterated(self, belief: B, blur: float, project: Project[B]) -> B:
        """Learn the reviewers from all open answers under the belief; reprocess these where one changed; repeat."""
        tuning = self.base.tuning
        for _ in range(tuning.max_iterations if len(self.rates.grid.widths) == 1 else 1):
            self.rates.reopen(self._explained(belief, blur, project), self.open.reviewers)
            means, softness = self.rates.means(), self.rates.softness()
            is_same = np.abs(_log_odds(means) - _log_odds(self._used)) <= tuning.rate_change
            change = tuning.width_change * np.maximum(softness, self._used_softness) + tuning.min_width_change
            if np.all(is_same & (np.abs(softness - self._used_softness) <= change)):
                break
            self._used, self._used_softness = means, softness
            belief = project(self._processed(self.base, self.open, means, blur))
        return belief

    def _trusting(self, belief: B, blur: float, project: Project[B]) -> B:
        """Trust a reviewer who seems to mislead, if that explains all answers better than distrust does.

        Where the metric is far from the prior, an honest reviewer contradicts the belief at every turn.
        """
        means, tuning = self.rates.means(), self.base.tuning
        for row in np.flatnonzero(means > tuning.max_rate):
            own, others = np.arange(len(means)) == row, np.minimum(means, tuning.max_rate)
            honest, misleading = (
                project(self._processed(self.base, self.open, np.where(own, rate, others), blur, cap=False))
                for rate in (tuning.trial_rate, means)
            )
            if self.fit(honest, blur) > self.fit(misleading, blur) + self._margin:
                self.rates.forget(int(row))
                belief = self._iterated(honest, blur, project)
        return belief

    def _less_certain(self, belief: B, blur: float, project: Project[B]) -> B:
        """Widen the base if the newest answers then fit better; once for the same answers."""
        means = self.rates.means()
        if not self._may_widen or not self.finds_errors:
            return belief
        bases = [self.base.widened(factor) for factor in self.base.tuning.trial_widenings]
        trials = [project(self._processed(base, self.open, means, blur)) for base in bases]
        fits = [self.fit(trial, blur) for trial in trials]
        best = int(np.argmax(fits))
        if fits[best] <= self.fit(belief, blur) + self._margin:
            return belief
        self.base, self._may_widen = bases[best], False
        return self._iterated(trials[best], blur, project)

    @property
    def looked(self) -> bool:
        """Whether the reviewers were learned with the newest answer."""
        return self._new == 0 and len(self.open) > 0

    @property
    def finds_errors(self) -> bool:
        """Whether some reviewer seems to err or to have a soft threshold: there is something to explain better."""
        tuning = self.base.tuning
        errs = self.rates.means() >= tuning.min_rate_to_explain
        wobbles = self.rates.softness() >= tuning.min_width_to_explain
        return bool(np.any(errs | wobbles))

    @property
    def _margin(self) -> float:
        """By how much one explanation must fit better than another."""
        return self.base.tuning.better_fit + self.base.freedom

    def fit(self, belief: B, blur: float) -> float:
        """The log-likelihood of the open answers, at the error rate and softness of each reviewer that fit best."""
        chances = self._chances(belief, self.open, max(blur, self.base.tuning.trial_blur), self.rates.grid.widths)
        return self.rates.best_fit(chances, self.open.reviewers)

    def _explained(self, belief: B, blur: float, project: Project[B]) -> Floats:
        """How likely each open answer is right at each softness of the grid, each under its own belief, (s, n).

        A soft threshold further away and a sharp one nearer by explain the answers on gaps in between equally well, so
        under one belief the softness it was made with would look best. Hopeless ones need no belief of their own.
        """
        widths = self.rates.grid.widths
        chances = self._chances(belief, self.open, blur, widths)
        if len(widths) > 1:
            rates = self.rates.means_by_width()
            for i in np.flatnonzero(self.rates.may_be_best(self.base.tuning.better_fit + self._margin)):
                softness = np.full(rates.shape[1], widths[i])
                own = project(self._processed(self.base, self.open, rates[i], blur, softness=softness))
                chances[i] = self._chances(own, self.open, blur, widths[[i]])[0]
        return chances

    def _chances(self, belief: B, answers: AttributedHalfSpaces, blur: float, widths: Floats) -> Floats:
        """How likely each answer is right at each softness, (s, n)."""
        from scipy.special import ndtr  # takes longer to load than a first decision may take

        return np.asarray(ndtr(belief.scores(answers, blur, widths[:, None])))

    def restarted(
        self, old_prior: B, new_prior: B, *, blur: float, project: Project[B]
    ) -> tuple[FixedLagSmoother[B], B]:
        """The smoother and the belief had they started from another prior; open answers are processed again."""
        smoother = self.with_base(project(self.base.with_prior(old_prior, new_prior)))
        return smoother, project(self._processed(smoother.base, self.open, self.rates.means(), blur))

    def relearned(self, belief: B, *, blur: float, project: Project[B]) -> tuple[FixedLagSmoother[B], B]:
        """The smoother and the belief after learning the reviewers once more, under another belief."""
        smoother = copy.copy(self)
        smoother.rates = copy.copy(self.rates)
        return smoother, smoother._iterated(belief, blur, project)

    def with_base(self, base: B) -> FixedLagSmoother[B]:
        """The same smoother with another base."""
        smoother = copy.copy(self)
        smoother.base = base
        return smoother

    def _processed(
        self,
        belief: B,
        answers: AttributedHalfSpaces,
        rates: Floats,
        blur: float,
        *,
        softness: Floats | None = None,
        cap: bool = True,
    ) -> B:
        """The belief after these answers, at the rate and the softness of each reviewer (r,); rates capped.

        A repetition by another reviewer, or on another day, is news: answers are split where one repeats another.
        """
        rates = np.minimum(rates, self.base.tuning.max_rate) if cap else rates
        softness = self.rates.softness() if softness is None else softness
        for rows in _parts_without_repeats(answers):
            part = answers.take(rows)
            by = part.reviewers
            belief = belief.update(part, rates[by], blur=blur, softness=softness[by]).belief
        return belief

    # Saving. The keys are those of version 0.1.

    def state(self) -> dict[str, Any]:
        """All of it, in arrays, numbers and strings."""
        softness = {"used_softness": self._used_softness} if np.any(self.rates.grid.widths) else {}
        return {
            "errors": self.rates.state(),
            "base": self.base.state(),
            "open": self.open.state(),
            "memory": AttributedHalfSpaces.none(self.width).state(),  # version 0.1 kept closed answers there
            "used": self._used,
            **softness,
            "new": self._new,
            "may_widen": self._may_widen,
        }

    def restored(self, state: dict[str, Any], restore: Callable[[dict[str, Any]], B]) -> Self:
        """The smoother with this `state`, to the bit; this one must be new, with the settings of that one."""
        smoother, grid = copy.copy(self), self.rates.grid
        smoother.base = restore(state["base"])
        smoother.rates = ErrorRates.from_state(state["errors"], self.base.tuning, grid)
        smoother.open = AttributedHalfSpaces.from_state(state["open"])
        smoother._used, smoother._new = state["used"].copy(), int(state["new"])
        smoother._used_softness = state.get("used_softness", np.zeros_like(smoother._used)).copy()
        smoother._may_widen = bool(state["may_widen"])
        return smoother


def _parts_without_repeats(half_spaces: HalfSpaces) -> list[slice]:
    """All rows, in as few consecutive parts as possible such that none has the same row twice."""
    table = np.column_stack([half_spaces.normals, half_spaces.thresholds, half_spaces.sides]) + 0.0  # -0.0 is 0.0
    keys = table.view(f"V{table.itemsize * table.shape[1]}").ravel().tolist()
    if len(set(keys)) == len(keys):
        return [slice(0, len(keys))]
    parts: list[slice] = []
    start, seen = 0, set[bytes]()
    for row, key in enumerate(keys):
        if key in seen:
            parts.append(slice(start, row))
            start, seen = row, set()
        seen.add(key)
    return [*parts, slice(start, len(keys))]


def _log_odds(rates: Floats) -> Floats:
    return np.asarray(np.log(np.maximum(rates, TINY) / (1.0 - rates)))
