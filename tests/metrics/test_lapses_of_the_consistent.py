"""People who never contradict themselves: what no metric explains is not booked as lapses."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from evenhand.bandit import FairBandit
from evenhand.lab.people.answers import RatedPairs
from evenhand.lab.people.study import RatingStudy, rating_study
from evenhand.metrics import MetricLearner, Score
from evenhand.testing.people import made_up_ratings

pytestmark = pytest.mark.statistical

MOST = 0.05
"""The share of answers that a person who never contradicts herself may be estimated to lapse in."""


@pytest.fixture(scope="module")
def study() -> RatingStudy:
    """Four people who rated 120 candidates once: a score of the features and a residual, in five steps."""
    return rating_study(made_up_ratings(4, 120, seed=3), "made up")


def _worst(learner: MetricLearner, study: RatingStudy, person: int, answers: int) -> float:
    """The highest error rate that is ever reported of a person with frozen ratings."""
    asked = RatedPairs(study, person, "log", pool=1250, n_folds=5, seed=0).training(0).take(slice(0, answers))
    worst = 0.0
    for verdicts in asked.reviews("she", 20):
        learner.learn(verdicts)
        worst = max(worst, learner.reviewers()["she"].error_rate)
    return worst


@pytest.mark.parametrize("person", range(2))
def test_a_model_with_a_residual_finds_no_lapses(study: RatingStudy, person: int) -> None:
    """At no time within 400 answers: residuals and softness explain what a score does not, lapses need not."""
    assert _worst(Score(study.contexts("log").shape[1]), study, person, 400) <= MOST


@pytest.mark.parametrize("person", range(2))
def test_nor_does_the_default(study: RatingStudy, person: int) -> None:
    """At no time within 250 answers: before the model of people has learned, while it stands by, and when it plays."""
    bandit = FairBandit(study.contexts("log").shape[1], seed=0)
    asked = RatedPairs(study, person, "log", pool=1250, n_folds=5, seed=0).training(0).take(slice(0, 250))
    worst = 0.0
    for half, gap, unfair in zip(asked.differences / 2.0, asked.gaps, asked.flagged, strict=True):
        bandit.learn_pair(half, -half, gap=gap, unfair=bool(unfair), reviewer="she")
        worst = max(worst, bandit.reviewers()["she"].error_rate)
    assert worst <= MOST


def test_lapses_are_found_all_the_same(study: RatingStudy) -> None:
    """A fifth of 1,000 answers turned at random: more than 5% is reported, if less than there were."""
    rng, asked = np.random.default_rng(0), RatedPairs(study, 0, "log", pool=1250, n_folds=5, seed=0).training(0)
    learner = Score(asked.differences.shape[1])
    for verdicts in asked.reviews("she", 100):
        learner.learn(replace(verdicts, unfair=verdicts.unfair ^ (rng.random(len(verdicts)) < 0.2)))
    assert learner.reviewers()["she"].error_rate > MOST
