"""Fitting one reviewer's parameters: draws from the posterior while answers are few, a Gaussian around its mode later.

With few answers the posterior has several modes (which weights have equal signs?), and no single one predicts well.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from evenhand._internal.arrays import Floats
from evenhand.metrics.score_model.answers import ScoreAnswers
from evenhand.metrics.score_model.belief import ScoreBelief
from evenhand.metrics.score_model.likelihood import ScoreLikelihood
from evenhand.metrics.score_model.mode import Mode, Posterior
from evenhand.metrics.score_model.parameters import Parameters
from evenhand.metrics.score_model.prior import ScorePrior
from evenhand.metrics.score_model.sampling import elliptical_slice_step
from evenhand.metrics.score_model.tuning import ScoreTuning


@dataclass(frozen=True, eq=False)
class Fitted:
    """A belief, and the scale of the weights in each of its sets of parameters, (N,)."""

    belief: ScoreBelief
    log_scales: Floats

    @classmethod
    def to_nothing(cls, prior: ScorePrior) -> Fitted:
        """The prior, its scale at the median."""
        covariance = np.exp(2.0 * prior.scale) * (prior.root @ prior.root.T)
        belief = ScoreBelief(Parameters(prior.centre[:, None]), covariance, float(prior.sds[-1]))
        return cls(belief, np.array([prior.scale]))

    @property
    def is_gaussian(self) -> bool:
        """Whether it is a mode and a covariance, not draws."""
        return self.belief.covariance is not None


def fit(answers: ScoreAnswers, prior: ScorePrior, last: Fitted | None, tuning: ScoreTuning, seed: list[int]) -> Fitted:
    """The belief after these answers. `last`: an earlier fit to start from; None if there is none, or a poor one."""
    likelihood, rng = ScoreLikelihood(answers), np.random.default_rng(seed)
    prior = _oriented(prior, likelihood)
    if float(answers.shares.sum()) <= tuning.sampled_up_to:
        return _sampled(likelihood, prior, last, tuning, rng)
    return _gaussian(likelihood, prior, last, tuning, rng)


def _oriented(prior: ScorePrior, likelihood: ScoreLikelihood) -> ScorePrior:
    """The prior with the sign of its weights that fits better. Flags do not know the sign; ratings do."""
    d = len(prior.root)
    turned = np.concatenate([-prior.centre[:d], prior.centre[d:]])
    as_is, other = likelihood.logs(Parameters(np.stack([prior.centre, turned], axis=1)))
    return replace(prior, centre=turned) if other > as_is else prior


def _sampled(
    likelihood: ScoreLikelihood, prior: ScorePrior, last: Fitted | None, tuning: ScoreTuning, rng: np.random.Generator
) -> Fitted:
    """Draws by elliptical slice sampling: the newest states of all chains."""
    n, steps = tuning.chains, tuning.steps
    if last is None or last.is_gaussian:
        points, steps = rng.normal(size=(prior.n_coordinates, n)), tuning.first_steps
    else:
        newest = Parameters(last.belief.parameters.table[:, -n:])
        points = prior.points(newest, last.log_scales[-n:])

    def logs(points: Floats) -> Floats:
        return likelihood.logs(prior.parameters(points))

    states, values = [], logs(points)
    for step in range(steps):
        points, values = elliptical_slice_step(logs, points, values, rng)
        if (steps - 1 - step) % tuning.thinning == 0:
            states.append(points)
    kept = np.hstack(states[-tuning.kept_states :])
    return Fitted(ScoreBelief(prior.parameters(kept)), prior.log_scales(kept))


def _gaussian(
    likelihood: ScoreLikelihood, prior: ScorePrior, last: Fitted | None, tuning: ScoreTuning, rng: np.random.Generator
) -> Fitted:
    """The Gaussian around the largest mode found.

    The scale of the weights has the largest evidence at the first such fit, and stays.
    """
    scales = prior.scale + prior.scale_sd * np.array([-1.0, 0.0, 1.0])
    if last is not None and last.is_gaussian:
        scales = last.log_scales
    n_random = tuning.starts if last is None else tuning.restarts if len(likelihood) <= tuning.restarted_up_to else 0
    random = rng.normal(size=(prior.n_coordinates - 1, n_random))
    modes = []
    for scale in scales.tolist():
        starts = random if last is None else np.hstack([_best_points(likelihood, prior, last, scale), random])
        modes.append((_mode(likelihood, prior, scale, starts, tuning), scale))
    mode, scale = max(modes, key=lambda pair: pair[0].evidence)
    d = len(prior.root)
    belief = ScoreBelief(mode.parameters, mode.covariance[:d, :d], float(np.sqrt(mode.covariance[-1, -1])))
    return Fitted(belief, np.array([scale]))


def _mode(likelihood: ScoreLikelihood, prior: ScorePrior, scale: float, starts: Floats, tuning: ScoreTuning) -> Mode:
    return Posterior(prior, likelihood, scale).mode_from(starts, tuning.iterations)


def _best_points(likelihood: ScoreLikelihood, prior: ScorePrior, last: Fitted, scale: float, most: int = 3) -> Floats:
    """The points of the earlier fit with the largest posterior now, as starts, (d + 9, S)."""
    parameters = last.belief.parameters
    points = prior.points(parameters, np.full(len(parameters), scale))[:-1]
    losses = 0.5 * np.sum(points**2, axis=0) - likelihood.logs(parameters)
    return np.asarray(points[:, np.argsort(losses, kind="stable")[:most]])


def point_alone(answers: ScoreAnswers, usual: ScorePrior, last: Fitted, tuning: ScoreTuning) -> Parameters:
    """The mode of a reviewer's parameters under a weak prior, without what others said: what the panel is made of."""
    likelihood, scale = ScoreLikelihood(answers), usual.scale + usual.scale_sd
    starts = _best_points(likelihood, usual, last, scale)
    return _mode(likelihood, usual, scale, starts, tuning).parameters
