"""What choosing a candidate brings: outcomes scattered around the expected reward."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import Literal, get_args

import numpy as np

from evenhand._internal.arrays import Floats
from evenhand._internal.checks import check_number, check_one_of, check_share

RewardKind = Literal["gaussian", "bounded", "bernoulli"]

REWARD_KINDS: tuple[RewardKind, ...] = get_args(RewardKind)

SQRT_3 = math.sqrt(3.0)


class OutcomeModel(ABC):
    """Draws an outcome for every candidate of a round, with its expected reward as mean."""

    noise: float
    """The sub-Gaussian scale R of outcome minus mean, for any mean: `noise` of `rewards.RidgeUCB`."""

    @abstractmethod
    def draw(self, expected: Floats, rng: np.random.Generator) -> Floats:
        """Outcomes (k,) for expected rewards (k,) in [-1, 1]; always draws k numbers from `rng`."""


class GaussianOutcomes(OutcomeModel):
    """Outcome = mean + noise * N(0, 1); not bounded.

    >>> GaussianOutcomes(noise=0.0).draw(np.array([0.3, -0.2]), np.random.default_rng(0)).tolist()
    [0.3, -0.2]
    """

    def __init__(self, *, noise: float = 0.1) -> None:
        self.noise = check_number("noise", noise, least=0)

    def draw(self, expected: Floats, rng: np.random.Generator) -> Floats:
        """Outcomes (k,) around expected rewards (k,)."""
        return np.asarray(expected + self.noise * rng.normal(size=len(expected)))


class BoundedOutcomes(OutcomeModel):
    """Outcome uniform within mean +- h, where h is `spread`, or the distance to the nearer of -1 and 1 if smaller.

    Clipping would move the mean; a narrower interval does not.

    >>> outcomes = BoundedOutcomes(spread=0.5).draw(np.array([0.9] * 100), np.random.default_rng(0))
    >>> bool(outcomes.min() >= 0.8), bool(outcomes.max() <= 1.0)
    (True, True)
    """

    def __init__(self, *, spread: float = 0.5) -> None:
        self.spread = check_share("spread", spread)
        self.noise = self.spread / SQRT_3  # a uniform variable is sub-Gaussian at its own standard deviation

    def draw(self, expected: Floats, rng: np.random.Generator) -> Floats:
        """Outcomes (k,) around expected rewards (k,)."""
        half_width = np.clip(1.0 - np.abs(expected), 0.0, self.spread)
        return np.asarray(np.clip(expected + half_width * rng.uniform(-1.0, 1.0, size=len(expected)), -1.0, 1.0))


class BernoulliOutcomes(OutcomeModel):
    """Outcome +1 with probability (1 + mean)/2, else -1.

    >>> sorted(set(BernoulliOutcomes().draw(np.zeros(50), np.random.default_rng(0)).tolist()))
    [-1.0, 1.0]
    """

    noise = 1.0
    """By Hoeffding's lemma on an interval of length 2."""

    def draw(self, expected: Floats, rng: np.random.Generator) -> Floats:
        """Outcomes (k,), each -1 or +1, for expected rewards (k,)."""
        return np.where(rng.random(len(expected)) < (1.0 + expected) / 2.0, 1.0, -1.0)


def outcomes_of_kind(kind: RewardKind | str, *, noise: float = 0.1) -> OutcomeModel:
    """One of REWARD_KINDS; `noise` is its sub-Gaussian scale, which "bernoulli" ignores.

    >>> outcomes_of_kind("bounded", noise=0.2).noise
    0.2
    >>> outcomes_of_kind("bounded", noise=1.0)
    Traceback (most recent call last):
    ...
    evenhand.errors.InvalidInput: noise must be a number from 0 to 0.5773502691896258, got 1.0
    """
    check_one_of("reward", kind, REWARD_KINDS)
    if kind == "gaussian":
        return GaussianOutcomes(noise=noise)
    if kind == "bounded":
        return BoundedOutcomes(spread=min(1.0, SQRT_3 * check_number("noise", noise, least=0, most=1 / SQRT_3)))
    return BernoulliOutcomes()
