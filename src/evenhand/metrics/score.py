"""Score: for reviewers who follow no metric; plays a quantile of what each of them would say."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Self

import numpy as np

from evenhand._internal.arrays import Floats
from evenhand._internal.checks import check_matrix, check_number, check_text, check_whole, refusal
from evenhand._internal.shared_copy import SharedCopy
from evenhand.errors import InvalidInput
from evenhand.metrics.gaussian.error_rates import ReviewerReport
from evenhand.metrics.learner import Learned, MetricLearner
from evenhand.metrics.ratings import Comparisons, Ratings
from evenhand.metrics.score_model.answers import ScoreAnswers
from evenhand.metrics.score_model.belief import Chances, ScoreBelief, widest_gaps
from evenhand.metrics.score_model.fitting import Fitted
from evenhand.metrics.score_model.member import Member
from evenhand.metrics.score_model.panel import Panel
from evenhand.metrics.score_model.prior import ScorePrior
from evenhand.metrics.score_model.report import report_on
from evenhand.metrics.score_model.tuning import DEFAULT, ScoreTuning
from evenhand.metrics.verdicts import Pairs, Verdicts

ENDS = (0.025, 0.975)
"""The chances of a flag at the ends of a squared distance."""


class Score(SharedCopy, MetricLearner):
    """A reviewer has a score w.x + e, e a residual no feature explains, and flags a pair whose scores are too close.

    With m = w.(x - y), a residual of the difference of variance 1, a threshold h that grows with the gap, and lapses l,

        P(flag) = l/2 + (1 - l) [Phi(h(gap) - m) - Phi(-h(gap) - m)],

    averaged over what is believed of w, h and l. So people who are alike in every feature may still be judged
    differently, and a flag becomes likely gradually. The distance played is the widest gap at which a flag is no
    likelier than `quantile`, lapses left out: of the binding pairs that are reviewed, about this share is flagged.
    Distances end at 1: no gap is wider.

    Each reviewer, by name, has their own parameters; their prior comes from what the other reviewers have in common.
    panel: people fitted by another learner (`learner.panel()`), who count as other reviewers. play: "mean" plays the
    probability of a flag by a random member, "minimum" the narrowest gap of all members, since any of them may object;
    any other name is that of the reviewer to play.

    Guarantee: none; ends are credible, not certain. Cost: a fit takes up to 0.3 s with 46 features and 200 answers, and
    less than 0.1 s with more; it is due whenever a reviewer's answers have grown by an eighth. Guesses cost O(k^2 d)
    for each of 64 draws up to 200 answers, and O(k^2 d^2) from there on.

    >>> learner = Score(2, quantile=0.1)
    >>> rng = np.random.default_rng(0)
    >>> for _ in range(60):
    ...     x, y = rng.uniform(-0.7, 0.7, (2, 2))
    ...     gap = float(learner.playable_distances(np.array([x, y]))[0, 1])
    ...     learned = learner.learn_pair(x, y, gap=gap, unfair=gap > abs(x[0] - y[0] + rng.normal(0.0, 0.1)))
    >>> alike, different = learner.playable_distances(np.array([[0.5, 0.0], [0.5, 0.5], [-0.5, 0.0]]))[0, 1:]
    >>> bool(alike < different)
    True
    """

    tuning: ClassVar[ScoreTuning] = DEFAULT
    error_rate = None
    _settings = ("n_features", "quantile", "play", "seed")

    def __init__(
        self,
        n_features: int,
        *,
        quantile: float = 0.1,
        play: str = "mean",
        panel: Panel | None = None,
        seed: int = 0,
    ) -> None:
        super().__init__(n_features)
        self.quantile = check_number("quantile", quantile, above=0, below=1)
        self.play = check_text("play", play)
        self.seed = check_whole("seed", seed, least=0)
        self._saved_panel = Panel.of(n_features, []) if panel is None else panel
        if not isinstance(self._saved_panel, Panel):
            raise refusal("panel", "a Panel, as learner.panel() gives", panel)
        if self._saved_panel.n_features != n_features:
            raise InvalidInput(f"panel must have {n_features} features, got {self._saved_panel.n_features}")
        self._members: dict[str | None, Member] = {}
        self._anybody = Fitted.to_nothing(self.panel_prior()).belief

    # What others know of a new reviewer.

    def panel(self) -> Panel:
        """The people fitted so far, those of the `panel` setting included: the panel of another learner."""
        return self._others(None, everybody=True)

    def panel_prior(self) -> ScorePrior:
        """What is believed of a reviewer who has not answered yet."""
        return self.panel().prior(self.tuning)

    def _others(self, name: str | None, *, everybody: bool = False) -> Panel:
        """All people with enough answers but this one."""
        points = [m.point for other, m in self._members.items() if m.point is not None and (everybody or other != name)]
        return self._saved_panel.joined(Panel.of(self.n_features, points))

    # Distances.

    def guess(self, pairs: Pairs) -> Floats:
        """The square of the widest gap at which a flag is no likelier than the quantile, (n,)."""
        return self._gaps_at(pairs, self.quantile) ** 2

    def estimate(self, pairs: Pairs) -> Floats:
        """The square of the gap at which a flag is as likely as not, at most 1, (n,)."""
        return self._gaps_at(pairs, 0.5) ** 2

    def ends(self, pairs: Pairs) -> tuple[Floats, Floats]:
        """The squares of the gaps at which a flag has probability 0.025 and 0.975, each (n,): credible, not certain."""
        lower, upper = (self._gaps_at(pairs, probability) ** 2 for probability in ENDS)
        return lower, upper

    def chance_unfair(self, pairs: Pairs, gaps: Floats) -> Floats:
        """The probability that each pair with this gap is unfair to who is played, lapses left out, (n,)."""
        return self._combined(pairs, gaps, lapses=False)

    def chance_flagged(self, pairs: Pairs, gaps: Floats, reviewer: str | None = None) -> Floats:
        """The probability that this reviewer flags each pair with this gap, (n,); for None, that who is played does."""
        if reviewer is None and reviewer not in self._members:
            return self._combined(pairs, gaps, lapses=True)
        return self._belief_of(reviewer).chances(pairs.differences, lapses=True)(np.asarray(gaps))

    def matrix(self) -> Floats:
        """The mean of ww' / h(1)^2 over who is played, (d, d).

        Were the threshold linear, sqrt(z'Gz) would be the gap at which a flag on two whose scores differ by much is as
        likely as not.
        """
        parts = []
        for belief in self._played():
            scaled = belief.parameters.weights / belief.parameters.full_thresholds
            parts.append(scaled @ scaled.T / scaled.shape[1])
        return np.asarray(np.mean(parts, axis=0))

    def _gaps_at(self, pairs: Pairs, probability: float) -> Floats:
        curves = [belief.chances(pairs.differences) for belief in self._played()]
        if self.play == "minimum":
            return np.asarray(np.min([widest_gaps(curve, len(pairs), probability) for curve in curves], axis=0))
        return widest_gaps(_mean(curves), len(pairs), probability)

    def _combined(self, pairs: Pairs, gaps: Floats, *, lapses: bool) -> Floats:
        """The mean of the members' chances, or the largest, (n,)."""
        curves = [belief.chances(pairs.differences, lapses=lapses) for belief in self._played()]
        if self.play == "minimum":
            return np.asarray(np.max([curve(np.asarray(gaps)) for curve in curves], axis=0))
        return _mean(curves)(np.asarray(gaps))

    def _played(self) -> list[ScoreBelief]:
        """What is believed of those whose judgement is played."""
        if self.play not in ("mean", "minimum"):
            return [self._belief_of(self.play)]
        return [member.belief for member in self._members.values()] or [self._anybody]

    def _belief_of(self, reviewer: str | None) -> ScoreBelief:
        return self._members[reviewer].belief if reviewer in self._members else self._anybody

    @property
    def plays_metric(self) -> bool:
        """No: a quantile of what reviewers would say."""
        return False

    # Reviewers.

    def reviewers(self) -> dict[str | None, ReviewerReport]:
        """A report on each reviewer, by name: softness, lapses, deviation from the others and agreement with them."""
        return {
            name: report_on(name, member, self._others(name), self.tuning) for name, member in self._members.items()
        }

    def expected_reviewer(self) -> ReviewerReport:
        """What the others have in common, or the prior."""
        return report_on(None, Member.new(self.panel_prior()), Panel.of(self.n_features, []), self.tuning)

    def misleading(self) -> frozenset[str | None]:
        """Nobody: a lapse is a coin toss, and wrong every other time."""
        return frozenset()

    def error_rate_of(self, reviewer: str | None) -> float:
        """The probability that a verdict of this reviewer is a lapse, and wrong."""
        return 0.5 * float(self._belief_of(reviewer).parameters.lapses.mean())

    # Learning.

    def learn(self, verdicts: Verdicts) -> Learned:
        """Learn from the verdicts of one round."""
        self._learn(
            verdicts.reviewer, lambda member: member.with_answers(ScoreAnswers.of_verdicts(verdicts), self.tuning)
        )
        return Learned(len(verdicts))

    def learn_comparisons(self, comparisons: Comparisons) -> Learned:
        """Learn from comparisons of pairs: alike, or which of the two comes first."""
        check_matrix("differences", comparisons.pairs.differences, columns=self.n_features)
        if not np.isin(comparisons.answers, (-1, 0, 1)).all():
            raise refusal("answers", "-1, 0 or 1", comparisons.answers)
        answers = ScoreAnswers.of_comparisons(comparisons)
        self._learn(comparisons.reviewer, lambda member: member.with_answers(answers, self.tuning))
        return Learned(len(comparisons))

    def learn_ratings(self, ratings: Ratings) -> Learned:
        """Learn from ratings of candidates, each compared with earlier ratings of the same reviewer."""
        contexts = check_matrix("contexts", ratings.contexts, columns=self.n_features)
        scores = np.asarray(ratings.scores, dtype=np.float64)
        if scores.shape != (len(contexts),) or not np.all((scores >= 0.0) & (scores <= 1.0)):
            raise refusal("scores", f"{len(contexts)} numbers from 0 to 1", ratings.scores)

        def rated(member: Member) -> Member:
            table = member.rated.followed_by(ratings, self.tuning.max_answers)
            answers = table.answers(len(ratings), ratings.tolerance, self.tuning)
            return member.with_answers(answers, self.tuning, table)

        self._learn(ratings.reviewer, rated)
        return Learned(len(ratings))

    def _learn(self, reviewer: str | None, answered: Callable[[Member], Member]) -> None:
        """Replace a member by one with more answers, fitted if due. Nothing changes if that fails."""
        others = self._others(reviewer)
        before = self._members.get(reviewer)
        member = answered(before or Member.new(others.prior(self.tuning)))
        if before is None and not member.count and not len(member.rated.scores):
            return
        if member.count and member.is_fit_due(self.tuning):
            names = list(self._members)
            row = names.index(reviewer) if reviewer in names else len(names)
            member = member.refitted(others, self.tuning, [self.seed, row])
        members = {**self._members, reviewer: member}
        has_news = member.point is not None and (before is None or member.point is not before.point)
        points = [m.point for m in members.values() if m.point is not None] if has_news else []
        anybody = self._anybody
        if has_news:
            panel = self._saved_panel.joined(Panel.of(self.n_features, points))
            anybody = Fitted.to_nothing(panel.prior(self.tuning)).belief
        self._members, self._anybody = members, anybody

    # Saving.

    def state(self) -> dict[str, Any]:
        """Settings, the panel, and everything about each member."""
        members = {str(row): member.state() for row, member in enumerate(self._members.values())}
        panel = self._saved_panel.state()
        return {**self.settings(), "panel": panel, "names": list(self._members), "members": members}

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """The learner with this `state`, to the bit."""
        settings = {name: state[name] for name in cls._settings}
        learner = cls(**settings, panel=Panel(np.array(state["panel"]["people"], dtype=np.float64)))
        states = state["members"]
        learner._members = {name: Member.from_state(states[str(row)]) for row, name in enumerate(state["names"])}
        learner._anybody = Fitted.to_nothing(learner.panel_prior()).belief
        return learner


def _mean(curves: list[Chances]) -> Chances:
    """The mean of several chances."""
    return lambda gaps: np.asarray(np.mean([curve(gaps) for curve in curves], axis=0))
