"""not-mahalanobis: a promise that holds for every reviewer, also for those outside the class that is learned."""

from __future__ import annotations

from typing import Any

import polars as pl

from evenhand.bandit.safeguards import STEP
from evenhand.lab import figure, growth
from evenhand.lab.experiment import Check, Experiment, Findings
from evenhand.lab.runs import reviewed_run
from evenhand.lab.statistics import ends_of_runs, estimate, summary
from evenhand.lab.store import Case, grid, labelled

NAME = "not-mahalanobis"
CLAIM = (
    "With a target of 1% no reviewer flags many more rounds than that, and more is earned than by equal probabilities."
)

REVIEWERS = ("wobble 10%", "l1 norm", "rotation", "groups", "pure noise", "hostility")

TARGET = 0.01
MOST = 0.012
"""Maximum share of rounds flagged, at 20,000 rounds."""

WITH, WITHOUT, EQUAL = f"target {TARGET:.0%}", "no target", "equal probabilities"

VALUES = ("flagged_share", "reward_rate", "fair_rate", "unfair_pairs")


def sweep(quick: bool) -> list[Case]:
    """Every reviewer with and without the target, equal probabilities: 5 seeds of 20,000 rounds; quick, 3 of 250."""
    rounds, seeds = (250, range(3)) if quick else (20_000, range(5))
    shape: dict[str, Any] = {"d": 5, "k": 5, "rounds": rounds, "epsilon": 0.01, "seed": seeds}
    targets: dict[str, dict[str, Any]] = {WITH: {"target_unfair_share": TARGET}, WITHOUT: {"target_unfair_share": None}}
    return [
        *labelled(NAME, targets, policy="evenhand", follows=REVIEWERS, **shape),
        *grid(NAME, label=EQUAL, policy="equal-probabilities", **shape),
    ]


def promised(rounds: int) -> float:
    """The promised share; in few rounds the constant of `Margin` dominates."""
    return max(MOST, TARGET + (1 / STEP + 1) / rounds)


def analyse(table: pl.DataFrame) -> Findings:
    """The share of flagged rounds against the target, and the reward against that of equal probabilities.

    fair_rate: what the best fair policy would earn by the reviewer's own distance; not a number without one.
    """
    best = (pl.col("reward") + pl.col("regret")) / pl.col("round")
    runs = ends_of_runs(table).with_columns(
        flagged_share=pl.col("flagged_rounds_by_reviewer") / pl.col("round"),
        reward_rate=pl.col("reward") / pl.col("round"),
        fair_rate=pl.when(pl.col("follows").is_in(["pure noise", "hostility"])).then(float("nan")).otherwise(best),
    )
    rounds = int(max(runs["round"]))
    equal = runs.filter(pl.col("label") == EQUAL).select("seed", equal=pl.col("reward_rate"))
    kept = runs.filter(pl.col("label") == WITH).join(equal, on="seed", how="left", maintain_order="left")
    checks: list[Check] = []
    for reviewer in REVIEWERS:
        here = kept.filter(pl.col("follows") == reviewer)
        if len(here):
            ahead, what = estimate(here["reward_rate"] - here["equal"]), "reward a round beyond equal probabilities"
            checks += [
                growth.below(f"{reviewer}: share of rounds flagged", here["flagged_share"], promised(rounds)),
                growth.above_zero(f"{reviewer}: {what}, seed by seed", ahead),
            ]
    means = summary(runs, ["follows", "label"], VALUES)
    return Findings(tuple(checks), means.select("follows", "label", *VALUES), {"means": means, "rounds": rounds})


def draw(table: pl.DataFrame, findings: Findings) -> figure.Figure:
    """The share of flagged rounds and the reward, a row a reviewer, with the target and without."""
    means: pl.DataFrame = findings.numbers["means"]
    rounds: int = findings.numbers["rounds"]
    picture, (flags, reward) = figure.panels(2, width=6.2, height=4.8)
    players = means.filter(pl.col("label") != EQUAL)
    rows, dots = ("follows", list(REVIEWERS)), ("label", [WITH, WITHOUT])
    figure.draw_rows(flags, players, "flagged_share", rows=rows, dots=dots)
    flags.axvline(promised(rounds), label=f"promised: {promised(rounds):.2%}", **figure.PROMISED)
    flags.set(title="Rounds flagged by the reviewer", xlabel="share of rounds", xscale="log", xlim=(0.003, 1.3))
    flags.xaxis.set_major_formatter(lambda value, _: f"{value:.0%}" if value >= 0.01 else f"{value:.1%}")
    figure.draw_rows(reward, players, "reward_rate", rows=rows, dots=dots)
    for height, reviewer in enumerate(REVIEWERS):
        best = means.filter((pl.col("follows") == reviewer) & (pl.col("label") == WITH))["fair_rate"]
        label = "best fair policy, by the reviewer's distance" if height == 0 else None
        reward.plot(best, [height] * len(best), "|", color="black", markersize=16, label=label)
    equal = means.filter(pl.col("label") == EQUAL)
    reward.axvline(float(equal["reward_rate"][0]), label=EQUAL, **(figure.PROMISED | {"linestyle": "-"}))
    reward.set(title="Reward", xlabel="expected reward a round")
    reward.set_yticks(range(len(REVIEWERS)), [""] * len(REVIEWERS))
    title = f"Reviewers outside the learned class, {rounds:,} rounds: mean and 95% interval over seeds"
    return figure.finish(picture, (flags, reward), title, columns=5)


EXPERIMENT = Experiment(NAME, CLAIM, sweep, reviewed_run, analyse, draw)
