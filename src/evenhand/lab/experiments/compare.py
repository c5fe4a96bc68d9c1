"""compare: every baseline in every world, reward against unfairness."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from evenhand.baselines import BASELINES
from evenhand.environments import names
from evenhand.lab.case import Case, grid
from evenhand.lab.experiment import Experiment, Findings, Verdict
from evenhand.lab.figure import count_scale, dot_styles, multiples, reach
from evenhand.lab.standard_run import standard_run
from evenhand.lab.statistics import Estimate, ends_of_runs, estimate, summary

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NAME = "compare"

POLICIES = ("evenhand", "paper", *BASELINES)

TOLD = ("fair-optimum", "known-metric")
"""Who knows the metric, and does not count as a competitor."""

ALWAYS_FAIR = (*TOLD, "equal-probabilities")

QUICK_WORLDS = ("sphere", "groups", "camps", "direction-hider", "proxy", "lending")
"""Without the hunters, who take most of the time."""

QUIET_RATE = 1.0
"""Unfair pairs in 100 late rounds that count as "hardly any"."""

VALUES = ("reward_rate", "gain", "unfair_rate", "late_unfair_rate", "conflicts")


def sweep(quick: bool) -> Sequence[Case]:
    """Everybody everywhere: 10 seeds of 1,500 rounds; quick, six worlds, 3 seeds of 128."""
    worlds, rounds = (QUICK_WORLDS, 128) if quick else (names(), 1500)
    shape: dict[str, Iterable[Any]] = {
        "policy": POLICIES,
        "k": [5],
        "rounds": [rounds],
        "epsilon": [0.05 if quick else 0.02],
        "seed": range(3 if quick else 10),
    }
    cases = []
    for world in worlds:
        extra: dict[str, Iterable[Any]] = {"reveal_at": [rounds // 3]} if world == "direction-hider" else {}
        # The lending world's files have five coordinates; the others have four, quick three.
        cases += grid(NAME, world=[world], d=[5 if world == "lending" else 3 if quick else 4], **shape, **extra)
    return cases


def analyse(table: pl.DataFrame) -> Findings:
    """Rewards and unfair pairs a round, and whether anybody did better than evenhand in both.

    The gain is the reward beyond that of the best fair odds on the same candidates, minus the regret: other truths pay
    other rewards, and a hunter shows everybody other candidates.
    """
    runs = ends_of_runs(table, ["unfair_pairs"]).with_columns(
        reward_rate=pl.col("reward") / pl.col("round"),
        gain=-pl.col("regret") / pl.col("round"),
        unfair_rate=100 * pl.col("unfair_pairs") / pl.col("round"),
        late_unfair_rate=100 * pl.col("late_unfair_pairs") / pl.col("late_rounds"),
    )
    means = summary(runs, ["world", "policy"], VALUES)
    return Findings(
        (_fair_by_design(runs), _undominated(runs), _quiet(means)),
        means.select("world", "policy", *VALUES),
        {"means": means},
    )


def _fair_by_design(runs: pl.DataFrame) -> Verdict:
    found = runs.filter(pl.col("policy").is_in(ALWAYS_FAIR) & (pl.col("unfair_pairs") > 0))
    return Verdict(
        "who knows the metric, and who gives equal odds, is never unfair",
        f"{len(found)} runs with an unfair pair",
        "none",
        len(found) == 0,
    )


def betters(runs: pl.DataFrame) -> list[tuple[str, str, Estimate]]:
    """World, policy and by how much, where one that does not know the metric gained more and was as fair as evenhand.

    Gains are compared seed by seed, so that all meet the same truth; fairness counts late, in about the second
    half, when all have learned what they will.
    """
    own = runs.filter(pl.col("policy") == "evenhand").select(
        "world", "seed", own_gain=pl.col("gain"), own_unfair=pl.col("late_unfair_rate")
    )
    rivals = runs.filter(~pl.col("policy").is_in([*TOLD, "evenhand"])).join(own, on=["world", "seed"])
    found = []
    for (world, policy), group in rivals.group_by(["world", "policy"], maintain_order=True):
        ahead = estimate((group["gain"] - group["own_gain"]).to_numpy())
        if ahead.value > 0 and np.mean(group["late_unfair_rate"].to_numpy()) <= np.mean(group["own_unfair"].to_numpy()):
            found.append((str(world), str(policy), ahead))
    return found


def _undominated(runs: pl.DataFrame) -> Verdict:
    found = betters(runs)
    clear = [f"{policy} in {world} by {ahead.value:.2g}" for world, policy, ahead in found if ahead.lower > 0]
    perhaps = [f"{policy} in {world} by {ahead.value:.2g}" for world, policy, ahead in found if ahead.lower <= 0]
    worlds = runs["world"].n_unique()
    measured = f"clearly ahead: {', '.join(clear) or 'nobody'}"
    measured += f"; within the noise of seeds: {', '.join(perhaps)}" if perhaps else ""
    return Verdict(
        "nobody who does not know the metric gains more a round than evenhand and is as fair in the second half",
        measured,
        f"nobody, in {worlds} worlds",
        not clear,
    )


def _quiet(means: pl.DataFrame) -> Verdict:
    own = means.filter(pl.col("policy") == "evenhand").sort("late_unfair_rate", descending=True)
    worst = own.row(0, named=True)
    return Verdict(
        "evenhand is hardly ever unfair in the second half, in any world",
        f"at most {worst['late_unfair_rate']:.2g} unfair pairs in 100 rounds ({worst['world']})",
        f"at most {QUIET_RATE:g}",
        bool(worst["late_unfair_rate"] <= QUIET_RATE),
    )


def draw(table: pl.DataFrame, findings: Findings) -> Figure:
    """A panel a world: gain a round over unfair pairs in 100 rounds. Up and to the left is better."""
    means: pl.DataFrame = findings.numbers["means"]
    worlds = list(dict.fromkeys(means["world"]))
    columns = 3 if len(worlds) <= 6 else 4
    figure, axes = multiples(len(worlds), columns=columns)
    for number, (panel, world) in enumerate(zip(axes, worlds, strict=True)):
        here = means.filter(pl.col("world") == world)
        for policy, style in zip(POLICIES, dot_styles(), strict=False):
            rows = here.filter(pl.col("policy") == policy)
            sideways, upright = reach(rows, "unfair_rate"), reach(rows, "gain")
            panel.errorbar(rows["unfair_rate"], rows["gain"], xerr=sideways, yerr=upright, label=policy, **style)
        panel.axhline(0, color="black", linewidth=0.6)
        count_scale(panel)
        panel.set_title(world)
        if number % columns == 0:
            panel.set_ylabel("reward a round\nbeyond the best fair odds")
        if number >= len(worlds) - columns:
            panel.set_xlabel("unfair pairs in 100 rounds")
    figure.suptitle("Every policy in every world: mean and 95% interval over seeds; up and to the left is better")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=5, frameon=False)
    return figure


EXPERIMENT = Experiment(
    NAME, "Of those who do not know the metric, nobody is as fair and earns more.", sweep, standard_run, analyse, draw
)
