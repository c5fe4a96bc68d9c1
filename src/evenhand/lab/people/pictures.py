"""The figure of the experiment on people: frontiers, prediction against n, reliability."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from evenhand.lab import figure
from evenhand.lab.experiment import Findings
from evenhand.lab.people.findings import PANEL, curve, in_order
from evenhand.lab.people.learners import DEFAULT, LEARNERS
from evenhand.lab.people.online import CEILINGS, FAVOURITE, REVIEWERS
from evenhand.lab.people.peers import PEERS
from evenhand.lab.people.prediction import VOTES
from evenhand.lab.people.scores import Reliability

PEER_COLOURS = ("#bbbbbb", "#999999", "#c7a27c", "#a67c52", "#8c8c5a", "#7a6a9a", "#b08aa8", "#6a9a8c")
PANEL_DASH = (0, (4, 2))
RELIABLE_AT = 300
"""The number of answers at which reliability is drawn, or the most there are."""
FEWEST_IN_BIN = 20
WHAT = {"area": "area under the curve", "area_within": "area under the curve within a gap", "log_loss": "log-loss"}
TITLES = {REVIEWERS[0]: "Own ratings review", REVIEWERS[1]: "A model of the person reviews"}


def draw(table: pl.DataFrame, findings: Findings) -> figure.Figure:
    """Gain against unfair pairs for both reviewers, prediction against n of both studies, and reliability."""
    played, predicted = findings.numbers.get("played"), findings.numbers.get("predicted")
    studies = [] if predicted is None else list(predicted["study"].unique(maintain_order=True))
    reviewers = [] if played is None else list(played["reviewer"].unique(maintain_order=True))
    curves = [(study, value) for study in studies for value in WHAT if value != "area_within" or study == "ratings"]
    n_panels = len(reviewers) + len(curves) + len(studies)
    columns = min(n_panels, 4 if n_panels in (7, 8) else 3)
    picture, axes = figure.panels(n_panels, columns=columns, width=5.4, height=4.4)
    left = iter(axes)
    for reviewer in reviewers:
        assert played is not None
        _frontier(next(left), played.filter(pl.col("reviewer") == reviewer), TITLES[str(reviewer)])
    for study, value in curves:
        assert predicted is not None
        here = predicted.filter(pl.col("study") == study)
        _curves(next(left), here, value, title=f"Prediction, {study}", ylabel=WHAT[value])
    for study in studies:
        _reliability(next(left), findings.numbers["bins"], str(study))
    title = "Real people: mean over people, bars are standard errors"
    return figure.finish(picture, axes, title, columns=5)


def style_of(who: str) -> dict[str, Any]:
    """Colour and line of a contender, the same in every panel: evenhand's in colours, peers muted, informed black."""
    learner = who.removesuffix(PANEL)
    if learner in LEARNERS:
        place = list(LEARNERS).index(learner)
        colour, marker = figure.COLOURS[place % 6], figure.MARKERS[place]
        line = PANEL_DASH if who.endswith(PANEL) else "-"
        inside = "white" if who.endswith(PANEL) else colour
        return {"color": colour, "marker": marker, "linestyle": line, "linewidth": 2.0, "markerfacecolor": inside}
    if who == FAVOURITE:
        return {"color": "black", "marker": "x", "linestyle": ":", "linewidth": 1.6}
    if who in CEILINGS:
        marker = ("*", "d", "P")[CEILINGS.index(who)]
        return {"color": "#777777", "marker": marker, "linestyle": "--", "linewidth": 1.2, "markersize": 8}
    if who == VOTES:
        return {"color": "black", "marker": "*", "linestyle": "none", "markersize": 9}
    place = list(PEERS).index(who)
    return {"color": PEER_COLOURS[place], "marker": ".", "linestyle": figure.DASHES[place], "linewidth": 1.4}


def _frontier(panel: figure.Axes, means: pl.DataFrame, title: str) -> None:
    """Gain over unfair pairs, a line for each contender along its caution; up and to the left is better."""
    for who in in_order(means["who"]):
        rows = means.filter(pl.col("who") == who).sort("caution")
        error = rows.select(pl.col("late_se", "gain_se").fill_null(0.0))
        errors: dict[str, Any] = {
            "xerr": error["late_se"].to_numpy(),
            "yerr": error["gain_se"].to_numpy(),
            "elinewidth": 0.8,
        }
        panel.errorbar(rows["late"].to_numpy(), rows["gain"].to_numpy(), label=who, **errors, **style_of(who))
    panel.set(title=title, xlabel="unfair pairs a round, late", ylabel="share of the attainable gain, late")
    panel.set_xlim(left=-0.2)
    panel.set_ylim(bottom=-0.02)


def _curves(panel: figure.Axes, means: pl.DataFrame, value: str, *, title: str, ylabel: str) -> None:
    """A score against the number of answers; numbers of answers stand at equal distances."""
    places = {n: place for place, n in enumerate(sorted(set(means["answers"])))}
    for who in in_order(means["who"]):
        n, mean, error = curve(means, who, value)
        at = np.array([places[int(each)] for each in n])
        panel.errorbar(at, mean, yerr=error, label=who, elinewidth=0.8, **style_of(who))
    panel.set_xticks(list(places.values()), [str(n) for n in places])
    panel.set(title=title, xlabel="own answers", ylabel=ylabel)
    if value == "log_loss":
        best = float(np.nanmax(means.filter(pl.col("who") == "constant")["log_loss"].to_numpy(), initial=0.7))
        panel.set_ylim(0.2, max(2 * best, 1.4))


def _reliability(panel: figure.Axes, bins: dict[tuple[str, str, int], Reliability], study: str) -> None:
    """The share of flags against the predicted one, of evenhand's learners and the best known peers."""
    wanted = [DEFAULT, *(name for name in LEARNERS if name != DEFAULT), DEFAULT + PANEL, "logistic, absolute", "ITML"]
    n = _nearest(sorted({at for (of, _, at) in bins if of == study}))
    for who in wanted:
        if (study, who, n) in bins:
            count, predicted, flagged = (np.array(column) for column in bins[study, who, n])
            known = count >= FEWEST_IN_BIN
            x, y = predicted[known] / count[known], flagged[known] / count[known]
            panel.plot(x, y, label=who, **style_of(who))
    panel.axline((0, 0), slope=1, **figure.PROMISED)
    panel.set(xlim=(0, 1), ylim=(0, 1), xlabel="predicted chance of a flag", ylabel="share flagged")
    panel.set_title(f"Reliability, {study}, {n} answers")


def _nearest(answers: Sequence[int]) -> int:
    return min(answers, key=lambda n: abs(n - RELIABLE_AT))
