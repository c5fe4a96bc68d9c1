"""adversarial-answers: what each lie of a reviewer costs, told where it hurts most."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, get_args

import numpy as np
import polars as pl

from evenhand.auditors.adversarial import Aim
from evenhand.lab import figure, growth
from evenhand.lab.case import Case, grid
from evenhand.lab.experiment import Experiment, Findings, Verdict
from evenhand.lab.reviewed_run import reviewed_run
from evenhand.lab.statistics import bands, by_seed, ends_of_runs, estimate, slope

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NAME = "adversarial-answers"

AIMS: tuple[str, ...] = get_args(Aim)

LIES = (20, 50, 100, 200, 400)
QUICK_LIES = (5, 10, 20)
"""The budget C; and none, which is one case for all."""

PACES = {"one a decision": 1, "in a burst": 45}
"""How many lies in one decision at most: 45 is every pair of ten."""

COSTS = {"unfair_pairs": "unfair pairs", "regret": "regret"}


def sweep(quick: bool) -> Sequence[Case]:
    """Every number of lies, every aim, spread out and in a burst: 5 seeds of 4,000 rounds; quick, 3 of 100."""
    shape: dict[str, Any] = {
        "policy": ["evenhand"],
        "reviewer_error": [None],
        "d": [3 if quick else 5],
        "k": [5 if quick else 10],
        "rounds": [100 if quick else 4000],
        "epsilon": [0.01],
        "seed": range(3 if quick else 5),
    }
    lies = list(QUICK_LIES if quick else LIES)
    lying = grid(NAME, lies=lies, aim=list(AIMS), lies_per_decision=list(PACES.values()), **shape)
    return [*grid(NAME, lies=[0], aim=[AIMS[0]], lies_per_decision=[1], **shape), *lying]


def of(runs: pl.DataFrame, aim: str, pace: str) -> pl.DataFrame:
    """The runs with this aim and this pace, and those without a lie."""
    liar = (pl.col("aim") == aim) & (pl.col("lies_per_decision") == PACES[pace])
    return runs.filter((pl.col("lies") == 0) | liar)


def costs(runs: pl.DataFrame, cost: str) -> growth.Points:
    """Numbers of lies above 0, and what was paid beyond the same seed without a lie, one row a seed."""
    lies, paid = by_seed(runs, cost, along="lies")
    return lies[1:], paid[:, 1:] - paid[:, :1]


def analyse(table: pl.DataFrame) -> Findings:
    """Whether a lie among many costs more than one among few; and the line a + b C through what was paid."""
    runs = ends_of_runs(table, ["unfair_pairs"])
    verdicts, rows = [], []
    for pace in PACES:
        for aim in AIMS:
            here = of(runs, aim, pace)
            row: dict[str, object] = {"aim": aim, "pace": pace}
            for cost, words in COSTS.items():
                lies, paid = by_seed(here, cost, along="lies")
                beyond = costs(here, cost)
                verdicts.append(_no_dearer(f"{words}, aimed at {aim}, lies {pace}", beyond))
                row |= {
                    f"{words}, no lie": str(estimate(paid[:, 0])),
                    f"{words}, {int(lies[-1])} lies": str(estimate(paid[:, -1])),
                    f"{words}, b": str(slope(lies, paid)),
                    f"{words}, exponent": str(growth.exponent(beyond)),
                }
            told = here.filter(pl.col("lies") == here["lies"].max())["lies_told"]
            rows.append(row | {"lies told": float(np.mean(told.to_numpy()))})
    return Findings(tuple(verdicts), pl.DataFrame(rows))


def _no_dearer(what: str, beyond: growth.Points) -> Verdict:
    """Growth faster than in proportion makes each of many lies dearer than each of few: the slope of cost/C on log2 C.

    An exponent would say the same, but what is paid beyond no lie at all may be nothing, or less.
    """
    lies, paid = beyond
    each = paid / lies
    dearer = slope(np.log2(lies), each)
    dearest = estimate(each[:, -1])
    return Verdict(
        f"{what}: many lies cost no more each than few",
        f"{dearest} for each of {int(lies[-1])}; a doubling of C adds {dearer} to it",
        "nothing added",
        bool(dearer.lower <= growth.NEGLIGIBLE),
    )


def draw(table: pl.DataFrame, findings: Findings) -> Figure:
    """Unfair pairs and regret against the number of lies; spread out above, in a burst below."""
    runs = ends_of_runs(table, ["unfair_pairs"])
    picture, axes = figure.multiples(4, columns=2, width=5.6, height=3.8)
    for number, (panel, (pace, cost)) in enumerate(
        zip(axes, [(pace, cost) for pace in PACES for cost in COSTS], strict=True)
    ):
        for aim, style in zip(AIMS, figure.styles(), strict=False):
            band = bands(of(runs, aim, pace), cost, by="lies")
            figure.draw_band(panel, band, along="lies", label=f"aimed at {aim}", style=style | {"marker": "o"})
        panel.set_title(f"{COSTS[cost].capitalize()}, lies {pace}")
        panel.set_ylabel("pairs unfair by more than epsilon" if cost == "unfair_pairs" else "reward lost to fair odds")
        panel.set_xlabel("lies C" if number > 1 else "")
    figure.legend_below(picture, axes[0], columns=3)
    rounds = int(max(table["round"]))
    picture.suptitle(f"What lies cost in {rounds:,} rounds: mean and 95% band over seeds")
    return picture


EXPERIMENT = Experiment(
    NAME,
    "C lies, told where they hurt most, cost at most a + b C: no lie costs more for being one of many.",
    sweep,
    reviewed_run,
    analyse,
    draw,
)
