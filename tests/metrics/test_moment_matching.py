"""update_rows: the formulas of moment matching, row by row, against a plain transcription of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.special import erfcx
from scipy.stats import norm

from evenhand.metrics.gaussian._moment_matching import repeated_rows, update_rows
from evenhand.metrics.gaussian.belief import Belief
from evenhand.metrics.gaussian.tuning import DEFAULT
from evenhand.metrics.verdicts import HalfSpaces

Floats = NDArray[np.float64]

RATES = (0.0, 0.001, 0.3, 0.5, 0.9)
SOFTNESS = (0.0, 0.0, 0.05, 0.5)


class Rows(NamedTuple):
    """Half-spaces with the error rate and the softness of each."""

    normals: Floats
    thresholds: Floats
    sides: Floats
    rates: Floats
    softness: Floats


class Result(NamedTuple):
    """The updated belief, and the score and the evidence of each row."""

    mean: Floats
    cov: Floats
    scores: Floats
    evidences: Floats


def _updated(
    belief: Belief, rows: Rows, *, blur: float = 1e-3, contradiction: float = -np.inf, few_rows: int = 10**9
) -> Result:
    """With every row processed, unless there are more than `few_rows`."""
    mean, cov, n = belief.mean.copy(), belief.cov.copy(), len(rows.sides)
    scores, evidences = np.full(n, np.nan), np.full(n, np.nan)
    limits = (DEFAULT.max_shrink, DEFAULT.min_slope, DEFAULT.min_of_blur, DEFAULT.known_variance, DEFAULT.certain_score)
    skipped = update_rows(mean, cov, *rows, blur, contradiction, *limits, few_rows, scores, evidences)
    assert skipped == np.sum(scores < contradiction)
    return Result(mean, cov, scores, evidences)


def _transcribed(belief: Belief, u: Floats, b: float, s: float, eta: float, soft: float, *, blur: float) -> Result:
    """One row by the formulas as they stand in the mathematics, in the words of numpy and scipy."""
    mu, Sigma = belief.mean, belief.cov
    v = u @ Sigma @ u
    width = soft * (np.sqrt(np.maximum(b, 0)) + np.sqrt(np.maximum(u @ mu, 0)))
    sigma = np.sqrt(v + blur**2 + width**2)
    z = s * (u @ mu - b) / sigma
    Z = eta + (1 - 2 * eta) * norm.cdf(z)
    r = (1 - 2 * eta) * norm.pdf(z) / Z if eta > 0 else np.sqrt(2 / np.pi) / erfcx(-z / np.sqrt(2))
    reach = Sigma @ u
    mean = mu + s * (r / sigma) * reach
    cov = Sigma - min(r * (r + z) / sigma**2, 0.999 / v) * np.outer(reach, reach)
    return Result(mean, cov, np.array([z]), np.array([norm.cdf(z)]))


def _world(seed: int, *, m: int, n: int) -> tuple[Belief, Rows]:
    """A random belief, and random rows that it is uncertain about, one in five of them a repetition."""
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(m, m))
    belief = Belief(rng.normal(size=m), root @ root.T / m + 0.01 * np.eye(m))
    normals = rng.normal(size=(n, m))
    thresholds = normals @ belief.mean + rng.normal(size=n) * rng.choice([0.1, 1.0, 4.0], size=n)
    sides, rates = rng.choice([-1.0, 1.0], size=n), rng.choice(RATES, size=n)
    for row in range(1, n):
        if rng.random() < 0.2:
            other = int(rng.integers(row))
            normals[row], thresholds[row], sides[row] = normals[other], thresholds[other], sides[other]
    return belief, Rows(normals, thresholds, sides, rates, rng.choice(SOFTNESS, size=n))


@settings(max_examples=80, deadline=None)
@given(
    seed=st.integers(0, 10**9),
    m=st.integers(1, 6),
    n=st.integers(1, 20),
    blur=st.sampled_from([0.0, 1e-4, 0.1]),
    contradiction=st.sampled_from([-np.inf, -5.0, -1.0]),
)
def test_equals_the_formulas_row_by_row(seed: int, m: int, n: int, blur: float, contradiction: float) -> None:
    """What each further row changes is what the formulas say, at mixed rates, with repetitions in between.

    To seven digits, or as many as r + z has: it cancels where both are large.
    """
    belief, rows = _world(seed, m=m, n=n)
    seen: set[tuple[float, ...]] = set()
    for row in range(n):
        after = _updated(belief, Rows(*(part[: row + 1] for part in rows)), blur=blur, contradiction=contradiction)
        before = _updated(belief, Rows(*(part[:row] for part in rows)), blur=blur, contradiction=contradiction)
        u, b, s, eta, soft = (part[row] for part in rows)
        expected = _transcribed(Belief(before.mean, before.cov), u, b, s, eta, soft, blur=blur)
        z = float(expected.scores[0])
        assert np.array_equal(after.scores[:-1], before.scores)
        assert after.scores[-1] == pytest.approx(z, rel=1e-7, abs=1e-7)
        is_known = u @ before.cov @ u <= (DEFAULT.min_of_blur * blur) ** 2
        if (*u, b, s) in seen or z < contradiction or is_known:
            assert np.array_equal(after.mean, before.mean)
            assert np.array_equal(after.cov, before.cov)
        else:
            digits, sd = 1e-7 + 1e-15 * z**2, np.sqrt(np.max(np.diag(before.cov)))
            assert np.allclose(after.mean, expected.mean, rtol=0, atol=digits * (sd + np.max(np.abs(expected.mean))))
            assert np.allclose(after.cov, expected.cov, rtol=0, atol=digits * sd**2)
            assert after.evidences[-1] == pytest.approx(expected.evidences[0], rel=1e-6, abs=1e-300)
        seen.add((*u, b, s))


@pytest.mark.parametrize(("share", "changes"), [(0.29, False), (0.31, True)])
def test_a_direction_known_to_within_the_blur_is_not_moved(share: float, changes: bool) -> None:
    """A deviation below 0.3 of the blur is not learned from, whether rows go one by one or in batches."""
    belief = Belief(np.zeros(1), np.array([[(share * 0.1) ** 2]]))
    cut = HalfSpaces(np.ones((1, 1)), np.array([0.01]), np.ones(1)).joined(
        HalfSpaces(np.ones((1, 1)), np.array([0.02]), np.ones(1))
    )
    in_batches = replace(belief, tuning=replace(DEFAULT, batch_unknowns=0))
    for each in (belief, in_batches):
        updated = each.update(cut, np.zeros(1), blur=0.1).belief
        assert (updated.mean[0] != 0.0) == changes
        assert (updated.cov[0, 0] != belief.cov[0, 0]) == changes


@settings(max_examples=80, deadline=None)
@given(seed=st.integers(0, 10**9), m=st.integers(1, 8), n=st.integers(1, 60), tight=st.booleans())
@example(seed=241, m=1, n=7, tight=False)  # somebody wrong nine times in ten, 6.59 standard deviations inside
def test_what_cannot_matter_is_passed_over(seed: int, m: int, n: int, tight: bool) -> None:
    """With certain rows passed over, mean and covariance are the same to the bit; scores that count are too."""
    belief, rows = _world(seed, m=m, n=n)
    rng = np.random.default_rng(seed)
    far = rows.sides * rng.choice([0.0, 20.0, 200.0], size=n) * np.linalg.norm(rows.normals, axis=1)
    rates = np.zeros(n) if tight else rows.rates
    rows = rows._replace(thresholds=rows.thresholds - far, rates=rates)
    plain = _updated(belief, rows)
    mean, cov, scores, evidences = _updated(belief, rows, few_rows=0)
    assert np.array_equal(mean, plain.mean)
    assert np.array_equal(cov, plain.cov)
    passed = scores != plain.scores
    assert np.all(scores[passed] > DEFAULT.certain_score)
    assert np.all(scores[passed] <= plain.scores[passed])
    assert np.allclose(evidences, plain.evidences, rtol=0, atol=1e-10)


def test_an_exact_repetition_counts_once() -> None:
    """Any number of copies of a row, next to it or later, change nothing more; it is certain from then on."""
    belief, rows = _world(1, m=4, n=1)
    once = _updated(belief, rows)
    copies = Rows(*(np.concatenate([part] * 7) for part in rows))
    again = _updated(belief, copies)
    assert np.array_equal(again.mean, once.mean)
    assert np.array_equal(again.cov, once.cov)
    assert again.evidences[0] == once.evidences[0] < 1
    assert np.all(again.evidences[1:] == 1)
    assert np.all(np.isfinite(again.scores))


@pytest.mark.parametrize("part", ["normals", "thresholds", "sides"])
def test_what_differs_a_little_counts_again(part: str) -> None:
    """A row that differs from another in one number says something else, and moves the belief."""
    belief, rows = _world(2, m=3, n=1)
    rows = rows._replace(rates=np.array([0.1]))
    other = getattr(rows, part).copy()
    other.flat[0] = -other.flat[0] if part == "sides" else np.nextafter(other.flat[0], np.inf)
    both = Rows(*(np.concatenate([a, b]) for a, b in zip(rows, rows._replace(**{part: other}), strict=True)))
    assert not np.allclose(_updated(belief, both).mean, _updated(belief, rows).mean, atol=1e-3)


def test_contradictions_are_scored_and_skipped() -> None:
    """A row that scores below the limit leaves the belief to the bit; one that scores just above it changes it."""
    belief, u = Belief(np.zeros(2), np.eye(2)), np.array([[1.0, 0.0]])
    for threshold, counts in ((5.001, False), (4.999, True)):
        rows = Rows(u, np.array([threshold]), np.ones(1), np.zeros(1), np.zeros(1))
        after = _updated(belief, rows, blur=0.0, contradiction=-5.0)
        assert after.scores[0] == pytest.approx(-threshold)
        assert after.evidences[0] == pytest.approx(norm.cdf(-threshold), rel=1e-9)
        assert np.array_equal(after.mean, belief.mean) != counts
        assert np.array_equal(after.cov, belief.cov) != counts


def test_a_contradiction_is_judged_when_its_turn_comes() -> None:
    """What the first row of two teaches decides whether the second is still a contradiction."""
    belief, u = Belief(np.zeros(1), np.eye(1)), np.ones((2, 1))
    rows = Rows(u, np.array([4.0, 6.0]), np.ones(2), np.zeros(2), np.zeros(2))
    after = _updated(belief, rows, blur=0.0, contradiction=-5.0)
    assert after.scores[1] > -5.0 or after.mean[0] < 6.0
    alone = _updated(belief, Rows(*(part[1:] for part in rows)), blur=0.0, contradiction=-5.0)
    assert alone.scores[0] == -6.0
    assert alone.mean[0] == 0.0


@pytest.mark.parametrize("side", [1.0, -1.0])
@pytest.mark.parametrize("distance", [7.0, 30.0, 1e3, 1e8, 1e150])
def test_far_out_nothing_overflows(side: float, distance: float) -> None:
    """A certain verdict any number of standard deviations off brings the mean to its threshold.

    One that may be wrong is then taken to be so, and one that says what is known already says nothing.
    """
    belief = Belief(np.array([-side * distance]), np.eye(1))
    for rate in RATES:
        row = Rows(np.ones((1, 1)), np.zeros(1), np.array([side]), np.array([rate]), np.zeros(1))
        after = _updated(belief, row, blur=0.0)
        assert all(np.all(np.isfinite(part)) for part in after)
        assert after.cov[0, 0] > 0
        if rate == 0:
            assert abs(after.mean[0]) <= 0.3
        elif distance > 30:
            assert np.array_equal(after.mean, belief.mean)
        known = _updated(Belief(-belief.mean, belief.cov), row)
        if distance > 30:
            assert np.array_equal(known.mean, -belief.mean)
            assert np.array_equal(known.cov, belief.cov)


def test_a_coin_teaches_nothing() -> None:
    """Somebody wrong in half of the cases leaves the belief as it was, to the bit."""
    belief, rows = _world(3, m=4, n=20)
    after = _updated(belief, rows._replace(rates=np.full(20, 0.5)))
    assert np.array_equal(after.mean, belief.mean)
    assert np.array_equal(after.cov, belief.cov)


@settings(max_examples=50, deadline=None)
@given(seed=st.integers(0, 10**9), rate=st.floats(0.001, 0.499))
def test_who_is_mostly_wrong_says_the_opposite(seed: int, rate: float) -> None:
    """At rate 1 - eta a row says what its opposite says at rate eta."""
    belief, rows = _world(seed, m=3, n=1)
    right = _updated(belief, rows._replace(rates=np.array([rate])))
    wrong = _updated(belief, rows._replace(sides=-rows.sides, rates=np.array([1 - rate])))
    assert np.allclose(wrong.mean, right.mean, rtol=1e-9, atol=1e-9)
    assert np.allclose(wrong.cov, right.cov, rtol=1e-9, atol=1e-9)


def test_the_input_is_not_changed() -> None:
    """Only mean, covariance, scores and evidences are written to; a Belief's own arrays are not even that."""
    belief, rows = _world(4, m=3, n=10)
    before: list[Any] = [part.copy() for part in (*rows, belief.mean, belief.cov)]
    _updated(belief, rows)
    belief.update(HalfSpaces(*rows[:3]), rows.rates, blur=1e-4)
    assert all(np.array_equal(a, b) for a, b in zip(before, (*rows, belief.mean, belief.cov), strict=True))


