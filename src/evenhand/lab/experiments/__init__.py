"""The experiments by name: those of the paper in its order, then those on what reviewers are like."""

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
    many_actions,
    metric_recovery,
    mistaken_reviewers,
    not_mahalanobis,
    one_bit,
    partial_reviews,
    price_of_fairness,
    regret,
    scaling,
)

EXPERIMENTS: dict[str, Experiment] = {
    fairness_loss.NAME: fairness_loss.EXPERIMENT,
    regret.NAME: regret.EXPERIMENT,
    known_reward.NAME: known_reward.EXPERIMENT,
    many_actions.NAME: many_actions.EXPERIMENT,
    scaling.NAME: scaling.EXPERIMENT,
    adversaries.NAME: adversaries.EXPERIMENT,
    price_of_fairness.NAME: price_of_fairness.EXPERIMENT,
    compare.NAME: compare.EXPERIMENT,
    metric_recovery.NAME: metric_recovery.EXPERIMENT,
    partial_reviews.NAME: partial_reviews.EXPERIMENT,
    one_bit.NAME: one_bit.EXPERIMENT,
    mistaken_reviewers.NAME: mistaken_reviewers.EXPERIMENT,
    adversarial_answers.NAME: adversarial_answers.EXPERIMENT,
    not_mahalanobis.NAME: not_mahalanobis.EXPERIMENT,
    capped.NAME: capped.EXPERIMENT,
    interview.NAME: interview.EXPERIMENT,
    everything_at_once.NAME: everything_at_once.EXPERIMENT,
}
