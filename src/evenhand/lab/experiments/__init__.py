"""The experiments by name: those on the theorems of the paper, then those on reviewers and on real candidates."""

from evenhand.lab.experiment import Experiment
from evenhand.lab.experiments import (
    adversarial_answers,
    adversaries,
    capped,
    compare,
    everything_at_once,
    fairness_loss,
    interview,
    known_reward,
    learners,
    many_actions,
    metric_recovery,
    mistaken_reviewers,
    not_mahalanobis,
    offline_peers,
    one_bit,
    partial_reviews,
    people,
    price_of_fairness,
    promise,
    promise_with_errors,
    real_data,
    regret,
    scaling,
    unaccused,
)

_THEOREMS = (fairness_loss, regret, known_reward, many_actions, scaling)
_COMPARISONS = (adversaries, price_of_fairness, compare, learners, metric_recovery)
_REVIEWERS = (partial_reviews, one_bit, mistaken_reviewers, adversarial_answers, not_mahalanobis, unaccused)
_DATA = (people,)
"""Those that need data of the user's."""
_SAFEGUARDS = (capped, interview, everything_at_once, promise, promise_with_errors)

_IN_ORDER = (
    *(module.EXPERIMENT for module in (*_THEOREMS, *_COMPARISONS, *_REVIEWERS, *_SAFEGUARDS)),
    *real_data.EXPERIMENTS,
    offline_peers.EXPERIMENT,
    *(module.EXPERIMENT for module in _DATA),
)

EXPERIMENTS: dict[str, Experiment] = {experiment.name: experiment for experiment in _IN_ORDER}
