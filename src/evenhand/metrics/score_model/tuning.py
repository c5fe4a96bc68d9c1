"""The tuning constants of Score, with what chose them."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class ScoreTuning:
    """The tuning constants of Score. A subclass may set another record as its `tuning`."""

    log_weight_scale: float = math.log(2.0)
    weight_scale_sd: float = 0.7
    """The prior of the logarithm of the weights' standard deviation: 0.5 to 8 within two deviations."""
    full_threshold: float = 2.5
    """The prior median of the threshold at gap 1, about, in standard deviations of a residual."""
    ramp_sd: float = 1.0
    """The prior standard deviation of the logarithm of each rise of the threshold."""
    usual_lapse: float = 0.02
    lapse_sd: float = 1.0
    """The prior median of the lapse, and the standard deviation of its logit."""
    max_answers: int = 1500
    """Maximum number of answers remembered for each reviewer, the newest."""
    growth: float = 0.12
    """A reviewer's model is fitted again when the number of answers has grown by this share."""
    sampled_up_to: int = 200
    """With more answers the posterior is taken for Gaussian around its largest mode."""
    chains: int = 32
    steps: int = 60
    """Number of chains of the sampler, and of steps at each fit."""
    kept_states: int = 2
    thinning: int = 15
    """Number of states of each chain that are draws, and the number of steps between them."""
    first_steps: int = 150
    """Number of steps where the answers have grown by more than half since the last fit."""
    starts: int = 8
    """Number of random starts of the search for the largest mode, where no earlier fit is known."""
    restarts: int = 3
    restarted_up_to: int = 600
    """Number of random starts beside an earlier fit, and the number of answers up to which they are used."""
    iterations: int = 60
    """Maximum number of iterations of a search."""
    min_panel_answers: int = 50
    """Reviewers with fewer answers do not count in the panel."""
    panel_diagonal: float = 0.5
    panel_ridge: float = 0.5
    """The panel's scatter: this share of it is diagonal, and this share of its mean variance is added."""
    panel_least_sd: float = 0.25
    """People differ by at least this much in a weight."""
    panel_ramp_sd: float = 0.3
    """People differ by at least this much in the logarithm of a rise of the threshold."""
    unknown_panel_sd: float = 1.5
    unknown_panel_people: float = 2.0
    """What people differ by before there are several to compare, and how many people that guess is worth."""
    panel_scale_sd: float = 0.5
    """The prior standard deviation of the logarithm of a person's distance from the panel."""
    rating_partners: int = 3
    """How many earlier ratings of the same reviewer a rating is compared with."""
    rating_step: float = 0.25
    """The step between two ratings until two different ones are known."""


DEFAULT = ScoreTuning()
