"""interview: questions before going live, and how few unfair pairs they leave."""

from __future__ import annotations

import numpy as np
import polars as pl

from evenhand.lab import figure, growth
from evenhand.lab.experiment import Check, Experiment, Findings
from evenhand.lab.runs import interviewed_run
from evenhand.lab.statistics import bands, difference, ends_of_runs, summary
from evenhand.lab.store import Case, grid

NAME = "interview"
CLAIM = "100 questions to an exact reviewer before going live leave next to no unfair pairs, 200 leave none."

QUESTIONS = (0, 25, 50, 100, 200)
QUICK_QUESTIONS = (0, 15, 30)
MOST = {100: 8, 200: 0}
"""Number of questions, and the maximum number of unfair pairs live after them, in every run."""

VALUES = ("asked", "unfair_pairs", "expected", "flagged_rounds_by_reviewer", "regret")


def sweep(quick: bool) -> list[Case]:
    """Five lengths of interview, then 3,000 live rounds, 10 seeds; quick, three lengths in 3 dimensions, 3 of 200."""
    questions, d, rounds, seeds = (QUICK_QUESTIONS, 3, 200, range(3)) if quick else (QUESTIONS, 5, 3000, range(10))
    return grid(NAME, questions=questions, d=d, k=5, rounds=rounds, epsilon=0.01, seed=seeds)


def analyse(table: pl.DataFrame) -> Findings:
    """Unfair pairs live after each number of questions, whether more questions leave fewer, and the prediction."""
    runs = ends_of_runs(table)
    checks: list[Check] = []
    for questions, most in MOST.items():
        here = runs.filter(pl.col("questions") == questions)
        if len(here):
            checks.append(growth.below(f"after {questions} questions: unfair pairs live", here["unfair_pairs"], most))
    checks.append(_worth_it(runs))
    means = summary(runs, ["questions"], VALUES)
    return Findings(tuple(checks), means.select("questions", *VALUES), {"runs": runs})


def _worth_it(runs: pl.DataFrame) -> Check:
    """The longest interview against none, seed by seed."""
    longest, named = int(max(runs["questions"])), runs.with_columns(pl.col("questions").cast(pl.String))
    spared = difference(named, "unfair_pairs", by="questions", first="0", second=str(longest))
    return growth.above_zero(
        f"{longest} questions prevent unfair pairs live, seed by seed",
        spared,
        measured=f"{spared} fewer, {spared.value / longest:.2g} for each question",
        promised="fewer",
    )


def draw(table: pl.DataFrame, findings: Findings) -> figure.Figure:
    """Unfair pairs live, every run a dot, with the prediction; and the regret of the live rounds."""
    runs: pl.DataFrame = findings.numbers["runs"]
    picture, (pairs, regret) = figure.panels(2, width=6.0, height=4.6)
    numbers = sorted(set(runs["questions"]))
    views = (
        (pairs, "unfair_pairs", "live"),
        (pairs, "expected", "predicted by the interview"),
        (regret, "regret", "live"),
    )
    for (panel, value, label), style in zip(views, figure.styles(), strict=False):
        figure.draw_band(panel, bands(runs, value, by="questions"), along="questions", label=label, style=style)
    aside = 0.01 * numbers[-1] * (runs["seed"].to_numpy() - np.mean(runs["seed"].to_numpy())) / 5
    pairs.plot(runs["questions"].to_numpy() + aside, runs["unfair_pairs"], "o", color=figure.COLOURS[0], alpha=0.35)
    promised = [(questions, most) for questions, most in MOST.items() if questions in numbers]
    if promised:
        x, y = zip(*promised, strict=True)
        pairs.plot(x, y, "_", color="black", markersize=22, markeredgewidth=2, label="promised at most")
    pairs.set(title="Unfair pairs", ylabel=f"{figure.UNFAIR_PAIRS}, live")
    pairs.set_ylim(bottom=-1)
    pairs.legend(frameon=False)
    regret.set(title="Regret", ylabel=f"{figure.REGRET}, live")
    for panel in (pairs, regret):
        panel.set_xticks(numbers)
        panel.set_xlabel("questions before going live")
    rounds, d = int(max(table["round"])), int(table["d"][0])
    picture.suptitle(f"An interview, then {rounds:,} live rounds (d = {d}, k = 5; mean and 95% band over seeds)")
    return picture


EXPERIMENT = Experiment(NAME, CLAIM, sweep, interviewed_run, analyse, draw)
