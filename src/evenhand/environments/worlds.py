"""Worlds by name: `make_world("violation-hunter")`, and the same for Gymnasium."""

from __future__ import annotations

from typing import Any

import gymnasium
from numpy.typing import ArrayLike

from evenhand._internal.randomness import Seed
from evenhand.environments.fair_environment import FairEnvironment
from evenhand.environments.lending import LendingWorld
from evenhand.environments.outcomes import OutcomeModel, RewardKind, outcomes_of_kind
from evenhand.environments.populations import POPULATIONS, population, refuse_unknown
from evenhand.environments.proxy import ProxyWorld
from evenhand.environments.streams import separate_streams
from evenhand.environments.truths import MetricKind, metric_from, random_direction
from evenhand.errors import InvalidInput

NAMES: tuple[str, ...] = (*(name for name in POPULATIONS if name != "proxy-groups"), "proxy", "lending")

N_CANDIDATES = N_FEATURES = 5

NORM = 0.7
"""||A'A||_F unless said otherwise."""


def names() -> tuple[str, ...]:
    """The names of all worlds, populations first, then adversaries, then scenarios.

    >>> "violation-hunter" in names()
    True
    """
    return NAMES


def world_id(name: str) -> str:
    """The id under which Gymnasium knows the world of this name.

    >>> world_id("violation-hunter")
    'evenhand/ViolationHunter-v0'
    """
    return f"evenhand/{''.join(word.capitalize() for word in _known(name).split('-'))}-v0"


def make_world(
    name: str,
    *,
    n_candidates: int = N_CANDIDATES,
    n_features: int | None = None,
    metric: MetricKind | ArrayLike | None = None,
    norm: float | None = None,
    reward: RewardKind | str | OutcomeModel = "gaussian",
    noise: float | None = None,
    seed: Seed = 0,
    **settings: Any,
) -> FairEnvironment:
    """The world of this name, from standard parts.

    n_candidates, n_features: k and d, 5 and 5. metric: one of METRIC_KINDS ("full"), or A itself, (r, d). norm:
    ||A'A||_F, 0.7. reward: one of REWARD_KINDS, or an OutcomeModel. noise: its sub-Gaussian scale, 0.1. settings: the
    population's own.

    seed settles the truth - theta, of norm 1, A, centres of groups - and the first `reset` that has no seed itself. It
    is 0 unless said otherwise, so that a name means one world; a `reset` with another seed brings other candidates and
    other luck to the same truth.

    "lending" has a truth of its own and takes neither `n_features` nor `metric` nor `norm`, and its noise is 0.2.

    >>> world = make_world("groups", n_features=3, metric="rank-one", reward="bernoulli", n_groups=2, seed=7)
    >>> world.theta.shape, world.A.shape, world.noise
    ((3,), (1, 3), 1.0)
    """
    if _known(name) == "lending":
        refuse_unknown(name, settings, ())
        _refuse_truth(n_features=n_features, metric=metric, norm=norm)
        return LendingWorld(n_candidates=n_candidates, outcomes=_outcomes(reward, noise, default=0.2), seed=seed)
    d = N_FEATURES if n_features is None else n_features
    size, outcomes = NORM if norm is None else norm, _outcomes(reward, noise, default=0.1)
    kind: MetricKind | ArrayLike = "full" if metric is None else metric
    if name == "proxy":
        refuse_unknown(name, settings, ("proxy_weight", "share"))
        shape: dict[str, Any] = {"n_features": d, "n_candidates": n_candidates, "metric": kind, "norm": size}
        return ProxyWorld(**shape, outcomes=outcomes, seed=seed, **settings)
    theta_rng, metric_rng, source_rng, own = separate_streams(seed, 4)
    source = population(name, d, seed=source_rng, **settings)
    A = metric_from(kind, d, norm=size, seed=metric_rng)
    theta = random_direction(d, seed=theta_rng)
    return FairEnvironment(theta, A, source=source, n_candidates=n_candidates, outcomes=outcomes, seed=own)


def register_worlds() -> None:
    """Tell Gymnasium of every world: `gymnasium.make("evenhand/Sphere-v0", n_features=3)`, with make_world's settings.

    Gymnasium wraps what it makes; `.unwrapped` is the world itself, with `theta`, `A` and `watch`.
    """
    for name in NAMES:
        if world_id(name) not in gymnasium.registry:
            gymnasium.register(
                world_id(name), entry_point="evenhand.environments.worlds:make_world", kwargs={"name": name}
            )


def _known(name: str) -> str:
    if name not in NAMES:
        raise InvalidInput(f"no world is called {name!r}; known are {', '.join(NAMES)}")
    return name


def _outcomes(reward: str | OutcomeModel, noise: float | None, *, default: float) -> OutcomeModel:
    if isinstance(reward, OutcomeModel):
        return reward
    return outcomes_of_kind(reward, noise=default if noise is None else noise)


def _refuse_truth(**settings: Any) -> None:
    for name, value in settings.items():
        if value is not None:
            raise InvalidInput(f"{name} is {value!r}; the lending world has a truth of its own, allowed is None")
