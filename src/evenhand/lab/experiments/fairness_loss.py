"""fairness-loss-grows-like-log-T: the number of unfair pairs as the rounds go on."""

from __future__ import annotations

import polars as pl

from evenhand import theory
from evenhand.lab import figure, growth
from evenhand.lab.experiment import Check, Experiment, Findings
from evenhand.lab.runs import standard_run
from evenhand.lab.statistics import by_seed, estimate
from evenhand.lab.store import Case, grid

NAME = "fairness-loss-grows-like-log-T"
CLAIM = "The number of unfair pairs grows like log T when epsilon = 1/T, and stops growing when epsilon is fixed."
POLICIES = ("evenhand", "projected-volume", "paper")
D, K, FIXED = 2, 3, 0.01


def sweep(quick: bool) -> list[Case]:
    """A run for each T with epsilon = 1/T, and one of the longest T with epsilon fixed, for every policy and seed."""
    seeds, horizons = range(3 if quick else 10), [2**n for n in (range(5, 10) if quick else range(8, 17))]
    schedules = [*((1 / T, T) for T in horizons), (FIXED, horizons[-1])]
    return [
        case
        for epsilon, T in schedules
        for case in grid(NAME, policy=POLICIES, d=D, k=K, rounds=T, epsilon=epsilon, seed=seeds)
    ]


def bound(epsilon: float) -> float:
    """The theorem's bound; it is the same for one learner a pair and for a shared one."""
    return theory.fairness_loss(K, D, epsilon, growth.NORM)


def split(table: pl.DataFrame) -> dict[str, tuple[pl.DataFrame, str]]:
    """For each schedule of epsilon its rows, and the column along which T grows."""
    fixed = pl.col("epsilon") == FIXED
    shrinking = growth.last_of_each(table.filter(~fixed))
    return {"epsilon = 1/T": (shrinking, "rounds"), f"epsilon = {FIXED}": (table.filter(fixed), "round")}


def analyse(table: pl.DataFrame) -> Findings:
    """Below the bound; no faster than log T when epsilon = 1/T, and stopped when it is fixed."""
    checks: list[Check] = []
    rows = []
    for schedule, (part, along) in split(table).items():
        for policy, runs in growth.by_policy(part):
            ends = growth.last_of_each(runs.filter(pl.col("rounds") == runs["rounds"].max()))
            T, promised = int(ends["rounds"][0]), bound(float(ends["epsilon"][0]))
            points, what = by_seed(runs, "unfair_pairs", along=along), f"{policy}, {schedule}"
            checks.append(growth.below(f"unfair pairs in {T} rounds: {what}", ends["unfair_pairs"], promised))
            if along == "rounds":
                checks.append(growth.no_faster_than_log(f"growth of unfair pairs: {what}", points))
            else:
                checks.append(growth.stopped(f"unfair pairs late: {what}", points))
            late = growth.later_half(points)
            rows.append(
                {
                    "policy": policy,
                    "epsilon": schedule,
                    "T": T,
                    "unfair pairs": str(estimate(ends["unfair_pairs"])),
                    "last unfair round": str(estimate(ends["last_unfair_round"])),
                    "added a doubling of T, later half of T": str(growth.per_doubling(late)),
                    "bending there": str(growth.bending(late)),
                    "exponent there": str(growth.exponent(late)),
                    "bound": promised,
                }
            )
    return Findings(tuple(checks), pl.DataFrame(rows))


def draw(table: pl.DataFrame, findings: Findings) -> figure.Figure:
    """Unfair pairs against T, a panel for each schedule of epsilon; the bound dotted."""
    picture, axes = figure.panels(2)
    for panel, (schedule, (part, along)) in zip(axes, split(table).items(), strict=True):
        figure.draw_lines(panel, part, "unfair_pairs", along=along, floor=figure.FLOOR)
        positions = part[along].unique().sort().to_list()
        shrinking = along == "rounds"
        promised = [bound(1 / T) if shrinking else bound(FIXED) for T in positions]
        panel.plot(positions, promised, label="the theorem's bound", **figure.PROMISED)
        figure.powers_of_two(panel, "rounds T, a run for each" if shrinking else "round t of one run")
        figure.log_from(panel)
        panel.set(title=schedule, ylabel=f"{figure.UNFAIR_PAIRS}, in all")
    title = f"Unfair pairs as the rounds go on (d = {D}, k = {K}; mean and 95% band over seeds)"
    return figure.finish(picture, axes, title, columns=4)


EXPERIMENT = Experiment(NAME, CLAIM, sweep, standard_run, analyse, draw)
