"""partial-reviews: which two pairs of a decision a reviewer should look at, if she looks at two."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from evenhand.lab import figure, growth
from evenhand.lab.case import Case, grid
from evenhand.lab.experiment import Experiment, Findings, Verdict
from evenhand.lab.reviewed_run import reviewed_run
from evenhand.lab.statistics import Estimate, bands, ends_of_runs, estimate, summary

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NAME = "partial-reviews"

KINDS = {
    "complete": {"shows": "everything"},
    "two proposed pairs": {"shows": "proposed pairs"},
    "one report": {"shows": "one report"},
    "one report, errors in the report": {"shows": "one report", "errs": "answering"},
    "two random pairs": {"shows": "random pairs"},
}
"""What comes back of a decision. Errors are in what the reviewer thinks of each pair, unless said otherwise."""

WRONG = (0.0, 0.1)

ASKED = "two proposed pairs"
MOST = 110
"""So many unfair pairs at most where two pairs are proposed and no answer is wrong."""

FLOOR = 0.5
"""Where the log axes of the figure begin."""

VALUES = ("unfair_pairs", "late_unfair_pairs", "regret", "late_regret", "found_rate")


def sweep(quick: bool) -> Sequence[Case]:
    """Every kind of review, with no error and with 10%: 10 seeds of 5,000 rounds; quick, 3 of 200 in 3 dimensions."""
    shape: dict[str, Any] = {
        "policy": ["evenhand"],
        "reviewer_error": [None],
        "d": [3 if quick else 5],
        "k": [5 if quick else 10],
        "rounds": [200 if quick else 5000],
        "epsilon": [0.01],
        "seed": range(3 if quick else 10),
    }
    cases = []
    for wrong in WRONG:
        for kind in KINDS.values():
            if wrong or "errs" not in kind:  # without errors it does not matter where they are
                cases += grid(NAME, wrong=[wrong], **{name: [value] for name, value in kind.items()}, **shape)
    return cases


def named(table: pl.DataFrame) -> pl.DataFrame:
    """With a column `kind`, the name of what comes back of a decision."""
    where = pl.col("errs").fill_null("judging") if "errs" in table.columns else pl.lit("judging")
    found = pl.lit(None, dtype=pl.String)
    for name, kind in KINDS.items():
        is_it = (pl.col("shows") == kind["shows"]) & (where == kind.get("errs", "judging"))
        found = pl.when(is_it).then(pl.lit(name)).otherwise(found)
    return table.with_columns(kind=found)


def analyse(table: pl.DataFrame) -> Findings:
    """Proposed pairs against what was promised, and against random ones."""
    runs = ends_of_runs(named(table), ["unfair_pairs", "regret"])
    means = summary(runs, ["wrong", "kind"], VALUES)
    asked = runs.filter(pl.col("kind") == ASKED)
    exact, erring = (asked.filter(pl.col("wrong") == wrong) for wrong in WRONG)
    verdicts = (
        growth.below(f"{ASKED}, no answer wrong: unfair pairs", exact["unfair_pairs"], MOST),
        growth.below(f"{ASKED}, no answer wrong: unfair pairs in the second half", exact["late_unfair_pairs"], 0),
        growth.below(f"{ASKED}, 10% of answers wrong: unfair pairs in the second half", erring["late_unfair_pairs"], 0),
        *(_better_than_random(runs.filter(pl.col("wrong") == wrong), wrong) for wrong in WRONG),
    )
    return Findings(verdicts, means.select("wrong", "kind", *VALUES), {"means": means})


def _better_than_random(runs: pl.DataFrame, wrong: float) -> Verdict:
    fewer = _against(runs, "two random pairs", ASKED)
    random, asked = (estimate(runs.filter(pl.col("kind") == kind)["unfair_pairs"].to_numpy()) for kind in _BOTH)
    return Verdict(
        f"with {wrong:.0%} of answers wrong, proposed pairs spare unfair pairs that random ones do not, seed by seed",
        f"{fewer} fewer: {asked} against {random}",
        "fewer",
        bool(fewer.lower > 0),
    )


_BOTH = ("two random pairs", ASKED)


def _against(runs: pl.DataFrame, first: str, second: str) -> Estimate:
    """By how many unfair pairs the first kind exceeds the second, seed by seed."""
    wide = runs.filter(pl.col("kind").is_in([first, second])).pivot(on="kind", index="seed", values="unfair_pairs")
    return estimate((wide[first] - wide[second]).to_numpy())


def draw(table: pl.DataFrame, findings: Findings) -> Figure:
    """Unfair pairs as the rounds go on, without errors and with; and what was lost."""
    means: pl.DataFrame = findings.numbers["means"]
    picture, (exact, erring, regret) = figure.panels(3, width=5.0, height=4.8)
    curves = named(table)
    for panel, wrong in ((exact, WRONG[0]), (erring, WRONG[1])):
        for kind, style in zip(KINDS, figure.styles(), strict=False):
            here = curves.filter((pl.col("kind") == kind) & (pl.col("wrong") == wrong))
            if len(here):
                band = bands(here, "unfair_pairs")
                band = band.with_columns(pl.col("mean", "lower", "upper").clip(lower_bound=FLOOR))
                figure.draw_band(panel, band, label=kind, style=style)
        panel.set_title("No answer is wrong" if wrong == 0 else f"{wrong:.0%} of answers are wrong")
        panel.set(xscale="log", xlabel="round", ylabel="pairs unfair by more than epsilon so far")
        figure.log_from(panel, FLOOR)
    exact.axhline(MOST, label=f"promised of proposed pairs: {MOST}", **figure.PROMISED)
    top = max(panel.get_ylim()[1] for panel in (exact, erring))
    for panel in (exact, erring):
        panel.set_ylim(FLOOR, top)
    shares = means.with_columns(share=pl.format("{}% wrong", (100 * pl.col("wrong")).cast(pl.Int64)))
    figure.draw_rows(regret, shares, "regret", rows=("kind", list(KINDS)), dots=("share", ["0% wrong", "10% wrong"]))
    regret.set_yticks(range(len(KINDS)), [kind.replace(", ", ",\n") for kind in KINDS])
    regret.set(title="Regret", xlabel="reward lost to the best fair odds\n(log beyond 10; who is unfair may gain)")
    regret.set_xscale("symlog", linthresh=10.0)
    regret.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    regret.axvline(0, color="black", linewidth=0.6)
    figure.legend_of_all(picture, (exact, erring, regret), columns=4)
    rounds = int(max(table["round"]))
    picture.suptitle(f"Reviews of a part of the decision, {rounds:,} rounds: mean and 95% band over seeds")
    return picture


EXPERIMENT = Experiment(
    NAME,
    "Two pairs a round are enough if the bandit says which; two drawn by lot are not.",
    sweep,
    reviewed_run,
    analyse,
    draw,
)
