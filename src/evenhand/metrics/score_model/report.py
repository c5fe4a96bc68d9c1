"""A report on one reviewer of a panel."""

from __future__ import annotations

import numpy as np

from evenhand.metrics.gaussian.error_rates import ReviewerReport
from evenhand.metrics.score_model.belief import ScoreBelief, aligned
from evenhand.metrics.score_model.fitting import Fitted
from evenhand.metrics.score_model.member import Member
from evenhand.metrics.score_model.panel import Panel
from evenhand.metrics.score_model.tuning import ScoreTuning

CREDIBLE = 1.96  # Standard deviations to either side, for 95%.
ENDS = (0.025, 0.975)


def report_on(name: str | None, member: Member, others: Panel, tuning: ScoreTuning) -> ReviewerReport:
    """Lapses, softness, and how far the reviewer is from the others; a lapse is wrong every other time."""
    logits, sd = member.belief.parameters.table[-1], member.belief.lapse_sd
    middle, width = float(logits.mean()), CREDIBLE * float(np.hypot(logits.std(), sd))
    rate, lower, upper = (0.5 / (1.0 + np.exp(-logit)) for logit in (middle, middle - width, middle + width))
    widths = 1.0 / member.belief.parameters.full_thresholds
    least, most = (float(end) for end in np.quantile(widths, ENDS))
    deviation = agreement = None
    if len(others):
        panel = Fitted.to_nothing(others.prior(tuning)).belief
        deviation, agreement = _deviation(member.belief, panel), _agreement(member, panel)
    rates = float(rate), float(lower), float(upper)
    softness = {"softness": float(np.mean(widths)), "softness_lower": least, "softness_upper": most}
    return ReviewerReport(name, member.count, *rates, **softness, deviation=deviation, agreement=agreement)


def _deviation(belief: ScoreBelief, panel: ScoreBelief) -> float:
    """How far the reviewer's weights are from the panel's, in lengths of the panel's."""
    own, shared = aligned(np.stack([belief.mean_weights(), panel.mean_weights()]))
    length = float(np.linalg.norm(shared))
    return float(np.linalg.norm(own - shared)) / length if length > 0.0 else 0.0


def _agreement(member: Member, panel: ScoreBelief) -> float | None:
    """The share of the reviewer's verdicts that the panel predicts; None without verdicts."""
    verdicts = member.answers.take(member.answers.are_verdicts)
    if not len(verdicts):
        return None
    chances = panel.chances(verdicts.differences, lapses=True)(verdicts.upper)
    return float(np.mean((chances > 0.5) == verdicts.inside))
