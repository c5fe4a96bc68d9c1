"""From outcomes to optimistic rewards: one file a reward model."""

from evenhand.rewards.known_reward import KnownReward
from evenhand.rewards.logistic_ucb import LogisticUCB
from evenhand.rewards.model import RewardModel
from evenhand.rewards.predictor import Predictor
from evenhand.rewards.ridge_ucb import RidgeUCB

__all__ = ["KnownReward", "LogisticUCB", "Predictor", "RewardModel", "RidgeUCB"]
