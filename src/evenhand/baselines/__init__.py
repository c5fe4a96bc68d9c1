"""What one would do instead."""

from evenhand.baselines.equal_odds import EqualOdds
from evenhand.baselines.fair_optimum import fair_optimum
from evenhand.baselines.ignore_fairness import ignore_fairness
from evenhand.baselines.policy import Policy

__all__ = ["EqualOdds", "Policy", "fair_optimum", "ignore_fairness"]
