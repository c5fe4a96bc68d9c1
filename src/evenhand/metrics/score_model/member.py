"""Member: one reviewer of the panel, what they answered, and what is believed of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

from evenhand.metrics.score_model.answers import ScoreAnswers
from evenhand.metrics.score_model.belief import ScoreBelief
from evenhand.metrics.score_model.fitting import Fitted, fit, point_alone
from evenhand.metrics.score_model.panel import Panel
from evenhand.metrics.score_model.parameters import Parameters
from evenhand.metrics.score_model.prior import ScorePrior
from evenhand.metrics.score_model.rated import Rated
from evenhand.metrics.score_model.tuning import ScoreTuning

JUMP = 1.5
"""Where the answers have grown by this factor, or the panel has grown at all, the last fit is no start."""


@dataclass(frozen=True, eq=False)
class Member:
    """One reviewer. Methods return another one."""

    answers: ScoreAnswers
    """The newest answers."""
    rated: Rated
    fitted: Fitted
    count: int = 0
    """Number of answers so far."""
    fitted_count: int = 0
    """Number of answers at the last fit."""
    panel_size: int = 0
    """How many others the prior of the last fit came from."""
    point: Parameters | None = None
    """The mode without the others, for their prior; None with too few answers."""

    @classmethod
    def new(cls, prior: ScorePrior) -> Self:
        """A reviewer without an answer."""
        d = len(prior.root)
        return cls(ScoreAnswers.none(d), Rated.nobody(d), Fitted.to_nothing(prior))

    @property
    def belief(self) -> ScoreBelief:
        """What is believed of the reviewer since the last fit."""
        return self.fitted.belief

    def with_answers(self, new: ScoreAnswers, tuning: ScoreTuning, rated: Rated | None = None) -> Member:
        """The same with more answers, the belief as it was."""
        answers = self.answers.followed_by(new, tuning.max_answers)
        return replace(self, answers=answers, rated=rated or self.rated, count=self.count + len(new))

    def is_fit_due(self, tuning: ScoreTuning) -> bool:
        """Whether the number of answers has grown enough to fit again."""
        return self.count >= self.fitted_count + max(1.0, tuning.growth * self.fitted_count)

    def refitted(self, others: Panel, tuning: ScoreTuning, seed: list[int]) -> Member:
        """The same, fitted to the answers, starting from what the others have in common."""
        usual, prior = ScorePrior.usual(others.n_features, tuning), others.prior(tuning)
        has_jumped = self.count > JUMP * self.fitted_count + tuning.chains or len(others) != self.panel_size
        last = None if has_jumped or self.fitted_count == 0 else self.fitted
        fitted = fit(self.answers, prior, last, tuning, [*seed, self.count])
        point = None
        if self.count >= tuning.min_panel_answers:
            is_own = not len(others) and fitted.is_gaussian
            point = fitted.belief.parameters if is_own else point_alone(self.answers, usual, fitted, tuning)
        return replace(self, fitted=fitted, point=point, fitted_count=self.count, panel_size=len(others))

    def state(self) -> dict[str, Any]:
        """Everything."""
        return {
            "answers": self.answers.state(),
            "rated": self.rated.state(),
            "belief": self.belief.state(),
            "log_scales": self.fitted.log_scales,
            "count": self.count,
            "fitted_count": self.fitted_count,
            "panel_size": self.panel_size,
            "point": None if self.point is None else self.point.table,
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """The reviewer with this `state`, to the bit."""
        fitted = Fitted(ScoreBelief.from_state(state["belief"]), state["log_scales"].copy())
        count, fitted_count, panel_size = (int(state[name]) for name in ("count", "fitted_count", "panel_size"))
        point = None if state["point"] is None else Parameters(state["point"].copy())
        records = ScoreAnswers.from_state(state["answers"]), Rated.from_state(state["rated"])
        return cls(*records, fitted, count, fitted_count, panel_size, point)
