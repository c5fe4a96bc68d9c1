"""A linear program that can be solved repeatedly, by HiGHS, with every solution verified.

Rows may be added and the objective changed between solves; HiGHS then starts from the last basis, which makes lazily
added rows and repeated extents cheap.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand._internal.arrays import Floats
from evenhand.errors import SolverFailed

if TYPE_CHECKING:
    from scipy.sparse import csr_array


SOLVER_TOLERANCE = 1e-10  # Feasibility tolerances passed to HiGHS, the tightest it accepts.

RESIDUAL_TOLERANCE = 1e-9
"""Largest accepted violation of a row or a bound, relative to the size of that bound (at least 1)."""


@dataclass(frozen=True)
class LinearOptimum:
    """The optimum of a linear program, and the dual prices that prove it."""

    x: Floats
    value: float
    row_prices: Floats
    """Reward per unit by which a row's bound is loosened; negative where the lower bound holds."""


class LinearProgram:
    """Maximise a linear objective over lower <= x <= upper and rows added one batch at a time.

    >>> program = LinearProgram(np.zeros(2), np.ones(2))
    >>> program.add_rows(np.array([[1.0, 1.0]]), np.array([-np.inf]), np.array([1.5]))
    >>> best = program.maximise(np.array([2.0, 1.0]))
    >>> best.x.tolist(), best.value, best.row_prices.tolist()
    ([1.0, 0.5], 2.5, [1.0])
    """

    def __init__(self, lower: Floats, upper: Floats) -> None:
        self._lower = np.asarray(lower, dtype=np.float64)
        self._upper = np.asarray(upper, dtype=np.float64)
        self._rows: list[Floats | csr_array] = []
        self._row_bounds: list[tuple[Floats, Floats]] = []
        import highspy  # imported late: no decision needs it

        new_solver: Any = highspy.Highs  # which has no types
        self._highs, self._status = new_solver(), highspy.HighsModelStatus
        self._highs.silent()
        self._highs.setOptionValue("primal_feasibility_tolerance", SOLVER_TOLERANCE)
        self._highs.setOptionValue("dual_feasibility_tolerance", SOLVER_TOLERANCE)
        self._highs.setOptionValue("threads", 1)
        self._highs.addVars(len(self._lower), self._lower, self._upper)
        self._highs.changeObjectiveSense(highspy.ObjSense.kMaximize)

    def add_rows(self, matrix: Floats | csr_array, lower: Floats, upper: Floats) -> None:
        """Add the rows lower <= matrix @ x <= upper. Zero coefficients are left out of the model."""
        if not isinstance(matrix, np.ndarray):
            starts, columns = matrix.indptr[:-1].astype(np.int32), matrix.indices.astype(np.int32)
            values = matrix.data
        else:
            matrix = np.asarray(matrix, dtype=np.float64)
            places = np.nonzero(matrix)
            starts = np.searchsorted(places[0], np.arange(len(matrix))).astype(np.int32)
            columns, values = places[1].astype(np.int32), matrix[places]
        lower, upper = np.asarray(lower, dtype=np.float64), np.asarray(upper, dtype=np.float64)
        self._highs.addRows(len(lower), lower, upper, len(values), starts, columns, values)
        self._rows.append(matrix)
        self._row_bounds.append((lower, upper))

    def maximise(self, objective: Floats) -> LinearOptimum | None:
        """The best x, or None when no x satisfies the rows; raises SolverFailed on anything else."""
        n = len(self._lower)
        self._highs.changeColsCost(n, np.arange(n, dtype=np.int32), np.asarray(objective, dtype=np.float64))
        self._highs.run()
        status = self._highs.getModelStatus()
        if status == self._status.kInfeasible:
            return None
        if status != self._status.kOptimal:
            raise SolverFailed(f"HiGHS stopped with status {status.name}")
        solution = self._highs.getSolution()
        x = np.array(solution.col_value)
        self._verify(x)
        return LinearOptimum(x, float(np.dot(objective, x)), np.array(solution.row_dual))

    def _verify(self, x: Floats) -> None:
        worst = float(max(np.max(self._lower - x, initial=0.0), np.max(x - self._upper, initial=0.0)))
        for matrix, (lower, upper) in zip(self._rows, self._row_bounds, strict=True):
            value = matrix @ x
            for excess, bound in ((lower - value, lower), (value - upper, upper)):
                scale = np.maximum(1.0, np.abs(np.where(np.isfinite(bound), bound, 0.0)))
                worst = max(worst, float(np.max(excess / scale, initial=0.0)))
        if worst > RESIDUAL_TOLERANCE:
            raise SolverFailed(f"HiGHS's solution violates a row by {worst:.2e}, more than {RESIDUAL_TOLERANCE}")
