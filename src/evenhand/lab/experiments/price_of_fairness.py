"""price-of-fairness: what is lost to fairness, to not knowing the rewards, to not knowing the metric."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from evenhand.lab.case import Case, grid
from evenhand.lab.experiment import Experiment, Findings, Verdict
from evenhand.lab.figure import draw_band, panels, styles
from evenhand.lab.standard_run import standard_run
from evenhand.lab.statistics import bands, ends_of_runs, estimate

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NAME = "price-of-fairness"

POLICIES = ("evenhand", "known-metric", "fair-optimum", "ignore-fairness", "equal-probabilities")

PRICES = {
    "fairness": ("lost to fairness itself", "ignore-fairness", "fair-optimum"),
    "rewards": ("lost to not knowing the rewards", "fair-optimum", "known-metric"),
    "metric": ("lost to not knowing the metric", "known-metric", "evenhand"),
}
"""Each price: what it is, who does not pay it, who does.

Who ignores fairness must learn the rewards and the optimum knows them, so the first is below 0 where fairness is free.
"""

FEW_PERCENT = 0.05
"""So near to one who knows the metric evenhand should earn, in the second half of the rounds."""

QUIET_RATE = 1.0
"""Unfair pairs in 100 late rounds that count as "hardly any"."""


def sweep(quick: bool) -> Sequence[Case]:
    """Norms of G over six decades: 13 of them, 10 seeds of 1,024 rounds; quick, 7, 3 of 256."""
    norms = np.logspace(-3, 3, 7 if quick else 13)
    return grid(
        NAME,
        policy=POLICIES,
        norm=[float(f"{norm:.4g}") for norm in norms],
        d=[4],
        k=[4],
        rounds=[256 if quick else 1024],
        epsilon=[0.02],
        seed=range(3 if quick else 10),
    )


def prices(table: pl.DataFrame) -> pl.DataFrame:
    """One row for each norm and seed: everybody's reward a round in the second half, and the prices between them.

    The column `unfair` has evenhand's unfair pairs in 100 of these rounds.
    """
    runs = ends_of_runs(table, ["reward", "unfair_pairs"]).with_columns(
        rate=pl.col("late_reward") / pl.col("late_rounds"),
        unfair=100 * pl.col("late_unfair_pairs") / pl.col("late_rounds"),
    )
    own = runs.filter(pl.col("policy") == "evenhand").select("norm", "seed", "unfair")
    wide = runs.pivot(on="policy", index=["norm", "seed"], values="rate", aggregate_function="mean")
    missing = [name for name in POLICIES if name not in wide.columns]
    wide = wide.with_columns(**{name: pl.lit(float("nan")) for name in missing})
    differences = {name: pl.col(rich) - pl.col(poor) for name, (_, rich, poor) in PRICES.items()}
    return wide.with_columns(**differences).join(own, on=["norm", "seed"], how="left").sort("norm", "seed")


def analyse(table: pl.DataFrame) -> Findings:
    """Holds evenhand against known-metric at every norm, seed by seed."""
    wide = prices(table)
    rows = [
        {"norm": norm}
        | {name: float(np.mean(group[name].to_numpy())) for name in (*POLICIES, *PRICES, "unfair")}
        | {"share lost": estimate(_share_lost(group))}
        for (norm,), group in wide.group_by(["norm"], maintain_order=True)
    ]
    worst = max(rows, key=lambda row: float(np.nan_to_num(row["share lost"].value, nan=np.inf)))
    verdicts = (
        Verdict(
            f"evenhand earns within {FEW_PERCENT:.0%} of one who is told the metric, at every norm, in the second half",
            f"at worst {worst['share lost'].value:.1%} less ({worst['share lost'].lower:.1%} to "
            f"{worst['share lost'].upper:.1%}), at norm {worst['norm']:g}",
            f"at most {FEW_PERCENT:.0%} less",
            bool(worst["share lost"].value <= FEW_PERCENT),
        ),
        _not_by_unfairness(rows),
        _falls(rows),
    )
    shown = pl.DataFrame([row | {"share lost": row["share lost"].value} for row in rows])
    return Findings(verdicts, shown, {"wide": wide})


def _share_lost(group: pl.DataFrame) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """What evenhand earns less than known-metric, as a share of it, a seed each; nothing earned counts as no share."""
    told, lost = group["known-metric"].to_numpy(), group["metric"].to_numpy()
    return np.asarray(lost / np.where(np.abs(told) > 1e-9, np.abs(told), np.inf))


def _not_by_unfairness(rows: list[dict[str, Any]]) -> Verdict:
    worst = max(rows, key=lambda row: float(np.nan_to_num(row["unfair"], nan=np.inf)))
    return Verdict(
        "evenhand does not earn this by being unfair: unfair pairs in the second half, at every norm",
        f"at most {worst['unfair']:.2g} in 100 rounds, at norm {worst['norm']:g}",
        f"at most {QUIET_RATE:g}",
        bool(worst["unfair"] <= QUIET_RATE),
    )


def _falls(rows: list[dict[str, Any]]) -> Verdict:
    """A looser metric allows all that a tighter one does: A scaled up, candidates and luck the same."""
    optimum = np.array([row["fair-optimum"] for row in rows])
    drop = float(np.max(np.maximum.accumulate(optimum) - optimum)) if len(optimum) else 0.0
    return Verdict(
        "a looser metric never costs the fair optimum reward",
        f"largest drop {drop:.2g} a round",
        "none, to rounding",
        bool(drop <= 1e-6),
    )


def draw(table: pl.DataFrame, findings: Findings) -> Figure:
    """Reward against looseness, and the three prices, with 95% bands over seeds."""
    wide: pl.DataFrame = findings.numbers["wide"]
    figure, (reward, price) = panels(2, width=6.2, height=5.0)
    for policy, style in zip(POLICIES, styles(), strict=False):
        draw_band(reward, bands(wide, policy, by="norm"), along="norm", label=policy, style=style)
    for name, style in zip(PRICES, styles(), strict=False):
        draw_band(price, bands(wide, name, by="norm"), along="norm", label=_label(name), style=style)
    loose = "norm of the metric, ||G||_F (to the right: looser)"
    reward.set(title="What each earns", xlabel=loose, ylabel="expected reward a round, second half")
    price.set(title="What is lost, and to what", xlabel=loose, ylabel="reward a round, second half (linear to 0.01)")
    price.axhline(0, color="black", linewidth=0.6)
    for panel in (reward, price):
        panel.set_xscale("log")
        panel.legend(frameon=False, fontsize=8)
    price.set_yscale("symlog", linthresh=0.01)
    price.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    figure.suptitle("The price of fairness: mean and 95% band over seeds")
    return figure


def _label(price: str) -> str:
    what, rich, poor = PRICES[price]
    return f"{what}\n({rich} - {poor})"


EXPERIMENT = Experiment(
    NAME,
    "Not knowing the metric costs little beside fairness itself and not knowing the rewards.",
    sweep,
    standard_run,
    analyse,
    draw,
)
