"""The search for the metric that explains answers best, and the evidence against it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.bandit._best_metric import _log_bet, _Search, best_metric, log_evidence, smooth_loss


@given(n=st.integers(0, 200), tolerated=st.floats(0.05, 0.4), share=st.floats(0.0, 1.0))
def test_a_bet_on_more_errors_than_tolerated_wins_nothing_on_average(n: int, tolerated: float, share: float) -> None:
    """At the tolerated rate it is worth 1 in expectation, and no more at a lower one: false alarms rest on that."""
    rate = tolerated * share
    expected = 0.0
    for wrong in range(n + 1):
        chance = math.comb(n, wrong) * rate**wrong * (1.0 - rate) ** (n - wrong)
        expected += chance * math.exp(_log_bet(wrong, n, tolerated))
    assert expected <= 1.0 + 1e-9
    if share == 1.0:
        assert expected == pytest.approx(1.0)


def test_both_kinds_of_errors_count_by_themselves() -> None:
    """Thirty wrong of a hundred on one side are evidence, however many are right on the other."""
    squares, gaps = np.r_[np.full(100, 0.01), np.full(2000, 0.25)], np.full(2100, 0.3)
    unfair = np.r_[np.arange(100) >= 30, np.zeros(2000, bool)]
    assert log_evidence(squares, gaps, unfair, 0.1) > 8.0
    evenly = np.r_[np.arange(100) >= 2, np.arange(2000) < 28]
    assert log_evidence(squares, gaps, evenly, 0.1) < 0.0


def test_the_gradient_of_the_loss_is_right() -> None:
    """It agrees with differences of the loss itself, to six digits."""
    rng = np.random.default_rng(0)
    A, z, log_gaps = rng.normal(size=(3, 3)), rng.normal(size=(20, 3)), rng.normal(size=20)
    rest = (np.where(rng.random(20) < 0.5, 1.0, -1.0), rng.uniform(0.5, 2.0, 20), 0.7, 0.1, 1e-12)
    gradient, scratch = np.empty((3, 3)), np.empty((3, 3))
    smooth_loss(A, z, log_gaps, *rest, gradient)
    for i in range(3):
        for j in range(3):
            step = np.zeros((3, 3))
            step[i, j] = 1e-6
            up, down = (smooth_loss(A + sign * step, z, log_gaps, *rest, scratch) for sign in (1, -1))
            assert gradient[i, j] == pytest.approx((up - down) / 2e-6, abs=1e-6)


@pytest.mark.parametrize("rank", [1, 2, 4])
@pytest.mark.parametrize("lapse", [0.0, 0.1])
def test_the_search_finds_a_metric_no_worse_than_the_true_one(rank: int, lapse: float) -> None:
    """From scratch, on gaps near the threshold, for metrics of low and full rank, within ten answers of a thousand."""
    rng = np.random.default_rng(rank)
    A, z = rng.normal(size=(rank, 4)), rng.normal(size=(1000, 4)) * [1.0, 0.1, 10.0, 1.0]
    distances = np.linalg.norm(z @ A.T, axis=1)
    gaps = distances * np.exp(rng.normal(size=1000) * 0.3)
    slips = rng.random(1000) < lapse
    unfair = (gaps > distances) ^ slips
    best = best_metric(z, gaps, unfair, starts=[], tolerated=0.1, enough=-math.inf)
    assert best.wrong <= slips.sum() + 10
    squares = np.sum((z @ best.factor.T) ** 2, axis=1)
    assert best.wrong == np.count_nonzero((gaps**2 > squares) != unfair)
    assert best.evidence == log_evidence(squares, gaps, unfair, 0.1)


def test_a_start_that_is_good_enough_is_taken_as_it_is() -> None:
    """No search then: this is what most looks come down to."""
    rng = np.random.default_rng(1)
    A, z = rng.normal(size=(3, 3)), rng.normal(size=(200, 3))
    gaps = rng.uniform(0.1, 2.0, 200)
    best = best_metric(
        z, gaps, gaps > np.linalg.norm(z @ A.T, axis=1), starts=[np.eye(3) * 9, A], tolerated=0.1, enough=0.0
    )
    np.testing.assert_allclose(best.factor, A)
    assert best.wrong == 0


def test_answers_on_independent_differences_need_no_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """With more features than answers some metric explains whatever is said: it is there at once."""

    def searched(*arguments: object) -> float:
        raise AssertionError("searched")

    monkeypatch.setattr("evenhand.bandit._best_metric.smooth_loss", searched)
    rng = np.random.default_rng(3)
    z, gaps, unfair = rng.normal(size=(60, 80)) * rng.uniform(0.0, 9.0, 80), rng.uniform(0.1, 0.9, 60), rng.random(60)
    best = best_metric(z, gaps, unfair < 0.5, starts=[np.eye(80)], tolerated=0.1, enough=0.0)
    assert best.wrong == 0
    np.testing.assert_array_equal(gaps > np.linalg.norm(z @ best.factor.T, axis=1), unfair < 0.5)


def test_nothing_is_looked_at_after_a_metric_that_is_good_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a thousand features each look takes as long as a round."""
    rng, looks = np.random.default_rng(4), []
    A, z = rng.normal(size=(3, 3)), rng.normal(size=(200, 3))
    gaps = rng.uniform(0.1, 2.0, 200)
    look = _Search.look_at

    def counted(search: _Search, *arguments: Any) -> Any:
        looks.append(search)
        return look(search, *arguments)

    monkeypatch.setattr(_Search, "look_at", counted)
    best_metric(z, gaps, gaps > np.linalg.norm(z @ A.T, axis=1), starts=[A], tolerated=0.1, enough=0.0)
    assert len(looks) == 2


