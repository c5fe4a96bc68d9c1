"""The walk finds the lowest point, says so when there is none, and has prices for both."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog

from evenhand.certificates._descent import EMPTY, OPTIMAL, STEP_LIMIT, walk
from tests.support.reviewed import Floats


def box(m: int, n: int, rng: np.random.Generator) -> tuple[Floats, Floats, Floats]:
    """Rows with two ends around a point, the first m of them the axes."""
    rows = np.concatenate([np.eye(m), rng.normal(size=(n, m))])
    middle = rows @ rng.normal(size=m)
    return rows, middle - rng.uniform(0.0, 1.0, m + n), middle + rng.uniform(0.0, 1.0, m + n)


@pytest.mark.parametrize("seed", range(20))
def test_the_lowest_point_is_found(seed: int) -> None:
    """The same value as HiGHS's, and prices that prove it; also from a basis that was made for another goal."""
    rng = np.random.default_rng(seed)
    m, n = int(rng.integers(1, 12)), int(rng.integers(1, 120))
    rows, low, high = box(m, n, rng)
    basis = np.arange(m)
    for _ in range(4):
        goal = rng.normal(size=m)
        status, x, active, prices, _ = walk(rows, low, high, m + n, basis, goal, 1e-10, 1e-9, 5000, 50)
        assert status == OPTIMAL
        best = linprog(goal, A_ub=np.concatenate([rows, -rows]), b_ub=np.concatenate([high, -low]), bounds=(None, None))
        assert goal @ x == pytest.approx(best.fun, abs=1e-6)
        assert prices @ rows[active] == pytest.approx(goal, abs=1e-6)
        assert prices @ np.where(prices >= 0.0, low[active], high[active]) == pytest.approx(best.fun, abs=1e-6)


@pytest.mark.parametrize("seed", range(20))
def test_no_point_is_proved(seed: int) -> None:
    """Rows that cannot all hold have prices that sum to nothing and demand something."""
    rng = np.random.default_rng(seed)
    m, n = int(rng.integers(1, 8)), int(rng.integers(5, 60))
    rows, low, high = box(m, n, rng)
    beyond = rng.dirichlet(np.ones(m + n)) * rng.choice([-1.0, 1.0], m + n)
    reach = float(np.sum(np.where(beyond > 0.0, beyond * high, beyond * low)))
    rows, low, high = np.vstack([rows, beyond @ rows]), np.append(low, reach + 0.5), np.append(high, reach + 1.0)
    status, _, active, prices, _ = walk(
        rows, low, high, len(rows), np.arange(m), rng.normal(size=m), 1e-10, 1e-9, 5000, 50
    )
    assert status == EMPTY
    assert prices @ rows[active] == pytest.approx(np.zeros(m), abs=1e-7)
    assert prices @ np.where(prices >= 0.0, low[active], high[active]) > 1e-9


def test_a_tired_walk_still_has_a_bound() -> None:
    """Stopped after any number of steps, prices prove a value that is not above the lowest."""
    rng = np.random.default_rng(0)
    rows, low, high = box(8, 100, rng)
    goal, bounds = rng.normal(size=8), []
    for most in (1, 3, 10, 1000):
        status, _, active, prices, _ = walk(rows, low, high, len(rows), np.arange(8), goal, 1e-10, 1e-9, most, 50)
        assert prices @ rows[active] == pytest.approx(goal, abs=1e-6)
        bounds.append(float(prices @ np.where(prices >= 0.0, low[active], high[active])))
        assert status == (STEP_LIMIT if most < 1000 else OPTIMAL)
    assert bounds == sorted(bounds)


def test_a_goal_that_is_a_row_does_not_go_round_in_circles() -> None:
    """All prices but one are zero: the worst case for a simplex, and the usual one here."""
    rng = np.random.default_rng(1)
    z = rng.normal(size=(400, 4))
    first, second = np.triu_indices(4)
    rows = np.ascontiguousarray(z[:, first] * z[:, second])
    start = np.ascontiguousarray(np.eye(10))
    truth = rng.normal(size=10)
    rows = np.concatenate([start, rows])
    low, high = rows @ truth - 0.01, rows @ truth + 0.01
    for row in range(10, 60):
        status, *_ = walk(rows, low, high, len(rows), np.arange(10), rows[row].copy(), 1e-10, 1e-8, 500, 50)
        assert status == OPTIMAL
