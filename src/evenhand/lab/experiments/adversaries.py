"""adversaries: every learner against everybody who wants to hurt it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from evenhand.lab.case import Case, grid
from evenhand.lab.experiment import Experiment, Findings, Verdict
from evenhand.lab.figure import count_scale, dot_styles, panels, reach
from evenhand.lab.standard_run import standard_run
from evenhand.lab.statistics import ends_of_runs, summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

NAME = "adversaries"

WORLDS = ("sphere", "drifting", "camps", "direction-hider", "regret-hunter", "violation-hunter")
"""The plain world first."""

LEARNERS = ("evenhand", "projected-volume", "ellipsoid", "paper")

REFERENCE = "known-metric"
"""Knows the metric and learns theta: what it loses is not lost to the metric.

The paper's algorithm has reward intervals of its own, wider than everybody else's here: what it loses beyond the
reference is lost to them as well, and says nothing of its metric alone.
"""

REVEALED = 4
"""The hider shows what it hid after this part of the rounds, a quarter: half are left until the last quarter."""

QUIET = 0.75
"""After this share of the rounds nothing should be unfair any more."""

TOLERATED = 1.5
"""So many times the regret of who knows the metric is taken for "about as much"."""

COUNTS = ("unfair_pairs", "late_unfair_pairs", "last_share", "regret", "conflicts")


def sweep(quick: bool) -> Sequence[Case]:
    """Every learner and the reference in every world: 10 seeds of 1,024 rounds; quick, 3 of 128 in 3 dimensions."""
    rounds = 128 if quick else 1024
    shape: dict[str, Iterable[Any]] = {
        "policy": [*LEARNERS, REFERENCE],
        "d": [3 if quick else 4],
        "k": [4],
        "rounds": [rounds],
        "epsilon": [0.05 if quick else 0.02],
        "seed": range(3 if quick else 10),
    }
    plain = grid(NAME, world=[world for world in WORLDS if world != "direction-hider"], **shape)
    return [*plain, *grid(NAME, world=["direction-hider"], reveal_at=[rounds // REVEALED], **shape)]


def analyse(table: pl.DataFrame) -> Findings:
    """Who was still unfair in the last quarter, and who lost much more than one who knows the metric."""
    runs = ends_of_runs(table, ["unfair_pairs", "regret"])
    runs = runs.with_columns(last_share=pl.col("last_unfair_round") / pl.col("round"))
    means = summary(runs, ["world", "policy"], COUNTS)
    told = means.filter(pl.col("policy") == REFERENCE).select("world", told=pl.col("regret"))
    # A reference that loses nothing would divide by zero; half a unit of reward is next to nothing.
    ratio = pl.col("regret") / pl.max_horizontal(pl.col("told"), pl.lit(0.5))
    means = means.join(told, on="world", how="left", maintain_order="left").with_columns(regret_ratio=ratio)
    learners = [name for name in LEARNERS if name in set(runs["policy"])]
    verdicts = [_fair_at_last(runs.filter(pl.col("policy") == name), name) for name in learners]
    verdicts += [_loses_no_more(means.filter(pl.col("policy") == name), name) for name in learners]
    return Findings(tuple(verdicts), means.select("world", "policy", *COUNTS, "regret_ratio"), {"means": means})


def _fair_at_last(runs: pl.DataFrame, name: str) -> Verdict:
    late = runs.filter(pl.col("last_share") > QUIET)
    latest = runs.sort("last_share", descending=True).row(0, named=True)
    where = f" ({', '.join(sorted(set(late['world'])))})" if len(late) else ""
    return Verdict(
        f"{name}: no pair unfair by more than epsilon in the last quarter, in any world",
        f"{len(late)} of {len(runs)} runs unfair{where}; latest at {latest['last_share']:.0%} of the rounds, "
        f"{latest['world']}",
        "none",
        len(late) == 0,
    )


def _loses_no_more(means: pl.DataFrame, name: str) -> Verdict:
    worst = means.sort("regret_ratio", descending=True).row(0, named=True)
    wider = "; its reward intervals are wider too" if name == "paper" else ""
    return Verdict(
        f"{name}: in no world much more regret than one who knows the metric, mean over seeds",
        f"at worst {worst['regret_ratio']:.2f} times ({worst['world']}){wider}",
        f"at most {TOLERATED} times",
        bool(worst["regret_ratio"] <= TOLERATED),
    )


def draw(table: pl.DataFrame, findings: Findings) -> Figure:
    """Unfair pairs, the last unfair round and regret: a row a world, a dot a learner, 95% intervals over seeds."""
    means: pl.DataFrame = findings.numbers["means"]
    figure, (pairs, last, regret) = panels(3, width=4.9, height=5.2)
    rounds = int(table["round"].max() or 0)  # type: ignore[arg-type]
    _dots(pairs, means, "unfair_pairs")
    count_scale(pairs)
    pairs.set(title="Unfair pairs", xlabel=f"pairs unfair by more than epsilon\nin {rounds:,} rounds (log above 1)")
    pairs.set_yticks(range(len(WORLDS)), WORLDS)
    _dots(last, means, "last_share")
    last.axvline(QUIET, color="#444444", linewidth=1)
    last.set(title="When it became fair", xlabel="last unfair round, as a share of all\n(line: the last quarter)")
    last.set_xlim(-0.03, 1.03)
    _dots(regret, means, "regret")
    count_scale(regret)
    regret.set(title="Regret", xlabel=f"reward lost to the best fair odds\nin {rounds:,} rounds (log above 1)")
    for panel in (pairs, last, regret):
        panel.set_ylim(len(WORLDS) - 0.4, -0.6)
    for panel in (last, regret):
        panel.set_yticks(range(len(WORLDS)), [""] * len(WORLDS))
    figure.suptitle("Learners against adversaries: mean and 95% interval over seeds")
    handles, labels = pairs.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=5, frameon=False)
    return figure


def _dots(panel: Axes, means: pl.DataFrame, name: str) -> None:
    contenders = [*LEARNERS, REFERENCE]
    for place, (policy, style) in enumerate(zip(contenders, dot_styles(), strict=False)):
        rows = means.filter(pl.col("policy") == policy)
        heights = np.array([WORLDS.index(world) for world in rows["world"]]) + 0.15 * (place - 2)
        label = f"{policy} (reference)" if policy == REFERENCE else policy
        panel.errorbar(rows[name].to_numpy(), heights, xerr=reach(rows, name), label=label, **style)


EXPERIMENT = Experiment(
    NAME,
    "Fairness comes to stay, whoever chooses the candidates (what was hidden is shown after a quarter of the rounds).",
    sweep,
    standard_run,
    analyse,
    draw,
)
