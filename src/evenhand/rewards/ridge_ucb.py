"""RidgeUCB: ridge regression with confidence widths (Abbasi-Yadkori, Pal, Szepesvari 2011)."""

from __future__ import annotations

import math
from typing import Any, Literal, NamedTuple, Self, get_args

import numpy as np

from evenhand._internal.arrays import Floats
from evenhand._internal.checks import check_number, check_number_or_none, check_one_of, check_whole
from evenhand._internal.factorisations import cholesky, inverse_of_lower
from evenhand._internal.jit import frozen, jit
from evenhand._internal.shared_copy import SharedCopy
from evenhand.errors import InvalidInput, SolverFailed
from evenhand.rewards.model import TIE_BREAK, RewardModel, check_lengths, check_shares

Width = Literal["self_normalised", "paper"]

REFRESH_EVERY = 256  # Rank-one updates between two fresh factorisations of V; with more features as many as these.
SIDE_BY_SIDE = 16  # Candidates for whom a row of the inverse is read once: with many features reading takes longest.
DRIFT_TOLERANCE = 1e-6  # How far V times the carried inverse may be from the identity when it is checked.
NOISE_PRIOR_WEIGHT = 1.0  # The prior noise scale of 1 counts as much as this many outcomes.
MOST_REWARD = 10.0  # The largest accepted reward, as a multiple of the bound on theta plus the noise scale.


class Sums(NamedTuple):
    """Views of the parts of an array of sums, (2d + 2, d): one array, since each kernel argument costs time."""

    V: Floats
    """lambda I + sum x x', (d, d)."""
    V_inv: Floats
    """Its inverse, (d, d)."""
    b: Floats
    """sum r x, (d,)."""
    theta: Floats
    """V^-1 b, (d,)."""

    @classmethod
    def of(cls, sums: Floats) -> Sums:
        """The parts of this array."""
        d = sums.shape[1]
        return cls(sums[:d], sums[d : 2 * d], sums[2 * d], sums[2 * d + 1])


