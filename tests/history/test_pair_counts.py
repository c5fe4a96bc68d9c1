"""Pairs of the past that were treated further apart than a metric allows."""

from __future__ import annotations

import numpy as np
import pytest

import evenhand as eh
from evenhand.errors import InvalidInput
from evenhand.history import unfair_pairs
from tests.support.simulated_log import simulated_log

LOG = simulated_log(12, 2, np.random.default_rng(0))
A = np.diag([0.6, 0.3, 0.0, 0.9])
METRIC = eh.metrics.KnownMetric(A)


def _by_hand(p: np.ndarray, tolerance: float) -> list[tuple[float, str, str]]:
    found = []
    for t in range(len(LOG)):
        for i in range(LOG.starts[t], LOG.starts[t + 1]):
            for j in range(i + 1, LOG.starts[t + 1]):
                excess = abs(p[i] - p[j]) - np.linalg.norm(A @ (LOG.contexts[i] - LOG.contexts[j]))
                if excess > tolerance:
                    first, second = (i, j) if p[i] >= p[j] else (j, i)
                    found.append((float(excess), LOG.ids[first], LOG.ids[second]))
    return sorted(found, reverse=True)


@pytest.mark.parametrize("batch", [7, 50_000])
def test_pairs_are_counted_as_by_hand(batch: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Counts and the worst pairs equal those of two nested loops, whether a round is looked at as a whole or not."""
    monkeypatch.setattr("evenhand.history.pair_counts.BATCH", batch)
    p = np.random.default_rng(1).random(LOG.n_candidates)
    for chances in (LOG.chosen.astype(np.float64), p):
        expected = _by_hand(chances, 0.05)
        count = unfair_pairs(LOG, {"it": chances}, METRIC, worst=5)["it"]
        assert (count.pairs, count.unfair, count.surely) == (12 * 45, len(expected), len(expected))
        worst = [(pair.excess, pair.first, pair.second) for pair in count.worst]
        assert [each[0] for each in worst] == pytest.approx([each[0] for each in expected[:5]])
        assert set(worst[0][1:]) == set(expected[0][1:])
        assert all(pair.higher >= pair.lower for pair in count.worst)


def test_a_learned_metric_says_which_pairs_are_sure() -> None:
    """Pairs beyond the upper end of their distance are fewer than those beyond the estimate; a bandit may be passed."""
    bandit = eh.FairBandit(4, seed=0)
    for x, y in zip(LOG.contexts[:20], LOG.contexts[20:40], strict=True):
        bandit.learn_pair(x, y, gap=0.3, unfair=bool(np.linalg.norm(A @ (x - y)) < 0.3))
    count = unfair_pairs(LOG, {"decided": LOG.chosen.astype(np.float64)}, bandit)["decided"]
    assert 0 < count.surely < count.unfair


def test_work_is_bounded() -> None:
    """Of a log with too many pairs, rounds are looked at in equal steps, and the count says how many."""
    count = unfair_pairs(LOG, {"decided": LOG.chosen.astype(np.float64)}, METRIC, most_pairs=200)["decided"]
    assert count.rounds == 4
    assert count.pairs == 4 * 45


def test_wrong_metrics_are_refused() -> None:
    """Another number of features, or something that is no metric."""
    with pytest.raises(InvalidInput, match="metric must have 4 features as the log has, got 2"):
        unfair_pairs(LOG, {}, eh.metrics.KnownMetric(np.eye(2)))
    with pytest.raises(InvalidInput, match="metric must be a metric learner"):
        unfair_pairs(LOG, {}, A)  # type: ignore[arg-type]
