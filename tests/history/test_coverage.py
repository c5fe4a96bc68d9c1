"""95% intervals hold the truth in 93 to 97 of 100 logs."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from evenhand._internal.arrays import Floats
from evenhand.history import (
    PastLog,
    bootstrap_interval,
    estimate_propensities,
    evaluate,
    expected_outcomes,
    recorded_propensities,
    terms_of,
)
from evenhand.history.estimators import Method
from tests.support.simulated_log import NEW, chances, simulated_log, true_value

REPETITIONS, ROUNDS = 400, 400
METHODS: tuple[Method, ...] = ("ips", "snips", "dr")


def _held(capacity: int, *, recorded: bool) -> dict[Method, float]:
    """The share of logs in which each bootstrap interval holds the truth; the model of outcomes is a wrong one."""
    truth, held = true_value(capacity, np.random.default_rng(capacity)), Counter[Method]()
    for seed in range(REPETITIONS):
        log = simulated_log(ROUNDS, capacity, np.random.default_rng([capacity, seed]))
        played, expected = chances(log.contexts, NEW, capacity), expected_outcomes(log)
        past = recorded_propensities(log) if recorded else estimate_propensities(replace(log, probabilities=None))
        for method in METHODS:
            terms = terms_of(method, log, played, past.values, expected.values)
            terms = terms.beside(past.scores(log)) if past.is_logistic else terms
            low, high = bootstrap_interval(terms, resamples=1000, seed=seed)
            held[method] += low <= truth <= high
        if recorded and seed % 10 == 0:
            _check_bernstein(log, truth)
    shares = {method: held[method] / REPETITIONS for method in METHODS}
    print(f"capacity {capacity}, {'recorded' if recorded else 'estimated'} chances: {shares}")
    return shares


def _check_bernstein(log: PastLog, truth: float) -> None:
    """Bernstein's interval holds the truth."""

    def policy(contexts: Floats, capacity: int) -> Floats:
        return chances(contexts, NEW, capacity)

    interval = evaluate(log, {"new": policy}, resamples=100)["new"].estimates["dr"].bernstein
    assert interval is not None
    assert interval[0] <= truth <= interval[1]


@pytest.mark.statistical
@pytest.mark.parametrize("capacity", [1, 5])
def test_intervals_cover(capacity: int) -> None:
    """Of 400 logs of 400 rounds, 93 to 97% of bootstrap intervals hold the truth.

    The standard deviation of such a share is 1.1%. Bernstein's interval, in every tenth log, holds it always.
    """
    for method, share in _held(capacity, recorded=True).items():
        assert 0.93 <= share <= 0.97, method


@pytest.mark.slow
@pytest.mark.parametrize("capacity", [1, 5])
def test_intervals_cover_with_estimated_chances(capacity: int) -> None:
    """The same with estimated chances, which make estimates vary less than the real ones would."""
    for method, share in _held(capacity, recorded=False).items():
        assert 0.93 <= share <= 0.97, method
