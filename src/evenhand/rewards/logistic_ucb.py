"""LogisticUCB: yes/no outcomes by logistic regression, with widths that hold at all times together."""

from __future__ import annotations

import math
from typing import Any, NamedTuple, Self

import numpy as np

from evenhand._internal.arrays import Floats
from evenhand._internal.checks import check_number, check_whole
from evenhand._internal.factorisations import cholesky, inverse_of_lower
from evenhand._internal.shared_copy import SharedCopy
from evenhand.errors import InvalidInput
from evenhand.rewards.model import RewardModel, below_cap, check_lengths, check_shares

REFRESH_EVERY = 256  # Outcomes between two fresh inverses; in between they are updated by rank one.
ROUNDING = 1e-6  # An outcome may exceed its share by this much of it: both are written with some digits.
NEAR = 1e-3  # Closer to the end of its range than this, the curvature of a logit is bounded by its series.


class LogisticSums(NamedTuple):
    """What outcomes add up to: an estimate of theta with its precision, and a quadratic bound on the loss of any theta.

    The sum of losses of theta, with lambda/2 ||theta||^2, is at least theta' M theta / 2 - b' theta + (loss - gain).
    """

    theta: Floats
    """The estimate, (d,)."""
    H: Floats
    """Its precision, lambda I + sum mu'(z) x x', (d, d)."""
    H_inv: Floats
    M: Floats
    """lambda I + sum 2 k x x', k the least curvature of a loss within the bound on theta, (d, d)."""
    M_inv: Floats
    b: Floats
    """(d,)"""
    gain: float
    """The sum of log-losses of the predictions that were made, less that of the quadratic at theta = 0."""


