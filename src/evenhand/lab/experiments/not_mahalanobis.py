"""not-mahalanobis: a promise that holds whoever flags, also those who follow no metric of the class that is learned."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from evenhand.bandit.margin import STEP
from evenhand.lab import figure, growth
from evenhand.lab.case import Case, grid
from evenhand.lab.experiment import Experiment, Findings, Verdict
from evenhand.lab.reviewed_run import reviewed_run
from evenhand.lab.statistics import ends_of_runs, estimate, summary

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NAME = "not-mahalanobis"

REVIEWERS = ("wobble 10%", "l1 norm", "rotation", "groups", "pure noise", "hostility")

TARGET = 0.01
MOST = 0.012
"""The share of rounds flagged at most, at 20,000 rounds."""

WITH, WITHOUT, EQUAL = f"target {TARGET:.0%}", "no target", "equal odds"

VALUES = ("flagged_share", "reward_rate", "fair_rate", "unfair_pairs")


def sweep(quick: bool) -> Sequence[Case]:
    """Every reviewer, with the target and without, and equal odds: 5 seeds of 20,000 rounds; quick, 3 of 250."""
    shape: dict[str, Any] = {
        "d": [5],
        "k": [5],
        "rounds": [250 if quick else 20_000],
        "epsilon": [0.01],
        "seed": range(3 if quick else 5),
    }
    return [
        *grid(NAME, policy=["evenhand"], follows=list(REVIEWERS), target_unfair_share=[TARGET, None], **shape),
        *grid(NAME, policy=["equal-probabilities"], **shape),
    ]


def promised(rounds: int) -> float:
    """The share that is promised; in few rounds the constant of `Margin` counts for more."""
    return max(MOST, TARGET + (1 / STEP + 1) / rounds)


def ends(table: pl.DataFrame) -> pl.DataFrame:
    """One row a run: flags and rewards as rates, who played, and what the best fair odds would have earned.

    fair_rate is by her own distance; of those who follow none it is not a number.
    """
    target = pl.when(pl.col("target_unfair_share").is_null()).then(pl.lit(WITHOUT)).otherwise(pl.lit(WITH))
    has_truth = ~pl.col("follows").is_in(["pure noise", "hostility"])
    best = (pl.col("reward") + pl.col("regret")) / pl.col("round")
    return ends_of_runs(table, ["unfair_pairs"]).with_columns(
        player=pl.when(pl.col("policy") == "equal-probabilities").then(pl.lit(EQUAL)).otherwise(target),
        flagged_share=pl.col("flagged_rounds_by_reviewer") / pl.col("round"),
        reward_rate=pl.col("reward") / pl.col("round"),
        fair_rate=pl.when(has_truth).then(best).otherwise(float("nan")),
    )


def analyse(table: pl.DataFrame) -> Findings:
    """The share of flagged rounds against the target, and the reward against that of equal odds."""
    runs = ends(table)
    rounds = int(max(runs["round"]))
    equal = runs.filter(pl.col("player") == EQUAL).select("seed", equal=pl.col("reward_rate"))
    kept = runs.filter(pl.col("player") == WITH).join(equal, on="seed", how="left", maintain_order="left")
    verdicts: list[Verdict] = []
    for reviewer in REVIEWERS:
        here = kept.filter(pl.col("follows") == reviewer)
        if len(here) == 0:
            continue
        ahead = estimate((here["reward_rate"] - here["equal"]).to_numpy())
        verdicts += [
            growth.below(f"{reviewer}: share of rounds flagged", here["flagged_share"], promised(rounds)),
            Verdict(
                f"{reviewer}: reward a round beyond that of equal odds, seed by seed",
                f"{ahead}",
                "above 0",
                bool(ahead.lower > 0),
            ),
        ]
    means = summary(runs, ["follows", "player"], VALUES)
    return Findings(tuple(verdicts), means.select("follows", "player", *VALUES), {"means": means, "rounds": rounds})


def draw(table: pl.DataFrame, findings: Findings) -> Figure:
    """The share of flagged rounds and the reward, a row a reviewer, with the target and without."""
    means: pl.DataFrame = findings.numbers["means"]
    rounds: int = findings.numbers["rounds"]
    picture, (flags, reward) = figure.panels(2, width=6.2, height=4.8)
    players = means.filter(pl.col("player") != EQUAL)
    rows, dots = ("follows", list(REVIEWERS)), ("player", [WITH, WITHOUT])
    figure.draw_rows(flags, players, "flagged_share", rows=rows, dots=dots)
    flags.axvline(promised(rounds), label=f"promised: {promised(rounds):.2%}", **figure.PROMISED)
    flags.set(title="Rounds flagged by the reviewer", xlabel="share of rounds", xscale="log", xlim=(0.003, 1.3))
    flags.xaxis.set_major_formatter(lambda value, _: f"{value:.0%}" if value >= 0.01 else f"{value:.1%}")
    figure.draw_rows(reward, players, "reward_rate", rows=rows, dots=dots)
    for height, reviewer in enumerate(REVIEWERS):
        best = means.filter((pl.col("follows") == reviewer) & (pl.col("player") == WITH))["fair_rate"]
        label = "best fair odds, by her distance" if height == 0 else None
        reward.plot(best, [height] * len(best), "|", color="black", markersize=16, label=label)
    equal = means.filter(pl.col("player") == EQUAL)
    reward.axvline(float(equal["reward_rate"][0]), label=EQUAL, **(figure.PROMISED | {"linestyle": "-"}))
    reward.set(title="What was earned", xlabel="expected reward a round")
    reward.set_yticks(range(len(REVIEWERS)), [""] * len(REVIEWERS))
    figure.legend_of_all(picture, (flags, reward), columns=5)
    picture.suptitle(
        f"Reviewers who follow no metric of the class, {rounds:,} rounds: mean and 95% interval over seeds"
    )
    return picture


EXPERIMENT = Experiment(
    NAME,
    "With a target of 1% no reviewer whatever flags many more rounds than that, and more is earned than by equal odds.",
    sweep,
    reviewed_run,
    analyse,
    draw,
)
