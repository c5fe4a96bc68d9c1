"""RidgeUCB: ridge regression with confidence widths (Abbasi-Yadkori, Pal, Szepesvari 2011)."""

from __future__ import annotations

import math
from typing import Any, Literal, Self, get_args

import numpy as np

from evenhand._internal.checks import is_number, is_whole
from evenhand._internal.jit import frozen
from evenhand.errors import InvalidInput, SolverFailed
from evenhand.rewards.model import Floats, RewardModel
from evenhand.rewards.ridge_sums import Bounds, Sums, fill_bounds, joined, no_sums, tell

Width = Literal["self_normalised", "paper"]

REFRESH_EVERY = 256
"""Rank-one updates between two fresh factorisations of V."""

DRIFT_TOLERANCE = 1e-6
"""How far V times the carried inverse may be from the identity when it is checked."""

NOISE_PRIOR_WEIGHT = 1.0
"""The starting noise scale counts as much as this many outcomes when the scale is estimated."""

MOST_REWARD = 10.0
"""Times the bound on theta plus the noise scale: the largest reward that is taken for one."""


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
        self._sums = no_sums(int(n_features), self.regularisation)
        self._log_det_ratio = 0.0  # log det(V) - d log(lambda)
        self._residuals = 0.0  # sum of squared one-step-ahead residuals, each over 1 + ||x||^2_{V^-1}

    @property
    def n_features(self) -> int:
        """How many features a context has: d."""
        return int(self._sums.shape[1])

    @property
    def theta(self) -> Floats:
        """The ridge estimate of theta, (d,), a copy."""
        return Sums.of(self._sums).theta.copy()

    @property
    def noise_scale(self) -> float:
        """R: as given, or the estimate, which starts at 1 and follows the residuals."""
        if self.noise is not None:
            return self.noise
        return math.sqrt((NOISE_PRIOR_WEIGHT + self._residuals) / (NOISE_PRIOR_WEIGHT + self.n_outcomes))

    def estimate(self, contexts: Floats) -> Floats:
        """<theta-hat, x> of each row, (k,)."""
        return self._bounds(contexts).estimate

    def widths(self, contexts: Floats) -> Floats:
        """||x||_{V^-1} times the radius of each row, cut off where the truth cannot lie, (k,)."""
        return self._bounds(contexts).width

    def optimistic(self, contexts: Floats) -> Floats:
        """The highest expected reward still believable, (k,): the paper's r-hat."""
        return self._bounds(contexts).optimistic

    def _bounds(self, contexts: Floats) -> Bounds:
        found = np.empty((3, len(contexts)))
        most = 1.0 if self.width == "paper" else math.inf
        fill_bounds(frozen(contexts), self._sums, self._radius(), self.norm_bound, most, found)
        return Bounds(*found)

    def _radius(self) -> float:
        lam, delta = self.regularisation, self.confidence
        if self.width == "paper":
            t = self.n_outcomes + 1
            return math.sqrt(2 * self.n_features * math.log((1 + t / lam) / delta)) + math.sqrt(lam)
        log_ratio = 0.5 * self._log_det_ratio + math.log(1 / delta)
        return self.noise_scale * math.sqrt(2 * log_ratio) + math.sqrt(lam) * self.norm_bound

    @property
    def largest_reward(self) -> float:
        """A larger one, of either sign, is refused: it is in other units."""
        return MOST_REWARD * (self.norm_bound + (self.noise or 1.0))

    def learn(self, contexts: Floats, rewards: Floats) -> None:
        """Take in outcomes: (n, d) contexts and (n,) rewards, one rank-one update each."""
        most = self.largest_reward
        outcomes = rewards.tolist()
        if len(outcomes) != len(contexts):
            raise InvalidInput(f"{len(contexts)} contexts with {len(outcomes)} rewards; allowed is one for each")
        if any(not -most <= reward <= most for reward in outcomes):
            raise InvalidInput(
                f"a reward is {rewards[np.argmax(np.abs(rewards))]}; expected ones must be within {self.norm_bound} "
                f"and none may exceed {most}: divide by their size, or pass reward=RidgeUCB(..., norm_bound=...)"
            )
        contexts, before = frozen(contexts), self.__dict__.copy()  # updates replace arrays, never write into them
        try:
            for row, reward in enumerate(outcomes):
                renewed = np.empty(self._sums.shape)
                spread, residual = tell(contexts, row, reward, self._sums, renewed)
                self._sums = renewed
                self._residuals += residual
                self._log_det_ratio += math.log1p(spread)
                self.n_outcomes += 1
                if self.n_outcomes % REFRESH_EVERY == 0:
                    self._refresh()
        except BaseException:
            self.__dict__.update(before)
            raise

    def _refresh(self) -> None:
        """A fresh inverse and determinant; the carried ones must have been right up to rounding."""
        V, V_inv, b, theta = Sums.of(self._sums)
        drift = float(np.max(np.abs(V @ V_inv - np.eye(self.n_features))))
        if not drift <= DRIFT_TOLERANCE:
            raise SolverFailed(
                f"the carried inverse of V has drifted by {drift:.1e}; at most {DRIFT_TOLERANCE} is sound"
            )
        L = np.linalg.cholesky(V)
        half = np.linalg.solve(L, np.eye(self.n_features))
        V_inv[:] = half.T @ half  # into sums that were made for this outcome, and that nobody else has seen
        theta[:] = V_inv @ b
        self._log_det_ratio = float(2 * np.sum(np.log(np.diag(L))) - self.n_features * math.log(self.regularisation))

    def copied(self) -> Self:
        """A copy that learns on its own. Arrays are replaced, never written into, so it may share them."""
        twin = self.__class__.__new__(self.__class__)
        twin.__dict__.update(self.__dict__)
        return twin

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """The same."""
        memo[id(self)] = twin = self.copied()
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
            **Sums.of(self._sums)._asdict(),
            "log_det_ratio": self._log_det_ratio,
            "residuals": self._residuals,
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """The model that was saved, to the bit."""
        settings = ("width", "noise", "regularisation", "norm_bound", "confidence")
        model = cls(len(state["b"]), **{name: state[name] for name in settings})
        model._sums = joined(*(state[part] for part in Sums._fields))
        model.n_outcomes = int(state["n_outcomes"])
        model._log_det_ratio, model._residuals = float(state["log_det_ratio"]), float(state["residuals"])
        return model
