"""Where contexts and rewards come from: worlds as Gymnasium environments, populations, adversaries."""

from evenhand.errors import MissingExtra

try:
    import gymnasium as _gymnasium  # noqa: F401
except ModuleNotFoundError as error:
    raise MissingExtra("evenhand.environments needs gymnasium; pip install 'evenhand[lab]'") from error

from evenhand.environments import adversaries, contexts, outcomes
from evenhand.environments.adversaries import DirectionHider, RegretHunter, ViolationHunter
from evenhand.environments.contexts import ContextSource, Scene
from evenhand.environments.fair_environment import FairEnvironment, LinearEnvironment, ProxyWorld
from evenhand.environments.lending import LendingWorld
from evenhand.environments.outcomes import (
    REWARD_KINDS,
    BernoulliOutcomes,
    BoundedOutcomes,
    GaussianOutcomes,
    OutcomeModel,
    RewardKind,
)
from evenhand.environments.truths import METRIC_KINDS, MetricKind, metric_of_kind, random_direction, random_metric
from evenhand.environments.vector_worlds import VectorWorlds
from evenhand.environments.worlds import make_world, make_worlds, names, population, register_worlds, world_id

register_worlds()

__all__ = [
    "METRIC_KINDS",
    "REWARD_KINDS",
    "BernoulliOutcomes",
    "BoundedOutcomes",
    "ContextSource",
    "DirectionHider",
    "FairEnvironment",
    "GaussianOutcomes",
    "LendingWorld",
    "LinearEnvironment",
    "MetricKind",
    "OutcomeModel",
    "ProxyWorld",
    "RegretHunter",
    "RewardKind",
    "Scene",
    "VectorWorlds",
    "ViolationHunter",
    "adversaries",
    "contexts",
    "make_world",
    "make_worlds",
    "metric_of_kind",
    "names",
    "outcomes",
    "population",
    "random_direction",
    "random_metric",
    "world_id",
]
