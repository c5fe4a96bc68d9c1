"""The estimates of one policy, or why there are none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from evenhand._internal.arrays import Floats, Mask
from evenhand.history._padded import round_sums
from evenhand.history.estimators import METHODS, Method, RoundTerms, effective_sample_size, importance_weights, terms_of
from evenhand.history.intervals import Interval, bernstein_interval, bootstrap_interval
from evenhand.history.outcome_model import ExpectedOutcomes
from evenhand.history.pair_counts import PairCount
from evenhand.history.past_log import PastLog
from evenhand.history.propensities import Propensities

MOST_UNSUPPORTED = 0.05
"""A policy that gives more of its choices than this to people who had no chance is not estimated."""

LEAST_EFFECTIVE = 30.0
"""Nor is one with a smaller effective sample size."""


class OffPolicyEstimate(NamedTuple):
    """What a policy earns per round, with its intervals."""

    value: float
    bootstrap: Interval | None
    """None for the direct method: an interval would not cover the error of its model."""
    bernstein: Interval | None = None
    """Holds for any sample size; None where the theorem does not apply."""

    def __str__(self) -> str:
        return f"{self.value:.4g}" + ("" if self.bootstrap is None else " ({:.4g} to {:.4g})".format(*self.bootstrap))


@dataclass(frozen=True, eq=False)
class PolicyResult:
    """What is known of one policy."""

    name: str
    played: Floats
    """(N,), its probabilities."""
    estimates: dict[Method, OffPolicyEstimate]
    """Empty if refused."""
    gain: OffPolicyEstimate | None
    """Doubly robust, less what was earned as decided: the same rounds, so narrower than the two intervals."""
    refusal: str | None
    """Why nothing is estimated."""
    bounds: Interval | None
    """If refused for people who had no chance: what the policy earns at least and at most, whatever these earn."""
    choices: float
    """How many it chooses per round, on average."""
    unsupported: float
    """The share of its choices that go to people who had no chance."""
    effective: float
    """Effective sample size, in outcomes."""
    largest_weight: float
    pairs: PairCount | None = None

    @property
    def said(self) -> tuple[str, ...]:
        """Why it was refused, and within which bounds it is nevertheless."""
        refused = () if self.refusal is None else (self.refusal,)
        within = (
            () if self.bounds is None else ("it earns from {:.4g} to {:.4g}, whatever they earn".format(*self.bounds),)
        )
        return (*refused, *within)


class EstimateLimits(NamedTuple):
    """How intervals are made, what outcomes there can be, and when to refuse."""

    confidence: float
    resamples: int
    seed: int
    low: float
    high: float
    most_unsupported: float
    least_effective: float
    scores: Floats | None = None
    """Of the chances' model, where terms are weighted by what it estimates."""


def observed_value(log: PastLog, limits: EstimateLimits) -> OffPolicyEstimate:
    """What was earned, per round."""
    sums = round_sums(np.where(log.is_observed, log.outcomes, 0.0), log.starts)
    return _estimate(RoundTerms.plain(sums), limits, _ends(log, np.ones(log.n_candidates), np.zeros(0), limits))


def _estimate(terms: RoundTerms, limits: EstimateLimits, ends: Interval | None) -> OffPolicyEstimate:
    """ends: of an interval that holds every round's term, and so their mean."""
    confidence = limits.confidence
    varying = terms if limits.scores is None else terms.beside(limits.scores)
    interval = bootstrap_interval(varying, confidence=confidence, resamples=limits.resamples, seed=limits.seed)
    if ends is None:
        return OffPolicyEstimate(terms.value, interval)
    low, high = bernstein_interval(terms.sums, ends[1] - ends[0], confidence=confidence)
    return OffPolicyEstimate(terms.value, interval, (max(low, ends[0]), min(high, ends[1])))