def test_one_verdict_removes_no_more_than_its_limit() -> None:
    """However far off a certain verdict is, a thousandth of the variance along it is left."""
    for z in (-1.0, -100.0, -1e6):
        row = Rows(np.ones((1, 1)), np.zeros(1), np.ones(1), np.zeros(1), np.zeros(1))
        after = _updated(Belief(np.array([z]), np.eye(1)), row, blur=0.0)
        assert after.cov[0, 0] >= 1e-3 * (1 - 1e-9)


@pytest.mark.parametrize("rates", [(0.0,), (0.001, 0.3), RATES, (0.9, 0.995)])
def test_thousands_of_verdicts_leave_a_covariance(rates: tuple[float, ...]) -> None:
    """After 6,000 verdicts of any kind, contradictory ones too, it is symmetric to the bit, positive definite, finite.

    A verdict taken to be wrong may widen it; thresholds being bounded, it never becomes wide.
    """
    rng = np.random.default_rng(5)
    m = 10
    belief = Belief(np.zeros(m), np.eye(m))
    for _ in range(60):
        normals = rng.normal(size=(100, m))
        normals /= np.linalg.norm(normals, axis=1, keepdims=True)
        sides, softness = rng.choice([-1.0, 1.0], size=100), np.zeros(100)
        rows = Rows(normals, rng.uniform(0, 1, size=100), sides, rng.choice(rates, size=100), softness)
        after = _updated(belief, rows, blur=1e-4)
        belief = Belief(after.mean, after.cov)
        assert np.all(np.isfinite(after.mean))
        assert np.all(np.isfinite(after.cov))
    assert np.array_equal(belief.cov, belief.cov.T)
    assert np.min(np.linalg.eigvalsh(belief.cov)) > 0
    assert np.max(np.abs(belief.cov)) < 10.0
    assert np.max(np.abs(belief.mean)) < 10.0


