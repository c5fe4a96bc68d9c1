"""metric-recovery: how far the learned metric is from the truth, over time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from evenhand.lab.case import Case, grid
from evenhand.lab.experiment import Experiment, Findings, Verdict
from evenhand.lab.figure import PROMISED, draw_band, panels, styles
from evenhand.lab.recovery_run import recovery_run
from evenhand.lab.statistics import bands, summary

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NAME = "metric-recovery"

LEARNERS = ("evenhand", "projected-volume", "ellipsoid", "paper")

CERTAIN = ("projected-volume", "ellipsoid", "paper")
"""Whose ends hold for certain; evenhand's are credible, three standard deviations wide."""

CREDIBLE = 0.95
"""The share of distances that evenhand's ends should hold at least."""

MEASURES = ("pair_error", "matrix_error", "width", "coverage")


def sweep(quick: bool) -> Sequence[Case]:
    """10 seeds of 2,048 rounds in 4 dimensions; quick, 3 of 256 in 3."""
    return grid(
        NAME,
        policy=LEARNERS,
        d=[3 if quick else 4],
        k=[4],
        rounds=[256 if quick else 2048],
        epsilon=[0.02],
        seed=range(3 if quick else 10),
    )


def analyse(table: pl.DataFrame) -> Findings:
    """Errors in the last eighth of the rounds against epsilon, and whether ends held what they promise."""
    late = table.filter(pl.col("round") > pl.col("round").max() * 7 / 8)
    means = summary(_by_run(late), ["policy"], [*MEASURES, "conflicts"])
    held = summary(_by_run(table), ["policy"], ["coverage"])
    learners = [name for name in LEARNERS if name in set(table["policy"])]
    verdicts = [_near(means.filter(pl.col("policy") == name), name, float(table["epsilon"][0])) for name in learners]
    verdicts += [_covers(held.filter(pl.col("policy") == name), name) for name in learners]
    return Findings(tuple(verdicts), means.select("policy", *MEASURES, "conflicts"))


def _by_run(table: pl.DataFrame) -> pl.DataFrame:
    values = [name for name in (*MEASURES, "conflicts") if name in table.columns]
    return table.group_by("policy", "seed", maintain_order=True).agg(pl.col(values).mean())


def _near(means: pl.DataFrame, name: str, epsilon: float) -> Verdict:
    row = means.row(0, named=True)
    return Verdict(
        f"{name}: in the end distances of the candidates are known to within epsilon, on average",
        f"off by {row['pair_error']:.2g} ({max(row['pair_error_lower'], 0.0):.2g} to "
        f"{row['pair_error_upper']:.2g}); the matrix by {row['matrix_error']:.2%}",
        f"at most {epsilon:g}",
        bool(row["pair_error"] <= epsilon),
    )


def _covers(held: pl.DataFrame, name: str) -> Verdict:
    share, promised = float(held["coverage"][0]), 1.0 if name in CERTAIN else CREDIBLE
    return Verdict(
        f"{name}: true distances lie between their ends, at all checkpoints",
        f"{share:.2%} of them",
        "all" if name in CERTAIN else f"at least {promised:.0%}",
        bool(share >= promised),
    )


def draw(table: pl.DataFrame, findings: Findings) -> Figure:
    """Errors in distance and in matrix norm, and the width of ends, over rounds, with 95% bands over seeds."""
    figure, (pair, matrix, ends) = panels(3, width=5.0, height=4.6)
    for policy, style in zip(LEARNERS, styles(), strict=False):
        rows = table.filter(pl.col("policy") == policy)
        if len(rows) == 0:
            continue
        held = f"{policy} ({np.mean(rows['coverage'].to_numpy()):.1%})"
        for panel, value, label in (
            (pair, "pair_error", policy),
            (matrix, "matrix_error", policy),
            (ends, "width", held),
        ):
            # An interval that reaches 0 has no place on a log axis; it is cut at a tenth of the mean.
            band = bands(rows, value).with_columns(pl.col("lower").clip(lower_bound=pl.col("mean") / 10))
            draw_band(panel, band, label=label, style=style)
    pair.axhline(float(table["epsilon"][0]), label="epsilon", **PROMISED)
    pair.set(title="Distances of the round's candidates", ylabel="mean error of distance (odds)")
    matrix.set(title="The matrix", ylabel="||G-hat - G|| / ||G||, Frobenius")
    ends.set(title="Ends of these distances", ylabel="mean of upper - lower (odds)")
    for panel in (pair, matrix, ends):
        panel.set(xscale="log", yscale="log", xlabel="round")
    pair.legend(frameon=False)
    ends.legend(frameon=False, title="(share of ends that hold the truth)")
    figure.suptitle("How well the metric is recovered: mean and 95% band over seeds")
    return figure


EXPERIMENT = Experiment(NAME, "From flags alone the metric becomes known.", sweep, recovery_run, analyse, draw)
