"""95% intervals hold the truth in 93 to 97 of 100 logs."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from evenhand.history import (
    bootstrap_interval,
    estimate_propensities,
    evaluate,
    expected_outcomes,
    terms_of,
)
from tests.support.simulated_log import NEW, chances, simulated_log, true_value

REPETITIONS, ROUNDS = 400, 400


@pytest.mark.statistical
@pytest.mark.parametrize("capacity", [1, 5])
def test_intervals_cover(capacity: int) -> None:
    """Of 400 logs of 400 rounds, 93 to 97% of bootstrap intervals hold the truth, with recorded and estimated chances.

    The standard deviation of such a share is 1.1%. The model of outcomes is a wrong one. Bernstein's interval, looked
    at in every tenth log, holds it always.
    """
    truth, held = true_value(capacity, np.random.default_rng(capacity)), Counter[str]()
    for seed in range(REPETITIONS):
        log = simulated_log(ROUNDS, capacity, np.random.default_rng([capacity, seed]))
        played, expected = chances(log.contexts, NEW, capacity), expected_outcomes(log)
        estimated = estimate_propensities(replace(log, probabilities=None))
        for kind, b in (("recorded", log.probabilities), ("estimated", estimated.values)):
            for method in ("ips", "snips", "dr"):
                terms = terms_of(method, log, played, b, expected.values)  # type: ignore[arg-type]
                low, high = bootstrap_interval(terms, resamples=1000, seed=seed)
                held[f"{kind} {method}"] += low <= truth <= high
        if seed % 10 == 0:
            result = evaluate(log, {"new": lambda x, c: chances(x, NEW, c)}, expected=expected, resamples=100)["new"]
            bernstein = result.estimates["dr"].bernstein
            assert bernstein is not None
            assert bernstein[0] <= truth <= bernstein[1]
    print({name: count / REPETITIONS for name, count in held.items()})
    assert len(held) == 6
    for name, count in held.items():
        assert 0.93 <= count / REPETITIONS <= 0.97, name
