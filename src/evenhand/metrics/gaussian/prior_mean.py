"""PriorMean: a metric learned elsewhere, where a belief starts instead of at a multiple of the identity."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from evenhand._internal.arrays import Floats
from evenhand._internal.checks import check_matrix, check_number
from evenhand._internal.factorisations import eigvalsh
from evenhand.errors import InvalidInput
from evenhand.metrics.features import SpaceStructure

SYMMETRIC = 1e-9
"""How far a matrix may be from symmetric and positive semidefinite, relative to its largest entry."""


@dataclass(frozen=True, eq=False)
class PriorMean:
    """The mean G of a prior, (d, d), and how much it weighs: variances of the usual prior are divided by `weight`."""

    matrix: Floats
    weight: float = 1.0

    @cached_property
    def norm(self) -> float:
        """||G||_F."""
        return float(np.sqrt(np.sum(self.matrix**2)))

    @classmethod
    def checked(cls, prior: Any, weight: Any, n_features: int, structure: SpaceStructure) -> PriorMean | None:
        """From what a caller passed; None without a prior."""
        number = check_number("weight", weight, above=0)
        if prior is None:
            if number != 1.0:
                raise InvalidInput(f"weight must be 1 without a prior, got {weight!r}")
            return None
        matrix = check_metric("prior", matrix_in("prior", prior), n_features)
        if structure == "diagonal" and np.any(matrix != np.diag(np.diag(matrix))):
            raise InvalidInput("prior must be diagonal with structure 'diagonal', got other entries that are not 0")
        return cls(matrix, number)


def matrix_in(name: str, value: Any) -> Any:
    """The matrix of a metric: what was passed, or what its `get_mahalanobis_matrix()` returns."""
    if not hasattr(value, "get_mahalanobis_matrix"):
        return value
    try:
        return value.get_mahalanobis_matrix()
    except (AttributeError, ValueError) as error:  # what scikit-learn raises
        raise InvalidInput(f"{name} must be fitted, got {value!r}: {error}") from None


def check_metric(name: str, value: Any, n_features: int) -> Floats:
    """`value` as a symmetric positive semidefinite matrix, (d, d).

    >>> check_metric("prior", [[1.0, 0.0], [0.0, -1.0]], 2)
    Traceback (most recent call last):
    ...
    evenhand.errors.InvalidInput: prior must be positive semidefinite, got the eigenvalue -1.0
    """
    matrix = check_matrix(name, value, columns=n_features)
    if len(matrix) != n_features:
        raise InvalidInput(f"{name} must be a matrix of shape ({n_features}, {n_features}), got {matrix.shape}")
    largest = float(np.max(np.abs(matrix)))
    if np.max(np.abs(matrix - matrix.T)) > SYMMETRIC * largest:
        raise InvalidInput(f"{name} must be symmetric, got entries that differ from their mirror images")
    matrix = 0.5 * (matrix + matrix.T)
    lowest = float(eigvalsh(matrix)[0])
    if lowest < -SYMMETRIC * n_features * largest:
        raise InvalidInput(f"{name} must be positive semidefinite, got the eigenvalue {lowest:.2}")
    return matrix
