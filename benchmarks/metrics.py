"""Learning a metric from pairs, against metric-learn: the same pairs, the same information.

A pair comes with the gap it was treated with and whether somebody called it unfair: d < gap, or not. metric-learn takes
pairs that are alike or not alike, so it is given the difference of the contexts divided by the gap: likeness then ends
at a distance of 1, exactly what was answered. (Given the differences alone it is no better than ||x - y||.) Its
metrics are then multiplied by the factor under which the most training pairs come out right. Ours takes the pairs in
reviews of 45, as ten candidates make them.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

import evenhand as eh
from benchmarks.measurement import Case, Floats, Measurement, Size, compared
from benchmarks.peers import if_installed, load
from benchmarks.timing import in_turn, repeated
from evenhand.baselines.offline_metric import best_scale
from evenhand.metrics import Pairs, Verdicts

PART = "metrics"

WORKS = {
    Size.TINY: ((2, 60),),
    Size.QUICK: ((5, 450), (10, 900)),
    Size.FULL: ((5, 450), (5, 1800), (10, 900), (10, 3600)),
}
"""(features, pairs)."""
REPETITIONS = {Size.TINY: 1, Size.QUICK: 3, Size.FULL: 7}
BUDGET = 60.0

HELD_OUT = 4000
"""Pairs that nobody learned from."""
REVIEW = 45
SPREAD = 0.5
"""Gaps are the true distance times exp of a normal number with this deviation: about as many flags as not."""

Learn = Callable[["Answers"], Floats]


@dataclass(frozen=True)
class Answers:
    """Differences of contexts (n, d), gaps (n,), flags (n,), and the true distances (n,)."""

    differences: Floats
    gaps: Floats
    unfair: NDArray[np.bool_]
    distances: Floats


@dataclass(frozen=True)
class Way:
    """One of metric-learn's learners with settings of its own and of its fit."""

    name: str
    learner: str
    settings: dict[str, Any] = field(default_factory=dict)
    fitting: dict[str, Any] = field(default_factory=dict)


WAYS = (
    Way("metric-learn ITML, as it comes", "ITML"),
    Way("metric-learn ITML, similarity threshold 1", "ITML", fitting={"bounds": [1.0, 1.0]}),
    Way("metric-learn ITML, similarity threshold 1, gamma 10", "ITML", {"gamma": 10.0}, {"bounds": [1.0, 1.0]}),
    Way("metric-learn MMC", "MMC"),
)
"""ITML as it comes is the more accurate and by far the slower one. No setting of MMC that was tried is better here."""


def random_answers(n: int, d: int, seed: int) -> Answers:
    """Pairs of contexts on the sphere, with gaps around their distance."""
    rng = np.random.default_rng([seed, d])
    A = eh.environments.random_metric(d, seed=2)
    contexts = rng.normal(size=(2, n, d))
    contexts /= np.linalg.norm(contexts, axis=2, keepdims=True)
    differences = contexts[0] - contexts[1]
    distances = np.linalg.norm(differences @ A.T, axis=1)
    gaps = np.minimum(distances * np.exp(SPREAD * rng.normal(size=n)), 1.0)
    return Answers(differences, gaps, distances < gaps, distances)


def cases(size: Size) -> list[Case]:
    """Each of metric-learn's ways on each number of pairs."""
    return [
        Case(PART, f"d = {d}, {n} pairs: {way.name}", functools.partial(_measured, d, n, way, size))
        for d, n in WORKS[size]
        for way in WAYS
    ]


def _measured(d: int, n: int, way: Way, size: Size) -> list[Measurement]:
    work = f"d = {d}, {n} pairs"
    return if_installed("metric_learn", PART, work, way.name, functools.partial(against, work, d, n, way, size))


def against(work: str, d: int, n: int, way: Way, size: Size) -> list[Measurement]:
    """Time of learning, and how often the verdict and the order of held-out pairs come out right."""
    answers, unseen = random_answers(n, d, 0), random_answers(HELD_OUT, d, 1)
    details: dict[str, float] = {}
    learners: dict[str, Learn] = {"ours": learn_ours, "theirs": functools.partial(learn_theirs, way)}
    for whose, learn in learners.items():
        verdicts, order = quality(learn(answers), unseen)
        details |= {f"verdicts right, {whose}": verdicts, f"order right, {whose}": order}
    turns = [repeated(functools.partial(learn, answers)) for learn in learners.values()]
    seconds = in_turn(turns, repetitions=REPETITIONS[size], budget=BUDGET)
    note = "; ".join(
        f"{what} right: {details[f'{what} right, ours']:.1%} against {details[f'{what} right, theirs']:.1%}"
        for what in ("verdicts", "order")
    )
    return [compared(PART, work, way.name, seconds, note=note, details=details)]


def learn_ours(answers: Answers) -> Floats:
    """The matrix that the default learner ends with, (d, d)."""
    n, d = answers.differences.shape
    learner = eh.metrics.BayesPoint(d)
    for start in range(0, n, REVIEW):
        rows = slice(start, start + REVIEW)
        z = answers.differences[rows]
        pairs = Pairs(np.tile([0, 1], (len(z), 1)), z)
        learner.learn(Verdicts(pairs, answers.gaps[rows], answers.unfair[rows], np.ones(len(z), dtype=np.bool_)))
    return learner.get_mahalanobis_matrix()


def learn_theirs(way: Way, answers: Answers) -> Floats:
    """The matrix that metric-learn's learner ends with, scaled, (d, d)."""
    model: Any = getattr(load("metric_learn"), way.learner)(random_state=0, **way.settings)
    ends = answers.differences / answers.gaps[:, None]
    pairs, alike = np.stack([ends, np.zeros_like(ends)], axis=1), np.where(answers.unfair, 1, -1)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter(
            "ignore"
        )  # what metric-learn and scikit-learn deprecate, and that a learner stopped early
        model.fit(pairs, alike, **way.fitting)
    A = np.asarray(model.components_, dtype=np.float64)
    scale = best_scale(np.linalg.norm(answers.differences @ A.T, axis=1), answers.gaps, answers.unfair)
    return np.asarray(scale**2 * A.T @ A)


def quality(G: Floats, unseen: Answers) -> tuple[float, float]:
    """How often "gap > distance" is right, and how often which of two pairs is the farther one; shares."""
    z = unseen.differences
    found = np.sqrt(np.maximum(np.sum((z @ G) * z, axis=1), 0.0))
    verdicts = float(np.mean((unseen.gaps > found) == unseen.unfair))
    half = len(z) // 2
    farther = found[:half] > found[half : 2 * half]
    return verdicts, float(np.mean(farther == (unseen.distances[:half] > unseen.distances[half : 2 * half])))
