"""ErrorRates: Bayes on a grid, for each reviewer, however often answers are computed again."""

from __future__ import annotations

import copy
import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from evenhand.errors import InvalidInput
from evenhand.metrics.gaussian.error_rates import ErrorRates, ReviewerReport
from evenhand.metrics.gaussian.tuning import DEFAULT
from evenhand.metrics.learner_settings import check_error_rate
from tests.support.simulation import same

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]
RATES = np.array([*DEFAULT.honest_rates, *DEFAULT.misleading_rates])


def _posterior(chances: Floats) -> Floats:
    """Prior times likelihoods, one answer after the other, normalised at each: Bayes with no logarithm at all."""
    weights = np.where(
        RATES <= 0.5, np.exp(-RATES / DEFAULT.usual_rate), DEFAULT.misleading_prior * np.exp(-0.5 / DEFAULT.usual_rate)
    )
    for chance in chances:
        weights = weights * (RATES * (1 - chance) + (1 - RATES) * chance)
        weights = weights / np.sum(weights)
    return np.asarray(weights / np.sum(weights))


def _errors(*names: str | None) -> ErrorRates:
    errors = ErrorRates(DEFAULT)
    for name in names:
        errors.row(name)
    return errors


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**9), n=st.integers(0, 200), reviewers=st.integers(1, 4))
def test_the_rate_is_the_mean_of_bayes_posterior(seed: int, n: int, reviewers: int) -> None:
    """Each reviewer's rate and ends are those of direct Bayes on her own answers, and on nobody else's."""
    rng = np.random.default_rng(seed)
    chances, rows = rng.beta(0.5, 0.2, size=n), rng.integers(reviewers, size=n)
    errors = _errors(*map(str, range(reviewers)))
    errors.reopen(chances, rows)
    report = errors.report()
    for row in range(reviewers):
        posterior = _posterior(chances[rows == row])
        assert errors.means()[row] == pytest.approx(float(posterior @ RATES), rel=1e-9)
        found = report[str(row)]
        assert found.error_rate == errors.means()[row] == errors.means()[row]
        assert 0 <= found.lower <= found.error_rate <= found.upper <= 1
        assert np.sum(posterior[(found.lower <= RATES) & (found.upper >= RATES)]) >= 0.95


@pytest.mark.parametrize("n", [300, 10_000])
@pytest.mark.parametrize("rate", [0.0, 0.02, 0.05, 0.09, 0.115, 0.18, 0.225, 0.33, 0.45, 0.5, 0.58, 0.72, 0.87, 0.95])
def test_ends_hold_the_true_rate(rate: float, n: int) -> None:
    """In at least 18 of 20 simulated reviewers the true rate lies between the ends, on the grid or off it.

    Many answers must not change that: no grid is as fine as they are. The rate itself is then near.
    """
    rng = np.random.default_rng(round(1000 * rate) + n)
    held = near = 0
    for _ in range(20):
        sure = rng.beta(20.0, 0.5, size=n)  # how sure the metric is of each pair, and rightly so
        as_believed = rng.random(n) < sure
        right = rng.random(n) >= rate
        errors = _errors("Ada")
        errors.reopen(np.where(as_believed == right, sure, 1 - sure), np.zeros(n, dtype=np.int64))
        report = errors.report()["Ada"]
        held += report.lower <= rate <= report.upper
        near += abs(report.error_rate - rate) <= 0.03
    assert held >= 18
    assert n == 300 or near == 20


def test_misleading_reviewers_are_detected_and_no_others() -> None:
    """Of 200 simulated reviewers with 500 answers each, those wrong in 70% mislead; those up to 40% never do."""
    rng = np.random.default_rng(0)
    for rate, misleads in ((0.7, True), (0.9, True), (0.4, False), (0.05, False)):
        for _ in range(50):
            errors = _errors(None)
            errors.reopen(np.where(rng.random(500) < rate, 0.01, 0.99), np.zeros(500, dtype=np.int64))
            assert errors.report()[None].misleads == misleads
    assert not ReviewerReport("Ada", 10, 0.5, 0.49, 0.7).misleads
    assert ReviewerReport("Ada", 10, 0.6, 0.51, 0.7).misleads


def test_nobody_is_suspected_before_having_answered() -> None:
    """The prior expects about one wrong answer in twenty, and misleads nobody."""
    report = _errors("Ada").report()["Ada"]
    assert report.answers == 0
    assert 0.02 < report.error_rate < 0.08
    assert not report.misleads
    assert ErrorRates(DEFAULT).report() == {}
    assert ErrorRates(DEFAULT).means().shape == (0,)


