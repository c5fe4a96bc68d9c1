"""known-reward: the regret to the best fair policy when rewards are known and the metric is not."""

from __future__ import annotations

from typing import Any

import polars as pl

from evenhand import theory
from evenhand.lab import figure, growth
from evenhand.lab.experiment import Check, Experiment, Findings
from evenhand.lab.runs import standard_run
from evenhand.lab.statistics import by_seed, estimate
from evenhand.lab.store import Case, grid

NAME = "known-reward"
CLAIM = "With rewards known and epsilon = 1/(k³ T), regret to the best fair policy grows like log T."
POLICIES = ("evenhand-known-reward", "projected-volume-known-reward", "paper-known-reward")
D, K = 3, 3  # with more candidates 1/(k³ T) would be below the learners' smallest epsilon
MEASURES = {"regret": "regret", "unfair_rounds": "unfair rounds"}


def sweep(quick: bool) -> list[Case]:
    """A run for each T, at the best epsilon for it, for every policy and seed."""
    horizons = [2**n for n in (range(5, 10) if quick else range(8, 15))]
    shape: dict[str, Any] = {"policy": POLICIES, "d": D, "k": K, "seed": range(3 if quick else 10)}
    return [case for T in horizons for case in grid(NAME, rounds=T, epsilon=theory.best_epsilon(K, T), **shape)]


def bound(T: int, *, shared: bool) -> float:
    """The theorem's bound, at the best epsilon for T."""
    return theory.regret_known_reward(K, D, T, theory.best_epsilon(K, T), growth.NORM, shared=shared, tight=True)


def analyse(table: pl.DataFrame) -> Findings:
    """Regret below the bound and no faster than log T; the same for the unfair rounds, which make up the bound."""
    checks: list[Check] = []
    rows = []
    for policy, runs in growth.by_policy(growth.last_of_each(table)):
        T = int(max(runs["rounds"]))
        longest = runs.filter(pl.col("rounds") == T)
        promised = bound(T, shared=policy != "paper-known-reward")
        row: dict[str, object] = {"policy": policy, "T": T}
        for measure, words in MEASURES.items():
            points = by_seed(runs, measure, along="rounds")
            checks.append(growth.below(f"{words} in {T} rounds: {policy}", longest[measure], promised))
            checks.append(growth.no_faster_than_log(f"growth of {words}: {policy}", points))
            row[words] = str(estimate(longest[measure]))
            row[f"{words}, added a doubling of T"] = str(growth.per_doubling(growth.later_half(points)))
            row[f"{words}, exponent"] = str(growth.exponent(growth.later_half(points)))
        rows.append(row | {"bound": promised})
    return Findings(tuple(checks), pl.DataFrame(rows))


def draw(table: pl.DataFrame, findings: Findings) -> figure.Figure:
    """Regret and unfair rounds against T; linear below 1, since unfairness can earn more than is fair."""
    picture, axes = figure.panels(2)
    ends = growth.last_of_each(table)
    horizons = ends["rounds"].unique().sort().to_list()
    for panel, (measure, words) in zip(axes, MEASURES.items(), strict=True):
        figure.draw_lines(panel, ends, measure, along="rounds")
        for shared, dash in ((True, {}), (False, {"linestyle": "-"})):
            label = "bound, one metric for all pairs" if shared else "bound, one metric a pair"
            panel.plot(horizons, [bound(T, shared=shared) for T in horizons], label=label, **(figure.PROMISED | dash))
        figure.powers_of_two(panel, "rounds T, a run for each, epsilon = 1/(k³ T)")
        panel.set_yscale("symlog", linthresh=1.0)
        panel.set_ylabel(f"{words} in T rounds")
        panel.axhline(0.0, color="#999999", linewidth=0.8)
    axes[0].set_ylim(bottom=2 * min(-1.0, *ends["regret"]))
    axes[1].set_ylim(bottom=0.0)
    title = f"Rewards known, metric unknown (d = {D}, k = {K}; mean and 95% band over seeds)"
    return figure.finish(picture, axes, title, columns=3)


EXPERIMENT = Experiment(NAME, CLAIM, sweep, standard_run, analyse, draw)
