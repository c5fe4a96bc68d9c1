"""Factorisations are numpy's wherever numpy's are right, another driver's where not, and never wrong."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import evenhand
from evenhand._internal import factorisations
from evenhand._internal.arrays import Floats
from evenhand._internal.factorisations import Eigen
from evenhand.errors import SolverFailed
from evenhand.metrics import BayesPoint, Pairs, Verdicts
from tests.support.failing_factorisations import refuse

sizes = st.integers(1, 12)
seeds = st.integers(0, 2**32 - 1)
exponents = st.integers(-290, 290)

NUMPY = ("eigh", "eigvalsh", "svd", "cholesky")


def symmetric(size: int, seed: int, exponent: int = 0, *, cluster: bool = False) -> Floats:
    """A symmetric matrix; with a cluster, most of its eigenvalues are one, as of a belief that has learned little."""
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(size, size))
    if cluster:
        few = root[:, : max(size // 3, 1)]
        root = np.eye(size) - few @ few.T / (1.0 + float(np.sum(few**2)))
    return np.asarray((root + root.T) * 10.0**exponent)


def positive(size: int, seed: int, exponent: int = 0) -> Floats:
    """A positive definite matrix."""
    root = np.random.default_rng(seed).normal(size=(size, size))
    return np.asarray((root @ root.T + np.eye(size)) * 10.0**exponent)


@pytest.fixture
def without_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    """None of numpy's drivers converges."""
    for name in NUMPY:
        monkeypatch.setattr(np.linalg, name, refuse)


