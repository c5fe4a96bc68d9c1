"""Figures of an evaluation: what policies earn, reward beside fairness, and overlap."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evenhand._internal.figure_style import COLOURS, dot_styles, panels
from evenhand.history.estimators import Method
from evenhand.history.policy_result import OffPolicyEstimate

if TYPE_CHECKING:
    from evenhand._internal.figure_style import Axes, Figure
    from evenhand.history.evaluation import Evaluation

DRAWN: dict[Method, str] = {"dr": "doubly robust", "snips": "SNIPS", "ips": "IPS", "dm": "direct method"}
GREY = "#555555"


def values_figure(evaluation: Evaluation) -> Figure:
    """A row for each policy with its estimates and their intervals; a line where past decisions are."""
    results = evaluation.results
    figure, (panel,) = panels(1, width=9.0, height=1.6 + 0.62 * len(results))
    step = 0.6 / len(DRAWN)
    for place, ((method, label), style) in enumerate(zip(DRAWN.items(), dot_styles(), strict=False)):
        rows = [row for row, result in enumerate(results) if method in result.estimates]
        found = [results[row].estimates[method] for row in rows]
        heights = np.array(rows) + step * (place - (len(DRAWN) - 1) / 2)
        panel.errorbar([e.value for e in found], heights, xerr=_reach(found), label=label, **style)
    decided = evaluation.decided
    panel.axvline(decided.value, color=GREY, linestyle="--", linewidth=1.2, label="as decided")
    if decided.bootstrap is not None:
        panel.axvspan(*decided.bootstrap, color=GREY, alpha=0.12, linewidth=0)
    for row, result in enumerate(results):
        if result.refusal:
            panel.text(decided.value, row, " not estimated", va="center", color=GREY)
    panel.set_yticks(range(len(results)), [result.name for result in results])
    panel.set_ylim(len(results) - 0.5, -0.5)
    panel.set_xlabel(f"reward per round, with {evaluation.confidence:.0%} bootstrap intervals")
    figure.legend(loc="outside lower center", ncols=5, frameon=False)
    return figure


def _reach(estimates: list[OffPolicyEstimate]) -> np.ndarray:
    """Lengths of error bars, (2, n)."""
    ends = [e.bootstrap or (e.value, e.value) for e in estimates]
    reach = [(e.value - low, high - e.value) for e, (low, high) in zip(estimates, ends, strict=True)]
    return np.maximum(np.array(reach, dtype=np.float64).reshape(-1, 2).T, 0.0)


def fairness_figure(evaluation: Evaluation) -> Figure:
    """Reward against the share of pairs treated too differently, a dot for each policy."""
    figure, (panel,) = panels(1, width=7.0, height=4.6)
    past = evaluation.past_pairs["chances of the past"]
    points = [("as decided, by its chances", past.share, evaluation.decided)]
    points += [
        (result.name, result.pairs.share, result.estimates["dr"])
        for result in evaluation.results
        if result.pairs is not None and not result.refusal
    ]
    for (name, share, estimate), style in zip(points, dot_styles(), strict=False):
        panel.errorbar([100 * share], [estimate.value], yerr=_reach([estimate]), label=name, **style)
    panel.set_xlabel("pairs treated further apart than the metric allows, %")
    panel.set_ylabel("reward per round")
    figure.legend(loc="outside lower center", ncols=2, frameon=False)
    return figure


def overlap_figure(evaluation: Evaluation) -> Figure:
    """Chances of those who were chosen and of the others; and whether the chances are calibrated."""
    figure, (left, right) = panels(2, width=4.8, height=3.6)
    p, chosen = evaluation.propensities.values, evaluation.log.chosen
    edges = np.linspace(0.0, 1.0, 26)
    for mask, label, colour in ((chosen, "chosen", COLOURS[0]), (~chosen, "not chosen", COLOURS[1])):
        left.hist(p[mask], bins=edges.tolist(), alpha=0.6, label=f"{label} ({int(mask.sum())})", color=colour)
    left.set_xlabel("chance to be chosen")
    left.set_ylabel("candidates")
    left.legend(frameon=False)
    _draw_calibration(right, evaluation)
    return figure


def _draw_calibration(panel: Axes, evaluation: Evaluation) -> None:
    bins = evaluation.overlap.calibration
    panel.plot([0, 1], [0, 1], color=GREY, linestyle="--", linewidth=1.0)
    panel.plot([each.mean for each in bins], [each.share for each in bins], "o-", color=COLOURS[2])
    panel.set_xlabel("chance, mean of each tenth of candidates")
    panel.set_ylabel("share who were chosen")
    panel.set_xlim(-0.02, 1.02)
    panel.set_ylim(-0.02, 1.02)
