"""fairness-loss-grows-like-log-T: how often a pair is treated unfairly, as the rounds go on."""

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
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

NAME = "fairness-loss-grows-like-log-T"
POLICIES = ("evenhand", "projected-volume", "paper")
D, K, FIXED = 2, 3, 0.01
NORM = 1.0
"""The bound on ||A'A||_F that every learner starts from."""
FLOOR = 0.5
"""Where the log axes of the figure begin."""


def sweep(quick: bool) -> list[Case]:
    """A run for each T with epsilon = 1/T, and one of the longest T with epsilon fixed, for every policy and seed."""
    seeds, horizons = range(3 if quick else 10), [2**n for n in (range(5, 10) if quick else range(8, 17))]
    schedules = [*((1 / T, T) for T in horizons), (FIXED, horizons[-1])]
    return [
        case
        for epsilon, T in schedules
        for case in grid(NAME, policy=POLICIES, d=[D], k=[K], rounds=[T], epsilon=[epsilon], seed=seeds)
    ]


def bound(epsilon: float) -> float:
    """The theorem's; one learner a pair or one for all, it is the same number."""
    return theory.fairness_loss(K, D, epsilon, NORM)


def split(table: pl.DataFrame) -> dict[str, tuple[pl.DataFrame, str]]:
    """For each schedule of epsilon its rows, and the column along which T grows."""
    fixed = pl.col("epsilon") == FIXED
    shrinking = growth.last_of_each(table.filter(~fixed))
    return {"epsilon = 1/T": (shrinking, "rounds"), f"epsilon = {FIXED}": (table.filter(fixed), "round")}


def analyse(table: pl.DataFrame) -> Findings:
    """Under the bound; no faster than log T when epsilon = 1/T, and at an end when it is fixed."""
    verdicts: list[Verdict] = []
    rows = []
    for schedule, (part, along) in split(table).items():
        for policy in growth.policies_in(part):
            rows.append({"policy": policy, "epsilon": schedule} | _row(growth.of(part, policy), along))
            verdicts += _verdicts(growth.of(part, policy), along, f"{policy}, {schedule}")
    return Findings(tuple(verdicts), pl.DataFrame(rows))


def _longest(runs: pl.DataFrame) -> pl.DataFrame:
    """The ends of the longest runs."""
    return growth.last_of_each(runs.filter(pl.col("rounds") == runs["rounds"].max()))


def _row(runs: pl.DataFrame, along: str) -> dict[str, object]:
    points, ends = by_seed(runs, "unfair_pairs", along=along), _longest(runs)
    return {
        "T": int(ends["rounds"][0]),
        "unfair pairs": str(estimate(ends["unfair_pairs"].to_numpy())),
        "last unfair round": str(estimate(ends["last_unfair_round"].to_numpy())),
        "added a doubling of T, later half of T": str(growth.per_doubling(growth.later_half(points))),
        "bending there": str(growth.bending(growth.later_half(points))),
        "exponent there": str(growth.exponent(growth.later_half(points))),
        "bound": bound(ends["epsilon"][0]),
    }


def _verdicts(runs: pl.DataFrame, along: str, what: str) -> list[Verdict]:
    ends = _longest(runs)
    T, epsilon = int(ends["rounds"][0]), float(ends["epsilon"][0])
    points = by_seed(runs, "unfair_pairs", along=along)
    if along == "rounds":
        trend = growth.no_faster_than_log(f"growth of unfair pairs: {what}", points)
    else:
        trend = growth.stopped(f"unfair pairs late: {what}", points)
    return [growth.below(f"unfair pairs in {T} rounds: {what}", ends["unfair_pairs"], bound(epsilon)), trend]


def draw(table: pl.DataFrame, findings: Findings) -> Figure:
    """Unfair pairs against T, a panel for each schedule of epsilon; the bound dotted."""
    picture, axes = figure.panels(2)
    for panel, (schedule, (part, along)) in zip(axes, split(table).items(), strict=True):
        _draw_schedule(panel, part, along)
        panel.set_title(schedule)
    figure.legend_below(picture, axes[0], columns=4)
    picture.suptitle(f"Unfair pairs as the rounds go on (d = {D}, k = {K}; mean and 95% band over seeds)")
    return picture


def _draw_schedule(panel: Axes, part: pl.DataFrame, along: str) -> None:
    figure.draw_policies(panel, part, "unfair_pairs", along=along, floor=FLOOR)
    positions = part[along].unique().sort().to_list()
    shrinking = along == "rounds"
    promised = [bound(1 / T) if shrinking else bound(FIXED) for T in positions]
    panel.plot(positions, promised, label="the theorem's bound", **figure.PROMISED)
    figure.powers_of_two(panel, "rounds T, a run for each" if shrinking else "round t of one run")
    figure.log_from(panel, FLOOR)
    panel.set_ylabel("pairs unfair by more than epsilon, in all")


EXPERIMENT = Experiment(
    name=NAME,
    claim="The number of unfair pairs grows like log T when epsilon = 1/T, and stops growing when epsilon is fixed.",
    sweep=sweep,
    run=standard_run,
    analyse=analyse,
    draw=draw,
)
