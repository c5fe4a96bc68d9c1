"""metric-recovery: how far the learned metric is from the truth, over time."""

from __future__ import annotations

import numpy as np
import polars as pl

from evenhand.lab import figure
from evenhand.lab.experiment import Check, Experiment, Findings
from evenhand.lab.runs import recovery_run
from evenhand.lab.statistics import bands, summary
from evenhand.lab.store import Case, grid

NAME = "metric-recovery"
CLAIM = "Flags alone reveal the metric."

LEARNERS = ("evenhand", "projected-volume", "ellipsoid", "paper")

CERTAIN = ("projected-volume", "ellipsoid", "paper")
"""Their intervals hold for certain; evenhand's are credible, three standard deviations wide."""

CREDIBLE = 0.95
"""The minimum share of distances inside evenhand's intervals."""

MEASURES = ("pair_error", "matrix_error", "width", "coverage")


def sweep(quick: bool) -> list[Case]:
    """10 seeds of 2,048 rounds in 4 dimensions; quick, 3 of 256 in 3."""
    d, rounds, seeds = (3, 256, range(3)) if quick else (4, 2048, range(10))
    return grid(NAME, policy=LEARNERS, d=d, k=4, rounds=rounds, epsilon=0.02, seed=seeds)


def analyse(table: pl.DataFrame) -> Findings:
    """Errors in the last eighth of the rounds against epsilon, and the coverage of the intervals."""
    late = table.filter(pl.col("round") > pl.col("round").max() * 7 / 8)
    means = summary(_by_run(late), ["policy"], [*MEASURES, "conflicts"])
    held = summary(_by_run(table), ["policy"], ["coverage"])
    learners = [name for name in LEARNERS if name in set(table["policy"])]
    checks = [_near(means.filter(pl.col("policy") == name), name, float(table["epsilon"][0])) for name in learners]
    checks += [_covers(held.filter(pl.col("policy") == name), name) for name in learners]
    return Findings(tuple(checks), means.select("policy", *MEASURES, "conflicts"))


def _by_run(table: pl.DataFrame) -> pl.DataFrame:
    values = [name for name in (*MEASURES, "conflicts") if name in table.columns]
    return table.group_by("policy", "seed", maintain_order=True).agg(pl.col(values).mean())


def _near(means: pl.DataFrame, name: str, epsilon: float) -> Check:
    row = means.row(0, named=True)
    return Check(
        f"{name}: at the end distances of the candidates are known to within epsilon, on average",
        f"off by {row['pair_error']:.2g} ({max(row['pair_error_lower'], 0.0):.2g} to "
        f"{row['pair_error_upper']:.2g}); the matrix by {row['matrix_error']:.2%}",
        f"at most {epsilon:g}",
        bool(row["pair_error"] <= epsilon),
    )


def _covers(held: pl.DataFrame, name: str) -> Check:
    share, promised = float(held["coverage"][0]), 1.0 if name in CERTAIN else CREDIBLE
    return Check(
        f"{name}: true distances lie inside their intervals, at all checkpoints",
        f"{share:.2%} of them",
        "all" if name in CERTAIN else f"at least {promised:.0%}",
        bool(share >= promised),
    )


def draw(table: pl.DataFrame, findings: Findings) -> figure.Figure:
    """Errors in distance and in matrix norm, and the width of intervals, over rounds, with 95% bands over seeds."""
    picture, axes = figure.panels(3, width=5.0, height=4.6)
    pair, matrix, width = axes
    for policy, style in zip(LEARNERS, figure.styles(), strict=False):
        rows = table.filter(pl.col("policy") == policy)
        if len(rows) == 0:
            continue
        covered = f"{policy} ({np.mean(rows['coverage'].to_numpy()):.1%})"
        labels = (policy, policy, covered)
        for panel, value, label in zip(axes, ("pair_error", "matrix_error", "width"), labels, strict=True):
            # A log axis has no room for an interval that reaches 0; it is cut at a tenth of the mean.
            band = bands(rows, value).with_columns(pl.col("lower").clip(lower_bound=pl.col("mean") / 10))
            figure.draw_band(panel, band, label=label, style=style)
    pair.axhline(float(table["epsilon"][0]), label="epsilon", **figure.PROMISED)
    pair.set(title="Distances of the round's candidates", ylabel="mean error of distance (probability)")
    matrix.set(title="The matrix", ylabel="||G-hat - G|| / ||G||, Frobenius")
    width.set(title="Intervals of these distances", ylabel="mean of upper - lower (probability)")
    for panel in axes:
        panel.set(xscale="log", yscale="log", xlabel="round")
    pair.legend(frameon=False)
    width.legend(frameon=False, title="(share of distances inside)")
    picture.suptitle("How well the metric is recovered: mean and 95% band over seeds")
    return picture


EXPERIMENT = Experiment(NAME, CLAIM, sweep, recovery_run, analyse, draw)
