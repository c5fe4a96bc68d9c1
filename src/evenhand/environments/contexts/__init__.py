"""Where candidates come from: one file a population."""

from evenhand.environments.contexts.camps import Camps
from evenhand.environments.contexts.correlated import Correlated
from evenhand.environments.contexts.drifting import Drifting
from evenhand.environments.contexts.gaussian import Gaussian
from evenhand.environments.contexts.groups import Groups
from evenhand.environments.contexts.heavy_tails import HeavyTails
from evenhand.environments.contexts.proxy_groups import ProxyGroups
from evenhand.environments.contexts.source import ContextSource, Decider, Scene
from evenhand.environments.contexts.sphere import Sphere

__all__ = [
    "Camps",
    "ContextSource",
    "Correlated",
    "Decider",
    "Drifting",
    "Gaussian",
    "Groups",
    "HeavyTails",
    "ProxyGroups",
    "Scene",
    "Sphere",
]