def test_rows_are_in_the_order_of_the_first_answers() -> None:
    """A name keeps its row, a new one gets the next; no name is a name of its own; what was learned stays."""
    errors = ErrorRates(DEFAULT)
    assert [errors.row(name) for name in ("Bob", None, "Ada", "Bob", None)] == [0, 1, 2, 0, 1]
    errors.reopen(np.full(20, 0.01), np.full(20, 2))
    errors.row("Ada", n_new=20)
    before = errors.means()
    assert errors.row("Eve") == 3
    assert np.array_equal(errors.means()[:3], before)
    assert errors.means()[3] == before[0] == before[1]
    assert list(errors.report()) == ["Bob", None, "Ada", "Eve"]
    assert [report.answers for report in errors.report().values()] == [0, 0, 20, 0]


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**9), n=st.integers(1, 60), cuts=st.lists(st.integers(0, 60), max_size=4))
def test_closed_and_open_answers_add_up(seed: int, n: int, cuts: list[int]) -> None:
    """Answers closed in any portions, with the rest open, count as if all had come at once."""
    rng = np.random.default_rng(seed)
    chances, rows = rng.random(n), rng.integers(3, size=n)
    once, portions = _errors("a", "b", "c"), _errors("a", "b", "c")
    once.reopen(chances, rows)
    ends = sorted(min(cut, n) for cut in cuts)
    for start, end in zip([0, *ends], ends, strict=False):
        portions.reopen(chances[start:], rows[start:])  # open answers are computed again, closed ones are not
        portions.close(chances[start:end], rows[start:end])
        portions.reopen(chances[end:], rows[end:])
    last = ends[-1] if ends else 0
    portions.reopen(chances[last:], rows[last:])
    assert np.allclose(portions.means(), once.means(), rtol=1e-9)


def test_reopening_replaces_what_was_open() -> None:
    """An uncertain answer says little of its reviewer; once the truth is clear it counts, once."""
    errors = _errors("Ada")
    row = np.zeros(30, dtype=np.int64)
    errors.reopen(np.full(30, 0.5), row)
    assert errors.means()[0] == pytest.approx(_errors("Ada").means()[0])
    for _ in range(5):
        errors.reopen(np.full(30, 0.001), row)
    expected = float(_posterior(np.full(30, 0.001)) @ RATES)
    assert errors.means()[0] == pytest.approx(expected)


def test_nothing_is_too_much() -> None:
    """A hundred thousand answers that all go one way leave finite numbers, and the grid's ends."""
    for chance, end in ((1.0, 0), (0.0, -1)):
        errors = _errors("Ada")
        for _ in range(100):
            errors.close(np.full(1000, chance), np.zeros(1000, dtype=np.int64))
        assert errors.means()[0] == pytest.approx(RATES[end])
        assert np.all(np.isfinite(errors.state()["settled"]))


def test_a_copy_is_independent() -> None:
    """Changes of a shallow copy do not reach the original: that is how learning is undone after an error."""
    errors = _errors("Ada")
    errors.close(np.full(3, 0.9), np.zeros(3, dtype=np.int64))
    before = copy.deepcopy(errors.state())
    other = copy.copy(errors)
    other.row("Bob")
    other.row("Ada", n_new=5)
    other.close(np.full(5, 0.1), np.ones(5, dtype=np.int64))
    other.reopen(np.full(5, 0.1), np.zeros(5, dtype=np.int64))
    assert same(errors.state(), before)


def test_saved_and_loaded_to_the_bit() -> None:
    """The state is plain names and arrays, and what is made of it goes on the same."""
    rng = np.random.default_rng(1)
    errors = _errors(None, "Ada")
    errors.close(rng.random(20), rng.integers(2, size=20))
    errors.reopen(rng.random(20), rng.integers(2, size=20))
    errors.row("Ada", n_new=7)
    state = errors.state()
    assert json.loads(json.dumps(state["names"])) == [None, "Ada"]
    loaded = ErrorRates.from_state(state, DEFAULT)
    for each in (errors, loaded):
        each.row("Eve")
        each.reopen(np.full(4, 0.3), np.array([0, 1, 2, 2]))
    assert same(loaded.state(), errors.state())
    assert loaded.report() == errors.report()


@pytest.mark.parametrize("value", [0.5, 0.7, -0.1, "often", True, float("nan"), [0.1]])
def test_invalid_rates_are_refused(value: Any) -> None:
    """A rate is a number from 0 to below one half, or None."""
    with pytest.raises(InvalidInput, match=r"error_rate must be a number >= 0 and < 0\.5 or None"):
        check_error_rate(value)


@pytest.mark.parametrize("value", [None, 0, 0.0, 0.499, np.float64(0.2)])
def test_valid_rates(value: Any) -> None:
    """None is kept, any other becomes a plain float."""
    assert check_error_rate(value) == value
    assert value is None or type(check_error_rate(value)) is float