class TestUsualDriver:
    """Where numpy's answer is right."""

    @given(sizes, seeds, exponents, st.booleans())
    def test_answers_are_numpys_to_the_bit(self, size: int, seed: int, exponent: int, cluster: bool) -> None:
        """Whatever the scale."""
        A, V = symmetric(size, seed, exponent, cluster=cluster), positive(size, seed, exponent // 2)
        for ours, theirs in (
            (factorisations.eigh(A), np.linalg.eigh(A)),
            ([factorisations.eigvalsh(A)], [np.linalg.eigvalsh(A)]),
            (factorisations.svd(A[:, : size // 2 + 1]), np.linalg.svd(A[:, : size // 2 + 1], full_matrices=False)),
            (factorisations.svd(A, full_matrices=True), np.linalg.svd(A, full_matrices=True)),
            ([factorisations.singular_values(A)], [np.linalg.svd(A, compute_uv=False)]),
            ([factorisations.cholesky(V)], [np.linalg.cholesky(V)]),
        ):
            assert all(a.tobytes() == b.tobytes() for a, b in zip(ours, theirs, strict=True))

    @pytest.mark.parametrize("size", [200, 600])
    def test_large_matrices_pass_the_checks(self, size: int) -> None:
        """Tolerances leave room for the rounding of large matrices, well and ill conditioned."""
        A = symmetric(size, 1)
        factorisations.eigh(A)
        factorisations.eigh(A @ A)
        factorisations.svd(A @ A)
        factorisations.eigvalsh(A @ A)

    def test_only_the_lower_triangle_is_read(self) -> None:
        """As numpy does: what rounding did to the other triangle changes nothing."""
        A = symmetric(6, 2)
        other = np.tril(A) + 1.5 * np.triu(A, 1)
        assert factorisations.eigh(other).values.tobytes() == np.linalg.eigh(A)[0].tobytes()
        assert factorisations.eigvalsh(other).tobytes() == np.linalg.eigvalsh(A).tobytes()


@pytest.mark.usefixtures("without_numpy")
class TestSecondDriver:
    """Where numpy's driver does not converge."""

    @given(size=sizes, seed=seeds, exponent=exponents, cluster=st.booleans())
    def test_eigenvalues_and_vectors_are_right(self, size: int, seed: int, exponent: int, cluster: bool) -> None:
        """V diag(w) V' is the matrix, V is orthogonal, w ascends."""
        A = symmetric(size, seed, exponent, cluster=cluster)
        values, vectors = factorisations.eigh(A)
        scale = 10.0**exponent * size
        assert np.max(np.abs((vectors * (values / scale)) @ vectors.T - A / scale)) < 1e-12
        assert np.max(np.abs(vectors.T @ vectors - np.eye(size))) < 1e-12
        assert np.all(np.diff(values) >= 0.0)
        assert np.max(np.abs(factorisations.eigvalsh(A) - values)) <= 1e-12 * scale

    @given(rows=sizes, columns=sizes, seed=seeds, exponent=exponents)
    def test_singular_vectors_are_right(self, rows: int, columns: int, seed: int, exponent: int) -> None:
        """U diag(s) V' is the matrix, and the values agree with those computed alone."""
        A = np.random.default_rng(seed).normal(size=(rows, columns)) * 10.0**exponent
        left, values, right = factorisations.svd(A)
        scale = 10.0**exponent * (rows + columns)
        assert np.max(np.abs((left * (values / scale)) @ right - A / scale)) < 1e-12
        assert np.max(np.abs(factorisations.singular_values(A) - values)) <= 1e-12 * scale

    @given(size=sizes, seed=seeds)
    def test_triangles_are_right(self, size: int, seed: int) -> None:
        """LL' is the matrix, L is lower triangular with a positive diagonal, and its inverse inverts."""
        V = positive(size, seed)
        L = factorisations.cholesky(V)
        assert np.max(np.abs(L @ L.T - V)) < 1e-11 * size**2
        assert np.all(np.diag(L) > 0.0)
        assert np.max(np.abs(factorisations.inverse_of_lower(L) @ L - np.eye(size))) < 1e-9

    def test_a_learner_goes_on_learning(self) -> None:
        """BayesPoint learns from random verdicts where numpy finds no eigenvectors at all."""
        rng, learner = np.random.default_rng(0), BayesPoint(3)
        for _ in range(30):
            pairs = Pairs.of(rng.uniform(-0.5, 0.5, size=(4, 3)))
            learner.learn(Verdicts(pairs, rng.random(6), rng.random(6) < 0.5, np.ones(6, np.bool_)))
        assert np.all(np.isfinite(learner.matrix()))


class TestNoSoundAnswer:
    """Where nothing is right."""

    @pytest.mark.parametrize("entry", [np.nan, np.inf, -np.inf])
    @pytest.mark.parametrize(
        "function",
        [
            factorisations.eigh,
            factorisations.eigvalsh,
            factorisations.svd,
            factorisations.singular_values,
            factorisations.cholesky,
        ],
    )
    def test_numbers_that_are_not_finite_are_refused(self, function: Callable[[Floats], Any], entry: float) -> None:
        """SolverFailed, before a driver that would not return sees them."""
        A = np.eye(3)
        A[1, 0] = entry
        with pytest.raises(SolverFailed, match=r"entries must be finite to find the .* of a \(3, 3\) matrix"):
            function(A)

    def test_no_factor_of_an_indefinite_matrix(self) -> None:
        """Only positive definite matrices have one."""
        with pytest.raises(SolverFailed, match="Cholesky"):
            factorisations.cholesky(np.diag([1.0, -1.0]))

    def test_wrong_answers_of_every_driver_are_found(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """A driver that returns wrong numbers and says nothing is as bad as one that fails."""
        A = symmetric(5, 3)
        values, vectors = np.linalg.eigh(A)
        wrong = Eigen(values * (1.0 + 1e-6), vectors)
        monkeypatch.setattr(factorisations, "EIGEN_DRIVERS", (lambda matrix: wrong,) * 3)
        with pytest.raises(SolverFailed, match="eigenvectors"):
            factorisations.eigh(A)

    @given(sizes, seeds, st.floats(1e-8, 1.0))
    def test_any_change_of_an_answer_is_found(self, size: int, seed: int, change: float) -> None:
        """In values or vectors, in any place, down to 1e-8 of the scale."""
        A, rng = symmetric(size, seed), np.random.default_rng(seed)
        values, vectors = np.linalg.eigh(A)
        assert factorisations.is_eigen(A, Eigen(values, vectors))
        place, changed = rng.integers(size), values.copy()
        changed[place] += change * (1.0 + np.max(np.abs(A))) * size**2 / max(abs(float(vectors[:, place].sum())), 1e-2)
        assert not factorisations.is_eigen(A, Eigen(changed, vectors))
        turned = vectors.copy()
        turned[place, rng.integers(size)] += max(change, 1e-6) * size
        assert not factorisations.is_eigen(A, Eigen(values, turned)) or size == 1


class TestNobodyElseCallsDrivers:
    """What ruff's banned names cannot see."""

    def test_hidden_factorisations_are_not_used(self) -> None:
        """`multivariate_normal` and the spectral norm call numpy's drivers inside."""
        hidden = re.compile(r"multivariate_normal\(|norm\([^)]*ord=2|norm\([^)]*\"nuc\"")
        for path in Path(evenhand.__file__).parent.rglob("*.py"):
            assert not hidden.search(path.read_text()), path
