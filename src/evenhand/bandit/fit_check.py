"""FitCheck: whether the answers of reviewers follow any metric at all, checked all the time."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from evenhand._internal.arrays import Floats, Indices, Mask
from evenhand._internal.checks import check_whole
from evenhand._internal.jit import frozen
from evenhand.bandit._best_metric import TOLERATED, best_metric
from evenhand.errors import InvalidInput, SolverFailed
from evenhand.metrics import MetricLearner, Pairs, Verdicts

FALSE_ALARM = 0.02
"""The probability that the check ever speaks up about a reviewer who follows a metric and is wrong in a tenth of the
answers, provided that the search finds a metric no worse than the reviewer's."""

MEMORY = 1500
"""Maximum number of answers remembered, the newest ones."""

PER_REVIEW = 5
"""The number of answers taken from one review: pairs of one decision share candidates, and say little more."""

FIRST_LOOK, GROWTH = 150, 1.3
"""The answers before the first look, and their growth from look to look while all are remembered."""

PREDICTED = 4
"""Predictions are noted for one review in this many where only the report uses them: they take longer than the rest."""

UNKNOWN = -1.0  # in place of a prediction that was not noted
NONE_NOTED = frozen(np.full(PER_REVIEW, UNKNOWN))
TOGETHER = 50  # answers that a learner is shown at a time when it is tried on the remembered ones
CHUNKS = 64  # reviews that are kept apart before they are joined: joining copies everything

MOST_TOLERATED = 0.4  # at higher error rates answers carry too little information for the check


@dataclass(frozen=True, eq=False)
class CheckedAnswers:
    """Answers on pairs: the question, the prediction and the answer."""

    differences: Floats
    """Of the two contexts, (n, d)."""
    gaps: Floats
    chances: Floats
    """The probability of a flag that the learner predicted, before it learned the answer, (n,)."""
    unfair: Mask
    reviewers: Indices
    """Who answered: a number of `FitCheck.names`, (n,)."""

    @classmethod
    def none(cls, n_features: int) -> CheckedAnswers:
        """No answers."""
        return cls(np.zeros((0, n_features)), np.zeros(0), np.zeros(0), np.zeros(0, np.bool_), np.zeros(0, np.int64))

    def __len__(self) -> int:
        return len(self.gaps)

    def take(self, rows: Mask | slice) -> CheckedAnswers:
        """Some of the answers."""
        return CheckedAnswers(*(getattr(self, name)[rows] for name in self.__dataclass_fields__))

    def joined(self, more: Sequence[CheckedAnswers]) -> CheckedAnswers:
        """These answers and more, the last MEMORY of them."""
        parts = (self, *more)
        columns = ([getattr(part, name) for part in parts] for name in self.__dataclass_fields__)
        return CheckedAnswers(*(np.concatenate(column)[-MEMORY:] for column in columns))


