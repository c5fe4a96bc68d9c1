"""Which bound on the metric explains the answers of reviewers who may err: another one, or more errors?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, NamedTuple

from evenhand.metrics.gaussian.fixed_lag import FixedLagSmoother
from evenhand.metrics.gaussian.forms import B, Project


class Explained(NamedTuple, Generic[B]):
    """A bound, and what was learned under it."""

    bound: float
    smoother: FixedLagSmoother[B]
    belief: B


def best_bound(
    now: Explained[B], prior: Callable[[float], B], least: float, *, blur: float, project: Project[B]
) -> Explained[B]:
    """What is believed now, or under another bound, no smaller than `least`, that explains the open answers better.

    There are two occasions. The belief is sure that the metric exceeds the bound: twice the bound is taken if it makes
    the answers no less likely. Where most gaps are called fair, answers say "farther than this" and push a belief
    beyond every bound; only the fit tells whether with reason. Or a reviewer seems to err: what looks wrong under one
    bound may be right under another, which must then explain the answers better by a margin, with far fewer errors.
    """
    tuning, exceeds = now.belief.tuning, now.belief.outgrows(now.bound)
    few = len(now.smoother.open) <= tuning.bound_answers * now.belief.freedom
    errs = few and now.smoother.looked and now.smoother.finds_errors
    if not exceeds and not errs:
        return now
    factors = tuning.bound_factors if errs else tuning.bound_factors[:1]
    trials = [now, *(_tried(now, f * now.bound, prior, blur, project) for f in factors if f * now.bound >= least)]
    fits = [each.smoother.fit(each.belief, blur) for each in trials]
    usual = 1 if exceeds and fits[1] >= fits[0] else 0
    best = max(range(len(fits)), key=fits.__getitem__)
    if fits[best] > fits[usual] + tuning.better_bound:
        bound, smoother, belief = trials[best]
        smoother, belief = smoother.relearned(belief, blur=blur, project=project)
        if smoother.rates.usual_rate() <= tuning.fewer_errors * now.smoother.rates.usual_rate():
            return Explained(bound, smoother, belief)
    return trials[usual]


def _tried(
    now: Explained[B], bound: float, prior: Callable[[float], B], blur: float, project: Project[B]
) -> Explained[B]:
    """What would be believed under another bound, at the same error rates."""
    return Explained(bound, *now.smoother.restarted(prior(now.bound), prior(bound), blur=blur, project=project))
