"""The metric learner that FairBandit and desks have unless another one is passed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from evenhand._internal.checks import check_number
from evenhand._internal.randomness import Seed, as_generator
from evenhand.errors import InvalidInput
from evenhand.metrics.bayes_point import BayesPoint
from evenhand.metrics.by_evidence import ByEvidence
from evenhand.metrics.features import MetricSpace, Structure
from evenhand.metrics.learner import MetricLearner
from evenhand.metrics.learner_settings import ASSUMED_ERROR_RATE
from evenhand.metrics.score import Score
from evenhand.metrics.version_space_learner import VersionSpace

MOST_SAMPLED = 15
"""Up to this many unknowns, five features, VersionSpace is worth its time: a review takes milliseconds there."""


def structure_for(n_features: int, structure: Structure) -> Structure:
    """The structure to learn where "auto" was asked for: "full" for the few features that VersionSpace learns.

    >>> structure_for(5, "auto"), structure_for(6, "auto"), structure_for(6, "diagonal")
    ('full', 'auto', 'diagonal')
    """
    is_small = MetricSpace(n_features, structure).n_unknowns <= MOST_SAMPLED
    return "full" if structure == "auto" and is_small else structure


def default_learner(
    n_features: int,
    *,
    structure: Structure = "auto",
    epsilon: float | None = None,
    error_rate: float | None = None,
    bound: float = 1.0,
    quantile: float = 0.1,
    play: str = "mean",
    blocks: Sequence[Any] | None = None,
    prior: Any = None,
    weight: float = 1.0,
    seed: Seed = None,
) -> MetricLearner:
    """A learner for reviewers of whom nothing is known; with an error rate, BayesPoint with that rate.

    Each kind of reviewer has the learner that serves them best: those who apply a rule VersionSpace with its promise,
    those who err VersionSpace with error rates that are learned, those whose threshold moves BayesPoint, and people who
    follow no metric Score, from the moment when their answers show it. Beyond MOST_SAMPLED unknowns BayesPoint serves
    the first three.

    structure, epsilon, bound: those of the learners; "auto" is "full" up to five features (`structure_for`).
    quantile: what all but the first one play; for people, the share of binding reviewed pairs that they flag. play:
    whose judgement Score plays. blocks, prior, weight: those of BayesPoint; with a prior VersionSpace is left out,
    since it starts from all metrics.

    >>> learner = default_learner(3, seed=0)
    >>> [type(each).__name__ for each in learner.learners], type(learner.last_resort).__name__
    (['VersionSpace', 'VersionSpace', 'BayesPoint'], 'Score')
    """
    check_number("quantile", quantile, above=0, below=1)
    if error_rate is not None and play != "mean":
        raise InvalidInput(f"play must be 'mean' with an error_rate: one metric is learned of all, got {play!r}")
    structure = structure_for(n_features, structure)
    blocks = blocks if structure == "auto" else None  # they would change nothing but the state
    settings: dict[str, Any] = {"structure": structure, "epsilon": epsilon, "bound": bound}
    of_belief: dict[str, Any] = {"caution": quantile, "blocks": blocks, "prior": prior, "weight": weight}
    if error_rate is not None:
        return BayesPoint(n_features, error_rate=error_rate, **of_belief, **settings)
    moving = BayesPoint(n_features, error_rate=None, softness=None, **of_belief, **settings)
    last_resort = Score(n_features, quantile=quantile, play=play)
    if prior is not None or moving.space.n_unknowns > MOST_SAMPLED:
        return ByEvidence([moving], last_resort=last_resort)
    of_exact, of_erring = as_generator(seed).spawn(2)
    exact = VersionSpace(n_features, error_rate=ASSUMED_ERROR_RATE, seed=of_exact, **settings)
    erring = VersionSpace(n_features, error_rate=None, quantile=quantile, seed=of_erring, **settings)
    return ByEvidence([exact, erring, moving], last_resort=last_resort)
