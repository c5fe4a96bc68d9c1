"""From outcomes to optimistic rewards: one file a reward model."""

from evenhand.rewards.known_reward import KnownReward
from evenhand.rewards.model import RewardModel
from evenhand.rewards.ridge_ucb import RidgeUCB

__all__ = ["KnownReward", "RewardModel", "RidgeUCB"]
