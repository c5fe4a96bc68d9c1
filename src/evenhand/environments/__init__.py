"""Where contexts and rewards come from."""

from evenhand.environments.lending import LendingWorld
from evenhand.environments.linear import LinearEnvironment, random_direction, random_metric

__all__ = ["LendingWorld", "LinearEnvironment", "random_direction", "random_metric"]
