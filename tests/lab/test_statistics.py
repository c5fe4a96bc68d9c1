"""Statistics: intervals that cover as often as they say, and slopes that are the slopes."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest

from evenhand.lab.statistics import CONFIDENCE, bands, by_seed, estimate, slope


@pytest.mark.statistical
@pytest.mark.parametrize("runs", [3, 10])
def test_intervals_cover_the_mean_as_often_as_promised(runs: int) -> None:
    """In 4000 samples of normals 95% of intervals cover the mean, to within four standard errors (1.4 points)."""
    samples = np.random.default_rng(0).normal(2.0, 3.0, size=(4000, runs))
    found = [estimate(sample) for sample in samples]
    covered = np.mean([one.lower <= 2.0 <= one.upper for one in found])
    margin = 4 * math.sqrt(CONFIDENCE * (1 - CONFIDENCE) / 4000)
    assert covered == pytest.approx(CONFIDENCE, abs=margin)
    assert all(one.value == pytest.approx(sample.mean()) for one, sample in zip(found[:9], samples, strict=False))


def test_one_run_has_no_interval() -> None:
    """A single run says nothing of its own spread: the ends are not numbers, and no promise lies between them."""
    found = estimate(np.array([2.0]))
    assert found.value == 2.0
    assert math.isnan(found.lower)
    assert math.isnan(found.upper)
    assert str(found) == "2 (one run)"


@pytest.mark.parametrize("true", [-1.5, 0.0, 0.5])
def test_a_slope_is_recovered(true: float) -> None:
    """Exact lines give their slope exactly; noisy runs an interval that holds it and narrows with more runs."""
    x = np.log(np.array([1.0, 2.0, 4.0, 8.0, 16.0]))
    exact = slope(x, np.array([true * x + level for level in (0.0, 1.0, 5.0)]))
    assert exact == pytest.approx((true, true, true), abs=1e-12)
    noise = np.random.default_rng(1).normal(scale=0.1, size=(40, 5))
    few, many = (slope(x, true * x + noise[:count]) for count in (5, 40))
    assert many.lower < true < many.upper
    assert many.upper - many.lower < few.upper - few.lower


@pytest.mark.statistical
def test_slopes_cover_as_often_as_promised() -> None:
    """Also when a run's points depend on each other, as in a random walk: 95% of 1500 intervals, to 2.3 points."""
    x = np.arange(20.0)
    paths = np.cumsum(0.3 + np.random.default_rng(2).normal(size=(1500, 10, 20)), axis=2)
    found = [slope(x, runs) for runs in paths]
    covered = np.mean([one.lower <= 0.3 <= one.upper for one in found])
    assert covered == pytest.approx(CONFIDENCE, abs=4 * math.sqrt(CONFIDENCE * (1 - CONFIDENCE) / 1500))


def _table(positions: list[float], n_seeds: int) -> pl.DataFrame:
    """Rows in an order that nobody should count on: value = 100 seed + position."""
    rows = [{"seed": s, "round": t, "value": 100.0 * s + t} for s in range(n_seeds) for t in positions]
    return pl.DataFrame(rows).sample(fraction=1.0, shuffle=True, seed=3)


def test_by_seed_has_a_row_a_seed_and_a_column_a_position() -> None:
    """Both in rising order, whatever the order of the rows; positions survive to the last bit."""
    positions = [2.0**-16, 0.1, 1 / 3, 9.0, 10.0, 1e6]
    found, runs = by_seed(_table(positions, 4), "value")
    assert found.tolist() == positions
    assert runs.shape == (4, 6)
    assert np.array_equal(runs, 100.0 * np.arange(4)[:, None] + np.array(positions))


def test_bands_are_estimates_over_seeds() -> None:
    """At each position the mean over seeds and its interval, in rising order."""
    table = bands(_table([1.0, 10.0, 9.0], 5), "value")
    assert table.columns == ["round", "mean", "lower", "upper"]
    assert table["round"].to_list() == [1.0, 9.0, 10.0]
    for position, *found in table.iter_rows():
        assert found == pytest.approx(estimate(100.0 * np.arange(5) + position))


def test_rows_of_one_seed_count_as_one_run() -> None:
    """Repeating each run ten times in the table makes no interval narrower."""
    table = _table([1.0, 2.0], 4)
    repeated = bands(pl.concat([table] * 10), "value")
    for once, again in zip(bands(table, "value").iter_rows(), repeated.iter_rows(), strict=True):
        assert again == pytest.approx(once)
