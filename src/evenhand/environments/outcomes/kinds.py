"""Outcome models by name."""

from __future__ import annotations

import math
from typing import Literal, get_args

from evenhand.environments.checks import number
from evenhand.environments.outcomes.bernoulli import BernoulliOutcomes
from evenhand.environments.outcomes.bounded import BoundedOutcomes
from evenhand.environments.outcomes.gaussian import GaussianOutcomes
from evenhand.environments.outcomes.model import OutcomeModel
from evenhand.errors import InvalidInput

RewardKind = Literal["gaussian", "bounded", "bernoulli"]

REWARD_KINDS: tuple[RewardKind, ...] = get_args(RewardKind)

SQRT_3 = math.sqrt(3.0)


def outcomes_of_kind(kind: RewardKind | str, *, noise: float = 0.1) -> OutcomeModel:
    """One of REWARD_KINDS; `noise` is its sub-Gaussian scale, which "bernoulli" does not read: it has its own.

    >>> outcomes_of_kind("bounded", noise=0.2).noise
    0.2
    >>> outcomes_of_kind("bounded", noise=1.0)
    Traceback (most recent call last):
    ...
    evenhand.errors.InvalidInput: noise is 1.0; allowed is a number >= 0 and <= 0.57735
    """
    if kind == "gaussian":
        return GaussianOutcomes(noise=noise)
    if kind == "bounded":
        return BoundedOutcomes(spread=min(1.0, SQRT_3 * number("noise", noise, least=0, most=1 / SQRT_3)))
    if kind == "bernoulli":
        return BernoulliOutcomes()
    raise InvalidInput(f"no kind of reward is called {kind!r}; known are {', '.join(REWARD_KINDS)}")
