"""The learners of evenhand that are tried on people. To try another one, add a line to LEARNERS."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from evenhand._internal.arrays import Floats
from evenhand.bandit import FairBandit
from evenhand.errors import InconsistentReviews, MisleadingReviewer, NoMetricFits
from evenhand.lab.people.answers import MEMBER_REVIEW, Panel, PersonAnswers
from evenhand.metrics import BayesPoint, ByEvidence, MetricLearner, Score, VersionSpace, default_learner
from evenhand.metrics import Panel as ScorePanel

Make = Callable[[int, float, int], MetricLearner]
"""A learner from the number of features, the quantile it plays, and a seed."""


def taught(learner: MetricLearner, panel: Panel) -> MetricLearner:
    """The learner after all answers of the panel, each member a reviewer of their own."""
    for name, answers in panel:
        for verdicts in answers.reviews(name, MEMBER_REVIEW):
            learner.learn(verdicts)
    return learner


@lru_cache(maxsize=16)
def fitted(n_features: int, panel: Panel) -> ScorePanel:
    """The panel's members as people fitted by Score: the same for everybody in a fold, whatever they play."""
    known = taught(Score(n_features), panel)
    assert isinstance(known, Score)
    return known.panel()


def before_them(learner: MetricLearner, panel: Panel) -> MetricLearner:
    """A Score that knows the panel's members as people fitted elsewhere."""
    assert isinstance(learner, Score)
    n_features = learner.n_features
    return Score(n_features, quantile=learner.quantile, panel=fitted(n_features, panel), seed=learner.seed)


def one_before_them(learner: MetricLearner, panel: Panel) -> MetricLearner:
    """The default after all answers of the panel, whose last resort knows the members as people fitted elsewhere."""
    assert isinstance(learner, ByEvidence)
    assert isinstance(learner.last_resort, Score)
    known = taught(learner, panel)
    assert isinstance(known, ByEvidence)
    return ByEvidence.from_state(known.state() | {"last_resort": before_them(learner.last_resort, panel).saved()})


@dataclass(frozen=True)
class Contender:
    """A learner, the quantiles that draw its frontier, and how it starts from a panel.

    cautions: the first is the usual one. plays, predicts: whether it takes part online and offline. most_answers: from
    how many answers of a person it learns offline; fewer where it is slow.
    """

    make: Make
    cautions: tuple[float, ...] = (0.1,)
    with_panel: Callable[[MetricLearner, Panel], MetricLearner] | None = None
    plays: bool = True
    predicts: bool = True
    most_answers: int = 1000


LEARNERS: dict[str, Contender] = {
    "BayesPoint": Contender(lambda d, q, seed: BayesPoint(d, caution=q), (0.1, 0.02, 0.05, 0.2, 0.3), taught),
    "BayesPoint, epsilon 0.05": Contender(
        lambda d, q, seed: BayesPoint(d, epsilon=0.05, caution=q), (0.1, 0.02, 0.05, 0.2, 0.3), taught, predicts=False
    ),
    "BayesPoint, rate learned": Contender(
        lambda d, q, seed: BayesPoint(d, caution=q, error_rate=None), (0.1, 0.01, 0.02, 0.05), taught
    ),
    "BayesPoint, rate and softness learned": Contender(
        lambda d, q, seed: BayesPoint(d, caution=q, error_rate=None, softness=None), (0.1, 0.05)
    ),
    "Score": Contender(lambda d, q, seed: Score(d, quantile=q, seed=seed), (0.1, 0.05, 0.15, 0.2), before_them),
    "the default": Contender(
        lambda d, q, seed: default_learner(d, quantile=q, seed=seed), (0.1, 0.05, 0.15, 0.2), one_before_them
    ),
    "VersionSpace, rate learned": Contender(
        lambda d, q, seed: VersionSpace(d, quantile=q, error_rate=None, seed=seed), plays=False, most_answers=300
    ),
}
"""By name. The first two differ in epsilon alone, which changes what is played and not what is believed."""

DEFAULT = "the default"
"""FairBandit's own learner: the one that the checks are about."""

QUICK = (DEFAULT,)
"""Those of a quick run."""

USUAL = (DEFAULT, "BayesPoint", "Score")
"""Those of a run that is neither quick nor full: the default, and two of the learners that it consists of."""


class LearnerPredictor:
    """A metric learner as a predictor of one person's flags."""

    def __init__(self, learner: MetricLearner, person: str) -> None:
        self.learner, self.person = learner, person

    def learn(self, answers: PersonAnswers) -> None:
        """Learn further answers of the person."""
        for verdicts in answers.reviews(self.person):
            self.learner.learn(verdicts)

    def chance_flagged(self, answers: PersonAnswers) -> Floats:
        """The probability that the person flags each pair, (n,)."""
        return self.learner.chance_flagged(answers.pairs, answers.gaps, self.person)


class BanditPredictor:
    """A FairBandit with this learner as a predictor of one person's flags: answers may change which learner it has."""

    def __init__(self, learner: MetricLearner, person: str) -> None:
        self.bandit, self.person = FairBandit(learner.n_features, metric=learner, seed=0), person

    def learn(self, answers: PersonAnswers) -> None:
        """Learn further answers of the person, each pair as two contexts on either side of the origin."""
        with warnings.catch_warnings():
            for warning in (InconsistentReviews, MisleadingReviewer, NoMetricFits):
                warnings.simplefilter("ignore", warning)
            for half, gap, unfair in zip(answers.differences / 2.0, answers.gaps, answers.flagged, strict=True):
                self.bandit.learn_pair(half, -half, gap=gap, unfair=bool(unfair), reviewer=self.person)

    def chance_flagged(self, answers: PersonAnswers) -> Floats:
        """The probability that the person flags each pair, (n,)."""
        return self.bandit.metric.chance_flagged(answers.pairs, answers.gaps, self.person)
