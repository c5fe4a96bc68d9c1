"""many-actions: the appendix, where everybody may be chosen."""

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

NAME = "many-actions"
POLICIES = ("evenhand", "paper")
D, K, EPSILON = 3, 5, 0.001
NORM = 1.0
"""The bound on ||A'A||_F that every learner starts from."""
DELTA = 0.05
PROMISED = 0.5
FLOOR = 0.5
"""Where the log axes of the figure begin."""


def sweep(quick: bool) -> list[Case]:
    """One run for every policy and seed, with no limit on how many are chosen."""
    T, seeds = (2**9, range(3)) if quick else (2**12, range(10))
    return grid(NAME, policy=POLICIES, d=[D], k=[K], rounds=[T], epsilon=[EPSILON], capacity=[None], seed=seeds)


def regret_bound(t: int, *, shared: bool) -> float:
    """The appendix's theorem on regret, at round t."""
    return theory.regret_many(K, D, t, EPSILON, NORM, delta=DELTA, shared=shared, tight=True)


def analyse(table: pl.DataFrame) -> Findings:
    """Regret like root T, unfair pairs that stop, both under their bounds."""
    verdicts: list[Verdict] = []
    rows = []
    for policy in growth.policies_in(table):
        runs = growth.of(table, policy)
        ends = growth.last_of_each(runs)
        T = int(ends["rounds"][0])
        late = growth.later_half(by_seed(runs, "regret"))
        regret = growth.exponent(late)
        pairs = by_seed(runs, "unfair_pairs")
        promised, loss = regret_bound(T, shared=policy != "paper"), theory.fairness_loss(K, D, EPSILON, NORM)
        verdicts += [
            growth.no_steeper(f"growth of regret: {policy}", regret, PROMISED, law="root T"),
            growth.below(f"regret in {T} rounds: {policy}", ends["regret"], promised),
            growth.stopped(f"unfair pairs late: {policy}", pairs),
            growth.below(f"unfair pairs in {T} rounds: {policy}", ends["unfair_pairs"], loss),
        ]
        rows.append(
            {
                "policy": policy,
                "T": T,
                "regret": str(estimate(ends["regret"].to_numpy())),
                "exponent of regret, later half": str(regret),
                "exponent of regret, last quarter": str(growth.exponent(growth.later_half(late))),
                "bound on regret": promised,
                "unfair pairs": str(estimate(ends["unfair_pairs"].to_numpy())),
                "exponent of unfair pairs, later half": str(growth.exponent(growth.later_half(pairs))),
                "last unfair round": str(estimate(ends["last_unfair_round"].to_numpy())),
                "bound on unfair pairs": loss,
            }
        )
    return Findings(tuple(verdicts), pl.DataFrame(rows))


def draw(table: pl.DataFrame, findings: Findings) -> Figure:
    """Regret and unfair pairs against the round, on log axes, the bounds dotted."""
    picture, (left, right) = figure.panels(2)
    rounds = table["round"].unique().sort().to_list()
    loss = theory.fairness_loss(K, D, EPSILON, NORM)
    figure.draw_policies(left, table, "regret", floor=FLOOR)
    promised = [regret_bound(int(t), shared=True) for t in rounds]
    left.plot(rounds, promised, label="the theorem's bound (one metric for all)", **figure.PROMISED)
    left.plot(rounds, [t**0.5 for t in rounds], label="root t, for comparison", color="#999999", linewidth=1.0)
    figure.draw_policies(right, table, "unfair_pairs", floor=FLOOR)
    right.plot(rounds, [loss] * len(rounds), label="bound", **figure.PROMISED)
    for panel, words in ((left, "regret so far, in expected reward"), (right, "unfair pairs so far")):
        figure.powers_of_two(panel, "round t")
        figure.log_from(panel, FLOOR)
        panel.set_ylabel(words)
    left.set_title("Regret: root T is a line of slope 1/2")
    right.set_title(f"Pairs unfair by more than {EPSILON}")
    figure.legend_below(picture, left, columns=4)
    picture.suptitle(f"Everybody may be chosen (d = {D}, k = {K}; mean and 95% band over seeds)")
    return picture


EXPERIMENT = Experiment(
    name=NAME,
    claim="Where everybody may be chosen, regret still grows like root T and unfairness still stops.",
    sweep=sweep,
    run=standard_run,
    analyse=analyse,
    draw=draw,
)
