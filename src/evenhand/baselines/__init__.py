"""What one would do instead."""

from evenhand.baselines.batch_metric import BatchMetric
from evenhand.baselines.equal_odds import EqualOdds
from evenhand.baselines.explore_then_exploit import ExploreThenExploit
from evenhand.baselines.fair_optimum import fair_optimum
from evenhand.baselines.fixed_euclidean import fixed_euclidean
from evenhand.baselines.frozen_metric import HeldFixed
from evenhand.baselines.ignore_fairness import ignore_fairness
from evenhand.baselines.interval_chaining import IntervalChaining
from evenhand.baselines.known_metric import told_metric
from evenhand.baselines.offline_metric import OfflineMetric
from evenhand.baselines.policy import Policy
from evenhand.baselines.registry import BASELINES, Facts

__all__ = [
    "BASELINES",
    "BatchMetric",
    "EqualOdds",
    "ExploreThenExploit",
    "Facts",
    "HeldFixed",
    "IntervalChaining",
    "OfflineMetric",
    "Policy",
    "fair_optimum",
    "fixed_euclidean",
    "ignore_fairness",
    "told_metric",
]
