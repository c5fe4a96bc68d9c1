"""partial-reviews: which two pairs of a decision a reviewer should see, if only two."""

from __future__ import annotations

from typing import Any

import polars as pl

from evenhand.lab import figure, growth
from evenhand.lab.experiment import Check, Experiment, Findings
from evenhand.lab.runs import reviewed_run
from evenhand.lab.statistics import difference, ends_of_runs, estimate, summary
from evenhand.lab.store import Case, labelled

NAME = "partial-reviews"
CLAIM = "Two pairs a round are enough if the bandit proposes them; two random pairs are not."

PROPOSED, RANDOM = "two proposed pairs", "two random pairs"
KINDS = {
    "complete": {"shows": "everything"},
    PROPOSED: {"shows": "proposed pairs"},
    "one report": {"shows": "one report"},
    "one report, errors in the report": {"shows": "one report", "errs": "answering"},
    RANDOM: {"shows": "random pairs"},
}
"""What a review contains. Errors are in the reviewer's judgement of each pair, except where named."""

WRONG = (0.0, 0.1)

MOST = 110
"""Maximum number of unfair pairs where two pairs are proposed and no answer is wrong."""

VALUES = ("unfair_pairs", "late_unfair_pairs", "regret", "late_regret", "learned_rate")


def sweep(quick: bool) -> list[Case]:
    """Every kind of review, with no error and with 10%: 10 seeds of 5,000 rounds; quick, 3 of 200 in 3 dimensions."""
    exact = {label: kind for label, kind in KINDS.items() if "errs" not in kind}  # no errors, no place for them
    d, k, rounds, seeds = (3, 5, 200, range(3)) if quick else (5, 10, 5000, range(10))
    shape: dict[str, Any] = {"d": d, "k": k, "rounds": rounds, "epsilon": 0.01, "seed": seeds}
    return [
        case
        for wrong, kinds in zip(WRONG, (exact, KINDS), strict=True)
        for case in labelled(NAME, kinds, wrong=wrong, policy="evenhand", reviewer_error=None, **shape)
    ]


def analyse(table: pl.DataFrame) -> Findings:
    """Proposed pairs against the bound, and against random ones."""
    runs = ends_of_runs(table, ["unfair_pairs", "regret"])
    means = summary(runs, ["wrong", "label"], VALUES)
    proposed = runs.filter(pl.col("label") == PROPOSED)
    exact, erring = (proposed.filter(pl.col("wrong") == wrong) for wrong in WRONG)
    late = "unfair pairs in the second half"
    checks = (
        growth.below(f"{PROPOSED}, no answer wrong: unfair pairs", exact["unfair_pairs"], MOST),
        growth.below(f"{PROPOSED}, no answer wrong: {late}", exact["late_unfair_pairs"], 0),
        growth.below(f"{PROPOSED}, 10% of answers wrong: {late}", erring["late_unfair_pairs"], 0),
        *(_better_than_random(runs.filter(pl.col("wrong") == wrong), wrong) for wrong in WRONG),
    )
    return Findings(checks, means.select("wrong", "label", *VALUES), {"means": means})


def _better_than_random(runs: pl.DataFrame, wrong: float) -> Check:
    fewer = difference(runs, "unfair_pairs", by="label", first=RANDOM, second=PROPOSED)
    random, proposed = (estimate(runs.filter(pl.col("label") == label)["unfair_pairs"]) for label in (RANDOM, PROPOSED))
    return growth.above_zero(
        f"with {wrong:.0%} of answers wrong, proposed pairs leave fewer unfair pairs than random ones, seed by seed",
        fewer,
        measured=f"{fewer} fewer: {proposed} against {random}",
        promised="fewer",
    )


def draw(table: pl.DataFrame, findings: Findings) -> figure.Figure:
    """Unfair pairs as the rounds go on, without errors and with; and regret."""
    means: pl.DataFrame = findings.numbers["means"]
    picture, (exact, erring, regret) = figure.panels(3, width=5.0, height=4.8)
    for panel, wrong in zip((exact, erring), WRONG, strict=True):
        here = table.filter(pl.col("wrong") == wrong)
        figure.draw_lines(panel, here, "unfair_pairs", by="label", order=list(KINDS), floor=figure.FLOOR)
        panel.set_title("No answer is wrong" if wrong == 0 else f"{wrong:.0%} of answers are wrong")
        panel.set(xscale="log", xlabel="round", ylabel=f"{figure.UNFAIR_PAIRS} so far")
        figure.log_from(panel)
    exact.axhline(MOST, label=f"promised for proposed pairs: {MOST}", **figure.PROMISED)
    top = max(panel.get_ylim()[1] for panel in (exact, erring))
    for panel in (exact, erring):
        panel.set_ylim(figure.FLOOR, top)
    shares = means.with_columns(share=pl.format("{}% wrong", (100 * pl.col("wrong")).cast(pl.Int64)))
    figure.draw_rows(regret, shares, "regret", rows=("label", list(KINDS)), dots=("share", ["0% wrong", "10% wrong"]))
    regret.set_yticks(range(len(KINDS)), [kind.replace(", ", ",\n") for kind in KINDS])
    regret.set(title="Regret", xlabel=f"{figure.REGRET}\n(log beyond 10; unfairness may gain)")
    regret.set_xscale("symlog", linthresh=10.0)
    regret.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    regret.axvline(0, color="black", linewidth=0.6)
    title = f"Partial reviews, {int(max(table['round'])):,} rounds: mean and 95% band over seeds"
    return figure.finish(picture, (exact, erring, regret), title, columns=4)


EXPERIMENT = Experiment(NAME, CLAIM, sweep, reviewed_run, analyse, draw)
