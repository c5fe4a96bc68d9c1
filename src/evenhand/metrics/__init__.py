"""From reviews to distances: one file a metric learner."""

from evenhand.metrics.bayes_point import BayesPoint
from evenhand.metrics.by_evidence import ByEvidence
from evenhand.metrics.default import default_learner
from evenhand.metrics.ellipsoid import Ellipsoid
from evenhand.metrics.from_metric_learn import from_metric_learn
from evenhand.metrics.gaussian.error_rates import ReviewerReport
from evenhand.metrics.guarded import Guarded
from evenhand.metrics.known_metric import KnownMetric
from evenhand.metrics.learner import Distances, Learned, MetricLearner
from evenhand.metrics.per_pair import PerPair
from evenhand.metrics.projected_volume import ProjectedVolume
from evenhand.metrics.ratings import Comparisons, Ratings
from evenhand.metrics.score import Score
from evenhand.metrics.score_model.panel import Panel
from evenhand.metrics.verdicts import Pairs, Verdicts
from evenhand.metrics.version_space_learner import VersionSpace
from evenhand.metrics.without_intercept import WithoutIntercept

__all__ = [
    "BayesPoint",
    "ByEvidence",
    "Comparisons",
    "Distances",
    "Ellipsoid",
    "Guarded",
    "KnownMetric",
    "Learned",
    "MetricLearner",
    "Pairs",
    "Panel",
    "PerPair",
    "ProjectedVolume",
    "Ratings",
    "ReviewerReport",
    "Score",
    "Verdicts",
    "VersionSpace",
    "WithoutIntercept",
    "default_learner",
    "from_metric_learn",
]