class LogisticUCB(SharedCopy, RewardModel):
    """Outcomes 1 (yes) or 0 (no), with probability mu(<theta, x>) of a yes, mu the logistic function.

    Assumed: ||theta|| <= S, the `norm_bound`; theta does not change; whom to choose depends on the past only. Outcomes
    between 0 and 1 are accepted, too: then mu(<theta, x>) is their mean. A base rate far from a half needs a large S.

    Estimate: mu(<theta-hat, x>), theta-hat updated by one Newton step an outcome (an extended Kalman filter).

    Width: with probability 1 - delta (`confidence`) all intervals of all rounds contain the truth. The argument, with l
    the log-loss and p_s any prediction made before outcome s: prod p_s(r_s) / p_theta(r_s) is a supermartingale of mean
    1, so by Ville's inequality sum l_s(theta) <= sum -log p_s(r_s) + log(1/delta) for all times (the conversion of
    regret to confidence sets of Lee, Yun and Jun 2024). Each l_s is at least a quadratic around the
    prediction, with the least curvature that a logit within S ||x|| allows. The sum of these quadratics is kept, not
    the outcomes, so theta lies in an ellipsoid of computable radius. A round costs O(d^2).

    >>> model = LogisticUCB(2)
    >>> model.estimate(np.array([[1.0, 0.0]])).tolist()
    [0.5]
    >>> model.learn(np.array([[1.0, 0.0]] * 200), np.array([1.0, 1.0, 1.0, 0.0] * 50))
    >>> model.estimate(np.array([[1.0, 0.0]])).round(2).tolist()
    [0.74]
    """

    _settings = ("regularisation", "norm_bound", "confidence")

    def __init__(
        self, n_features: int, *, regularisation: float = 1.0, norm_bound: float = 4.0, confidence: float = 0.05
    ) -> None:
        d = check_whole("n_features", n_features, least=1)
        self.regularisation = check_number("regularisation", regularisation, above=0)
        self.norm_bound = check_number("norm_bound", norm_bound, above=0, most=50)
        self.confidence = check_number("confidence", confidence, above=0, below=1)
        self.n_outcomes = 0
        eye, zero = np.eye(d), np.zeros(d)
        precise, wide = eye * self.regularisation, eye / self.regularisation
        self._sums = LogisticSums(zero, precise, wide, precise, wide, zero, 0.0)

    @property
    def n_features(self) -> int:
        """The length d of a context."""
        return len(self._sums.theta)

    @property
    def theta(self) -> Floats:
        """The estimate of theta, (d,), a copy."""
        return self._sums.theta.copy()

    @property
    def largest_reward(self) -> float:
        """A yes."""
        return 1.0

    @property
    def radius(self) -> float:
        """The radius of the ellipsoid in the norm of M; 0 if no theta within the bound fits the outcomes."""
        return math.sqrt(max(self._squared_radius(), 0.0))

    @property
    def is_refuted(self) -> bool:
        """Whether the outcomes follow no theta within the bound, with the confidence asked for: S is too small, say."""
        return self._squared_radius() < 0.0

    def _squared_radius(self) -> float:
        sums, lam, S = self._sums, self.regularisation, self.norm_bound
        centre = float(sums.b @ sums.M_inv @ sums.b)
        return 2.0 * (sums.gain + math.log(1.0 / self.confidence)) + lam * S**2 + centre

    def estimate(self, contexts: Floats) -> Floats:
        """mu(<theta-hat, x>) of each row, (k,)."""
        reach = self._reach(contexts)
        return _mu(np.clip(_times(contexts, self._sums.theta), -reach, reach))

    def widths(self, contexts: Floats) -> Floats:
        """The distance from the estimate to the farther end of its interval, (k,)."""
        estimate, (lower, upper) = self.estimate(contexts), self.interval(contexts)
        return np.maximum(np.maximum(upper - estimate, estimate - lower), 0.0)

    def optimistic(self, contexts: Floats) -> Floats:
        """The upper end of each interval, (k,); those cut off at S ||x|| stay ahead by what was cut off, a little."""
        reach, (_, upper) = self._reach(contexts), self._logits(contexts)
        return below_cap(_mu(np.minimum(upper, reach)), self.estimate(contexts), np.maximum(upper - reach, 0.0))

    def interval(self, contexts: Floats) -> tuple[Floats, Floats]:
        """Lower and upper ends of the probability of a yes, each (k,)."""
        reach, (lower, upper) = self._reach(contexts), self._logits(contexts)
        return _mu(np.clip(lower, -reach, reach)), _mu(np.clip(upper, -reach, reach))

    def _logits(self, contexts: Floats) -> tuple[Floats, Floats]:
        sums = self._sums
        centre = _times(contexts, sums.M_inv @ sums.b)
        spread = np.sum((contexts @ sums.M_inv) * contexts, axis=1)
        width = self.radius * np.sqrt(np.maximum(spread, 0.0))
        return centre - width, centre + width

    def _reach(self, contexts: Floats) -> Floats:
        """S ||x||: no logit is larger, (k,)."""
        return np.asarray(self.norm_bound * np.sqrt(np.sum(contexts**2, axis=1)))

    def check_outcomes(self, contexts: Floats, rewards: Floats, shares: Floats | None = None) -> None:
        """InvalidInput for a reward that is not from 0 to 1, or to the share."""
        check_lengths(contexts, rewards)
        if shares is not None:
            check_shares(rewards, shares)
        for row, reward in enumerate(rewards.tolist()):
            share = 1.0 if shares is None else float(shares[row])
            if not 0.0 <= reward <= share * (1.0 + ROUNDING * (shares is not None)):
                of = "" if shares is None else " at this share"
                raise InvalidInput(f"rewards must be from 0 (no) to {share:g} (yes{of}) with LogisticUCB, got {reward}")

    def learn(self, contexts: Floats, rewards: Floats) -> None:
        """Learn from outcomes: (n, d) contexts and (n,) rewards, one step each."""
        self.check_outcomes(contexts, rewards)
        sums, n = self._sums, self.n_outcomes
        reaches = self._reach(contexts).tolist()
        for x, reward, reach in zip(contexts, rewards.tolist(), reaches, strict=True):
            sums, n = _after(sums, x, reward, reach), n + 1
            if n % REFRESH_EVERY == 0:
                sums = sums._replace(H_inv=_inverse(sums.H), M_inv=_inverse(sums.M))
        self._sums, self.n_outcomes = sums, n

    def learn_shares(self, contexts: Floats, rewards: Floats, shares: Floats) -> None:
        """Learn from outcomes at shares (n,), 0 < s <= 1: r / s is a yes, a no, or between, with the mean of the whole.

        So an outcome at any share counts as much as a full one, and the intervals hold as they do for those.
        """
        self.check_outcomes(contexts, rewards, shares)
        self.learn(contexts, np.minimum(rewards / shares, 1.0))

    def state(self) -> dict[str, Any]:
        """Settings and sums."""
        return {**self.settings(), "n_outcomes": self.n_outcomes, **self._sums._asdict()}

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """The model with this `state`, to the bit."""
        model = cls.with_settings(state, len(state["theta"]))
        sums = LogisticSums(**{name: state[name] for name in LogisticSums._fields})
        shapes = [np.shape(part) for part in sums]
        if shapes != [np.shape(part) for part in model._sums]:
            raise ValueError(f"sums for {model.n_features} features cannot have shapes {shapes}")
        model._sums, model.n_outcomes = sums._replace(gain=float(sums.gain)), int(state["n_outcomes"])
        return model


