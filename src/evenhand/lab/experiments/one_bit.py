"""one-bit: a reviewer who says whether anything was unfair, and not what."""

from __future__ import annotations

from typing import Any

import polars as pl

from evenhand.lab import figure, growth
from evenhand.lab.experiment import Check, Experiment, Findings
from evenhand.lab.runs import reviewed_run
from evenhand.lab.statistics import ends_of_runs, summary
from evenhand.lab.store import Case, labelled

NAME = "one-bit"
CLAIM = (
    'Fairness can be learned from "something was unfair" alone; complete reviews show what the missing detail costs.'
)

MOST = {(3, 5): 110, (5, 10): 450}
"""d and k, and the maximum number of unfair pairs."""

BITS: dict[str, dict[str, Any]] = {
    "one bit": {"shows": "one bit", "errs": "answering", "wrong": 0.0},
    "one bit, 5% wrong": {"shows": "one bit", "errs": "answering", "wrong": 0.05},
}
KINDS = BITS | {"complete": {"shows": "everything", "errs": "answering", "wrong": 0.0}}

VALUES = ("unfair_pairs", "late_unfair_pairs", "regret", "late_regret")


def sweep(quick: bool) -> list[Case]:
    """Two shapes; correct bits, 5% wrong bits, complete reviews: 10 seeds of 4,000 rounds; quick, 3 of 200."""
    shape = {"rounds": 200 if quick else 4000, "epsilon": 0.01, "seed": range(3 if quick else 10)}
    return [case for d, k in MOST for case in labelled(NAME, KINDS, policy="evenhand", d=d, k=k, **shape)]


def analyse(table: pl.DataFrame) -> Findings:
    """One-bit reviews against the bound, and their cost beside complete reviews."""
    shape = pl.format("d = {}, k = {}", "d", "k")
    runs = ends_of_runs(table, ["unfair_pairs", "regret"]).with_columns(shape=shape)
    means = summary(runs, ["shape", "label"], VALUES)
    full = means.filter(pl.col("label") == "complete").select("shape", full=pl.col("unfair_pairs"))
    times = pl.col("unfair_pairs") / pl.max_horizontal(pl.col("full"), pl.lit(1.0))
    means = means.join(full, on="shape", how="left", maintain_order="left").with_columns(times_complete=times)
    checks: list[Check] = []
    for (d, k), most in MOST.items():
        for label in BITS:
            here = runs.filter((pl.col("label") == label) & (pl.col("d") == d) & (pl.col("k") == k))
            what = f"{label}, d = {d}, k = {k}: unfair pairs"
            checks.append(growth.below(what, here["unfair_pairs"], most))
            checks.append(growth.below(f"{what} in the second half", here["late_unfair_pairs"], 0))
    return Findings(tuple(checks), means.select("shape", "label", *VALUES, "times_complete"), {"means": means})


def draw(table: pl.DataFrame, findings: Findings) -> figure.Figure:
    """Unfair pairs as the rounds go on, a panel a shape; and regret."""
    means: pl.DataFrame = findings.numbers["means"]
    picture, (*axes, regret) = figure.panels(3, width=4.8, height=4.6)
    for panel, ((d, k), most) in zip(axes, MOST.items(), strict=True):
        here = table.filter((pl.col("d") == d) & (pl.col("k") == k))
        figure.draw_lines(panel, here, "unfair_pairs", by="label", order=list(KINDS), floor=figure.FLOOR)
        panel.axhline(most, label="promised at most", **figure.PROMISED)
        panel.annotate(f"{most}", (1, most), xytext=(0, 3), textcoords="offset points", color="#444444")
        panel.set(title=f"d = {d}, k = {k}", xscale="log", xlabel="round", ylabel=f"{figure.UNFAIR_PAIRS} so far")
        figure.log_from(panel)
    shapes = means["shape"].unique(maintain_order=True).to_list()
    figure.draw_rows(regret, means, "regret", rows=("shape", shapes), dots=("label", list(KINDS)))
    regret.set(title="Regret", xlabel=figure.REGRET)
    regret.set_xlim(left=0)
    title = f"One bit a decision, {int(max(table['round'])):,} rounds: mean and 95% band over seeds"
    return figure.finish(picture, axes, title, columns=4)


EXPERIMENT = Experiment(NAME, CLAIM, sweep, reviewed_run, analyse, draw)
