"""known-reward: the regret to the best fair policy when rewards are known, and only the metric is not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from evenhand import theory
from evenhand.lab import figure, growth
from evenhand.lab.case import Case, grid
from evenhand.lab.experiment import Experiment, Findings, Verdict
from evenhand.lab.standard_run import standard_run
from evenhand.lab.statistics import by_seed, estimate

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NAME = "known-reward"
POLICIES = ("evenhand-known-reward", "projected-volume-known-reward", "paper-known-reward")
D, K = 3, 3  # with more candidates 1/(k³ T) would be finer than the learners go
NORM = 1.0
"""The bound on ||A'A||_F that every learner starts from."""
MEASURES = {"regret": "regret, in expected reward", "unfair_rounds": "rounds with an unfair pair"}


def sweep(quick: bool) -> list[Case]:
    """A run for each T, at the epsilon that is best for it, for every policy and seed."""
    seeds, horizons = range(3 if quick else 10), [2**n for n in (range(5, 10) if quick else range(8, 15))]
    return [
        case
        for T in horizons
        for case in grid(
            NAME, policy=POLICIES, d=[D], k=[K], rounds=[T], epsilon=[theory.best_epsilon(K, T)], seed=seeds
        )
    ]


def bound(T: int, *, shared: bool) -> float:
    """The theorem's, at the best epsilon for T."""
    return theory.regret_known_reward(K, D, T, theory.best_epsilon(K, T), NORM, shared=shared, tight=True)


def analyse(table: pl.DataFrame) -> Findings:
    """Regret under the bound and no faster than log T; so the unfair rounds, of which the bound is made."""
    verdicts: list[Verdict] = []
    rows = []
    ends = growth.last_of_each(table)
    for policy in growth.policies_in(ends):
        runs = growth.of(ends, policy)
        T = int(max(runs["rounds"]))
        longest = runs.filter(pl.col("rounds") == T)
        promised = bound(T, shared=policy != "paper-known-reward")
        row: dict[str, object] = {"policy": policy, "T": T}
        for measure, words in (("regret", "regret"), ("unfair_rounds", "unfair rounds")):
            points = by_seed(runs, measure, along="rounds")
            verdicts.append(growth.below(f"{words} in {T} rounds: {policy}", longest[measure], promised))
            verdicts.append(growth.no_faster_than_log(f"growth of {words}: {policy}", points))
            row[words] = str(estimate(longest[measure].to_numpy()))
            row[f"{words}, added a doubling of T"] = str(growth.per_doubling(growth.later_half(points)))
            row[f"{words}, exponent"] = str(growth.exponent(growth.later_half(points)))
        rows.append(row | {"bound": promised})
    return Findings(tuple(verdicts), pl.DataFrame(rows))


def draw(table: pl.DataFrame, findings: Findings) -> Figure:
    """Regret, and unfair rounds, against T; below 1 the axis is even, for unfairness can earn more than is fair."""
    picture, axes = figure.panels(2)
    ends = growth.last_of_each(table)
    horizons = ends["rounds"].unique().sort().to_list()
    for panel, (measure, words) in zip(axes, MEASURES.items(), strict=True):
        figure.draw_policies(panel, ends, measure, along="rounds")
        for shared, dash in ((True, {}), (False, {"linestyle": "-"})):
            label = "bound, one metric for all pairs" if shared else "bound, one metric a pair"
            panel.plot(horizons, [bound(T, shared=shared) for T in horizons], label=label, **(figure.PROMISED | dash))
        figure.powers_of_two(panel, "rounds T, a run for each, epsilon = 1/(k³ T)")
        panel.set_yscale("symlog", linthresh=1.0)
        panel.set_ylabel(words)
        panel.axhline(0.0, color="#999999", linewidth=0.8)
    axes[0].set_ylim(bottom=2 * min(-1.0, *ends["regret"]))
    axes[1].set_ylim(bottom=0.0)
    figure.legend_below(picture, axes[0], columns=3)
    picture.suptitle(f"Rewards known, metric not (d = {D}, k = {K}; mean and 95% band over seeds)")
    return picture


EXPERIMENT = Experiment(
    name=NAME,
    claim="With rewards known and epsilon = 1/(k³ T), regret to the best fair policy grows like log T.",
    sweep=sweep,
    run=standard_run,
    analyse=analyse,
    draw=draw,
)