@dataclass(frozen=True, eq=False)
class FitCheck:
    """Remembers answers, and looks now and then for a metric that explains them, until it has spoken up.

    It speaks up when answers speak strongly against every metric that a search finds: docs/mathematics.md says why a
    reviewer who follows one is hardly ever accused; or when a learner without a metric took over. Checks are values:
    `after` gives the next one.
    """

    older: CheckedAnswers
    newer: tuple[CheckedAnswers, ...] = ()
    """Answers of the last reviews, not yet joined to the older ones."""
    names: tuple[str | None, ...] = ()
    """The reviewers, in the order of their first answer."""
    tolerated: float = TOLERATED
    """The share of answers that may be wrong: TOLERATED, or the learner's error rate if that is higher."""
    seen: int = 0
    """The number of answers looked at, remembered or not."""
    reviews: int = 0
    next_look: int = FIRST_LOOK
    late_looks: int = 0
    """Looks since answers were first forgotten; each has its own share of the probability of a false alarm."""
    factor: Floats | None = None
    """A of the best metric at the last look, (d, d)."""
    evidence: float = 0.0
    """The log of the e-value against that metric."""
    wrong_share: float | None = None
    """The share of the remembered answers that it got wrong."""
    spoke_at: int | None = None
    """The number of answers after which the check spoke up first."""
    is_undecided: bool = False
    """Whether the last look reached its limit on work: no metric was found that fits, but not all was tried."""
    is_outpredicted: bool = False
    """Whether it spoke up because a model without a metric took over, and not because of its own search."""

    @classmethod
    def of(cls, metric: MetricLearner) -> FitCheck:
        """A check of the answers that this learner will learn from."""
        rate = max(TOLERATED, min(metric.error_rate or 0.0, MOST_TOLERATED))
        return cls(CheckedAnswers.none(metric.n_features), tolerated=rate)

    @property
    def answers(self) -> CheckedAnswers:
        """The answers that are remembered."""
        return self.older.joined(self.newer) if self.newer else self.older

    def predicted(self, since: int, until: int) -> Iterator[tuple[Verdicts, Floats]]:
        """The remembered answers in order, some of one reviewer at a time, and what was predicted of them.

        since, until: those of the answers counted from 0, the last one left out.
        """
        answers = self.answers
        forgotten = self.seen - len(answers)
        answers = answers.take(slice(max(since - forgotten, 0), max(until - forgotten, 0)))
        for start in range(0, len(answers), TOGETHER):
            some = answers.take(slice(start, start + TOGETHER))
            for row in np.unique(some.reviewers).tolist():
                own = some.take(some.reviewers == row)
                pairs = Pairs(np.tile([0, 1], (len(own), 1)), own.differences)
                verdicts = Verdicts(pairs, own.gaps, own.unfair, np.ones(len(own), np.bool_), self.names[row])
                yield verdicts, own.chances

    @property
    def speaks_up(self) -> bool:
        """Whether the answers were found to follow no metric, at some time."""
        return self.spoke_at is not None

    @property
    def threshold(self) -> float:
        """The evidence at which the check speaks up: log(1/alpha), and more with every late look.

        Half of alpha is for all looks before answers are forgotten, half for all later ones, 1/(k(k + 1)) for the k-th.
        """
        k = self.late_looks
        return math.log(2.0 / FALSE_ALARM) + (math.log(k * (k + 1.0)) if k else 0.0)

    def after(self, verdicts: Verdicts, metric: MetricLearner) -> FitCheck:
        """The check after these verdicts; metric: the learner before it learns them."""
        n = len(verdicts.gaps)
        if n == 0:
            return self
        if n > PER_REVIEW:
            n, verdicts = PER_REVIEW, verdicts.take(_some(n, self.seen))
        judged, chances = metric.best_predictor, NONE_NOTED[:n]
        if judged is not None or self.reviews % PREDICTED == 0:
            chances = (judged or metric).chance_flagged(verdicts.pairs, verdicts.gaps, verdicts.reviewer).clip(0.0, 1.0)
        names = self.names if verdicts.reviewer in self.names else (*self.names, verdicts.reviewer)
        who = np.array([names.index(verdicts.reviewer)] * n)
        differences = verdicts.pairs.differences
        if differences.base is not None:  # rows of a table of all pairs, 10 MB for fifty candidates of 1,000 features
            differences = differences.copy()
        new = CheckedAnswers(differences, verdicts.gaps, chances, verdicts.unfair, who)
        older, newer = self.older, (*self.newer, new)
        if len(newer) == CHUNKS:
            older, newer = older.joined(newer), ()
        seen = self.seen + n
        check = replace(self, older=older, newer=newer, names=names, seen=seen, reviews=self.reviews + 1)
        return check.looked(metric) if seen >= check.next_look and not check.speaks_up else check

    def with_learner(self, metric: MetricLearner) -> FitCheck:
        """The check where this learner goes on: it speaks up if a model without a metric has taken over."""
        if not metric.has_taken_over or self.speaks_up:
            return self
        return replace(self, spoke_at=self.seen, is_outpredicted=True)

    def looked(self, metric: MetricLearner) -> FitCheck:
        """The check after looking for a metric that explains the answers."""
        late = self.late_looks + (self.seen > MEMORY)
        next_look = min(math.ceil(GROWTH * self.seen), MEMORY) if self.seen < MEMORY else self.seen + MEMORY
        check = replace(self, next_look=next_look, late_looks=late)
        answers = self._of_honest(metric)
        if len(answers) < FIRST_LOOK:
            return check
        try:
            starts = [_factor(metric), *([] if self.factor is None else [self.factor])]
            best = best_metric(
                answers.differences,
                answers.gaps,
                answers.unfair,
                starts=starts,
                tolerated=self.tolerated,
                enough=check.threshold,
            )
        except SolverFailed:  # no result; the next look tries again
            return check
        share = best.wrong / len(answers)
        check = replace(check, factor=best.factor, evidence=best.evidence, wrong_share=share, is_undecided=best.is_cut)
        is_refuted = best.evidence >= check.threshold and not best.is_cut  # where it is cut, the next look goes on
        return replace(check, spoke_at=self.seen if is_refuted else None)

    def _of_honest(self, metric: MetricLearner) -> CheckedAnswers:
        """The remembered answers, without those of reviewers whom the learner ignores."""
        names, answers = metric.misleading(), self.answers
        misleading = [row for row, name in enumerate(self.names) if name in names]
        return answers.take(~np.isin(answers.reviewers, misleading)) if misleading else answers

    # Saving.

    def state(self) -> dict[str, Any]:
        """Everything the check consists of."""
        answers = self.answers
        columns = {name: getattr(answers, name) for name in answers.__dataclass_fields__}
        plain = {name: getattr(self, name) for name in self.__dataclass_fields__ if name not in ("older", "newer")}
        return {"answers": columns, **plain, "names": list(self.names)}

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """The check with this `state`, to the bit."""
        answers = CheckedAnswers(**{name: np.array(column) for name, column in state["answers"].items()})
        n, d = answers.differences.shape
        if (
            any(len(column) != n for column in (answers.gaps, answers.chances, answers.unfair, answers.reviewers))
            or n > MEMORY
        ):
            raise InvalidInput(f"the answers of a fit check must be columns of one length up to {MEMORY}, got {n}")
        rest = {name: value for name, value in state.items() if name in cls.__dataclass_fields__}
        rest["names"] = tuple(rest["names"])
        check_whole("seen", rest["seen"], least=n)
        if rest["factor"] is not None and np.shape(rest["factor"]) != (d, d):
            raise InvalidInput(f"the metric of a fit check must be ({d}, {d}), got {np.shape(rest['factor'])}")
        return cls(answers, (), **rest)


def _some(n: int, offset: int) -> Indices:
    """PER_REVIEW of n rows, evenly spread, a different choice for each review; the answers play no part in it."""
    rows = (offset + np.arange(PER_REVIEW) * n // PER_REVIEW) % n
    rows.sort()
    return rows


def _factor(metric: MetricLearner) -> Floats:
    """A, (d, d), with A'A the positive part of the learner's matrix."""
    return metric.space.embedded(metric.space.flatten(metric.matrix()), np.eye(metric.n_features))[0].T