class RidgeUCB(SharedCopy, RewardModel):
    """Linear rewards: theta-hat = V^-1 b with V = lambda I + sum x x', b = sum r x, and a width for every context.

    Expected rewards are assumed to lie in [-S, S], S the `norm_bound` on ||theta||: divide rewards in other units by
    their size first, or pass S. Widths, both times ||x||_{V^-1}:

    - "self_normalised" (default): R sqrt(2 log(det(V)^(1/2) lambda^(-d/2) / delta)) + sqrt(lambda) S, R the noise's
      sub-Gaussian scale; at most S ||x|| + |estimate|, beyond which the truth cannot lie. With `noise` = R, all
      intervals of all rounds hold together with probability 1 - delta. With `noise=None` R is estimated from
      one-step-ahead residuals, each divided by the variance of its prediction: consistent, but without a guarantee for
      small samples. Optimistic rewards are at most S ||x||, as the regret theorem needs; those that would exceed it
      by more stay ahead, by up to TIE_BREAK.
    - "paper": sqrt(2 d log((1 + t/lambda)/delta)) + sqrt(lambda), t the number of outcomes plus one, at most 1; for
      R = S = 1. As printed; but an estimate may be off by more than 1, so at high noise these intervals can miss, and
      optimistic rewards may exceed 1.

    A round costs O(d^2); now and then (REFRESH_EVERY) the carried inverse is checked against V and recomputed.

    >>> model = RidgeUCB(2, noise=0.1)
    >>> model.widths(np.array([[1.0, 0.0]])).round(3).tolist()
    [1.0]
    >>> model.learn(np.array([[1.0, 0.0]] * 50), np.full(50, 0.5))
    >>> model.estimate(np.array([[1.0, 0.0]])).round(2).tolist()
    [0.49]
    """

    _settings = ("width", "noise", "regularisation", "norm_bound", "confidence")

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
        d = check_whole("n_features", n_features, least=1)
        check_one_of("width", width, get_args(Width))
        self.width: Width = width
        self.noise = check_number_or_none("noise", noise, above=0)
        self.regularisation = check_number("regularisation", regularisation, above=0)
        self.norm_bound = check_number("norm_bound", norm_bound, above=0)
        self.confidence = check_number("confidence", confidence, above=0, below=1)
        self.n_outcomes = 0
        self._refresh_every = max(REFRESH_EVERY, d)
        identity = np.eye(d)
        self._sums = np.concatenate([identity * self.regularisation, identity / self.regularisation, np.zeros((2, d))])
        self._log_det_ratio = 0.0  # log det(V) - d log(lambda)
        self._residuals = 0.0  # sum of squared one-step-ahead residuals, each over 1 + ||x||^2_{V^-1}

    @property
    def n_features(self) -> int:
        """The length d of a context."""
        return int(self._sums.shape[1])

    @property
    def theta(self) -> Floats:
        """The ridge estimate of theta, (d,), a copy."""
        return Sums.of(self._sums).theta.copy()

    @property
    def noise_scale(self) -> float:
        """R: `noise`, or its estimate, which starts at 1."""
        if self.noise is not None:
            return self.noise
        return math.sqrt((NOISE_PRIOR_WEIGHT + self._residuals) / (NOISE_PRIOR_WEIGHT + self.n_outcomes))

    def estimate(self, contexts: Floats) -> Floats:
        """<theta-hat, x> of each row, (k,)."""
        return self._bounds(contexts, 0)

    def widths(self, contexts: Floats) -> Floats:
        """||x||_{V^-1} times the radius of each row, cut off where the truth cannot lie, (k,)."""
        return self._bounds(contexts, 1)

    def optimistic(self, contexts: Floats) -> Floats:
        """Estimate plus width, but no more than the truth can be, S ||x||, (k,): the paper's r-hat."""
        return self._bounds(contexts, 2)

    def _bounds(self, contexts: Floats, which: int) -> Floats:
        """Estimate, width or the optimistic reward, (k,)."""
        bounds: Floats = np.empty((3, len(contexts)))
        most = 1.0 if self.width == "paper" else math.inf
        if contexts.flags.writeable:
            contexts = frozen(contexts)
        fill_bounds(contexts, self._sums, self._radius(), self.norm_bound, most, bounds)
        return np.asarray(bounds[which])

    def _radius(self) -> float:
        lam, delta = self.regularisation, self.confidence
        if self.width == "paper":
            t = self.n_outcomes + 1
            return math.sqrt(2 * self.n_features * math.log((1 + t / lam) / delta)) + math.sqrt(lam)
        log_ratio = 0.5 * self._log_det_ratio + math.log(1 / delta)
        return self.noise_scale * math.sqrt(2 * log_ratio) + math.sqrt(lam) * self.norm_bound

    @property
    def largest_reward(self) -> float:
        """Larger rewards, of either sign, are refused: they are in other units."""
        return MOST_REWARD * (self.norm_bound + (self.noise or 1.0))

    def learn(self, contexts: Floats, rewards: Floats) -> None:
        """Learn from outcomes: (n, d) contexts and (n,) rewards, one rank-one update each."""
        most, outcomes = self.largest_reward, rewards.tolist()
        if len(outcomes) != len(contexts):  # in every round: a call more would be noticed
            check_lengths(contexts, rewards)
        for reward in outcomes:
            if not -most <= reward <= most:
                raise InvalidInput(
                    f"rewards must be from {-most} to {most}, got {reward}; divide rewards by their size, or pass "
                    f"reward=RidgeUCB(..., norm_bound=...), now {self.norm_bound}"
                )
        contexts = frozen(contexts)
        before = self.__dict__.copy()  # updates replace arrays, never write into them
        try:
            for row, reward in enumerate(outcomes):
                updated = np.empty(self._sums.shape)
                spread, residual = rank_one_update(contexts, row, reward, self._sums, updated)
                self._sums = updated
                self._residuals += residual
                self._log_det_ratio += math.log1p(spread)
                self.n_outcomes += 1
                if self.n_outcomes % self._refresh_every == 0:
                    self._refresh()
        except BaseException:
            self.__dict__.update(before)
            raise

    def learn_shares(self, contexts: Floats, rewards: Floats, shares: Floats) -> None:
        """Learn from outcomes at shares (n,), 0 < s <= 1: r = s <theta, x> + noise, the noise of one scale R at any s.

        So r is an outcome of the context s x: r / s estimates <theta, x> with the weight s^2, and an outcome at a tenth
        of what was asked counts a hundredth of a full one. If the noise is smaller at smaller shares, R still bounds
        it: the widths hold, and are wider than they need to be.
        """
        check_shares(rewards, shares)
        self.learn(np.asarray(contexts * shares[:, None]), rewards)

    def _refresh(self) -> None:
        """Recompute inverse and determinant; the carried inverse must have been right up to rounding."""
        V, V_inv, b, theta = Sums.of(self._sums)
        drift = float(np.max(np.abs(V @ V_inv - np.eye(self.n_features))))
        if not drift <= DRIFT_TOLERANCE:
            raise SolverFailed(f"the carried inverse of V has drifted by {drift:.1e}, more than {DRIFT_TOLERANCE}")
        L = cholesky(V)
        half = inverse_of_lower(L)
        V_inv[:] = half.T @ half  # in place: this outcome's new sums are not shared yet
        theta[:] = V_inv @ b
        self._log_det_ratio = float(2 * np.sum(np.log(np.diag(L))) - self.n_features * math.log(self.regularisation))

    def state(self) -> dict[str, Any]:
        """Settings and sums."""
        return {
            **self.settings(),
            "n_outcomes": self.n_outcomes,
            **Sums.of(self._sums)._asdict(),
            "log_det_ratio": self._log_det_ratio,
            "residuals": self._residuals,
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """The model with this `state`, to the bit."""
        V, V_inv, b, theta = (state[part] for part in Sums._fields)
        d = len(b)
        if not V.shape == V_inv.shape == (d, d) or not theta.shape == b.shape == (d,):  # kernels rely on the shapes
            raise ValueError(f"sums for {d} features cannot have shapes {V.shape}, {V_inv.shape} and {theta.shape}")
        model = cls.with_settings(state, d)
        model._sums = np.concatenate([V, V_inv, b[None, :], theta[None, :]])
        model.n_outcomes = int(state["n_outcomes"])
        model._log_det_ratio, model._residuals = float(state["log_det_ratio"]), float(state["residuals"])
        return model


@jit
def fill_bounds(contexts: Floats, sums: Floats, radius: float, norm_bound: float, most: float, bounds: Floats) -> None:
    """Fill `bounds` (3, k) with estimate, width and optimistic reward for each row of `contexts` (k, d). O(k d^2).

    most: the largest width; if infinite, width and optimistic reward end where the truth cannot lie.
    """
    k, d = contexts.shape
    V_inv, theta = sums[d : 2 * d], sums[2 * d + 1]
    reach = np.empty((min(k, SIDE_BY_SIDE), d))
    for row in range(k):
        side = row % SIDE_BY_SIDE
        if side == 0:
            some = contexts[row : row + SIDE_BY_SIDE]
            reach[:] = 0.0
            for j in range(d):
                for other in range(len(some)):
                    for i in range(d):  # V^-1 is symmetric: independent sums, which are vectorised
                        reach[other, i] += V_inv[j, i] * some[other, j]
        x, estimate, spread, square = contexts[row], 0.0, 0.0, 0.0
        for j in range(d):
            estimate += x[j] * theta[j]
            spread += x[j] * reach[side, j]
            square += x[j] * x[j]
        highest = norm_bound * math.sqrt(square) if most == np.inf else np.inf
        width = min(math.sqrt(max(spread, 0.0)) * radius, most, highest + abs(estimate))
        total = estimate + width
        bounds[0, row], bounds[1, row], bounds[2, row] = estimate, width, total
        if highest < np.inf:
            bounds[2, row] = min(total, highest * (1.0 - TIE_BREAK / (1.0 + max(total - highest, 0.0))))


@jit
def rank_one_update(contexts: Floats, row: int, reward: float, sums: Floats, updated: Floats) -> tuple[float, float]:
    """Fill `updated` with the sums after one outcome, of that row of `contexts` (n, d).

    Returns ||x||^2_{V^-1} before it, and the squared residual over 1 + that. O(d^2).
    """
    x, d = contexts[row], contexts.shape[1]
    V, V_inv, b, theta = sums[:d], sums[d : 2 * d], sums[2 * d], sums[2 * d + 1]
    new_V, new_V_inv, new_b, new_theta = updated[:d], updated[d : 2 * d], updated[2 * d], updated[2 * d + 1]
    direction = np.zeros(d)
    for j in range(d):
        for i in range(d):
            direction[i] += V_inv[j, i] * x[j]
    spread, predicted = 0.0, 0.0
    for i in range(d):
        spread += x[i] * direction[i]
        predicted += x[i] * theta[i]
        new_b[i] = b[i] + reward * x[i]
        new_theta[i] = 0.0
    for i in range(d):
        for j in range(d):
            new_V[i, j] = V[i, j] + x[i] * x[j]
            new_V_inv[i, j] = V_inv[i, j] - direction[i] * direction[j] / (1.0 + spread)
            new_theta[j] += new_V_inv[i, j] * new_b[i]
    return spread, (reward - predicted) ** 2 / (1.0 + spread)
