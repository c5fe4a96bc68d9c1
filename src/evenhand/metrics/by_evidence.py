"""ByEvidence: several learners learn from every answer; the most specific one that predicts well enough is played."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np

from evenhand._internal.arrays import Floats
from evenhand._internal.checks import check_number
from evenhand.errors import InvalidInput, UnsupportedReview
from evenhand.metrics.gaussian.error_rates import ReviewerReport
from evenhand.metrics.gaussian.interactions import InteractionEvidence
from evenhand.metrics.learner import Learned, MetricLearner, RememberedAnswers
from evenhand.metrics.played_by_another import PlayedByAnother
from evenhand.metrics.ratings import Comparisons, Ratings
from evenhand.metrics.verdicts import Pairs, Verdicts

LEAST_CHANCE = 0.02
"""No answer counts as less likely, so two slips do not yet outweigh a margin of 7."""

HOPELESS = 20.0
"""A learner that is behind a later one by this much evidence is dropped: learners that are refuted are slow."""


CLEAR = 30.0
"""By how much evidence the last resort must have predicted the answers better to take over. It was as much for eight of
ten raters after 111 to 552 answers, and at most 27 in 18 runs of reviewers who have a metric and err in a tenth of
theirs.
"""

LEAD = 10.0
"""By how much where the answers have turned out to follow no metric."""

FIRST_TRIAL, FIRST_OF_EACH, GROWTH = 20, 2, 1.25
"""The answers before the last resort first learns, in all and for each feature, and their growth from one time to the
next: it is fitted each time.

