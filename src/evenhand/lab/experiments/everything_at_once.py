"""everything-at-once: a reviewer with every weakness, and a bandit with every safeguard that is not exact."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from evenhand.bandit.margin import STEP
from evenhand.lab import figure, growth
from evenhand.lab.case import Case, grid
from evenhand.lab.experiment import Experiment, Findings, Verdict
from evenhand.lab.reviewed_run import reviewed_run
from evenhand.lab.statistics import bands, ends_of_runs, estimate, summary

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NAME = "everything-at-once"

TARGET = 0.01
LATE = 50
WEAK: dict[str, Any] = {"shows": "proposed pairs", "wrong": 0.1, "late": LATE, "follows": "wobble 2%"}
"""Looks at two pairs, errs in a tenth of answers, answers up to 50 rounds late, follows nearly a metric."""

SAFE, BARE, EXACT, EQUAL = (
    "weak reviewer, target 1%",
    "weak reviewer, no target",
    "exact reviewer, target 1%",
    "equal odds",
)

PLAYERS: dict[str, dict[str, Any]] = {
    SAFE: {"policy": "evenhand", "reviewer_error": None, "target_unfair_share": TARGET} | WEAK,
    BARE: {"policy": "evenhand", "reviewer_error": None, "target_unfair_share": None} | WEAK,
    EXACT: {"policy": "evenhand", "reviewer_error": None, "target_unfair_share": TARGET},
    EQUAL: {"policy": "equal-probabilities"} | WEAK,
}

VALUES = ("flagged_share", "reward_rate", "unfair_pairs", "late_unfair_pairs", "regret", "found_rate")


def sweep(quick: bool) -> Sequence[Case]:
    """The four of them: 10 seeds of 10,000 rounds; quick, 3 of 400 in 3 dimensions."""
    shape: dict[str, Any] = {
        "d": [3 if quick else 5],
        "k": [5 if quick else 10],
        "rounds": [400 if quick else 10_000],
        "epsilon": [0.01],
        "seed": range(3 if quick else 10),
    }
    return [
        case
        for player in PLAYERS.values()
        for case in grid(NAME, **{name: [value] for name, value in player.items()}, **shape)
    ]


def most_flagged(rounds: float) -> float:
    """What `Margin` promises: flagged rounds at most, with up to LATE decisions under review."""
    return TARGET * rounds + 1 / STEP + 1 + LATE


def named(table: pl.DataFrame) -> pl.DataFrame:
    """With a column `player`, and rates."""
    is_exact = pl.col("shows").is_null()
    weak = pl.when(pl.col("target_unfair_share").is_null()).then(pl.lit(BARE)).otherwise(pl.lit(SAFE))
    learning = pl.when(is_exact).then(pl.lit(EXACT)).otherwise(weak)
    return table.with_columns(
        player=pl.when(pl.col("policy") == "equal-probabilities").then(pl.lit(EQUAL)).otherwise(learning),
        flagged_share=pl.col("flagged_rounds_by_reviewer") / pl.col("round"),
        reward_rate=pl.col("reward") / pl.col("round"),
    )


def analyse(table: pl.DataFrame) -> Findings:
    """The flagged share against the target, the reward against equal odds; unfair pairs are shown."""
    runs = ends_of_runs(named(table), ["unfair_pairs"])
    rounds = float(max(runs["round"]))
    safe, equal = (runs.filter(pl.col("player") == player).sort("seed") for player in (SAFE, EQUAL))
    ahead = estimate((safe["reward_rate"] - equal["reward_rate"]).to_numpy())
    share = most_flagged(rounds) / rounds
    verdicts = (
        growth.below(
            f"{SAFE}: share of rounds flagged, the constant of the margin added", safe["flagged_share"], share
        ),
        Verdict(
            f"{SAFE}: reward a round beyond that of equal odds, seed by seed",
            f"{ahead}",
            "above 0",
            bool(ahead.lower > 0),
        ),
    )
    means = summary(runs, ["player"], VALUES)
    return Findings(verdicts, means.select("player", *VALUES))


def draw(table: pl.DataFrame, findings: Findings) -> Figure:
    """Flagged share, reward a round and unfair pairs, as the rounds go on."""
    curves = named(table)
    picture, (flags, reward, pairs) = figure.panels(3, width=4.9, height=4.6)
    for player, style in zip(PLAYERS, figure.styles(), strict=False):
        here = curves.filter(pl.col("player") == player)
        for panel, value in ((flags, "flagged_share"), (reward, "reward_rate"), (pairs, "unfair_pairs")):
            if player != EQUAL or panel is reward:
                band = bands(here, value)
                if panel is not reward:  # a share and a count are not below 0, wherever an interval ends
                    band = band.with_columns(pl.col("lower").clip(lower_bound=0.0))
                figure.draw_band(panel, band, label=player, style=style)
    rounds = sorted(set(curves["round"]))
    flags.plot(rounds, [most_flagged(t) / t for t in rounds], label="promised at most", **figure.PROMISED)
    flags.set(title="Rounds flagged so far", ylabel="share of rounds", yscale="log", ylim=(0.001, 1.3))
    flags.yaxis.set_major_formatter(lambda value, _: f"{100 * value:g}%")
    reward.set(title="What was earned so far", ylabel="expected reward a round")
    pairs.set(title="Unfair pairs, by the truth", ylabel="pairs unfair by more than epsilon so far")
    pairs.set_yscale("symlog", linthresh=1.0)
    pairs.set_ylim(bottom=0.0)
    pairs.yaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    reward.set_ylim(-0.3, 1.0)
    for panel in (flags, reward, pairs):
        panel.set(xscale="log", xlabel="round")
        panel.set_xlim(left=10)
    figure.legend_of_all(picture, (flags, reward), columns=3)
    picture.suptitle("Two pairs a round, 10% of answers wrong, up to 50 rounds late, 2% off any metric")
    return picture


EXPERIMENT = Experiment(
    NAME,
    "With every weakness of reviewers at once, flags stay within the target and more is earned than by equal odds.",
    sweep,
    reviewed_run,
    analyse,
    draw,
)
