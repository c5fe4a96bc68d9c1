"""What goes in and what comes out of fair_distribution."""

from __future__ import annotations

import importlib
import logging
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from tests.support.allocation_instances import tight

from evenhand.allocation import fair_distribution, verify_certificate
from evenhand.errors import InvalidInput, SolverFailed

# The package exports the function under the name of its module.
MODULE = importlib.import_module("evenhand.allocation.fair_distribution")

FREE = [[0.0, np.inf], [np.inf, 0.0]]


@pytest.mark.parametrize(
    ("rewards", "distances", "capacity", "sentence"),
    [
        ([], np.zeros((0, 0)), 1, r"rewards must have shape \(k,\) with k >= 1, got \(0,\)"),
        (1.0, [[0.0]], 1, r"rewards must have shape \(k,\) with k >= 1, got \(\)"),
        ([[1.0]], [[0.0]], 1, r"rewards must have shape \(k,\) with k >= 1, got \(1, 1\)"),
        ([1.0, np.nan], FREE, 1, "rewards must be finite, candidate 1 has nan"),
        ([np.inf, 1.0], FREE, 1, "rewards must be finite, candidate 0 has inf"),
        (["a", "b"], FREE, 1, "rewards must be real numbers, got <U1"),
        ([1j, 0], FREE, 1, "rewards must be real numbers, got complex128"),
        ([1.0, [2.0]], FREE, 1, "rewards must be an array of real numbers, got"),
        ([1.0, 2.0], [[0.0]], 1, r"distances must have shape \(2, 2\) for 2 rewards, got \("),
        ([1.0, 2.0], [0.0, 1.0], 1, r"distances must have shape \(2, 2\) for 2 rewards, got \("),
        ([1.0, 2.0], [[0.0, -0.1], [1.0, 0.0]], 1, r"distances must be >= 0 or inf, candidates 0 and 1 have -0\.1"),
        ([1.0, 2.0], [[0.0, 1.0], [np.nan, 0.0]], 1, "distances must be >= 0 or inf, candidates 1 and 0 have nan"),
        ([1.0, 2.0], FREE, 0, "capacity must be a number > 0 or None, got 0"),
        ([1.0, 2.0], FREE, -1, "capacity must be a number > 0 or None, got -1"),
        ([1.0, 2.0], FREE, np.nan, "capacity must be a number > 0 or None, got nan"),
        ([1.0, 2.0], FREE, True, "capacity must be a number > 0 or None, got True"),
        ([1.0, 2.0], FREE, "1", "capacity must be a number > 0 or None, got '1'"),
    ],
)
def test_bad_inputs_are_named(rewards: Any, distances: Any, capacity: Any, sentence: str) -> None:
    """Every bad input is refused with a sentence that quotes it."""
    with pytest.raises(InvalidInput, match=sentence):
        fair_distribution(rewards, distances, capacity)


def test_an_unknown_method_is_named() -> None:
    """Only the three methods exist."""
    with pytest.raises(InvalidInput, match="method must be 'auto', 'combinatorial' or 'highs', got 'simplex'"):
        fair_distribution([1.0], [[0.0]], method="simplex")  # type: ignore[arg-type]


def test_lists_integers_and_arrays_are_welcome() -> None:
    """Lists, integer arrays and numpy capacities give the same answer."""
    expected = fair_distribution(np.array([2.0, 1.0]), np.array(FREE), 1.0)
    for answer in (
        fair_distribution([2, 1], FREE),
        fair_distribution(np.array([2, 1], dtype=np.int8), FREE, np.int64(1)),  # type: ignore[arg-type]
        fair_distribution((2, 1), FREE, np.float32(1.0)),  # type: ignore[arg-type]
    ):
        assert answer.probabilities.tolist() == expected.probabilities.tolist() == [1.0, 0.0]


def test_the_tighter_direction_holds() -> None:
    """With c_01 = 0.5 and c_10 = 0.1 the gap is at most 0.1."""
    best = fair_distribution([1.0, 0.0], [[0.0, 0.5], [0.1, 0.0]])
    np.testing.assert_allclose(best.probabilities, [0.55, 0.45], atol=1e-12)


