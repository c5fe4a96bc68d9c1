"""Our estimators are those of the Open Bandit Pipeline where both apply: one place, always filled.

obp 0.5.7 asks for Python below 3.11 and versions of 2022, so it is no dependency. `python -m scripts.compare_obp` says
how to install it beside a current Python.
"""

from __future__ import annotations

import numpy as np
import pytest

from evenhand.history import bernstein_interval, terms_of
from tests.support.simulated_log import CANDIDATES, NEW, chances, simulated_log

obp = pytest.importorskip("obp.ope", reason="obp is not installed; see scripts/compare_obp.py")

TOLERANCE = 1e-9


@pytest.mark.parametrize("seed", range(5))
def test_estimates_agree(seed: int) -> None:
    """IPS, SNIPS, the direct method and doubly robust agree to 1e-9, in value and round by round."""
    rng = np.random.default_rng(seed)
    log = simulated_log(300, 1, rng)
    played, expected = chances(log.contexts, NEW, 1), rng.random(log.n_candidates)
    square = (len(log), CANDIDATES, 1)
    action = log.chosen.reshape(square[:2]).argmax(axis=1)
    assert log.probabilities is not None
    given = {
        "reward": log.outcomes[log.chosen],
        "action": action,
        "pscore": log.probabilities[log.chosen],
        "action_dist": played.reshape(square),
        "position": np.zeros(len(log), dtype=int),
        "estimated_rewards_by_reg_model": expected.reshape(square),
    }
    theirs = {
        "ips": obp.InverseProbabilityWeighting(),
        "snips": obp.SelfNormalizedInverseProbabilityWeighting(),
        "dm": obp.DirectMethod(),
        "dr": obp.DoublyRobust(),
    }
    for method, estimator in theirs.items():
        ours = terms_of(method, log, played, log.probabilities, expected)  # type: ignore[arg-type]
        assert abs(ours.value - estimator.estimate_policy_value(**given)) < TOLERANCE
        rounds = estimator._estimate_round_rewards(**given)
        np.testing.assert_allclose(ours.sums / ours.weights.mean() * ours.sizes.mean(), rounds, atol=TOLERANCE)


def test_bernstein_agrees() -> None:
    """Its lower bound is the lower end of ours at the same error on one side, up to n and n - 1 in the variance."""
    from obp.ope.helper import estimate_bernstein_lower_bound

    values = np.random.default_rng(0).random(500)
    ours = bernstein_interval(values, 1.0, confidence=0.9)[0]
    theirs = estimate_bernstein_lower_bound(values, x_max=1.0, delta=0.05)
    assert abs(ours - theirs) < TOLERANCE