def _ends(
    log: PastLog, weights: Floats, expected: Floats, limits: EstimateLimits, direct: Floats | None = None
) -> Interval:
    """The ends of an interval that holds every round's term, given its candidates.

    weights: p/b of everybody, chosen or not; at most the capacity of them count at once, if past decisions kept to it.
    """
    q = expected if len(expected) else np.zeros(log.n_candidates)
    above = weights * np.maximum(limits.high - q, 0.0)
    below = weights * np.minimum(limits.low - q, 0.0)
    base = np.zeros(len(log)) if direct is None else direct
    most = log.capacities if np.all(log.places <= log.capacities) else log.sizes
    rounds = list(zip(log.starts[:-1], log.starts[1:], most, base, strict=True))
    highest = max(value + np.sort(above[start:end])[-places:].sum() for start, end, places, value in rounds)
    lowest = min(value + np.sort(below[start:end])[:places].sum() for start, end, places, value in rounds)
    return float(lowest), float(highest)


def result_of(
    name: str,
    log: PastLog,
    played: Floats,
    chances: Propensities,
    outcomes: ExpectedOutcomes,
    limits: EstimateLimits,
    pairs: PairCount | None,
) -> PolicyResult:
    """What is known of a policy that plays these probabilities (N,)."""
    if chances.is_logistic:
        limits = limits._replace(scores=chances.scores(log))
    supported = chances.is_supported
    values = np.where(supported, chances.values, 0.0)
    weights = importance_weights(log, played, values)
    used = weights[log.chosen & supported]
    total = float(played.sum())
    unsupported = float(played[~supported].sum()) / total if total > 0.0 else 0.0
    effective = effective_sample_size(used)
    refused: str | None = "not estimated: it chooses nobody, so it earns 0"
    if total > 0.0:
        people = int((~supported & (played > 0.0)).sum())
        refused = _refusal(unsupported, effective, limits, people)
    estimates: dict[Method, OffPolicyEstimate] = {}
    gain = bounds = None
    if refused is None:
        every = np.divide(played, values, out=np.zeros(len(played)), where=values > 0.0)
        for method in METHODS:
            estimates[method] = _by(method, log, played, values, every, outcomes.values, limits)
        earned = round_sums(np.where(log.is_observed, log.outcomes, 0.0), log.starts)
        difference = terms_of("dr", log, played, values, outcomes.values).sums - earned
        gain = _estimate(RoundTerms.plain(difference), limits, None)
    elif effective >= limits.least_effective:
        bounds = _bounds(log, played, values, supported, outcomes.values, limits)
    about = (total / len(log), unsupported, effective, float(used.max(initial=0.0)))
    return PolicyResult(name, played, estimates, gain, refused, bounds, *about, pairs)


def _by(
    method: Method,
    log: PastLog,
    played: Floats,
    values: Floats,
    every: Floats,
    expected: Floats,
    limits: EstimateLimits,
) -> OffPolicyEstimate:
    terms = terms_of(method, log, played, values, expected)
    if method == "dm":
        return OffPolicyEstimate(terms.value, None)
    if method == "snips":
        return _estimate(terms, limits, None)
    direct = round_sums(played * expected, log.starts) if method == "dr" else None
    found = _estimate(terms, limits, _ends(log, every, expected if method == "dr" else np.zeros(0), limits, direct))
    assert found.bernstein is not None
    choices = float(played.sum()) / len(log)
    low, high = np.clip(found.bernstein, choices * limits.low, choices * limits.high)  # whatever people earn
    return found._replace(bernstein=(float(low), float(high)))


def _refusal(unsupported: float, effective: float, limits: EstimateLimits, people: int) -> str | None:
    """Why a policy is not estimated, or None."""
    if unsupported > limits.most_unsupported:
        return (
            f"not estimated: {unsupported:.1%} of its choices go to {people} people whom past decisions hardly ever "
            f"chose, more than {limits.most_unsupported:.0%}; nobody knows what would have come of them"
        )
    if effective < limits.least_effective:
        return (
            f"not estimated: it differs so much from past decisions that {effective:.1f} outcomes remain in effect, "
            f"fewer than {limits.least_effective:g}"
        )
    return None


def _bounds(
    log: PastLog, played: Floats, values: Floats, supported: Mask, expected: Floats, limits: EstimateLimits
) -> Interval:
    """The interval of what is known, and the lowest and highest outcomes for the rest."""
    terms = terms_of("dr", log, np.where(supported, played, 0.0), values, expected)
    estimate = _estimate(terms, limits, None)
    assert estimate.bootstrap is not None
    rest = float(played[~supported].sum()) / len(log)
    return estimate.bootstrap[0] + rest * limits.low, estimate.bootstrap[1] + rest * limits.high
