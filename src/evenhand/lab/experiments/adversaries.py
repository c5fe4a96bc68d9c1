"""adversaries: every learner against contexts chosen to hurt it."""

from __future__ import annotations

import polars as pl

from evenhand.lab import figure
from evenhand.lab.experiment import Check, Experiment, Findings
from evenhand.lab.runs import standard_run
from evenhand.lab.statistics import ends_of_runs, summary
from evenhand.lab.store import Case, in_worlds

NAME = "adversaries"
CLAIM = "Fairness lasts, whoever chooses the candidates (what was hidden is shown after a quarter of the rounds)."

WORLDS = ("sphere", "drifting", "camps", "direction-hider", "regret-hunter", "violation-hunter")
"""The plain world first."""

LEARNERS = ("evenhand", "projected-volume", "ellipsoid", "paper")

REFERENCE = "known-metric"
"""Knows the metric and learns theta: none of its regret comes from the metric.

The paper's algorithm has wider reward intervals than all others here: its regret beyond the reference comes from them
as well as from its metric.
"""

QUIET = 0.75
"""After this share of the rounds nothing should be unfair any more."""

TOLERATED = 1.5
"""Regret up to this multiple of the reference counts as "about as much"."""

COUNTS = ("unfair_pairs", "late_unfair_pairs", "last_share", "regret", "conflicts")


def sweep(quick: bool) -> list[Case]:
    """Every learner and the reference in every world: 10 seeds of 1,024 rounds; quick, 3 of 128 in 3 dimensions."""
    d, rounds, epsilon, seeds = (3, 128, 0.05, range(3)) if quick else (4, 1024, 0.02, range(10))
    players, shape = [*LEARNERS, REFERENCE], {"d": d, "k": 4, "rounds": rounds, "epsilon": epsilon, "seed": seeds}
    return in_worlds(NAME, WORLDS, reveal_at=rounds // 4, policy=players, **shape)


def analyse(table: pl.DataFrame) -> Findings:
    """Who was still unfair in the last quarter, and who has much more regret than the reference."""
    runs = ends_of_runs(table, ["unfair_pairs", "regret"])
    runs = runs.with_columns(last_share=pl.col("last_unfair_round") / pl.col("round"))
    means = summary(runs, ["world", "policy"], COUNTS)
    reference = means.filter(pl.col("policy") == REFERENCE).select("world", reference=pl.col("regret"))
    # A reference without regret would divide by zero; half a unit of reward is next to nothing.
    ratio = pl.col("regret") / pl.max_horizontal(pl.col("reference"), pl.lit(0.5))
    means = means.join(reference, on="world", how="left", maintain_order="left").with_columns(regret_ratio=ratio)
    learners = [name for name in LEARNERS if name in set(runs["policy"])]
    checks = [_fair_at_last(runs.filter(pl.col("policy") == name), name) for name in learners]
    checks += [_about_as_much_regret(means.filter(pl.col("policy") == name), name) for name in learners]
    return Findings(tuple(checks), means.select("world", "policy", *COUNTS, "regret_ratio"), {"means": means})


def _fair_at_last(runs: pl.DataFrame, name: str) -> Check:
    late = runs.filter(pl.col("last_share") > QUIET)
    latest = runs.sort("last_share", descending=True).row(0, named=True)
    where = f" ({', '.join(sorted(set(late['world'])))})" if len(late) else ""
    return Check(
        f"{name}: no pair unfair by more than epsilon in the last quarter, in any world",
        f"{len(late)} of {len(runs)} runs unfair{where}; latest at {latest['last_share']:.0%} of the rounds, "
        f"{latest['world']}",
        "none",
        len(late) == 0,
    )


def _about_as_much_regret(means: pl.DataFrame, name: str) -> Check:
    worst = means.sort("regret_ratio", descending=True).row(0, named=True)
    wider = "; its reward intervals are wider too" if name == "paper" else ""
    return Check(
        f"{name}: in no world much more regret than with a known metric, mean over seeds",
        f"at worst {worst['regret_ratio']:.2f} times ({worst['world']}){wider}",
        f"at most {TOLERATED} times",
        bool(worst["regret_ratio"] <= TOLERATED),
    )


def draw(table: pl.DataFrame, findings: Findings) -> figure.Figure:
    """Unfair pairs, the last unfair round and regret: a row a world, a dot a learner, 95% intervals over seeds."""
    means: pl.DataFrame = findings.numbers["means"]
    picture, axes = figure.panels(3, width=4.9, height=5.2)
    pairs, last, regret = axes
    rounds = int(max(table["round"]))
    for panel, value in zip(axes, ("unfair_pairs", "last_share", "regret"), strict=True):
        figure.draw_rows(panel, means, value, rows=("world", WORLDS), dots=("policy", [*LEARNERS, REFERENCE]))
    figure.count_scale(pairs)
    pairs.set(title="Unfair pairs", xlabel=f"{figure.UNFAIR_PAIRS}\nin {rounds:,} rounds (log above 1)")
    last.axvline(QUIET, color="#444444", linewidth=1)
    last.set(title="Last unfair round", xlabel="as a share of all rounds\n(line: the last quarter)", xlim=(-0.03, 1.03))
    figure.count_scale(regret)
    regret.set(title="Regret", xlabel=f"{figure.REGRET}\nin {rounds:,} rounds (log above 1)")
    for panel in (last, regret):
        panel.set_yticks(range(len(WORLDS)), [""] * len(WORLDS))
    title = f"Learners against adversaries ({REFERENCE}: the reference): mean and 95% interval over seeds"
    return figure.finish(picture, axes, title, columns=5)


EXPERIMENT = Experiment(NAME, CLAIM, sweep, standard_run, analyse, draw)
