"""Shapes of the prior against each other, where the reviewer's error rate is learned."""

from __future__ import annotations

import numpy as np
import pytest

from evenhand.metrics import BayesPoint, Pairs, Verdicts
from evenhand.metrics.gaussian.soft_threshold import chance_exceeded
from evenhand.metrics.gaussian.tuning import DEFAULT

D = 12


def test_no_shape_may_blame_the_reviewer() -> None:
    """Shapes of the prior are compared at one error rate: the lowest that any of them finds, or the usual one.

    At a rate of its own a shape that explains little would take what it does not explain for errors.
    """
    metric, rng = BayesPoint(D, structure="auto", epsilon=0.01, error_rate=None), np.random.default_rng(1)
    z, weights = rng.normal(size=(60, 6, D)) / 5, rng.normal(size=(2, D)) / 3
    pairs = [Pairs(np.tile([0, 1], (6, 1)), each) for each in z]
    rates = []
    for each in pairs:
        distances = np.linalg.norm(each.differences @ weights.T, axis=1)
        gaps = np.full(6, 0.2)
        wrong = rng.random(6) < 0.2
        before = {one.ratio: one for one in (metric._history, *metric._rivals)}
        rates = [one.expected_of(None)[0] for one in before.values()]
        rate = max(min(rates), DEFAULT.usual_rate)
        unfair = (gaps > distances) ^ wrong
        metric.learn(Verdicts(each, gaps, unfair, np.ones(6, np.bool_)))
        for one in (metric._history, *metric._rivals):
            mean, sd = before[one.ratio].belief.moments(one.form.rows(each.differences))
            flagged = rate + (1.0 - 2.0 * rate) * chance_exceeded(mean, sd, gaps, 0.0)
            added = float(np.sum(np.log(np.where(unfair, flagged, 1.0 - flagged))))
            assert one.evidence - before[one.ratio].evidence == pytest.approx(added, abs=1e-6)
    assert len(rates) > 1
    assert max(rates) > min(rates)