def test_the_diagonal_is_ignored() -> None:
    """Anything may stand on the diagonal, also what no distance can be."""
    best = fair_distribution([1.0, 0.0], [[np.nan, np.inf], [np.inf, -3.0]])
    assert best.probabilities.tolist() == [1.0, 0.0]


def test_inputs_are_not_kept_and_answers_are_read_only() -> None:
    """Changing the caller's arrays afterwards changes nothing, and the probabilities cannot be changed."""
    rewards, distances = np.array([1.0, 0.0]), np.array([[0.0, 0.2], [0.2, 0.0]])
    best = fair_distribution(rewards, distances)
    rewards[:] = 0.0
    distances[:] = 9.0
    assert best.tight_pairs == ((0, 1),)
    assert best.constraint_prices()
    with pytest.raises(ValueError, match="read-only"):
        best.probabilities[0] = 1.0


@pytest.mark.parametrize(
    ("capacity", "probabilities", "price"), [(0.3, 0.3, 2.0), (1, 1.0, 0.0), (2, 1.0, 0.0), (None, 1.0, 0.0)]
)
@pytest.mark.parametrize("method", ["combinatorial", "highs"])
def test_one_candidate(capacity: float | None, probabilities: float, price: float, method: Any) -> None:
    """A single candidate gets all the capacity there is, up to certainty."""
    best = fair_distribution([2.0], [[0.0]], capacity, method=method)
    assert best.probabilities.tolist() == [probabilities]
    assert best.value == 2.0 * probabilities
    assert best.price == price
    assert best.tight_pairs == ()


@pytest.mark.parametrize("method", ["combinatorial", "highs"])
@pytest.mark.parametrize("capacity", [1, None])
@pytest.mark.parametrize("reward", [0.0, -1.0])
def test_nobody_is_chosen_when_nobody_is_worth_it(reward: float, capacity: float | None, method: Any) -> None:
    """Without a positive reward the value is 0 and capacity has no price."""
    best = fair_distribution(np.full(4, reward), np.full((4, 4), 0.1), capacity, method=method)
    assert best.value == 0.0
    assert best.price == 0.0
    verify_certificate(best.certificate(), best.probabilities, np.full(4, reward), np.full((4, 4), 0.1), capacity)


def test_probabilities_stay_above_zero() -> None:
    """Rewards (1, 0) far apart give (1, 0), not probabilities above 1 paid for with probabilities below 0."""
    assert fair_distribution([1.0, 0.0], np.full((2, 2), 10.0)).probabilities.tolist() == [1.0, 0.0]


def test_pairs_at_distance_zero_are_tight() -> None:
    """Candidates at distance zero have equal probabilities, and their pair is reported even when those are zero."""
    best = fair_distribution([1.0, 0.0, -1.0], [[0, 0, np.inf], [0, 0, np.inf], [np.inf, np.inf, 0]], None)
    assert best.probabilities.tolist() == [1.0, 1.0, 0.0]
    assert best.tight_pairs == ((0, 1),)
    best = fair_distribution([-1.0, -1.0], np.zeros((2, 2)))
    assert best.tight_pairs == ((0, 1),)


@pytest.mark.parametrize("factor", [1e-300, 1e-12, 1e12, 1e300])
@pytest.mark.parametrize("method", ["combinatorial", "highs"])
def test_the_unit_of_rewards_does_not_matter(factor: float, method: Any) -> None:
    """Rewards in any unit give the same probabilities and proportional prices."""
    rng = np.random.default_rng(3)
    a, c = rng.normal(size=9), np.abs(rng.normal(size=(9, 9))) * 0.2
    plain, scaled = (fair_distribution(a * unit, c, method=method) for unit in (1.0, factor))
    np.testing.assert_allclose(scaled.probabilities, plain.probabilities, atol=1e-12)
    assert scaled.price == pytest.approx(plain.price * factor, rel=1e-9)
    verify_certificate(scaled.certificate(), scaled.probabilities, a * factor, c)