def test_a_bit_on_copies_is_a_bit_on_one_of_them() -> None:
    """That something was unfair among twenty copies of one pair says no less than among one."""
    belief, rows = _world(6, m=3, n=1)
    one = HalfSpaces(rows.normals, rows.thresholds, np.ones(1))
    many = HalfSpaces(np.repeat(rows.normals, 20, axis=0), np.repeat(rows.thresholds, 20), np.ones(20))
    for any_unfair in (True, False):
        once, chance = belief.update_bit(one, any_unfair, error_rate=0.05, blur=1e-4)
        again, same_chance = belief.update_bit(many, any_unfair, error_rate=0.05, blur=1e-4)
        assert same_chance == chance
        assert np.array_equal(again.mean, once.mean)
        assert np.allclose(again.cov, once.cov, atol=1e-15)


@settings(max_examples=80, deadline=None)
@given(seed=st.integers(0, 10**9), n=st.integers(0, 80), m=st.integers(1, 20), values=st.integers(2, 4))
def test_repeated_rows_are_those_seen_before(seed: int, n: int, m: int, values: int) -> None:
    """Exactly the rows that equal an earlier one are repetitions; minus zero is zero."""
    rng = np.random.default_rng(seed)
    table = rng.choice([0.0, -0.0, 1.0, 0.5][:values], size=(n, m + 2)) + 0.0
    table[rng.random((n, m + 2)) < 0.1] = -0.0
    seen: set[tuple[float, ...]] = set()
    found = repeated_rows(np.ascontiguousarray(table[:, :m]), table[:, m].copy(), table[:, m + 1].copy())
    for row, is_repeat in zip(table.tolist(), found, strict=True):
        assert is_repeat == (tuple(row) in seen)
        seen.add(tuple(row))


def test_a_key_just_below_a_whole_number_stays_in_the_table() -> None:
    """A tiny negative normal: interpreted, where a place outside of the table is an IndexError, it is found new."""
    interpreted = getattr(repeated_rows, "py_func")  # noqa: B009  mypy sees a plain function
    rows = np.array([[-1e-30, 0.0], [-1e-30, 0.0]])
    assert interpreted(rows, np.zeros(2), np.ones(2)).tolist() == [False, True]