def _after(sums: LogisticSums, x: Floats, reward: float, reach: float) -> LogisticSums:
    """The sums after one outcome; reach: the largest logit that x can have."""
    Hx, Mx = sums.H_inv @ x, sums.M_inv @ x
    spread, logit = float(x @ Hx), float(x @ sums.theta)
    z = min(max(logit, -reach), reach)
    p = _logistic(z)
    # The prediction of the outcome, moderated by how uncertain the logit is (MacKay 1992).
    moderated = logit / math.sqrt(1.0 + math.pi * spread / 8.0)
    k, slope = least_curvature(z, reach), p - reward
    shift = 2.0 * k * z - slope
    gain = _log_loss(moderated, reward) - (_log_loss(z, reward) - slope * z + k * z * z)
    weight, outer = p * (1.0 - p), np.outer(x, x)
    H_inv = sums.H_inv - np.outer(Hx, Hx) * (weight / (1.0 + weight * spread))
    M_inv = sums.M_inv - np.outer(Mx, Mx) * (2.0 * k / (1.0 + 2.0 * k * float(x @ Mx)))
    theta = sums.theta - (H_inv @ x) * (_logistic(logit) - reward)
    return LogisticSums(
        theta, sums.H + weight * outer, H_inv, sums.M + 2.0 * k * outer, M_inv, sums.b + shift * x, sums.gain + gain
    )


def least_curvature(z: float, reach: float) -> float:
    """The largest k with l(y) >= l(z) + l'(z) (y - z) + k (y - z)^2 for all |y| <= reach, l the log-loss, |z| <= reach.

    The ratio is a mean of mu' between z and y, and mu' has one hump: so it is least at one of the ends.

    >>> round(least_curvature(0.0, 1.0), 4), round(least_curvature(0.0, 1e-9), 4)
    (0.1201, 0.125)
    """
    p = _logistic(z)
    least = p * (1.0 - p) / 2.0
    for y in (-reach, reach):
        step = y - z
        if abs(step) < NEAR:  # mu' shrinks by no more than exp(-|step|)
            ratio = p * (1.0 - p) * (0.5 - abs(step) / 6.0)
        else:
            ratio = (_log_loss(y, 0.0) - _log_loss(z, 0.0) - p * step) / step**2
        least = min(least, ratio)
    return max(least, 0.0)


def _inverse(matrix: Floats) -> Floats:
    half = inverse_of_lower(cholesky(matrix))
    return np.asarray(half.T @ half)


def _times(contexts: Floats, vector: Floats) -> Floats:
    return np.asarray(contexts @ vector)


def _mu(logits: Floats) -> Floats:
    return np.asarray(0.5 * (1.0 + np.tanh(0.5 * logits)))


def _logistic(z: float) -> float:
    return 0.5 * (1.0 + math.tanh(0.5 * z))


def _log_loss(z: float, reward: float) -> float:
    """-r log mu(z) - (1 - r) log(1 - mu(z))."""
    return max(z, 0.0) + math.log1p(math.exp(-abs(z))) - reward * z
