"""everything-at-once: a reviewer with every weakness, and a bandit with every safeguard that is not exact."""

from __future__ import annotations

from typing import Any

import polars as pl

from evenhand.bandit.safeguards import STEP, STEPS
from evenhand.lab import figure, growth
from evenhand.lab.experiment import Experiment, Findings
from evenhand.lab.runs import reviewed_run
from evenhand.lab.statistics import difference, ends_of_runs, summary
from evenhand.lab.store import Case, labelled

NAME = "everything-at-once"
CLAIM = (
    "With every weakness of reviewers at once, flags stay within the target and reward beats equal probabilities; "
    "a target on the probabilities that flags are right leaves more reward."
)

TARGET = 0.01
LATE = 50
WEAK: dict[str, Any] = {"shows": "proposed pairs", "wrong": 0.1, "late": LATE, "follows": "wobble 2%"}
"""Sees two pairs, errs in a tenth of the answers, answers up to 50 rounds late, and follows nearly a metric."""

SAFE, BARE = "weak reviewer, target 1%", "weak reviewer, no target"
ESTIMATED = "weak reviewer, estimated target 1%"
EXACT, EQUAL = "exact reviewer, target 1%", "equal probabilities"

PLAYERS: dict[str, dict[str, Any]] = {
    SAFE: {"policy": "evenhand", "reviewer_error": None, "target_unfair_share": TARGET} | WEAK,
    ESTIMATED: {
        "policy": "evenhand",
        "reviewer_error": None,
        "target_unfair_share": TARGET,
        "target": "estimated",
    }
    | WEAK,
    BARE: {"policy": "evenhand", "reviewer_error": None, "target_unfair_share": None} | WEAK,
    EXACT: {"policy": "evenhand", "reviewer_error": None, "target_unfair_share": TARGET},
    EQUAL: {"policy": "equal-probabilities"} | WEAK,
}

VALUES = (
    "flagged_share",
    "counted_share",
    "unfair_share",
    "reward_rate",
    "unfair_pairs",
    "late_unfair_pairs",
    "regret",
    "learned_rate",
)


def sweep(quick: bool) -> list[Case]:
    """All five players: 10 seeds of 10,000 rounds; quick, 3 of 400 in 3 dimensions."""
    d, k, rounds, seeds = (3, 5, 400, range(3)) if quick else (5, 10, 10_000, range(10))
    return labelled(NAME, PLAYERS, d=d, k=k, rounds=rounds, epsilon=0.01, seed=seeds)


def most_counted(rounds: float, step: float) -> float:
    """The promise of `Margin`: maximum sum of the counts of flagged rounds, with up to LATE decisions under review."""
    return TARGET * rounds + 1 / step + 1 + LATE


def with_rates(table: pl.DataFrame) -> pl.DataFrame:
    """Flags, truly unfair rounds and rewards so far, a round."""
    return table.with_columns(
        flagged_share=pl.col("flagged_rounds_by_reviewer") / pl.col("round"),
        counted_share=pl.col("counted") / pl.col("round"),
        unfair_share=pl.col("unfair_rounds") / pl.col("round"),
        reward_rate=pl.col("reward") / pl.col("round"),
    )


def analyse(table: pl.DataFrame) -> Findings:
    """The flagged share against the target, and the reward against equal probabilities; unfair pairs are shown.

    Of the estimated target only the sum of the estimates is checked: that they are right is not proved.
    """
    runs = with_rates(ends_of_runs(table, ["unfair_pairs"]))
    rounds = float(max(runs["round"]))
    flagged = runs.filter(pl.col("label") == SAFE)["flagged_share"]
    counted = runs.filter(pl.col("label") == ESTIMATED)["counted_share"]
    ahead = difference(runs, "reward_rate", by="label", first=SAFE, second=EQUAL)
    gained = difference(runs, "reward_rate", by="label", first=ESTIMATED, second=SAFE)
    share = f"{SAFE}: share of rounds flagged, including the constant of the margin"
    checks = (
        growth.below(share, flagged, most_counted(rounds, STEP) / rounds),
        growth.above_zero(f"{SAFE}: reward a round beyond equal probabilities, seed by seed", ahead),
        growth.below(f"{ESTIMATED}: estimated share", counted, most_counted(rounds, STEPS["estimated"]) / rounds),
        growth.above_zero(f"{ESTIMATED}: reward a round beyond {SAFE}, seed by seed", gained),
    )
    means = summary(runs, ["label"], VALUES)
    return Findings(checks, means.select("label", *VALUES))


def draw(table: pl.DataFrame, findings: Findings) -> figure.Figure:
    """Flagged share, reward a round and unfair pairs, as the rounds go on."""
    curves = with_rates(table)
    learning = curves.filter(pl.col("label") != EQUAL)
    picture, (flags, reward, pairs) = figure.panels(3, width=4.9, height=4.6)
    figure.draw_lines(flags, learning, "flagged_share", by="label", order=list(PLAYERS), floor=0.0)
    figure.draw_lines(reward, curves, "reward_rate", by="label", order=list(PLAYERS))
    figure.draw_lines(pairs, learning, "unfair_pairs", by="label", order=list(PLAYERS), floor=0.0)
    rounds = sorted(set(curves["round"]))
    flags.plot(rounds, [most_counted(t, STEP) / t for t in rounds], label="promised at most", **figure.PROMISED)
    flags.set(title="Rounds flagged so far", ylabel="share of rounds", yscale="log", ylim=(0.001, 1.3))
    flags.yaxis.set_major_formatter(lambda value, _: f"{100 * value:g}%")
    reward.set(title="Reward so far", ylabel="expected reward a round")
    pairs.set(title="Unfair pairs, by the truth", ylabel=f"{figure.UNFAIR_PAIRS} so far")
    pairs.set_yscale("symlog", linthresh=1.0)
    pairs.set_ylim(bottom=0.0)
    pairs.yaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    reward.set_ylim(-0.3, 1.0)
    for panel in (flags, reward, pairs):
        panel.set(xscale="log", xlabel="round")
        panel.set_xlim(left=10)
    title = "Two pairs a round, 10% of answers wrong, up to 50 rounds late, 2% off any metric"
    return figure.finish(picture, (flags, reward), title, columns=3)


EXPERIMENT = Experiment(NAME, CLAIM, sweep, reviewed_run, analyse, draw)
