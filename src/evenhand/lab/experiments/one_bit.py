"""one-bit: a reviewer who says whether anything was unfair, and not what."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from evenhand.lab import figure, growth
from evenhand.lab.case import Case, grid
from evenhand.lab.experiment import Experiment, Findings, Verdict
from evenhand.lab.reviewed_run import reviewed_run
from evenhand.lab.statistics import bands, ends_of_runs, summary

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NAME = "one-bit"

MOST = {(3, 5): 110, (5, 10): 450}
"""d and k, and how many unfair pairs there are at most."""

KINDS = {
    "one bit": {"shows": "one bit", "errs": "answering", "wrong": 0.0},
    "one bit, 5% wrong": {"shows": "one bit", "errs": "answering", "wrong": 0.05},
    "complete": {"shows": "everything", "errs": "answering", "wrong": 0.0},
}

FLOOR = 0.5
"""Where the log axes of the figure begin."""

VALUES = ("unfair_pairs", "late_unfair_pairs", "regret", "late_regret")


def sweep(quick: bool) -> Sequence[Case]:
    """Two shapes, bits that are right, bits of which 5% are wrong, complete reviews: 10 seeds of 4,000 rounds.

    Quick: 3 seeds of 200.
    """
    shape: dict[str, Any] = {"rounds": [200 if quick else 4000], "epsilon": [0.01], "seed": range(3 if quick else 10)}
    return [
        case
        for d, k in MOST
        for kind in KINDS.values()
        for case in grid(
            NAME, policy=["evenhand"], d=[d], k=[k], **{name: [value] for name, value in kind.items()}, **shape
        )
    ]


def named(table: pl.DataFrame) -> pl.DataFrame:
    """With a column `kind`, what comes back of a decision, and one `shape`."""
    erring = pl.when(pl.col("wrong") > 0).then(pl.lit("one bit, 5% wrong")).otherwise(pl.lit("one bit"))
    kind = pl.when(pl.col("shows") == "one bit").then(erring).otherwise(pl.lit("complete"))
    return table.with_columns(kind=kind, shape=pl.format("d = {}, k = {}", "d", "k"))


def analyse(table: pl.DataFrame) -> Findings:
    """Bits against what was promised; and what they cost beside complete reviews."""
    runs = ends_of_runs(named(table), ["unfair_pairs", "regret"])
    means = summary(runs, ["shape", "kind"], VALUES)
    full = means.filter(pl.col("kind") == "complete").select("shape", full=pl.col("unfair_pairs"))
    times = pl.col("unfair_pairs") / pl.max_horizontal(pl.col("full"), pl.lit(1.0))
    means = means.join(full, on="shape", how="left", maintain_order="left").with_columns(times_complete=times)
    verdicts: list[Verdict] = []
    for (d, k), most in MOST.items():
        for kind in ("one bit", "one bit, 5% wrong"):
            here = runs.filter((pl.col("kind") == kind) & (pl.col("d") == d) & (pl.col("k") == k))
            what = f"{kind}, d = {d}, k = {k}: unfair pairs"
            verdicts.append(growth.below(what, here["unfair_pairs"], most))
            verdicts.append(growth.below(f"{what} in the second half", here["late_unfair_pairs"], 0))
    return Findings(tuple(verdicts), means.select("shape", "kind", *VALUES, "times_complete"), {"means": means})


def draw(table: pl.DataFrame, findings: Findings) -> Figure:
    """Unfair pairs as the rounds go on, a panel a shape; and what was lost."""
    means: pl.DataFrame = findings.numbers["means"]
    picture, (*axes, regret) = figure.panels(3, width=4.8, height=4.6)
    curves = named(table)
    for panel, ((d, k), most) in zip(axes, MOST.items(), strict=True):
        for kind, style in zip(KINDS, figure.styles(), strict=False):
            here = curves.filter((pl.col("kind") == kind) & (pl.col("d") == d) & (pl.col("k") == k))
            band = bands(here, "unfair_pairs").with_columns(pl.col("mean", "lower", "upper").clip(lower_bound=FLOOR))
            figure.draw_band(panel, band, label=kind, style=style)
        panel.axhline(most, label="promised at most", **figure.PROMISED)
        panel.annotate(f"{most}", (1, most), xytext=(0, 3), textcoords="offset points", color="#444444")
        panel.set(title=f"d = {d}, k = {k}", xscale="log", xlabel="round")
        panel.set_ylabel("pairs unfair by more than epsilon so far")
        figure.log_from(panel, FLOOR)
    shapes = means["shape"].unique(maintain_order=True).to_list()
    figure.draw_rows(regret, means, "regret", rows=("shape", shapes), dots=("kind", list(KINDS)))
    regret.set(title="Regret", xlabel="reward lost to the best fair odds")
    regret.set_xlim(left=0)
    figure.legend_below(picture, axes[0], columns=4)
    rounds = int(max(table["round"]))
    picture.suptitle(f"One bit a decision, {rounds:,} rounds: mean and 95% band over seeds")
    return picture


EXPERIMENT = Experiment(
    NAME,
    'From "something was unfair" alone fairness comes to stay; complete reviews show what the missing word costs.',
    sweep,
    reviewed_run,
    analyse,
    draw,
)
