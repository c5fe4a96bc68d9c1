"""FitReport: how well a metric explains the answers of reviewers, in numbers and in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np

from evenhand._internal.arrays import Floats
from evenhand._internal.intervals import wilson
from evenhand.bandit.fit_check import FIRST_LOOK, UNKNOWN, CheckedAnswers, FitCheck
from evenhand.schema import Schema

Features: TypeAlias = "Schema | Sequence[str] | None"

EDGES = (0.0, 0.05, 0.1, 0.2, 0.35, 0.5, 0.75, 1.0)
"""Of the predicted probabilities, for calibration."""

NEAR, WIDE = 0.1, 0.5
"""Two candidates are near-twins if they differ by less than this share of the median difference; a gap between them is
wide if it is at least this share of the median gap."""

NOTABLE = 4.0  # how much more of the residuals features must explain than chance would
MANY = 50  # answers; features explain too much of fewer
FEW = 5  # near-twins; fewer say nothing
SURPRISING = 1.5  # how many times more answers than expected must go against the predictions


@dataclass(frozen=True)
class CalibrationBin:
    """Answers whose predicted probability of a flag lies in one interval."""

    lower: float
    upper: float
    answers: int
    predicted: float
    """The mean of the predicted probabilities."""
    flagged: float
    """The share that was flagged."""


@dataclass(frozen=True)
class Twins:
    """Wide gaps between candidates who hardly differ: a metric finds all of them unfair."""

    answers: int
    accepted: int
    """How many of them were accepted."""


@dataclass(frozen=True)
class Dependence:
    """How much of what the features explain of the residuals goes with one of them."""

    feature: str
    share: float


@dataclass(frozen=True)
class FitReport:
    """Whether the answers so far follow a metric, and what is left where they do not.

    All but `answers` and `spoke_at` is about the answers that are remembered.
    """

    answers: int
    """The number of answers looked at: up to five a review."""
    remembered: int
    predicted: int
    """How many of these have their predictions noted: all if the learner may be replaced, else those of one review in
    four."""
    speaks_up: bool
    """Whether no metric explains the answers, however it is chosen, with the tolerated share of slips; or whether a
    model of the reviewers took over because it predicted the answers far better."""
    spoke_at: int | None
    """The number of answers when that was found."""
    tolerated: float
    """The share of wrong answers that is taken for slips."""
    best_wrong: float | None
    """The share of answers that the best metric got wrong when the check last looked for it; None before."""
    evidence: float
    """The log of the e-value against that metric; the check speaks up at `threshold`."""
    threshold: float
    unexplained: float
    """The share of answers that went against the prediction, made before the answer was learned."""
    lower: float
    upper: float
    """The 95% interval of that share."""
    expected: float
    """The share that the predictions themselves expect to go against them."""
    calibration: tuple[CalibrationBin, ...]
    twins: Twins
    depends_on: tuple[Dependence, ...]
    """Which features the residuals still depend on, most first; empty if on none."""
    sentences: tuple[str, ...]
    is_undecided: bool = False
    """Whether the last search for a metric reached its limit on work, so that nothing is said about fit."""
    plays_metric: bool = True
    """Whether what is played are distances of a metric; not where a model of the reviewers is in play."""

    @property
    def sentence(self) -> str:
        """The first sentence: whether a metric fits."""
        return self.sentences[0]

    def explain(self) -> str:
        """The whole report in plain words."""
        return " ".join(self.sentences)

    def to_dict(self) -> dict[str, Any]:
        """Plain dicts, lists and numbers."""
        return asdict(self)


def report_on_fit(
    check: FitCheck,
    *,
    error_rate: float | None,
    target: float | None,
    features: Features = None,
    plays_metric: bool = True,
) -> FitReport:
    """The report of a check. error_rate: of the metric learner. target: the bandit's `target_unfair_share`.

    features: a schema, the names of the coordinates, or None: they are numbered. plays_metric: the learner's.
    """
    everything = check.answers
    answers = everything.take(everything.chances != UNKNOWN)
    n, p, unfair = len(answers), answers.chances, answers.unfair
    surprises = int(np.count_nonzero((p > 0.5) != unfair))
    against = surprises / n if n else 0.0
    expected = float(np.mean(np.minimum(p, 1.0 - p))) if n else 0.0
    lower, upper = wilson(surprises, n)
    twins, depends_on = _twins(everything), _dependences(answers, features)
    sentences = [
        _verdict(check),
        *([] if plays_metric else [MODELLED]),
        *([protection(target)] if check.speaks_up else _rate(check, error_rate, lower, against, expected)),
        *_words_on_twins(twins),
        *(_words_on_features(depends_on) if check.speaks_up else ()),
    ]
    return FitReport(
        answers=check.seen,
        remembered=len(everything),
        predicted=n,
        speaks_up=check.speaks_up,
        spoke_at=check.spoke_at,
        tolerated=check.tolerated,
        best_wrong=check.wrong_share,
        evidence=check.evidence,
        threshold=check.threshold,
        unexplained=against,
        lower=lower,
        upper=upper,
        expected=expected,
        calibration=_calibration(answers),
        twins=twins,
        depends_on=depends_on,
        sentences=tuple(sentences),
        is_undecided=check.is_undecided,
        plays_metric=plays_metric,
    )


# Numbers.


def _calibration(answers: CheckedAnswers) -> tuple[CalibrationBin, ...]:
    """Predictions and answers, by intervals of the prediction; empty intervals are left out."""
    row = np.clip(np.searchsorted(EDGES, answers.chances, side="right") - 1, 0, len(EDGES) - 2)
    bins = []
    for k, (lower, upper) in enumerate(pairwise(EDGES)):
        here = row == k
        if here.any():
            means = (float(np.mean(answers.chances[here])), float(np.mean(answers.unfair[here])))
            bins.append(CalibrationBin(lower, upper, int(np.count_nonzero(here)), *means))
    return tuple(bins)


def _twins(answers: CheckedAnswers) -> Twins:
    if len(answers) == 0:
        return Twins(0, 0)
    z = answers.differences
    scale = np.sqrt(np.mean(z**2, axis=0))
    size = np.linalg.norm(z / np.where(scale > 0.0, scale, 1.0), axis=1)
    here = (size <= NEAR * np.median(size)) & (answers.gaps >= WIDE * np.median(answers.gaps))
    return Twins(int(np.count_nonzero(here)), int(np.count_nonzero(here & ~answers.unfair)))


def _dependences(answers: CheckedAnswers, features: Features) -> tuple[Dependence, ...]:
    """Forward selection: each step takes the feature that explains most of what is left of the residuals.

    A feature enters by the size of the difference in it; the gap enters first, and does not count as a feature.
    """
    n, d = answers.differences.shape
    if isinstance(features, Schema):
        names, blocks = list(features.names), list(features.blocks.values())
    else:
        names, blocks = [f"feature {i}" for i in range(d)], [slice(i, i + 1) for i in range(d)]
        names = names if features is None else list(features)
    sizes = [np.linalg.norm(answers.differences[:, block], axis=1) for block in blocks]
    columns = {name: size for name, size in zip(names, sizes, strict=True) if n and np.ptp(size) > 0.0}
    if n < MANY or not columns:
        return ()
    left = answers.unfair - answers.chances
    basis: list[Floats] = []
    for column in (np.ones(n), answers.gaps):
        basis.append(_direction(column, basis))
    for q in basis:
        left = left - (q @ left) * q
    total, gains = float(left @ left), {}
    while columns:
        directions = {name: _direction(column, basis) for name, column in columns.items()}
        name = max(directions, key=lambda name: (float(directions[name] @ left) ** 2, name))
        q = directions[name]
        gains[name] = float(q @ left) ** 2
        left, basis = left - (q @ left) * q, [*basis, q]
        del columns[name]
    explained = sum(gains.values())
    if explained * n < NOTABLE * len(gains) * total:
        return ()
    found = [Dependence(name, gain / explained) for name, gain in gains.items()]
    return tuple(sorted(found, key=lambda one: (-one.share, one.feature)))


def _direction(column: Floats, basis: Sequence[Floats]) -> Floats:
    """What a column adds to orthonormal columns, normalised; zero if nothing."""
    rest = column
    for q in (*basis, *basis):  # twice: once is not exact enough
        rest = rest - (q @ rest) * q
    length = float(np.linalg.norm(rest))
    return np.asarray(rest / length if length > 1e-9 * float(np.linalg.norm(column)) else np.zeros_like(rest))


# Words.

MODELLED = (
    "What is played follows no metric but a model of the reviewers: a score, a residual that no feature explains, and "
    "a threshold."
)


def _verdict(check: FitCheck) -> str:
    if check.is_outpredicted:
        return (
            f"The answers follow no metric that was found: after {check.spoke_at} answers, "
            "a model of the reviewers had predicted them far better than the learners of a metric."
        )
    if check.speaks_up:
        return (
            f"The answers follow no metric: after {check.spoke_at} answers, even the best metric found got "
            f"{check.wrong_share:.0%} of them wrong, more than slips in {check.tolerated:.0%} of answers explain."
        )
    if check.wrong_share is None:
        return f"Too few answers to tell whether they follow a metric: {check.seen} so far, {FIRST_LOOK} are needed."
    if check.is_undecided:
        return (
            f"Whether the {check.seen} answers so far follow a metric is open: the search for one ended at its limit "
            f"on work, and the best metric so far gets {check.wrong_share:.0%} wrong. It goes on with more answers."
        )
    return f"A metric fits the {check.seen} answers so far: the best one found gets {check.wrong_share:.0%} wrong."


def protection(target: float | None) -> str:
    """What limits the flags where no metric does."""
    advice = "Ask for ratings, or add the features that reviewers go by."
    if target is None:
        return f"No number of flags can be promised; only a target_unfair_share limits them, and none is set. {advice}"
    return f"No number of flags can be promised; the target_unfair_share of {target:g} limits them. {advice}"


def _rate(check: FitCheck, error_rate: float | None, lower: float, against: float, expected: float) -> list[str]:
    """Where a metric fits, but not with the error rate that was set."""
    if error_rate is None or check.wrong_share is None or lower <= SURPRISING * expected:
        return []
    return [
        f"But {against:.0%} of the answers went against the predictions, where {expected:.0%} were expected: "
        f"the error rate is set to {error_rate:.1%}, but more answers are wrong. Set it to None to have it learned."
    ]


def _words_on_twins(twins: Twins) -> list[str]:
    if twins.answers < FEW or twins.accepted == 0:
        return []
    return [f"Of {twins.answers} wide gaps between candidates who hardly differ, {twins.accepted} were accepted."]


def _words_on_features(depends_on: tuple[Dependence, ...]) -> list[str]:
    if not depends_on:
        return []
    first = depends_on[0]
    return [f"Of the unexplained variation that goes with features, {first.share:.0%} goes with {first.feature}."]
