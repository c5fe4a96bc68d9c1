"""price-of-fairness: the reward lost to fairness, to unknown rewards and to an unknown metric."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from evenhand._internal.arrays import Floats
from evenhand.lab import figure
from evenhand.lab.experiment import Check, Experiment, Findings
from evenhand.lab.runs import standard_run
from evenhand.lab.statistics import bands, ends_of_runs, estimate
from evenhand.lab.store import Case, grid

NAME = "price-of-fairness"
CLAIM = "Not knowing the metric costs little beside fairness itself and not knowing the rewards."

POLICIES = ("evenhand", "known-metric", "fair-optimum", "ignore-fairness", "equal-probabilities")

PRICES = {
    "fairness": ("lost to fairness itself", "ignore-fairness", "fair-optimum"),
    "rewards": ("lost to unknown rewards", "fair-optimum", "known-metric"),
    "metric": ("lost to the unknown metric", "known-metric", "evenhand"),
}
"""Each price: what it is, a policy that does not pay it, one that does.

Ignoring fairness includes learning the rewards, which the optimum knows: where fairness is free the first is below 0.
"""

FEW_PERCENT = 0.05
"""How close to a known metric evenhand should earn, in the second half of the rounds."""

QUIET_RATE = 1.0
"""Unfair pairs in 100 late rounds that count as "hardly any"."""


def sweep(quick: bool) -> list[Case]:
    """Norms of G over six decades: 13 of them, 10 seeds of 1,024 rounds; quick, 7, 3 of 256."""
    count, rounds, seeds = (7, 256, range(3)) if quick else (13, 1024, range(10))
    norms = [float(f"{norm:.4g}") for norm in np.logspace(-3, 3, count)]
    return grid(NAME, policy=POLICIES, norm=norms, d=4, k=4, rounds=rounds, epsilon=0.02, seed=seeds)


def prices(table: pl.DataFrame) -> pl.DataFrame:
    """One row for each norm and seed: each policy's reward a round in the second half, and the prices between them.

    The column `unfair` has evenhand's unfair pairs in 100 of these rounds.
    """
    runs = ends_of_runs(table, ["reward", "unfair_pairs"]).with_columns(
        rate=pl.col("late_reward") / pl.col("late_rounds"),
        unfair=100 * pl.col("late_unfair_pairs") / pl.col("late_rounds"),
    )
    own = runs.filter(pl.col("policy") == "evenhand").select("norm", "seed", "unfair")
    wide = runs.pivot(on="policy", index=["norm", "seed"], values="rate", aggregate_function="mean")
    wide = wide.with_columns(**{name: pl.lit(float("nan")) for name in POLICIES if name not in wide.columns})
    differences = {name: pl.col(rich) - pl.col(poor) for name, (_, rich, poor) in PRICES.items()}
    return wide.with_columns(**differences).join(own, on=["norm", "seed"], how="left").sort("norm", "seed")


def analyse(table: pl.DataFrame) -> Findings:
    """Evenhand against a known metric at every norm, seed by seed."""
    wide = prices(table)
    rows = [
        {"norm": norm}
        | {name: float(np.mean(group[name].to_numpy())) for name in (*POLICIES, *PRICES, "unfair")}
        | {"share lost": estimate(_share_lost(group))}
        for (norm,), group in wide.group_by(["norm"], maintain_order=True)
    ]
    worst = max(rows, key=lambda row: float(np.nan_to_num(row["share lost"].value, nan=np.inf)))
    lost = worst["share lost"]
    checks = (
        Check(
            f"evenhand earns within {FEW_PERCENT:.0%} of a known metric, at every norm, in the second half",
            f"at worst {lost.value:.1%} less ({lost.lower:.1%} to {lost.upper:.1%}), at norm {worst['norm']:g}",
            f"at most {FEW_PERCENT:.0%} less",
            bool(lost.value <= FEW_PERCENT),
        ),
        _not_by_unfairness(rows),
        _monotone(rows),
    )
    shown = pl.DataFrame([row | {"share lost": row["share lost"].value} for row in rows])
    return Findings(checks, shown, {"wide": wide})


def _share_lost(group: pl.DataFrame) -> Floats:
    """What evenhand earns less than a known metric, as a share of that, for each seed; 0 where nothing is earned."""
    known, lost = group["known-metric"].to_numpy(), group["metric"].to_numpy()
    return np.asarray(lost / np.where(np.abs(known) > 1e-9, np.abs(known), np.inf))


def _not_by_unfairness(rows: list[dict[str, Any]]) -> Check:
    worst = max(rows, key=lambda row: float(np.nan_to_num(row["unfair"], nan=np.inf)))
    return Check(
        "evenhand does not earn this by being unfair: unfair pairs in the second half, at every norm",
        f"at most {worst['unfair']:.2g} in 100 rounds, at norm {worst['norm']:g}",
        f"at most {QUIET_RATE:g}",
        bool(worst["unfair"] <= QUIET_RATE),
    )


def _monotone(rows: list[dict[str, Any]]) -> Check:
    """A looser metric admits everything that a tighter one does: A scaled up, the same candidates and outcomes."""
    optimum = np.array([row["fair-optimum"] for row in rows])
    drop = float(np.max(np.maximum.accumulate(optimum) - optimum)) if len(optimum) else 0.0
    return Check(
        "a looser metric never costs the fair optimum reward",
        f"largest drop {drop:.2g} a round",
        "none, to rounding",
        bool(drop <= 1e-6),
    )


def draw(table: pl.DataFrame, findings: Findings) -> figure.Figure:
    """Reward against looseness, and the three prices, with 95% bands over seeds."""
    wide: pl.DataFrame = findings.numbers["wide"]
    picture, (reward, price) = figure.panels(2, width=6.2, height=5.0)
    names = {name: f"{what}\n({rich} - {poor})" for name, (what, rich, poor) in PRICES.items()}
    for panel, labels in ((reward, {policy: policy for policy in POLICIES}), (price, names)):
        for (column, label), style in zip(labels.items(), figure.styles(), strict=False):
            figure.draw_band(panel, bands(wide, column, by="norm"), along="norm", label=label, style=style)
    loose = "norm of the metric, ||G||_F (to the right: looser)"
    reward.set(title="Reward", xlabel=loose, ylabel="expected reward a round, second half")
    price.set(title="Reward lost, and to what", xlabel=loose, ylabel="reward a round, second half (linear to 0.01)")
    price.axhline(0, color="black", linewidth=0.6)
    for panel in (reward, price):
        panel.set_xscale("log")
        panel.legend(frameon=False, fontsize=8)
    price.set_yscale("symlog", linthresh=0.01)
    price.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    picture.suptitle("The price of fairness: mean and 95% band over seeds")
    return picture


EXPERIMENT = Experiment(NAME, CLAIM, sweep, standard_run, analyse, draw)
