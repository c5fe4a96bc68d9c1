"""scaling: unfairness against the number of features, the number of candidates, and the accuracy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl

from evenhand import theory
from evenhand.lab import figure, growth
from evenhand.lab.experiment import Check, Experiment, Findings
from evenhand.lab.runs import standard_run
from evenhand.lab.statistics import Estimate, by_seed, estimate
from evenhand.lab.store import Case, grid

NAME = "scaling"
CLAIM = "Unfair pairs grow at most like d², k² and log(1/epsilon); one metric for all needs fewer than one a pair."
PER_PAIR = "paper-known-reward"
POLICIES = ("evenhand-known-reward", "projected-volume-known-reward", PER_PAIR)
CENTRE: dict[str, Any] = {"d": 3, "k": 4, "epsilon": 0.02}
FACTORS: dict[str, Sequence[float]] = {
    "d": (2, 3, 4, 6, 8),
    "k": (2, 3, 4, 6, 8, 12),
    "epsilon": (0.3, 0.1, 0.05, 0.02, 0.01, 0.006, 0.003),
}
QUICK: dict[str, Sequence[float]] = {"d": (2, 3, 5), "k": (2, 4, 8), "epsilon": (0.3, 0.02, 0.006, 0.003)}
LABELS = {"d": "features d", "k": "candidates k", "epsilon": "accuracy 1/epsilon"}
MEASURES = {"unfair_pairs": "unfair pairs", "unfair_rounds": "unfair rounds"}


def sweep(quick: bool) -> list[Case]:
    """One factor at a time around the centre, which is run once; every policy and seed."""
    T, seeds, factors = (120, range(3), QUICK) if quick else (1500, range(10), FACTORS)
    settings = [dict(CENTRE)]
    for factor, values in factors.items():
        settings += [CENTRE | {factor: value} for value in values if value != CENTRE[factor]]
    return [case for setting in settings for case in grid(NAME, policy=POLICIES, rounds=T, seed=seeds, **setting)]


def along(ends: pl.DataFrame, factor: str) -> pl.DataFrame:
    """The runs that vary only this factor, and its size, d, k or 1/epsilon, in a column `size`."""
    others = [pl.col(name) == value for name, value in CENTRE.items() if name != factor]
    size = 1 / pl.col(factor) if factor == "epsilon" else pl.col(factor).cast(pl.Float64)
    return ends.filter(*others).with_columns(size=size).sort("size", maintain_order=True)


def judge(factor: str, measure: str, policy: str, points: growth.Points) -> Check:
    """The growth in one factor against the theorem's: a power of d and k, a logarithm of 1/epsilon."""
    what = f"{MEASURES[measure]} against {factor}: {policy}"
    if factor == "epsilon":
        # Where epsilon is large hardly anything is unfair: the log starts late, and its exponent means nothing.
        return growth.no_faster_than_log(what, points, x="1/epsilon", steepest=None)
    if factor == "k" and measure == "unfair_rounds" and policy != PER_PAIR:
        return growth.no_steeper(what, growth.exponent(points), 0.0, reason="one learner for all pairs")
    return growth.no_steeper(what, growth.exponent(points), 2.0, reason=f"{factor}² in the bound")


def bound(measure: str, policy: str, d: int, k: int, epsilon: float) -> float:
    """The theorem's bound on this measure."""
    count = theory.fairness_loss if measure == "unfair_pairs" else theory.fairness_rounds
    return count(k, d, epsilon, growth.NORM, shared=policy != PER_PAIR)


def analyse(table: pl.DataFrame) -> Findings:
    """Fitted exponents in each factor, and the bound at every setting."""
    ends = growth.last_of_each(table)
    checks = [_share_of_bound(policy, runs) for policy, runs in growth.by_policy(ends)]
    rows = []
    for factor in FACTORS:
        for policy, runs in growth.by_policy(along(ends, factor)):
            row: dict[str, object] = {"factor": factor, "policy": policy}
            for measure, words in MEASURES.items():
                points = by_seed(runs, measure, along="size")
                checks.append(judge(factor, measure, policy, points))
                row |= {
                    f"{words}, first": str(_at(runs, measure, points[0][0])),
                    f"{words}, last": str(_at(runs, measure, points[0][-1])),
                    f"{words}, exponent": str(growth.exponent(points)),
                }
            rows.append(row)
    return Findings(tuple(checks), pl.DataFrame(rows))


def _at(runs: pl.DataFrame, measure: str, size: float) -> Estimate:
    return estimate(runs.filter(pl.col("size") == size)[measure])


def _share_of_bound(policy: str, runs: pl.DataFrame) -> Check:
    """How close to the bound the worst run came."""
    settings = runs.select("unfair_pairs", "d", "k", "epsilon").iter_rows()
    shares = [pairs / bound("unfair_pairs", policy, *setting) for pairs, *setting in settings]
    return growth.below(f"unfair pairs as a share of the bound: {policy}", pl.Series(shares), 1.0)


def draw(table: pl.DataFrame, findings: Findings) -> figure.Figure:
    """Unfair pairs against each factor on log axes, where a power is a line; the bound dotted."""
    picture, axes = figure.panels(3, width=4.8)
    ends = growth.last_of_each(table)
    for panel, factor in zip(axes, FACTORS, strict=True):
        part = along(ends, factor)
        figure.draw_lines(panel, part, "unfair_pairs", along="size", floor=figure.FLOOR)
        sizes = part["size"].unique().sort().to_list()
        settings = part.unique("size").sort("size").select("d", "k", "epsilon").iter_rows()
        bounds = [bound("unfair_pairs", PER_PAIR, *setting) for setting in settings]
        panel.plot(sizes, bounds, label="the theorem's bound", **figure.PROMISED)
        panel.set_xscale("log")
        figure.log_from(panel)
        panel.set_xlabel(LABELS[factor])
        if factor != "epsilon":
            panel.set_xticks(sizes, [f"{size:g}" for size in sizes], minor=False)
            panel.set_xticks([], minor=True)
    axes[0].set_ylabel(f"{figure.UNFAIR_PAIRS}, in all")
    title = f"Unfair pairs in {int(ends['rounds'][0])} rounds, one factor at a time around d = 3, k = 4, epsilon = 0.02"
    return figure.finish(picture, axes, title, columns=4)


EXPERIMENT = Experiment(NAME, CLAIM, sweep, standard_run, analyse, draw)
