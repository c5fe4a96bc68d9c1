"""What the runs under rules show: unfair pairs and gains, and what favourites cost for the same gain."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from evenhand.lab import figure, growth
from evenhand.lab.experiment import Check, Findings
from evenhand.lab.real_data.playing import CONTENDERS, EQUAL, EVENHAND, FAVOURITES, IGNORE
from evenhand.lab.statistics import estimate, summary

VALUES = ("early", "late", "gain", "binding_flagged", "no_metric", "favourites_late")

SHARE_OF_IGNORING = 0.25
"""Of the unfair pairs of whoever ignores fairness, at most this share in late rounds."""


def analyse(table: pl.DataFrame) -> Findings:
    """Means over seeds, and the checks of evenhand for each reviewer."""
    runs = table.with_columns(favourites_late=pl.Series(favourites_at_same_gain(table), dtype=pl.Float64))
    checks: list[Check] = []
    for reviewer in runs["reviewer"].unique(maintain_order=True):
        here = runs.filter(pl.col("reviewer") == reviewer)
        own = here.filter(pl.col("contender") == EVENHAND).sort("seed")
        ignoring = here.filter(pl.col("contender") == IGNORE).sort("seed")
        if len(own) and len(ignoring):
            late = float(np.mean(ignoring["late"].to_numpy()))
            fewer, cheaper = own["early"] - own["late"], own["favourites_late"] - own["late"]
            checks += [
                growth.above_zero(f"{reviewer}: unfair pairs a round, early less late", estimate(fewer)),
                growth.below(f"{reviewer}: unfair pairs a round, late", own["late"], SHARE_OF_IGNORING * late),
                growth.above_zero(f"{reviewer}: gain over equal probabilities, late", estimate(own["gain"])),
                growth.above_zero(f"{reviewer}: unfair pairs that favourites of the same gain add", estimate(cheaper)),
            ]
    means = summary(runs, ["reviewer", "contender"], VALUES)
    return Findings(tuple(checks), means.select("reviewer", "contender", *VALUES), {"means": means})


def favourites_at_same_gain(table: pl.DataFrame) -> list[float]:
    """Unfair pairs a round, late, of favourites whose bonus earns as much as each run, (n,); NaN where none does.

    Between the bonuses that were played, equal probabilities (0%) and ignoring fairness (100%) it is linear.
    """
    ladder = [EQUAL, *FAVOURITES, IGNORE]
    found = []
    for row in table.iter_rows(named=True):
        same = (pl.col("reviewer") == row["reviewer"]) & (pl.col("seed") == row["seed"])
        steps = table.filter(same & pl.col("contender").is_in(ladder)).sort("gain")
        within = len(steps) > 1 and steps["gain"][0] <= row["gain"] <= steps["gain"][-1]
        found.append(
            float(np.interp(row["gain"], steps["gain"].to_numpy(), steps["late"].to_numpy())) if within else np.nan
        )
    return found


def draw(table: pl.DataFrame, findings: Findings) -> figure.Figure:
    """Gain against unfair pairs, a panel a reviewer; up and to the left is better."""
    means: pl.DataFrame = findings.numbers["means"]
    reviewers = list(means["reviewer"].unique(maintain_order=True))
    picture, axes = figure.panels(len(reviewers), columns=2, width=5.6, height=3.9)
    for panel, reviewer in zip(axes, reviewers, strict=True):
        here = means.filter(pl.col("reviewer") == reviewer)
        ladder = [here.filter(pl.col("contender") == name) for name in (EQUAL, *FAVOURITES, IGNORE)]
        steps = pl.concat([step for step in ladder if len(step)])
        panel.plot(steps["late"].to_numpy(), steps["gain"].to_numpy(), color="#bbbbbb", linewidth=1.2, zorder=0)
        for contender, style in zip(CONTENDERS, figure.dot_styles(), strict=False):
            dot = here.filter(pl.col("contender") == contender)
            if len(dot):
                errors: dict[str, Any] = {"xerr": figure.reach(dot, "late"), "yerr": figure.reach(dot, "gain")}
                panel.errorbar(dot["late"].to_numpy(), dot["gain"].to_numpy(), label=contender, **errors, **style)
        panel.axhline(1.0, **figure.PROMISED)
        panel.set(title=f"Reviewer: {reviewer}", xlabel="unfair pairs a round, late", ylabel="gain, late")
        figure.count_scale(panel)
        panel.set_xlim(-0.2, 40)
        panel.set_ylim(-0.1, 1.6)
    rounds, name = int(table["rounds"].max()), str(table["dataset"][0])  # type: ignore[arg-type]
    title = (
        f"{name}, {rounds} rounds: mean and 95% interval over seeds\ngain: 0 equal probabilities, 1 the best fair ones"
    )
    return figure.finish(picture, axes, title, columns=2 * min(len(reviewers), 2))
