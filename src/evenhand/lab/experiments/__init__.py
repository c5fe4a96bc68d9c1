"""The experiments by name, in the order of the paper."""

from evenhand.lab.experiment import Experiment
from evenhand.lab.experiments import (
    adversaries,
    compare,
    fairness_loss,
    known_reward,
    many_actions,
    metric_recovery,
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
}
