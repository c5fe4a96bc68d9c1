"""What one would do instead: baselines to compare FairBandit with."""

from evenhand.baselines.assembled import fair_optimum, fixed_euclidean, ignore_fairness, known_metric
from evenhand.baselines.explore_then_exploit import ExploreThenExploit, FrozenMetric
from evenhand.baselines.interval_chaining import IntervalChaining
from evenhand.baselines.lottery import EqualProbabilities, Policy
from evenhand.baselines.offline_metric import BatchMetric, OfflineMetric
from evenhand.baselines.registry import BASELINES, Facts

__all__ = [
    "BASELINES",
    "BatchMetric",
    "EqualProbabilities",
    "ExploreThenExploit",
    "Facts",
    "FrozenMetric",
    "IntervalChaining",
    "OfflineMetric",
    "Policy",
    "fair_optimum",
    "fixed_euclidean",
    "ignore_fairness",
    "known_metric",
]
