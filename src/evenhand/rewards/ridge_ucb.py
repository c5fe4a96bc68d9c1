"""RidgeUCB: ridge regression with confidence widths (Abbasi-Yadkori, Pal, Szepesvari 2011)."""

from __future__ import annotations

import math
from typing import Any, Literal, Self, get_args

import numpy as np

from evenhand.checks import is_number, is_whole
from evenhand.compiled import compiled, frozen
from evenhand.errors import InvalidInput, SolverFailed
from evenhand.rewards.model import Floats, RewardModel

Width = Literal["self_normalised", "paper"]

REFRESH_EVERY = 256
"""Rank-one updates between two fresh factorisations of V."""

DRIFT_TOLERANCE = 1e-6
"""How far V times the carried inverse may be from the identity when it is checked."""

NOISE_PRIOR_WEIGHT = 1.0
"""The starting noise scale counts as much as this many outcomes when the scale is estimated."""

MOST_REWARD = 10.0
"""A reward beyond this times the bound on theta plus the noise scale is refused: it is in other units."""


class RidgeUCB(RewardModel):
    """Linear rewards: theta-hat = V^-1 b with V = lambda I + sum x x', b = sum r x, and a width for every context.

    Expected rewards are taken to lie in [-S, S], S the `norm_bound` on ||theta||: rewards in other units are divided by
    their size first, or S is given. Widths, both times ||x||_{V^-1}:

    - "self_normalised" (default): R sqrt(2 log(det(V)^(1/2) lambda^(-d/2) / delta)) + sqrt(lambda) S, R the noise's
      sub-Gaussian scale; never more than S ||x|| + |estimate|, beyond which the truth cannot lie. With `noise` given,
      all intervals of all rounds hold together with probability 1 - delta. With `noise=None` R is estimated from
      one-step-ahead residuals, each divided by the variance its own context adds; right in the long run for noise of
      one scale, and no theorem at small samples.
    - "paper": sqrt(2 d log((1 + t/lambda)/delta)) + sqrt(lambda), t the number of outcomes plus one, at most 1; for
      R = S = 1. As printed; but an estimate may be off by more than 1, so at high noise these intervals can miss.

    A round costs O(d^2); every REFRESH_EVERY outcomes the carried inverse is checked against V and made anew.

    >>> model = RidgeUCB(2, noise=0.1)
    >>> model.widths(np.array([[1.0, 0.0]])).round(3).tolist()
    [1.0]
    >>> model.learn(np.array([[1.0, 0.0]] * 50), np.full(50, 0.5))
    >>> model.estimate(np.array([[1.0, 0.0]])).round(2).tolist()
    [0.49]
    """

    def __init__(
        self,
        n_features: int,
        *,
        width: Width = "self_normalised",
        noise: float | None = None,
        regularisation: float = 1.0,
        norm_bound: float = 1.0,
        confidence: float = 0.05,
    ) -> None:
        if not is_whole(n_features) or n_features < 1:
            raise InvalidInput(f"n_features is {n_features!r}; allowed is a whole number >= 1")
        if width not in get_args(Width):
            raise InvalidInput(f"width is {width!r}; allowed are 'self_normalised' and 'paper'")
        for name, value in (("noise", noise), ("regularisation", regularisation), ("norm_bound", norm_bound)):
            if (value is None and name != "noise") or (value is not None and not (is_number(value) and value > 0)):
                raise InvalidInput(f"{name} is {value!r}; allowed is a number > 0" + " or None" * (name == "noise"))
        if not is_number(confidence) or not 0 < confidence < 1:
            raise InvalidInput(f"confidence is {confidence!r}; allowed is delta, a number between 0 and 1")
        self.width: Width = width
        self.noise = noise
        self.regularisation = float(regularisation)
        self.norm_bound = float(norm_bound)
        self.confidence = float(confidence)
        self.n_outcomes = 0
        self._V = np.eye(int(n_features)) * self.regularisation
        self._b = np.zeros(int(n_features))
        self._V_inv = np.eye(int(n_features)) / self.regularisation
        self._theta = np.zeros(int(n_features))
        self._log_det_ratio = 0.0  # log det(V) - d log(lambda)
        self._residuals = 0.0  # sum of squared one-step-ahead residuals, each over 1 + ||x||^2_{V^-1}

    @property
    def n_features(self) -> int:
        """How many features a context has: d."""
        return len(self._b)

    @property
    def theta(self) -> Floats:
        """The ridge estimate of theta, (d,), a copy."""
        return self._theta.copy()

    @property
    def noise_scale(self) -> float:
        """R: as given, or the estimate, which starts at 1 and follows the residuals."""
        if self.noise is not None:
            return self.noise
        return math.sqrt((NOISE_PRIOR_WEIGHT + self._residuals) / (NOISE_PRIOR_WEIGHT + self.n_outcomes))

    def estimate(self, contexts: Floats) -> Floats:
        """<theta-hat, x> of each row, (k,)."""
        return self._bounds(contexts)[0]

    def widths(self, contexts: Floats) -> Floats:
        """||x||_{V^-1} times the radius of each row, cut off where the truth cannot lie, (k,)."""
        return self._bounds(contexts)[1]

    def optimistic(self, contexts: Floats) -> Floats:
        """The highest expected reward still believable, (k,): the paper's r-hat."""
        estimates, widths = self._bounds(contexts)
        return estimates + widths

    def _bounds(self, contexts: Floats) -> tuple[Floats, Floats]:
        found = np.empty(len(contexts)), np.empty(len(contexts))
        most = 1.0 if self.width == "paper" else math.inf
        _fill_bounds(frozen(contexts), self._theta, self._V_inv, self._radius(), self.norm_bound, most, *found)
        return found

    def _radius(self) -> float:
        lam, delta = self.regularisation, self.confidence
        if self.width == "paper":
            t = self.n_outcomes + 1
            return math.sqrt(2 * self.n_features * math.log((1 + t / lam) / delta)) + math.sqrt(lam)
        log_ratio = 0.5 * self._log_det_ratio + math.log(1 / delta)
        return self.noise_scale * math.sqrt(2 * log_ratio) + math.sqrt(lam) * self.norm_bound

    def learn(self, contexts: Floats, rewards: Floats) -> None:
        """Take in outcomes: (n, d) contexts and (n,) rewards, one rank-one update each."""
        most = MOST_REWARD * (self.norm_bound + (self.noise or 1.0))
        if not all(abs(reward) <= most for reward in rewards.tolist()):
            raise InvalidInput(
                f"a reward is {rewards[np.argmax(np.abs(rewards))]}; expected ones must be within {self.norm_bound} "
                f"and none may exceed {most}: divide by their size, or pass reward=RidgeUCB(..., norm_bound=...)"
            )
        before = self.__dict__.copy()  # updates replace arrays, never write into them
        try:
            for x, reward in zip(contexts, rewards, strict=True):
                self._learn_one(x, float(reward))
        except BaseException:
            self.__dict__.update(before)
            raise

    def _learn_one(self, x: Floats, reward: float) -> None:
        d = self.n_features
        V, b, V_inv = np.empty((d, d)), np.empty(d), np.empty((d, d))
        spread, residual = _tell(frozen(x), reward, self._V, self._b, self._V_inv, self._theta, V, b, V_inv)
        self._V, self._b, self._V_inv = V, b, V_inv
        self._residuals += residual
        self._log_det_ratio += math.log1p(spread)
        self.n_outcomes += 1
        if self.n_outcomes % REFRESH_EVERY == 0:
            self._refresh()
        self._theta = self._V_inv @ self._b

    def _refresh(self) -> None:
        """A fresh inverse and determinant; the carried ones must have been right up to rounding."""
        drift = float(np.max(np.abs(self._V @ self._V_inv - np.eye(self.n_features))))
        if not drift <= DRIFT_TOLERANCE:
            raise SolverFailed(
                f"the carried inverse of V has drifted by {drift:.1e}; at most {DRIFT_TOLERANCE} is sound"
            )
        L = np.linalg.cholesky(self._V)
        half = np.linalg.solve(L, np.eye(self.n_features))
        self._V_inv = half.T @ half
        self._log_det_ratio = float(2 * np.sum(np.log(np.diag(L))) - self.n_features * math.log(self.regularisation))

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """Arrays are replaced, never written into, so a copy may share them."""
        twin = self.__class__.__new__(self.__class__)
        twin.__dict__.update(self.__dict__)
        memo[id(self)] = twin
        return twin

    def state(self) -> dict[str, Any]:
        """Settings and sums."""
        return {
            "width": self.width,
            "noise": self.noise,
            "regularisation": self.regularisation,
            "norm_bound": self.norm_bound,
            "confidence": self.confidence,
            "n_outcomes": self.n_outcomes,
            "V": self._V,
            "b": self._b,
            "V_inv": self._V_inv,
            "theta": self._theta,
            "log_det_ratio": self._log_det_ratio,
            "residuals": self._residuals,
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """The model that was saved, to the bit."""
        settings = ("width", "noise", "regularisation", "norm_bound", "confidence")
        model = cls(len(state["b"]), **{name: state[name] for name in settings})
        model.n_outcomes = int(state["n_outcomes"])
        model._V, model._b = state["V"].copy(), state["b"].copy()
        model._V_inv, model._theta = state["V_inv"].copy(), state["theta"].copy()
        model._log_det_ratio, model._residuals = float(state["log_det_ratio"]), float(state["residuals"])
        return model


@compiled
def _fill_bounds(
    contexts: Floats,
    theta: Floats,
    V_inv: Floats,
    radius: float,
    norm_bound: float,
    most: float,
    estimates: Floats,
    widths: Floats,
) -> None:
    """Estimate and width for each row of `contexts` (k, d), each (k,). O(k d^2).

    most: what cuts widths off; where infinite, as far as the truth can lie at most.
    """
    k, d = contexts.shape
    reach = np.empty(d)
    for row in range(k):
        x = contexts[row]
        estimate, spread, square = 0.0, 0.0, 0.0
        reach[:] = 0.0
        for j in range(d):
            for i in range(d):
                reach[i] += V_inv[j, i] * x[j]  # V^-1 is symmetric: sums that need not wait for each other
        for j in range(d):
            estimate += x[j] * theta[j]
            spread += x[j] * reach[j]
            square += x[j] * x[j]
        farthest = most if most < np.inf else norm_bound * math.sqrt(square) + abs(estimate)
        estimates[row] = estimate
        widths[row] = min(math.sqrt(max(spread, 0.0)) * radius, farthest)


@compiled
def _tell(
    x: Floats,
    reward: float,
    V: Floats,
    b: Floats,
    V_inv: Floats,
    theta: Floats,
    more_V: Floats,
    more_b: Floats,
    less_V_inv: Floats,
) -> tuple[float, float]:
    """Fill in V, b and V^-1 after one outcome; say ||x||^2_{V^-1} before it, and the squared residual over 1 + that."""
    d = len(x)
    direction = np.zeros(d)
    for j in range(d):
        for i in range(d):
            direction[i] += V_inv[j, i] * x[j]
    spread, foreseen = 0.0, 0.0
    for i in range(d):
        spread += x[i] * direction[i]
        foreseen += x[i] * theta[i]
    for i in range(d):
        more_b[i] = b[i] + reward * x[i]
        for j in range(d):
            more_V[i, j] = V[i, j] + x[i] * x[j]
            less_V_inv[i, j] = V_inv[i, j] - direction[i] * direction[j] / (1.0 + spread)
    return spread, (reward - foreseen) ** 2 / (1.0 + spread)
