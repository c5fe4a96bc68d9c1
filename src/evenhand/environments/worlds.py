"""Populations, adversaries and worlds by name: `make_world("violation-hunter")`, and the same for Gymnasium."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import gymnasium
from numpy.typing import ArrayLike

from evenhand._internal.checks import check_whole
from evenhand._internal.randomness import Seed, separate_streams
from evenhand.environments import adversaries, contexts
from evenhand.environments.fair_environment import FairEnvironment, ProxyWorld
from evenhand.environments.lending import LendingWorld
from evenhand.environments.outcomes import OutcomeModel, RewardKind, outcomes_of_kind
from evenhand.environments.truths import MetricKind, metric_from, random_direction
from evenhand.environments.vector_worlds import VectorWorlds
from evenhand.errors import InvalidInput

N_CANDIDATES = N_FEATURES = 5

NORM = 0.7
"""Default of ||A'A||_F."""


def _drifting(
    n_features: int, *, period: int = 1000, n_groups: int = 2, spread: float = 0.5, seed: Seed = None
) -> contexts.ContextSource:
    centres, plane = separate_streams(seed, 2)
    return contexts.Drifting(
        contexts.Groups(n_features, n_groups=n_groups, spread=spread, seed=centres), period=period, seed=plane
    )


POPULATIONS: dict[str, Callable[..., contexts.ContextSource]] = {
    "sphere": contexts.Sphere,
    "gaussian": contexts.Gaussian,
    "groups": contexts.Groups,
    "camps": contexts.Camps,
    "correlated": contexts.Correlated,
    "heavy-tails": contexts.HeavyTails,
    "drifting": _drifting,
    "violation-hunter": adversaries.ViolationHunter,
    "regret-hunter": adversaries.RegretHunter,
    "direction-hider": adversaries.DirectionHider,
    "proxy-groups": contexts.ProxyGroups,
}

AMONG = {"violation-hunter": "camps", "regret-hunter": "sphere", "direction-hider": "sphere"}
"""The population that each adversary chooses from by default."""


def population(name: str, n_features: int, *, seed: Seed = None, **settings: Any) -> contexts.ContextSource:
    """The source of this name, with its own settings; `seed` fixes its parameters (centres, planes).

    Hunters and hiders take `among`, the name of the population they choose from.

    >>> population("groups", 3, n_groups=4, seed=0).centres.shape
    (4, 3)
    >>> population("sphere", 3, colour="red")
    Traceback (most recent call last):
    ...
    evenhand.errors.InvalidInput: unknown setting 'colour' of 'sphere'; it has none
    """
    if name not in POPULATIONS:
        raise InvalidInput(f"unknown population {name!r}; there are {', '.join(POPULATIONS)}")
    kind = POPULATIONS[name]
    own = [p.name for p in inspect.signature(kind).parameters.values() if p.kind is p.KEYWORD_ONLY]
    _refuse_unknown(name, settings, [*(each for each in own if each != "seed"), *(["among"] if name in AMONG else [])])
    if name in AMONG:
        among = settings.pop("among", AMONG[name])
        return kind(population(among, n_features, seed=seed), **settings)
    return kind(n_features, **({"seed": seed} if "seed" in own else {}), **settings)


def names() -> tuple[str, ...]:
    """The names of all worlds: populations, adversaries, scenarios."""
    return (*(name for name in POPULATIONS if name != "proxy-groups"), "proxy", "lending")


