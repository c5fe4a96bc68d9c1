"""capped: a hard limit on flagged rounds, and what it costs."""

from __future__ import annotations

import polars as pl

from evenhand.lab import figure, growth
from evenhand.lab.experiment import Check, Experiment, Findings
from evenhand.lab.runs import reviewed_run
from evenhand.lab.statistics import ends_of_runs, summary
from evenhand.lab.store import Case, in_worlds

NAME = "capped"
CLAIM = "With max_unfair_rounds=N an exact reviewer never flags more than N rounds, whoever chooses the candidates."

WORLDS = ("sphere", "camps", "direction-hider", "regret-hunter", "violation-hunter")
CAPS = (0, 3, 10, 30, 100)
QUICK_CAPS = (0, 3, 30)

VALUES = ("flagged_rounds_by_reviewer", "unfair_pairs", "regret", "regret_rate", "late_regret_rate")


def sweep(quick: bool) -> list[Case]:
    """Every cap in every world, an exact reviewer: 10 seeds of 1,000 rounds; quick, 3 caps, 3 seeds of 60."""
    rounds, caps, seeds = (60, QUICK_CAPS, range(3)) if quick else (1000, CAPS, range(10))
    shape = {"policy": "evenhand", "d": 3, "k": 4, "rounds": rounds, "epsilon": 0.01, "seed": seeds}
    return in_worlds(NAME, WORLDS, reveal_at=rounds // 4, max_unfair_rounds=caps, **shape)


def analyse(table: pl.DataFrame) -> Findings:
    """Flagged rounds against the cap, in every world and run; regret is the price, shown without a check."""
    runs = ends_of_runs(table, ["regret"]).with_columns(
        cap=pl.col("max_unfair_rounds").cast(pl.Float64),
        regret_rate=pl.col("regret") / pl.col("round"),
        late_regret_rate=pl.col("late_regret") / pl.col("late_rounds"),
    )
    checks = []
    for (cap,), here in runs.group_by(["max_unfair_rounds"], maintain_order=True):
        flagged = here["flagged_rounds_by_reviewer"]
        checks.append(growth.below(f"max_unfair_rounds={cap}: rounds flagged, any excess", flagged, float(str(cap))))
    checks.append(_reached(runs))
    means = summary(runs, ["world", "max_unfair_rounds"], VALUES)
    return Findings(tuple(checks), means.select("world", "max_unfair_rounds", *VALUES), {"runs": runs})


def _reached(runs: pl.DataFrame) -> Check:
    """A cap that is never reached tests nothing."""
    reached = runs.filter(pl.col("flagged_rounds_by_reviewer") >= pl.col("max_unfair_rounds"))
    caps = sorted(set(reached["max_unfair_rounds"]))
    return Check(
        "the caps are put to the test: some above 0 are reached",
        f"{len(reached)} of {len(runs)} runs reached theirs (caps {', '.join(map(str, caps))})",
        "some",
        any(cap > 0 for cap in caps),
    )


def draw(table: pl.DataFrame, findings: Findings) -> figure.Figure:
    """Flagged rounds, the maximum over seeds, and the regret a round, against the cap."""
    runs: pl.DataFrame = findings.numbers["runs"]
    picture, (flags, regret) = figure.panels(2, width=6.0, height=4.8)
    caps = sorted(set(runs["cap"]))
    for world, style in zip(WORLDS, figure.styles(), strict=False):
        here = runs.filter(pl.col("world") == world)
        most = here.group_by("cap").agg(pl.col("flagged_rounds_by_reviewer").max()).sort("cap")
        flags.plot(most["cap"], most["flagged_rounds_by_reviewer"], label=world, marker="o", **style)
    figure.draw_lines(regret, runs, "regret_rate", by="world", order=WORLDS, along="cap", marker="o")
    flags.plot(caps, caps, label="the cap", **figure.PROMISED)
    flags.set_yscale("symlog", linthresh=3)
    flags.set(title="Rounds flagged, maximum over seeds", ylabel="rounds flagged, any excess")
    regret.set(title="The price", ylabel="regret a round against the best fair policy")
    for panel in (flags, regret):
        panel.set_xscale("symlog", linthresh=3)
        panel.set_xticks(caps, [f"{cap:g}" for cap in caps])
        panel.set_xticks([], minor=True)
        panel.set_xlabel("max_unfair_rounds")
    flags.set_yticks(caps, [f"{cap:g}" for cap in caps])
    flags.set_yticks([], minor=True)
    rounds = int(max(table["round"]))
    title = f"A cap on flagged rounds, {rounds:,} rounds, exact reviewer: mean and 95% band over seeds"
    return figure.finish(picture, [flags], title, columns=3)


EXPERIMENT = Experiment(NAME, CLAIM, sweep, reviewed_run, analyse, draw)