def test_the_work_of_a_search_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    """It ends at the limit, one line search late at most, and says so; a limit that is not reached changes nothing."""
    rng, steps, loss = np.random.default_rng(5), [], smooth_loss
    z, gaps, unfair = rng.normal(size=(200, 5)), rng.uniform(0.1, 2.0, 200), rng.random(200) < 0.5

    def counted(*arguments: Any) -> float:
        steps.append(1)
        return loss(*arguments)

    monkeypatch.setattr("evenhand.bandit._best_metric.smooth_loss", counted)
    whole = best_metric(z, gaps, unfair, starts=[], tolerated=0.1, enough=-math.inf)
    all_steps = len(steps)
    monkeypatch.setattr("evenhand.bandit._best_metric.MOST_WORK", 100 * z.size * 5)
    cut = best_metric(z, gaps, unfair, starts=[], tolerated=0.1, enough=-math.inf)
    assert not whole.is_cut
    assert cut.is_cut
    assert 100 <= len(steps) - all_steps <= 125
    assert all_steps > 1000
    assert cut.evidence >= whole.evidence


def test_a_metric_that_is_good_enough_at_the_limit_is_no_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was found counts, however little work was left."""
    monkeypatch.setattr("evenhand.bandit._best_metric.MOST_WORK", 0.0)
    z = np.eye(3)[[0, 1, 2, 0]]
    found = best_metric(z, np.full(4, 2.0), np.ones(4, np.bool_), starts=[np.eye(3)], tolerated=0.1, enough=0.0)
    assert not found.is_cut
    assert found.wrong == 0


def test_twins_and_columns_of_zeros_are_no_trouble() -> None:
    """Candidates who are identical, and features in which nobody differs."""
    rng = np.random.default_rng(2)
    z = rng.normal(size=(100, 3)) * [1.0, 0.0, 1.0]
    z[:20] = 0.0
    best = best_metric(z, np.full(100, 0.5), np.arange(100) < 60, starts=[], tolerated=0.1, enough=-math.inf)
    assert np.isfinite(best.factor).all()
    assert np.isfinite(best.evidence)