With fewer answers for each of its weights it predicts hardly more than its prior, and a fit takes long: with forty
answers a quarter of a second for 46 features, two seconds for 1,000.
"""


AT_ONCE = 50
"""The answers that the last resort learns with one review: a fit or two. With 200 features its first trial is of 400
answers, and took 1.4 s at once.
"""

UNBELIEVED = 0.05
"""What is reported of reviewers leaves out who has less than this share of the evidence."""


class ByEvidence(PlayedByAnother):
    """Plays the first learner that no later one beats by more evidence than `margin`, or whose promise stands.

    Evidence is the log-probability that a learner gave to the answers before it learned them; so the choice needs no
    test set. learners: copied, from the most specific assumption about reviewers to the most general one; a learner
    that is far behind is dropped. One that has a number of `flags_left` plays on as long as it has one: what was
    promised must hold, and answers refute the promise itself when reviewers err. Where they only cast doubt on it, a
    learner far ahead takes over. One-bit reviews are learned by those who can, and count for nothing. last_resort:
    learns some of the answers, and takes over when it predicts them far better, or better and they follow no metric
    (`reconsidered`). What is predicted of answers is the mean of all learners and of the last resort, weighted by
    evidence: a prediction can be taken back, unlike a takeover.

    >>> from evenhand.metrics.bayes_point import BayesPoint
    >>> learner = ByEvidence([BayesPoint(2, structure="diagonal"), BayesPoint(2)])
    >>> _ = learner.learn_pair([1.0, 0.0], [0.0, 0.0], gap=0.5, unfair=True)
    >>> learner.playing.space.structure, bool(np.all(learner.evidence < 0.0))
    ('diagonal', True)
    """

    evidence: Floats
    """Of each learner, (n,)."""

    def __init__(
        self, learners: Sequence[MetricLearner], *, last_resort: MetricLearner | None = None, margin: float = 7.0
    ) -> None:
        everybody = [*learners, *([] if last_resort is None else [last_resort])]
        for learner in everybody:
            if not isinstance(learner, MetricLearner):
                raise InvalidInput(f"learners must be metric learners, got {learner!r}")
        sizes = {learner.n_features for learner in everybody}
        if not learners or len(sizes) != 1:
            raise InvalidInput(f"learners must be at least one, all with the same features, got {sorted(sizes)}")
        self.margin = check_number("margin", margin, least=0)
        self.last_resort, self._learned_of, self._trying, self._lead = copy.deepcopy(last_resort), 0, 0, 0.0
        super().__init__(learners[0].n_features, learners[0].space.structure)
        self._promised = type(learners[0]).promise is not MetricLearner.promise  # asking for it takes time
        self._set(tuple(copy.deepcopy(learner) for learner in learners), np.zeros(len(learners)))

    def __repr__(self) -> str:
        return f"ByEvidence({list(self.learners)!r})"

    def _set(self, learners: tuple[MetricLearner, ...], evidence: Floats) -> None:
        """Take these learners, without those that are refuted, and decide who plays."""
        behind = np.maximum.accumulate(evidence[::-1])[::-1] - evidence
        stands = [gap > self.margin and _stands(each, gap) for each, gap in zip(learners, behind, strict=True)]
        kept = np.flatnonzero((behind < HOPELESS) | stands)
        self.learners, self.evidence = tuple(learners[i] for i in kept), evidence[kept]
        self.playing = next(learners[i] for i in kept if behind[i] <= self.margin or stands[i])
        self.space, self.error_rate = self.playing.space, self.playing.error_rate

    def reviewers(self) -> dict[str | None, ReviewerReport]:
        """The reports of the learner in play, or, if it learns nothing of reviewers, of the first one that does.

        What no metric explains looks like errors to them. The last resort knows a residual, so where both are believed
        the rate of errors is the lower of the two, except of those who mislead: nobody is said to err where a model
        that predicts about as well needs no errors. It alone compares reviewers.
        """
        reports = self._of_a_metric()
        if self.last_resort is None:
            return reports
        modelled, share = self.last_resort.reviewers(), 1.0 / (1.0 + float(np.exp(-self._lead)))
        expected = None if self._learned_of else self.last_resort.expected_reviewer()
        return {name: _joined(report, modelled.get(name, expected), share) for name, report in reports.items()}

    def misleading(self) -> frozenset[str | None]:
        """Those who mislead by the reports of a metric."""
        return frozenset(name for name, report in self._of_a_metric().items() if report.misleads)

    def _of_a_metric(self) -> dict[str | None, ReviewerReport]:
        reports = (learner.reviewers() for learner in (self.playing, *self.learners))
        return next((report for report in reports if report), {})

    def interactions(self, blocks: Sequence[Any] | None = None) -> list[InteractionEvidence]:
        """Those that the learner in play finds, or, if it looks for none, the first one that does."""
        found = (learner.interactions(blocks) for learner in (self.playing, *self.learners))
        return next((each for each in found if each), [])

    def evidence_of_few_interactions(self) -> float:
        """That of the learner in play, or, if it has none, of the first one that does."""
        found = (learner.evidence_of_few_interactions() for learner in (self.playing, *self.learners))
        return next((each for each in found if each), 0.0)

    @property
    def promise(self) -> str | None:
        """What the learner in play promises; that the promise is withdrawn, if the first learner made one."""
        if self.playing.promise is not None or not self._promised:
            return self.playing.promise
        return "Withdrawn: the answers are those of reviewers who err or hesitate, and no theorem limits their flags."

    def chance_flagged(self, pairs: Pairs, gaps: Floats, reviewer: str | None = None) -> Floats:
        """The probability that this reviewer flags each pair at this gap, mean over learners weighted by evidence."""
        predictors, evidence = list(self.learners), self.evidence
        if self.last_resort is not None:
            predictors.append(self.last_resort)
            evidence = np.append(evidence, evidence.max() + self._lead)
        weights = np.exp(evidence - evidence.max())
        chances = [predictor.chance_flagged(pairs, gaps, reviewer) for predictor in predictors]
        return np.asarray(np.average(chances, axis=0, weights=weights))

    # Learning: all of it, or nothing.

    def learn(self, verdicts: Verdicts) -> Learned:
        """All learn from the verdicts; the result is the last one's, to whom the fewest are contradictions."""
        return self._learn(verdicts, lambda learner: learner.learn(verdicts))

    def learn_ratings(self, ratings: Ratings) -> Learned:
        """All learn from the ratings, each in its own way; evidence is what they predicted of the implied verdicts."""
        return self._learn(ratings.implied, lambda learner: learner.learn_ratings(ratings))

    def learn_comparisons(self, comparisons: Comparisons) -> Learned:
        """All learn from the comparisons, each in its own way, as from ratings."""
        return self._learn(comparisons.implied, lambda learner: learner.learn_comparisons(comparisons))

    def _learn(self, predicted: Verdicts | None, learn: Callable[[MetricLearner], Learned]) -> Learned:
        learners, evidence = copy.deepcopy(self.learners), self.evidence
        if predicted is not None and len(learners) > 1:
            evidence = evidence + np.array([_log_chance(learner, predicted) for learner in learners])
        learned = [learn(learner) for learner in learners]
        self._set(learners, evidence)
        return learned[-1]

    def learn_bit(self, verdicts: Verdicts, *, any_unfair: bool) -> Learned:
        """Those who can learn from one bit do; if the one in play cannot, nobody does."""
        learners, result = copy.deepcopy(self.learners), Learned()
        for before, learner in zip(self.learners, learners, strict=True):
            try:
                learned = learner.learn_bit(verdicts, any_unfair=any_unfair)
            except UnsupportedReview:
                if before is self.playing:
                    raise
                continue
            result = learned if before is self.playing else result
        self._set(learners, self.evidence)
        return result

    @property
    def best_predictor(self) -> MetricLearner | None:
        """The learner with the most evidence, of equals the first; None if no last resort is to be compared with it."""
        return None if self.last_resort is None else self.learners[int(np.argmax(self.evidence))]

    def reconsidered(self, answers: RememberedAnswers) -> MetricLearner:
        """The last resort in place of all learners, if it predicted the answers better than the best of them.

        It learns the remembered answers whenever there are `GROWTH` times as many, `AT_ONCE` of them with each review,
        and is judged by what it predicted of them before; those of misleading reviewers do not count. A learner of many
        unknowns is slow to show what it will be worth, so without the word of the check the lead must be clear; and no
        lead ends a promise that stands.
        """
        first, learned = max(FIRST_TRIAL, FIRST_OF_EACH * self.n_features), self._learned_of
        is_trying = learned < self._trying
        if self.last_resort is None or not (is_trying or answers.seen >= max(first, GROWTH * learned)):
            return self
        twin, misleading = copy.deepcopy(self), self.misleading()
        twin.last_resort, twin._trying = copy.deepcopy(self.last_resort), self._trying if is_trying else answers.seen
        twin._learned_of = min(learned + AT_ONCE, twin._trying)
        for verdicts, chances in answers.predicted(since=learned, until=twin._learned_of):
            if verdicts.reviewer in misleading:
                continue
            noted = np.flatnonzero(chances >= 0.0)
            ours = _log(verdicts.take(noted), chances[noted])
            twin._lead = max(twin._lead + _log_chance(twin.last_resort, verdicts.take(noted)) - ours, -HOPELESS)
            twin.last_resort.learn(verdicts)
        if twin._learned_of < twin._trying:
            return twin
        if twin._lead > (LEAD if answers.speaks_up else CLEAR) and (answers.speaks_up or self.flags_left is None):
            last, twin.last_resort, twin.has_taken_over = twin.last_resort, None, True
            twin._set((last,), np.zeros(1))
        return twin

    def without_last_resort(self) -> MetricLearner:
        """The same without the last resort, whose fits take half of the time of learning."""
        twin = copy.deepcopy(self)
        twin.last_resort = None
        return twin

    # Saving.

    def state(self) -> dict[str, Any]:
        """All learners, and the evidence of each."""
        return {
            "learners": [learner.saved() for learner in self.learners],
            "last_resort": None if self.last_resort is None else self.last_resort.saved(),
            "evidence": self.evidence,
            "margin": self.margin,
            "promised": self._promised,
            "learned_of": self._learned_of,
            "trying": self._trying,
            "lead": self._lead,
            "has_taken_over": self.has_taken_over,
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """The learner with this `state`, to the bit."""
        learner, last = cls.__new__(cls), state["last_resort"]
        learner.margin, learner._promised = float(state["margin"]), bool(state["promised"])
        learner.last_resort = None if last is None else MetricLearner.restored(last)
        # Files of the first version have none: their last resort has learned nothing yet.
        learner._learned_of, learner._lead = int(state.get("learned_of", 0)), float(state.get("lead", 0.0))
        learner._trying = int(state.get("trying", learner._learned_of))
        learner.has_taken_over = bool(state.get("has_taken_over", False))
        learner._set(tuple(MetricLearner.restored(saved) for saved in state["learners"]), state["evidence"].copy())
        return learner

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """Learning replaces the learners and never changes one, so a copy may share them."""
        memo[id(self)] = twin = self.__class__.__new__(self.__class__)
        twin.__dict__.update(self.__dict__)
        return twin


def _stands(learner: MetricLearner, behind: float) -> bool:
    """Whether the promise of a learner that is behind by this much evidence stands: doubts of two kinds end it.

    Where most reviewers mislead, the metric that all are alike may explain all answers but a few, too few to refute a
    rate. Then equal probabilities are played, no more answers come, and nothing would refute it later.
    """
    return learner.flags_left is not None and not (behind > HOPELESS and learner.promise_is_doubtful)


def _joined(report: ReviewerReport, modelled: ReviewerReport | None, share: float) -> ReviewerReport:
    """A report by a metric's learner and one by a model of the reviewer, which has this share of the evidence."""
    if modelled is None:
        return report
    compared = replace(report, deviation=modelled.deviation, agreement=modelled.agreement)
    if report.misleads:
        return compared
    believed = [one for one, weight in ((report, 1.0 - share), (modelled, share)) if weight >= UNBELIEVED]
    milder = min(believed, key=lambda one: one.error_rate)
    return replace(
        compared,
        error_rate=milder.error_rate,
        lower=min(one.lower for one in believed),
        upper=max(one.upper for one in believed),
        softness=milder.softness,
        softness_lower=min(one.softness_lower for one in believed),
        softness_upper=max(one.softness_upper for one in believed),
    )


def _log_chance(learner: MetricLearner, verdicts: Verdicts) -> float:
    """The log-probability that a learner gave to these verdicts, taken one by one."""
    return _log(verdicts, learner.chance_flagged(verdicts.pairs, verdicts.gaps, verdicts.reviewer))


def _log(verdicts: Verdicts, flagged: Floats) -> float:
    chances = np.where(verdicts.unfair, flagged, 1.0 - flagged)
    return float(np.sum(np.log(np.maximum(chances, LEAST_CHANCE))))
