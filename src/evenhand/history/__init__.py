"""Past decisions: read them, estimate what other policies would have earned, start warm."""

from evenhand.history.estimators import RoundTerms, effective_sample_size, terms_of
from evenhand.history.evaluation import Evaluation, evaluate
from evenhand.history.inclusion import inclusion_probabilities
from evenhand.history.intervals import bernstein_interval, bootstrap_interval
from evenhand.history.log_columns import LogColumns
from evenhand.history.outcome_model import ExpectedOutcomes, expected_outcomes
from evenhand.history.overlap import Overlap, overlap_of
from evenhand.history.pair_counts import PairCount, UnfairPastPair, unfair_pairs
from evenhand.history.past_log import PastLog, PastRound, RefusedRow
from evenhand.history.policies import default_policies, equal_probabilities, frozen, played_by
from evenhand.history.policy_result import OffPolicyEstimate, PolicyResult
from evenhand.history.propensities import Propensities, estimate_propensities, recorded_propensities
from evenhand.history.reading import read
from evenhand.history.verdicts_of_past import PastVerdict, VerdictColumns
from evenhand.history.warm_up import WarmUp

__all__ = [
    "Evaluation",
    "ExpectedOutcomes",
    "LogColumns",
    "OffPolicyEstimate",
    "Overlap",
    "PairCount",
    "PastLog",
    "PastRound",
    "PastVerdict",
    "PolicyResult",
    "Propensities",
    "RefusedRow",
    "RoundTerms",
    "UnfairPastPair",
    "VerdictColumns",
    "WarmUp",
    "bernstein_interval",
    "bootstrap_interval",
    "default_policies",
    "effective_sample_size",
    "equal_probabilities",
    "estimate_propensities",
    "evaluate",
    "expected_outcomes",
    "frozen",
    "inclusion_probabilities",
    "overlap_of",
    "played_by",
    "read",
    "recorded_propensities",
    "terms_of",
    "unfair_pairs",
]
