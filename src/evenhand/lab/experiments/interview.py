"""interview: questions before going live, and how few unfair pairs they leave."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from evenhand.lab import figure, growth
from evenhand.lab.case import Case, grid
from evenhand.lab.experiment import Experiment, Findings, Verdict
from evenhand.lab.interviewed_run import interviewed_run
from evenhand.lab.statistics import bands, ends_of_runs, estimate, summary

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NAME = "interview"

QUESTIONS = (0, 25, 50, 100, 200)
QUICK_QUESTIONS = (0, 15, 30)
MOST = {100: 8, 200: 0}
"""After so many questions, so many unfair pairs live at most, in every run."""

VALUES = ("asked", "unfair_pairs", "expected", "flagged_rounds_by_reviewer", "regret")


def sweep(quick: bool) -> Sequence[Case]:
    """Five lengths of interview, then 3,000 live rounds, 10 seeds; quick, three lengths in 3 dimensions, 3 of 200."""
    return grid(
        NAME,
        questions=list(QUICK_QUESTIONS if quick else QUESTIONS),
        d=[3 if quick else 5],
        k=[5],
        rounds=[200 if quick else 3000],
        epsilon=[0.01],
        seed=range(3 if quick else 10),
    )


def analyse(table: pl.DataFrame) -> Findings:
    """Unfair pairs live after each number of questions; that more questions leave fewer; and what was foreseen."""
    runs = ends_of_runs(table, ["unfair_pairs"])
    verdicts: list[Verdict] = []
    for questions, most in MOST.items():
        here = runs.filter(pl.col("questions") == questions)
        if len(here):
            verdicts.append(growth.below(f"after {questions} questions: unfair pairs live", here["unfair_pairs"], most))
    verdicts.append(_worth_it(runs))
    means = summary(runs, ["questions"], VALUES)
    return Findings(tuple(verdicts), means.select("questions", *VALUES), {"runs": runs})


def _worth_it(runs: pl.DataFrame) -> Verdict:
    """The longest interview against none, seed by seed."""
    longest = int(max(runs["questions"]))
    wide = runs.pivot(on="questions", index="seed", values="unfair_pairs")
    spared = estimate((wide["0"] - wide[str(longest)]).to_numpy())
    return Verdict(
        f"{longest} questions spare unfair pairs live, seed by seed",
        f"{spared} fewer, {spared.value / longest:.2g} for each question",
        "fewer",
        bool(spared.lower > 0),
    )


def draw(table: pl.DataFrame, findings: Findings) -> Figure:
    """Unfair pairs live, every run a dot, with what was foreseen; and the regret of the live rounds."""
    runs: pl.DataFrame = findings.numbers["runs"]
    picture, (pairs, regret) = figure.panels(2, width=6.0, height=4.6)
    first, second, third = (style for style, _ in zip(figure.styles(), range(3), strict=False))
    numbers = sorted(set(runs["questions"]))
    aside = 0.01 * numbers[-1] * (runs["seed"].to_numpy() - np.mean(runs["seed"].to_numpy())) / 5
    pairs.plot(runs["questions"].to_numpy() + aside, runs["unfair_pairs"], "o", color=first["color"], alpha=0.35)
    figure.draw_band(pairs, bands(runs, "unfair_pairs", by="questions"), along="questions", label="live", style=first)
    figure.draw_band(
        pairs,
        bands(runs, "expected", by="questions"),
        along="questions",
        label="foreseen by the interview",
        style=second,
    )
    promised = [(questions, most) for questions, most in MOST.items() if questions in numbers]
    if promised:
        x, y = zip(*promised, strict=True)
        pairs.plot(x, y, "_", color="black", markersize=22, markeredgewidth=2, label="promised at most")
    pairs.set(title="Unfair pairs", ylabel="pairs unfair by more than epsilon, live")
    pairs.set_ylim(bottom=-1)
    pairs.legend(frameon=False)
    figure.draw_band(regret, bands(runs, "regret", by="questions"), along="questions", label="live", style=third)
    regret.set(title="Regret", ylabel="reward lost to the best fair odds, live")
    for panel in (pairs, regret):
        panel.set_xticks(numbers)
        panel.set_xlabel("questions before going live")
    rounds, d = int(max(table["round"])), int(table["d"][0])
    picture.suptitle(f"An interview, then {rounds:,} live rounds (d = {d}, k = 5; mean and 95% band over seeds)")
    return picture


EXPERIMENT = Experiment(
    NAME,
    "A hundred questions to an exact reviewer before going live leave next to no unfair pair, two hundred leave none.",
    sweep,
    interviewed_run,
    analyse,
    draw,
)