def test_highs_is_the_fallback(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    """If both combinatorial methods take too many steps, the solution comes from HiGHS, and the log says so."""
    a, c = tight(np.random.default_rng(2), 12)
    expected = fair_distribution(a, c).value
    monkeypatch.setattr(MODULE, "ROWS_PER_CANDIDATE", 0)
    monkeypatch.setattr(MODULE, "CHANGES_PER_CANDIDATE", 0)
    with caplog.at_level(logging.WARNING):
        best = fair_distribution(a, c, method="combinatorial")
    assert best.value == pytest.approx(expected, abs=1e-12)
    assert "falling back to HiGHS" in caplog.text


@pytest.mark.parametrize("method", ["combinatorial", "highs", "auto"])
@pytest.mark.parametrize("capacity", [1, 3.0, None])
def test_an_answer_that_is_not_fair_never_leaves(
    monkeypatch: pytest.MonkeyPatch, method: Any, capacity: float | None
) -> None:
    """Probabilities that break a constraint raise SolverFailed, wherever they came from."""
    wrong = np.array([0.6, 0.0, 0.0, 0.0])
    for kernel in ("solve_within_capacity", "solve_without_capacity"):  # compiled, they would not use the patches
        monkeypatch.setattr(MODULE, kernel, getattr(MODULE, kernel).py_func)
    monkeypatch.setattr(MODULE, "fill", lambda *args: (wrong, 0.0, 1))
    monkeypatch.setattr(MODULE, "search_price", lambda *args: (wrong, 1))
    monkeypatch.setattr(MODULE, "solve_by_lazy_rows", lambda *args: wrong)
    with pytest.raises(SolverFailed, match="candidates 0 and 1"):
        fair_distribution([1.0, 0.0, 0.0, 0.0], np.full((4, 4), 0.2), capacity, method=method)


@pytest.mark.parametrize("method", ["combinatorial", "highs"])
def test_the_worst_residual_is_as_measured(monkeypatch: pytest.MonkeyPatch, method: Any) -> None:
    """An answer says by how much it exceeds the limit that it exceeds most, as measured, and 0 if it exceeds none."""
    monkeypatch.setattr(MODULE, "solve_within_capacity", MODULE.solve_within_capacity.py_func)
    for probabilities, residual in (([0.5 + 3e-10, 0.3], 3e-10), ([0.6, 0.4 + 2e-10], 2e-10), ([0.5, 0.3], 0.0)):
        p = np.array(probabilities)
        monkeypatch.setattr(MODULE, "fill", lambda *_, p=p: (p, 0.0, 1))
        monkeypatch.setattr(MODULE, "solve_by_lazy_rows", lambda *_, p=p: p)
        best = fair_distribution([1.0, 0.0], [[0.0, 0.2], [0.2, 0.0]], method=method)
        assert best.worst_residual == pytest.approx(residual, abs=2e-16)


# Few distinct values: hypothesis then finds the coincidences that break careless tolerances.
VALUES = st.sampled_from([-1.0, -0.5, 0.0, 1e-9, 0.1, 0.25, 1 / 3, 0.5, 1.0])
LENGTHS = st.sampled_from([0.0, 1e-13, 1e-9, 0.1, 0.2, 0.25, 0.3, 1 / 3, 0.5, 1.0, 2.0, np.inf])


@settings(max_examples=200, deadline=None)
@given(st.data(), st.integers(1, 7), st.sampled_from([0.3, 1, 2, 2.5, 7, None]))
def test_coincidences_do_no_harm(data: st.DataObject, k: int, capacity: float | None) -> None:
    """On values chosen to coincide both methods are worth the same and prove it."""
    a = data.draw(arrays(float, k, elements=VALUES))
    c = data.draw(arrays(float, (k, k), elements=LENGTHS))
    constraints = fair_distribution(a, c, capacity, method="combinatorial")
    highs = fair_distribution(a, c, capacity, method="highs")
    assert constraints.value == pytest.approx(highs.value, abs=1e-9)
    for best in (constraints, highs):
        verify_certificate(best.certificate(), best.probabilities, a, c, capacity)
