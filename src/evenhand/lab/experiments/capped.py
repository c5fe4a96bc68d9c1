"""capped: so many flagged rounds and never one more, and what that costs."""

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

NAME = "capped"

WORLDS = ("sphere", "camps", "direction-hider", "regret-hunter", "violation-hunter")
CAPS = (0, 3, 10, 30, 100)
QUICK_CAPS = (0, 3, 30)

REVEALED = 4
"""The hider shows what it hid after this part of the rounds, a quarter."""

VALUES = ("flagged_rounds_by_reviewer", "unfair_pairs", "regret", "regret_rate", "late_regret_rate")


def sweep(quick: bool) -> Sequence[Case]:
    """Every cap in every world, an exact reviewer: 10 seeds of 1,000 rounds; quick, 3 caps, 3 seeds of 60."""
    rounds = 60 if quick else 1000
    shape: dict[str, Any] = {
        "policy": ["evenhand"],
        "max_unfair_rounds": list(QUICK_CAPS if quick else CAPS),
        "d": [3],
        "k": [4],
        "rounds": [rounds],
        "epsilon": [0.01],
        "seed": range(3 if quick else 10),
    }
    plain = grid(NAME, world=[world for world in WORLDS if world != "direction-hider"], **shape)
    return [*plain, *grid(NAME, world=["direction-hider"], reveal_at=[rounds // REVEALED], **shape)]


def ends(table: pl.DataFrame) -> pl.DataFrame:
    """One row a run, with regret as a rate, in all and late."""
    return ends_of_runs(table, ["regret"]).with_columns(
        cap=pl.col("max_unfair_rounds").cast(pl.Float64),
        regret_rate=pl.col("regret") / pl.col("round"),
        late_regret_rate=pl.col("late_regret") / pl.col("late_rounds"),
    )


def analyse(table: pl.DataFrame) -> Findings:
    """Flagged rounds against the cap, in every world and run; regret is the price and only shown."""
    runs = ends(table)
    verdicts = []
    for (cap,), here in runs.group_by(["max_unfair_rounds"], maintain_order=True):
        flagged = here["flagged_rounds_by_reviewer"]
        verdicts.append(growth.below(f"max_unfair_rounds={cap}: rounds flagged, any excess", flagged, float(str(cap))))
    verdicts.append(_reached(runs))
    means = summary(runs, ["world", "max_unfair_rounds"], VALUES)
    return Findings(tuple(verdicts), means.select("world", "max_unfair_rounds", *VALUES))


def _reached(runs: pl.DataFrame) -> Verdict:
    """A cap that is never reached puts nothing to the test."""
    reached = runs.filter(pl.col("flagged_rounds_by_reviewer") >= pl.col("max_unfair_rounds"))
    caps = sorted(set(reached["max_unfair_rounds"]))
    return Verdict(
        "the caps are put to the test: some above 0 are reached",
        f"{len(reached)} of {len(runs)} runs reached theirs (caps {', '.join(map(str, caps))})",
        "some",
        any(cap > 0 for cap in caps),
    )


def draw(table: pl.DataFrame, findings: Findings) -> Figure:
    """Flagged rounds, the most of all seeds, and the regret a round, against the cap."""
    runs = ends(table)
    picture, (flags, regret) = figure.panels(2, width=6.0, height=4.8)
    caps = sorted(set(runs["cap"]))
    for world, style in zip(WORLDS, figure.styles(), strict=False):
        here = runs.filter(pl.col("world") == world)
        most = here.group_by("cap").agg(pl.col("flagged_rounds_by_reviewer").max()).sort("cap")
        flags.plot(most["cap"], most["flagged_rounds_by_reviewer"], label=world, marker="o", **style)
        figure.draw_band(
            regret, bands(here, "regret_rate", by="cap"), along="cap", label=world, style=style | {"marker": "o"}
        )
    flags.plot(caps, caps, label="the cap", **figure.PROMISED)
    flags.set_yscale("symlog", linthresh=3)
    flags.set(title="Rounds flagged, the most of all seeds", ylabel="rounds flagged, any excess")
    regret.set(title="The price", ylabel="reward a round lost to the best fair odds")
    for panel in (flags, regret):
        panel.set_xscale("symlog", linthresh=3)
        panel.set_xticks(caps, [f"{cap:g}" for cap in caps])
        panel.set_xticks([], minor=True)
        panel.set_xlabel("max_unfair_rounds")
    flags.set_yticks(caps, [f"{cap:g}" for cap in caps])
    flags.set_yticks([], minor=True)
    figure.legend_below(picture, flags, columns=3)
    rounds = int(max(table["round"]))
    picture.suptitle(f"A cap on flagged rounds, {rounds:,} rounds, exact reviewer: mean and 95% band over seeds")
    return picture


EXPERIMENT = Experiment(
    NAME,
    "With max_unfair_rounds=N an exact reviewer never flags more than N rounds, whoever chooses the candidates.",
    sweep,
    reviewed_run,
    analyse,
    draw,
)