def world_id(name: str) -> str:
    """The Gymnasium id of the world of this name.

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

    n_candidates, n_features: k and d, both 5 by default. metric: one of METRIC_KINDS ("full"), or A itself, (r, d).
    norm: ||A'A||_F, 0.7. reward: one of REWARD_KINDS, or an OutcomeModel. noise: its sub-Gaussian scale, 0.1.
    settings: those of the population.

    seed fixes the truth (theta, of norm 1, A, centres of groups) and the first `reset` without a seed. The default is
    0, so that a name means one world; a `reset` with another seed brings other candidates and outcomes under the same
    truth.

    "lending" has its own truth and takes neither `n_features` nor `metric` nor `norm`; its default noise is 0.2.

    >>> world = make_world("groups", n_features=3, metric="rank-one", reward="bernoulli", n_groups=2, seed=7)
    >>> world.theta.shape, world.A.shape, world.noise
    ((3,), (1, 3), 1.0)
    """
    if _known(name) == "lending":
        _refuse_unknown(name, settings, ())
        _refuse_truth(n_features=n_features, metric=metric, norm=norm)
        return LendingWorld(n_candidates=n_candidates, outcomes=_outcomes(reward, noise, default=0.2), seed=seed)
    d = N_FEATURES if n_features is None else n_features
    size, outcomes = NORM if norm is None else norm, _outcomes(reward, noise, default=0.1)
    kind: MetricKind | ArrayLike = "full" if metric is None else metric
    if name == "proxy":
        _refuse_unknown(name, settings, ("proxy_weight", "share"))
        shape: dict[str, Any] = {"n_features": d, "n_candidates": n_candidates, "metric": kind, "norm": size}
        return ProxyWorld(**shape, outcomes=outcomes, seed=seed, **settings)
    theta_rng, metric_rng, source_rng, own = separate_streams(seed, 4)
    source = population(name, d, seed=source_rng, **settings)
    A = metric_from(kind, d, norm=size, seed=metric_rng)
    theta = random_direction(d, seed=theta_rng)
    return FairEnvironment(theta, A, source=source, n_candidates=n_candidates, outcomes=outcomes, seed=own)


def make_worlds(name: str, *, num_envs: int = 1, **settings: Any) -> VectorWorlds:
    """`num_envs` copies of the world of this name, in Gymnasium's vector form; settings: those of `make_world`.

    All have one truth. Before a `reset` with a seed each has a stream of its own.

    >>> make_worlds("lending", num_envs=3, n_candidates=4).reset(seed=0)[0].shape
    (3, 4, 5)
    """
    count = check_whole("num_envs", num_envs, least=1)
    worlds = [make_world(name, **settings) for _ in range(count)]
    for world, own in zip(worlds[1:], worlds[0].np_random.spawn(count - 1), strict=True):
        world.np_random = own
    return VectorWorlds(worlds)


def register_worlds() -> None:
    """Register every world: `gymnasium.make("evenhand/Sphere-v0", n_features=3)`, with make_world's settings.

    `gymnasium.make_vec(..., num_envs=8)` makes `VectorWorlds`.

    Gymnasium wraps what it makes; `.unwrapped` is the world itself, with `theta`, `A` and `watch`.
    """
    for name in names():
        if world_id(name) not in gymnasium.registry:
            gymnasium.register(
                world_id(name),
                entry_point="evenhand.environments.worlds:make_world",
                vector_entry_point="evenhand.environments.worlds:make_worlds",
                kwargs={"name": name},
            )


def _known(name: str) -> str:
    if name not in names():
        raise InvalidInput(f"unknown world {name!r}; there are {', '.join(names())}")
    return name


def _outcomes(reward: str | OutcomeModel, noise: float | None, *, default: float) -> OutcomeModel:
    if isinstance(reward, OutcomeModel):
        return reward
    return outcomes_of_kind(reward, noise=default if noise is None else noise)


def _refuse_truth(**settings: Any) -> None:
    for name, value in settings.items():
        if value is not None:
            raise InvalidInput(f"{name} must be None, since the lending world has its own truth, got {value!r}")


def _refuse_unknown(name: str, settings: dict[str, Any], known: Sequence[str]) -> None:
    """Refuse a setting that is not among the known ones."""
    for setting in settings:
        if setting not in known:
            raise InvalidInput(f"unknown setting {setting!r} of {name!r}; it has {', '.join(known) or 'none'}")
