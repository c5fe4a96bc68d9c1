"""What is true in a world and unknown to the policy: theta, and the reviewer's metric."""

from __future__ import annotations

from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from evenhand._internal.arrays import Floats
from evenhand._internal.checks import check_matrix, check_number, check_whole, refusal
from evenhand._internal.randomness import Seed, as_generator
from evenhand.errors import InvalidInput

MetricKind = Literal["full", "low-rank", "rank-one", "diagonal", "zero", "huge"]

METRIC_KINDS: tuple[MetricKind, ...] = get_args(MetricKind)

HUGE_NORM = 1e6
"""||A'A||_F of the "huge" metric: contexts a few thousandths apart are at distance 1, so nothing is constrained."""


def random_direction(n_features: int, *, seed: Seed = None) -> Floats:
    """A random theta of norm 1, (d,)."""
    theta = as_generator(seed).normal(size=n_features)
    return np.asarray(theta / np.linalg.norm(theta))


def random_metric(n_features: int, *, rank: int | None = None, norm: float = 0.7, seed: Seed = None) -> Floats:
    """A random A, (rank, d), with ||A'A||_F = norm; full rank by default."""
    A = as_generator(seed).normal(size=(n_features if rank is None else rank, n_features))
    return np.asarray(A * np.sqrt(norm / np.linalg.norm(A.T @ A)))


def metric_of_kind(kind: MetricKind | str, n_features: int, *, norm: float = 0.7, seed: Seed = None) -> Floats:
    """A, (r, d), of one of METRIC_KINDS, with ||A'A||_F = norm except for the last two.

    "full": rank d. "low-rank": rank d/2, rounded down, at least 1. "rank-one": one direction counts. "diagonal": each
    feature counts separately, with a random weight. "zero": everybody is alike. "huge": nobody is, norm HUGE_NORM.

    >>> metric_of_kind("low-rank", 5, seed=0).shape
    (2, 5)
    >>> float(np.linalg.norm(metric_of_kind("zero", 3)))
    0.0
    """
    d = check_whole("n_features", n_features, least=1)
    size = check_number("norm", norm, above=0)
    rng = as_generator(seed)
    ranks = {"full": d, "low-rank": max(1, d // 2), "rank-one": 1}
    if kind in ranks:
        return random_metric(d, rank=ranks[kind], norm=size, seed=rng)
    if kind == "diagonal":
        weights = rng.uniform(0.2, 1.0, size=d)
        return np.diag(np.sqrt(weights * size / np.linalg.norm(weights)))
    if kind == "zero":
        return np.zeros((1, d))
    if kind == "huge":
        return np.asarray(np.eye(d) * np.sqrt(HUGE_NORM / np.sqrt(d)))
    raise InvalidInput(f"metric must be one of {', '.join(METRIC_KINDS)}, or A itself, (r, d), got {kind!r}")


def metric_from(metric: MetricKind | ArrayLike, n_features: int, *, norm: float, seed: Seed) -> Floats:
    """A, (r, d): of this kind and norm, or the matrix itself, checked."""
    if isinstance(metric, str):
        return metric_of_kind(metric, n_features, norm=norm, seed=seed)
    return as_metric(metric, n_features)


def as_theta(value: ArrayLike) -> Floats:
    """A checked theta: a vector of norm <= 1."""
    try:
        theta = np.array(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise refusal("theta", "a vector of norm <= 1", value) from None
    if theta.ndim != 1 or len(theta) == 0 or not np.linalg.norm(theta) <= 1 + 1e-9:
        raise refusal("theta", "a vector of norm <= 1", value)
    theta.flags.writeable = False
    return theta


def as_metric(value: Any, n_features: int) -> Floats:
    """A checked A: an (r, d) matrix of finite numbers."""
    A = check_matrix("A", value, columns=n_features)
    A.flags.writeable = False
    return A
