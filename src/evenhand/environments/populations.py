"""Populations and adversaries by name."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from evenhand._internal.randomness import Seed
from evenhand.environments.adversaries import DirectionHider, RegretHunter, ViolationHunter
from evenhand.environments.adversaries.direction_hider import Hide
from evenhand.environments.contexts import (
    Camps,
    ContextSource,
    Correlated,
    Drifting,
    Gaussian,
    Groups,
    HeavyTails,
    ProxyGroups,
    Sphere,
)
from evenhand.environments.streams import separate_streams
from evenhand.errors import InvalidInput


def _groups(n_features: int, seed: Seed, *, n_groups: int = 3, spread: float = 0.25) -> ContextSource:
    return Groups(n_features, n_groups=n_groups, spread=spread, seed=seed)


def _drifting(
    n_features: int, seed: Seed, *, period: int = 1000, n_groups: int = 2, spread: float = 0.5
) -> ContextSource:
    centres, plane = separate_streams(seed, 2)
    return Drifting(Groups(n_features, n_groups=n_groups, spread=spread, seed=centres), period=period, seed=plane)


def _violation_hunter(
    n_features: int, seed: Seed, *, n_proposals: int = 16, epsilon: float = 0.01, among: str = "camps"
) -> ContextSource:
    return ViolationHunter(population(among, n_features, seed=seed), n_proposals=n_proposals, epsilon=epsilon)


def _regret_hunter(n_features: int, seed: Seed, *, n_proposals: int = 16, among: str = "sphere") -> ContextSource:
    return RegretHunter(population(among, n_features, seed=seed), n_proposals=n_proposals)


def _direction_hider(
    n_features: int,
    seed: Seed,
    *,
    reveal_at: Sequence[int] = (500,),
    hide: Hide = "narrowest",
    among: str = "sphere",
) -> ContextSource:
    return DirectionHider(population(among, n_features, seed=seed), reveal_at=reveal_at, hide=hide)


def _without_seed(kind: Callable[..., ContextSource]) -> Callable[..., ContextSource]:
    """For populations that are the same for every seed."""

    def build(n_features: int, seed: Seed, **settings: Any) -> ContextSource:
        return kind(n_features, **settings)

    build.__signature__ = inspect.signature(kind)  # type: ignore[attr-defined]
    return build


POPULATIONS: dict[str, Callable[..., ContextSource]] = {
    "sphere": _without_seed(Sphere),
    "gaussian": _without_seed(Gaussian),
    "groups": _groups,
    "camps": _without_seed(Camps),
    "correlated": _without_seed(Correlated),
    "heavy-tails": _without_seed(HeavyTails),
    "drifting": _drifting,
    "violation-hunter": _violation_hunter,
    "regret-hunter": _regret_hunter,
    "direction-hider": _direction_hider,
    "proxy-groups": _without_seed(ProxyGroups),
}


def population(name: str, n_features: int, *, seed: Seed = None, **settings: Any) -> ContextSource:
    """The source of this name, with its own settings; `seed` settles what it is made of (centres, planes).

    Hunters and hiders take `among`, the name of the population they choose from.

    >>> population("groups", 3, n_groups=4, seed=0).centres.shape
    (4, 3)
    >>> population("sphere", 3, colour="red")
    Traceback (most recent call last):
    ...
    evenhand.errors.InvalidInput: 'sphere' has no setting 'colour'; it has none
    """
    if name not in POPULATIONS:
        raise InvalidInput(f"no population is called {name!r}; known are {', '.join(POPULATIONS)}")
    build = POPULATIONS[name]
    known = [p.name for p in inspect.signature(build).parameters.values() if p.kind is p.KEYWORD_ONLY]
    refuse_unknown(name, settings, known)
    return build(n_features, seed, **settings)


def refuse_unknown(name: str, settings: dict[str, Any], known: Sequence[str]) -> None:
    """Raise InvalidInput on a setting that is not among the known ones."""
    for setting in settings:
        if setting not in known:
            raise InvalidInput(f"{name!r} has no setting {setting!r}; it has {', '.join(known) or 'none'}")
