"""compare: every baseline in every world, reward against unfairness."""

from __future__ import annotations

import numpy as np
import polars as pl

from evenhand.baselines import BASELINES
from evenhand.environments import names
from evenhand.lab import figure
from evenhand.lab.experiment import Check, Experiment, Findings
from evenhand.lab.runs import standard_run
from evenhand.lab.statistics import Estimate, ends_of_runs, estimate, summary
from evenhand.lab.store import Case, in_worlds

NAME = "compare"
CLAIM = "No policy without the metric is as fair and earns more."

POLICIES = ("evenhand", "paper", *BASELINES)

INFORMED = ("fair-optimum", "known-metric")
"""They know the metric, and do not count as competitors."""

ALWAYS_FAIR = (*INFORMED, "equal-probabilities")

QUICK_WORLDS = ("sphere", "groups", "camps", "direction-hider", "proxy", "lending")
"""Without the hunters, which take most of the time."""

QUIET_RATE = 1.0
"""Unfair pairs in 100 late rounds that count as "hardly any"."""

VALUES = ("reward_rate", "gain", "unfair_rate", "late_unfair_rate", "conflicts")


def sweep(quick: bool) -> list[Case]:
    """Every policy in every world: 10 seeds of 1,500 rounds; quick, six worlds, 3 seeds of 128."""
    worlds, d, rounds, epsilon, seeds = (
        (QUICK_WORLDS, 3, 128, 0.05, range(3)) if quick else (names(), 4, 1500, 0.02, range(10))
    )
    cases = []
    for world in worlds:
        own_d = 5 if world == "lending" else d  # an applicant's file has five coordinates
        shape = {"d": own_d, "k": 5, "rounds": rounds, "epsilon": epsilon, "seed": seeds}
        cases += in_worlds(NAME, [world], reveal_at=rounds // 3, policy=POLICIES, **shape)
    return cases


def analyse(table: pl.DataFrame) -> Findings:
    """Rewards and unfair pairs a round, and whether any policy beats evenhand in both.

    The gain is the reward beyond that of the best fair policy on the same candidates, minus the regret: other truths
    pay other rewards, and a hunter shows each policy other candidates.
    """
    runs = ends_of_runs(table, ["unfair_pairs"]).with_columns(
        reward_rate=pl.col("reward") / pl.col("round"),
        gain=-pl.col("regret") / pl.col("round"),
        unfair_rate=100 * pl.col("unfair_pairs") / pl.col("round"),
        late_unfair_rate=100 * pl.col("late_unfair_pairs") / pl.col("late_rounds"),
    )
    means = summary(runs, ["world", "policy"], VALUES)
    checks = (_fair_by_design(runs), _undominated(runs), _quiet(means))
    return Findings(checks, means.select("world", "policy", *VALUES), {"means": means})


def _fair_by_design(runs: pl.DataFrame) -> Check:
    found = runs.filter(pl.col("policy").is_in(ALWAYS_FAIR) & (pl.col("unfair_pairs") > 0))
    return Check(
        "policies that know the metric or play equal probabilities are never unfair",
        f"{len(found)} runs with an unfair pair",
        "none",
        len(found) == 0,
    )


def betters(runs: pl.DataFrame) -> list[tuple[str, str, Estimate]]:
    """World, policy and by how much, where an uninformed policy gained more than evenhand and was as fair.

    Gains are compared seed by seed, under the same truth; fairness counts late, in about the second half, when all
    have learned what they will.
    """
    own = runs.filter(pl.col("policy") == "evenhand").select(
        "world", "seed", own_gain=pl.col("gain"), own_unfair=pl.col("late_unfair_rate")
    )
    rivals = runs.filter(~pl.col("policy").is_in([*INFORMED, "evenhand"])).join(own, on=["world", "seed"])
    found = []
    for (world, policy), group in rivals.group_by(["world", "policy"], maintain_order=True):
        ahead = estimate(group["gain"] - group["own_gain"])
        if ahead.value > 0 and np.mean(group["late_unfair_rate"].to_numpy()) <= np.mean(group["own_unfair"].to_numpy()):
            found.append((str(world), str(policy), ahead))
    return found


def _undominated(runs: pl.DataFrame) -> Check:
    found = betters(runs)
    clear = [f"{policy} in {world} by {ahead.value:.2g}" for world, policy, ahead in found if ahead.lower > 0]
    perhaps = [f"{policy} in {world} by {ahead.value:.2g}" for world, policy, ahead in found if ahead.lower <= 0]
    measured = f"clearly ahead: {', '.join(clear) or 'nobody'}"
    measured += f"; within the noise of seeds: {', '.join(perhaps)}" if perhaps else ""
    return Check(
        "no policy without the metric gains more a round than evenhand and is as fair in the second half",
        measured,
        f"nobody, in {runs['world'].n_unique()} worlds",
        not clear,
    )


def _quiet(means: pl.DataFrame) -> Check:
    own = means.filter(pl.col("policy") == "evenhand").sort("late_unfair_rate", descending=True)
    worst = own.row(0, named=True)
    return Check(
        "evenhand is hardly ever unfair in the second half, in any world",
        f"at most {worst['late_unfair_rate']:.2g} unfair pairs in 100 rounds ({worst['world']})",
        f"at most {QUIET_RATE:g}",
        bool(worst["late_unfair_rate"] <= QUIET_RATE),
    )


def draw(table: pl.DataFrame, findings: Findings) -> figure.Figure:
    """A panel a world: gain a round over unfair pairs in 100 rounds. Up and to the left is better."""
    means: pl.DataFrame = findings.numbers["means"]
    worlds = list(dict.fromkeys(means["world"]))
    columns = 3 if len(worlds) <= 6 else 4
    picture, axes = figure.panels(len(worlds), columns=columns, width=3.6, height=3.2)
    for number, (panel, world) in enumerate(zip(axes, worlds, strict=True)):
        here = means.filter(pl.col("world") == world)
        for policy, style in zip(POLICIES, figure.dot_styles(), strict=False):
            rows = here.filter(pl.col("policy") == policy)
            across, up = figure.reach(rows, "unfair_rate"), figure.reach(rows, "gain")
            panel.errorbar(rows["unfair_rate"], rows["gain"], xerr=across, yerr=up, label=policy, **style)
        panel.axhline(0, color="black", linewidth=0.6)
        figure.count_scale(panel)
        panel.set_title(world)
        if number % columns == 0:
            panel.set_ylabel("reward a round beyond\nthe best fair policy")
        if number >= len(worlds) - columns:
            panel.set_xlabel("unfair pairs in 100 rounds")
    title = "Every policy in every world: mean and 95% interval over seeds; up and to the left is better"
    return figure.finish(picture, axes[:1], title, columns=5)


EXPERIMENT = Experiment(NAME, CLAIM, sweep, standard_run, analyse, draw)
