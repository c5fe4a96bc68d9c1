"""The mode of the posterior, and the Gaussian around it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from evenhand._internal.arrays import Floats
from evenhand._internal.factorisations import cholesky, inverse_of_lower
from evenhand.errors import SolverFailed
from evenhand.metrics.score_model.likelihood import ScoreLikelihood
from evenhand.metrics.score_model.parameters import Parameters
from evenhand.metrics.score_model.prior import ScorePrior


class Mode(NamedTuple):
    """A mode, and the covariance of the parameters around it."""

    parameters: Parameters
    """One set of parameters, (d + 9, 1)."""
    covariance: Floats
    """(d + 9, d + 9)."""
    evidence: float
    """The logarithm of the evidence by Laplace's method, up to a constant."""


class Posterior:
    """The posterior of one reviewer's parameters at a fixed scale of the weights."""

    def __init__(self, prior: ScorePrior, likelihood: ScoreLikelihood, log_scale: float) -> None:
        self._prior, self._likelihood, self._log_scale = prior, likelihood, log_scale
        self._last = (log_scale - prior.scale) / prior.scale_sd

    def loss(self, point: Floats) -> tuple[float, Floats]:
        """Minus the logarithm of the posterior at a point (d + 9,), up to a constant, and its gradient."""
        log, gradient = self._likelihood.gradient(self._parameters(point))
        jacobian = self._prior.jacobian(self._log_scale)
        return 0.5 * float(point @ point) - log, point - jacobian.T @ gradient

    def mode_from(self, starts: Floats, iterations: int) -> Mode:
        """The lowest loss that L-BFGS finds from these starts, (d + 9, S)."""
        found = [self._descended(start, iterations) for start in starts.T]
        point, loss = min(found, key=lambda pair: pair[1])
        parameters = self._parameters(point)
        jacobian = self._prior.jacobian(self._log_scale)
        precision = np.eye(len(point)) + jacobian.T @ self._likelihood.information(parameters) @ jacobian
        lower = cholesky(0.5 * (precision + precision.T))
        root = jacobian @ inverse_of_lower(lower).T
        return Mode(parameters, root @ root.T, -loss - float(np.sum(np.log(np.diag(lower)))))

    def _descended(self, start: Floats, iterations: int) -> tuple[Floats, float]:
        """Where L-BFGS ends from a start; an end that is not finite or not lower is refused."""
        from scipy.optimize import minimize  # slow to import, and only learning needs it

        before, _ = self.loss(start)
        result = minimize(self.loss, start, jac=True, method="L-BFGS-B", options={"maxiter": iterations})
        loss, gradient = self.loss(result.x)
        if not (np.isfinite(result.x).all() and np.isfinite(gradient).all() and loss <= before + 1e-9 * abs(before)):
            raise SolverFailed(f"the loss must fall to a finite number, got {loss} from {before} ({result.message})")
        return np.asarray(result.x), loss

    def _parameters(self, point: Floats) -> Parameters:
        return self._prior.parameters(np.append(point, self._last)[:, None])
