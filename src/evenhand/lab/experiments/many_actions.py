"""many-actions: the paper's appendix, where everybody may be chosen."""

from __future__ import annotations

import polars as pl

from evenhand import theory
from evenhand.lab import figure, growth
from evenhand.lab.experiment import Check, Experiment, Findings
from evenhand.lab.runs import standard_run
from evenhand.lab.statistics import by_seed, estimate
from evenhand.lab.store import Case, grid

NAME = "many-actions"
CLAIM = "Where everybody may be chosen, regret still grows like root T and unfairness still stops."
POLICIES = ("evenhand", "paper")
D, K, EPSILON = 3, 5, 0.001
DELTA = 0.05
PROMISED = 0.5
LOSS = theory.fairness_loss(K, D, EPSILON, growth.NORM)
"""The theorem's bound on unfair pairs."""


def sweep(quick: bool) -> list[Case]:
    """One run for every policy and seed, without a limit on how many are chosen."""
    T, seeds = (2**9, range(3)) if quick else (2**12, range(10))
    return grid(NAME, policy=POLICIES, d=D, k=K, rounds=T, epsilon=EPSILON, capacity=None, seed=seeds)


def regret_bound(t: int, *, shared: bool) -> float:
    """The bound on regret of the appendix, at round t."""
    return theory.regret_many(K, D, t, EPSILON, growth.NORM, delta=DELTA, shared=shared, tight=True)


def analyse(table: pl.DataFrame) -> Findings:
    """Regret like root T, unfair pairs that stop, both below their bounds."""
    checks: list[Check] = []
    rows = []
    for policy, runs in growth.by_policy(table):
        ends = growth.last_of_each(runs)
        T = int(ends["rounds"][0])
        late, pairs = growth.later_half(by_seed(runs, "regret")), by_seed(runs, "unfair_pairs")
        regret, promised = growth.exponent(late), regret_bound(T, shared=policy != "paper")
        checks += [
            growth.no_steeper(f"growth of regret: {policy}", regret, PROMISED, reason="root T"),
            growth.below(f"regret in {T} rounds: {policy}", ends["regret"], promised),
            growth.stopped(f"unfair pairs late: {policy}", pairs),
            growth.below(f"unfair pairs in {T} rounds: {policy}", ends["unfair_pairs"], LOSS),
        ]
        rows.append(
            {
                "policy": policy,
                "T": T,
                "regret": str(estimate(ends["regret"])),
                "exponent of regret, later half": str(regret),
                "exponent of regret, last quarter": str(growth.exponent(growth.later_half(late))),
                "bound on regret": promised,
                "unfair pairs": str(estimate(ends["unfair_pairs"])),
                "exponent of unfair pairs, later half": str(growth.exponent(growth.later_half(pairs))),
                "last unfair round": str(estimate(ends["last_unfair_round"])),
                "bound on unfair pairs": LOSS,
            }
        )
    return Findings(tuple(checks), pl.DataFrame(rows))


def draw(table: pl.DataFrame, findings: Findings) -> figure.Figure:
    """Regret and unfair pairs against the round, on log axes, the bounds dotted."""
    picture, (left, right) = figure.panels(2)
    rounds = table["round"].unique().sort().to_list()
    figure.draw_lines(left, table, "regret", floor=figure.FLOOR)
    promised = [regret_bound(int(t), shared=True) for t in rounds]
    left.plot(rounds, promised, label="the theorem's bound (one metric for all)", **figure.PROMISED)
    left.plot(rounds, [t**0.5 for t in rounds], label="root t, for comparison", color="#999999", linewidth=1.0)
    figure.draw_lines(right, table, "unfair_pairs", floor=figure.FLOOR)
    right.plot(rounds, [LOSS] * len(rounds), label="bound on unfair pairs", **figure.PROMISED)
    for panel, words in ((left, "regret so far, in expected reward"), (right, "unfair pairs so far")):
        figure.powers_of_two(panel, "round t")
        figure.log_from(panel)
        panel.set_ylabel(words)
    left.set_title("Regret: root T is a line of slope 1/2")
    right.set_title(f"Pairs unfair by more than {EPSILON}")
    title = f"Everybody may be chosen (d = {D}, k = {K}; mean and 95% band over seeds)"
    return figure.finish(picture, (left, right), title, columns=4)


EXPERIMENT = Experiment(NAME, CLAIM, sweep, standard_run, analyse, draw)
