"""adversarial-answers: the cost of each lie of a reviewer, placed where it hurts most."""

from __future__ import annotations

from typing import Any, get_args

import numpy as np
import polars as pl

from evenhand.auditors.wrong import Aim
from evenhand.lab import figure, growth
from evenhand.lab.experiment import Check, Experiment, Findings
from evenhand.lab.runs import reviewed_run
from evenhand.lab.statistics import by_seed, ends_of_runs, estimate, slope
from evenhand.lab.store import Case, grid

NAME = "adversarial-answers"
CLAIM = "C lies, placed where they hurt most, cost at most a + b C: no lie costs more for being one of many."

AIMS: tuple[str, ...] = get_args(Aim)

LIES = (20, 50, 100, 200, 400)
QUICK_LIES = (5, 10, 20)
"""The budget C; runs without a lie are shared by all aims."""

PACES = {"one a decision": 1, "in a burst": 45}
"""Maximum number of lies in one decision: 45 is every pair of ten."""

COSTS = {"unfair_pairs": "unfair pairs", "regret": "regret"}


def sweep(quick: bool) -> list[Case]:
    """Every number of lies, every aim, spread out and in a burst: 5 seeds of 4,000 rounds; quick, 3 of 100."""
    d, k, rounds, seeds = (3, 5, 100, range(3)) if quick else (5, 10, 4000, range(5))
    shape: dict[str, Any] = {"policy": "evenhand", "reviewer_error": None, "epsilon": 0.01}
    shape |= {"d": d, "k": k, "rounds": rounds, "seed": seeds}
    honest = grid(NAME, lies=0, aim=AIMS[0], lies_per_decision=1, **shape)
    lies, paces = QUICK_LIES if quick else LIES, list(PACES.values())
    return [*honest, *grid(NAME, lies=lies, aim=AIMS, lies_per_decision=paces, **shape)]


def of(runs: pl.DataFrame, pace: str) -> pl.DataFrame:
    """The runs with this pace, and for each aim those without a lie."""
    honest = pl.concat(runs.filter(pl.col("lies") == 0).with_columns(aim=pl.lit(aim)) for aim in AIMS)
    return pl.concat([honest, runs.filter((pl.col("lies") > 0) & (pl.col("lies_per_decision") == PACES[pace]))])


def analyse(table: pl.DataFrame) -> Findings:
    """Whether a lie among many costs more than one among few; and the line a + b C through the costs."""
    runs = ends_of_runs(table)
    checks, rows = [], []
    for pace in PACES:
        for aim in AIMS:
            here = of(runs, pace).filter(pl.col("aim") == aim)
            row: dict[str, object] = {"aim": aim, "pace": pace}
            for cost, words in COSTS.items():
                lies, paid = by_seed(here, cost, along="lies")
                extra = lies[1:], paid[:, 1:] - paid[:, :1]  # beyond the same seed without a lie
                checks.append(_no_costlier(f"{words}, aimed at {aim}, lies {pace}", extra))
                row |= {
                    f"{words}, no lie": str(estimate(paid[:, 0])),
                    f"{words}, {int(lies[-1])} lies": str(estimate(paid[:, -1])),
                    f"{words}, b": str(slope(lies, paid)),
                    f"{words}, exponent": str(growth.exponent(extra)),
                }
            most = here.filter(pl.col("lies") == here["lies"].max())
            rows.append(row | {"lies told": float(np.mean(most["lies_told"].to_numpy()))})
    return Findings(tuple(checks), pl.DataFrame(rows))


def _no_costlier(what: str, extra: growth.Points) -> Check:
    """Growth faster than linear makes each of many lies costlier than each of few: the slope of cost/C on log2 C.

    An exponent would say the same, but the extra cost may be zero or negative.
    """
    lies, paid = extra
    each = paid / lies
    increase = slope(np.log2(lies), each)
    return Check(
        f"{what}: many lies cost no more each than few",
        f"{estimate(each[:, -1])} for each of {int(lies[-1])}; a doubling of C adds {increase} to it",
        "nothing added",
        bool(increase.lower <= growth.NEGLIGIBLE),
    )


def draw(table: pl.DataFrame, findings: Findings) -> figure.Figure:
    """Unfair pairs and regret against the number of lies; spread out above, in a burst below."""
    runs = ends_of_runs(table)
    picture, axes = figure.panels(4, columns=2, width=5.6, height=3.8)
    views = [(pace, cost) for pace in PACES for cost in COSTS]
    for number, (panel, (pace, cost)) in enumerate(zip(axes, views, strict=True)):
        here = of(runs, pace).with_columns(aim="aimed at " + pl.col("aim"))
        figure.draw_lines(panel, here, cost, by="aim", along="lies", marker="o")
        panel.set_title(f"{COSTS[cost].capitalize()}, lies {pace}")
        panel.set_ylabel(figure.UNFAIR_PAIRS if cost == "unfair_pairs" else figure.REGRET)
        panel.set_xlabel("lies C" if number > 1 else "")
    title = f"The cost of lies in {int(max(table['round'])):,} rounds: mean and 95% band over seeds"
    return figure.finish(picture, axes, title, columns=3)


EXPERIMENT = Experiment(NAME, CLAIM, sweep, reviewed_run, analyse, draw)
