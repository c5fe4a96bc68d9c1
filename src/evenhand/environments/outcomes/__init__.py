"""What comes of choosing a candidate: one file each way in which outcomes scatter around the expected reward."""

from evenhand.environments.outcomes.bernoulli import BernoulliOutcomes
from evenhand.environments.outcomes.bounded import BoundedOutcomes
from evenhand.environments.outcomes.gaussian import GaussianOutcomes
from evenhand.environments.outcomes.kinds import REWARD_KINDS, RewardKind, outcomes_of_kind
from evenhand.environments.outcomes.model import OutcomeModel

__all__ = [
    "REWARD_KINDS",
    "BernoulliOutcomes",
    "BoundedOutcomes",
    "GaussianOutcomes",
    "OutcomeModel",
    "RewardKind",
    "outcomes_of_kind",
]
