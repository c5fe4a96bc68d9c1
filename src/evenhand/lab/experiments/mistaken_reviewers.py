"""mistaken-reviewers: answers of which a share is wrong, told or not told how many; and panels of different people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from evenhand.lab import figure, growth
from evenhand.lab.case import Case, grid
from evenhand.lab.experiment import Experiment, Findings, Verdict
from evenhand.lab.reviewed_run import TOLD, reviewed_run
from evenhand.lab.reviewers import PANELS
from evenhand.lab.statistics import Estimate, ends_of_runs, estimate, summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

NAME = "mistaken-reviewers"

MOST = {0.0: 50, 0.1: 120, 0.2: 330, 0.3: 560}
"""The share of answers that are wrong, and how many unfair pairs there are at most if it is not told."""

NOT_TOLD, TOLD_EXACTLY, TOLD_LITTLE = "not told", "told", f"told {TOLD:g}"
TELLING = (NOT_TOLD, TOLD_EXACTLY, TOLD_LITTLE)
"""What the bandit is told of the errors; the last is what it takes for granted unless told otherwise."""

LATE_SHARE = 0.02
"""Of all unfair pairs, fewer than this share come in the second half."""

NEAR = 0.03
"""A rate counts as found if it is off by no more than this, mean over seeds."""

VALUES = ("unfair_pairs", "late_unfair_pairs", "regret", "late_regret", "found_rate", "conflicts")


def sweep(quick: bool) -> Sequence[Case]:
    """Every share of errors, told in three ways, and every panel: 5 seeds of 6,000 rounds; quick, 3 of 150."""
    shape: dict[str, Any] = {
        "policy": ["evenhand"],
        "d": [3 if quick else 5],
        "k": [5 if quick else 10],
        "rounds": [150 if quick else 6000],
        "epsilon": [0.01],
        "seed": range(3 if quick else 5),
    }
    alone = [case for wrong in MOST for case in grid(NAME, wrong=[wrong], reviewer_error=[None, wrong, TOLD], **shape)]
    return [*alone, *grid(NAME, panel=list(PANELS), reviewer_error=[None], **shape)]


def alone(table: pl.DataFrame) -> pl.DataFrame:
    """The runs with one reviewer, and a column `told`: what the bandit was told of her errors."""
    is_told = pl.when(pl.col("reviewer_error") == TOLD).then(pl.lit(TOLD_LITTLE)).otherwise(pl.lit(TOLD_EXACTLY))
    told = pl.when(pl.col("reviewer_error").is_null()).then(pl.lit(NOT_TOLD)).otherwise(is_told)
    return table.filter(pl.col("panel").is_null()).with_columns(told=told)


def members(table: pl.DataFrame) -> pl.DataFrame:
    """One row for each panel, seed and member: the member's rate, and what was found of it."""
    rows = []
    for run in table.filter(pl.col("panel").is_not_null()).iter_rows(named=True):
        for name, rate in PANELS[run["panel"]].items():
            found = {"rate": rate, "found": run[f"found_rate_{name}"], "found_out": run[f"found_out_{name}"]}
            rows.append({"panel": run["panel"], "seed": run["seed"], "member": name} | found)
    return pl.DataFrame(rows)


def analyse(table: pl.DataFrame) -> Findings:
    """Unfair pairs where nothing is told, when they come, and whether everybody's rate was found."""
    ends = ends_of_runs(table, ["unfair_pairs", "regret"])
    single = alone(ends)
    means = summary(single, ["wrong", "told"], VALUES)
    verdicts: list[Verdict] = []
    for wrong, most in MOST.items():
        here = single.filter((pl.col("wrong") == wrong) & (pl.col("told") == NOT_TOLD))
        what = f"{wrong:.0%} of answers wrong, {NOT_TOLD}"
        verdicts += [
            growth.below(f"{what}: unfair pairs", here["unfair_pairs"], most),
            _early(what, here),
            _near(f"{what}: the rate that is found", estimate(here["found_rate"].to_numpy()), wrong),
        ]
    of_panels, groups = members(ends), ends.filter(pl.col("panel").is_not_null())
    for panel in of_panels["panel"].unique(maintain_order=True):
        verdicts.append(_early(f"panel: {_words(panel)}", groups.filter(pl.col("panel") == panel)))
    verdicts += [_found_out(of_panels), _all_near(of_panels)]
    rows = means.select("wrong", "told", *VALUES)
    people = summary(of_panels, ["panel", "member", "rate"], ["found", "found_out"])
    totals = ("unfair_pairs", "late_unfair_pairs", "regret", "late_regret")
    total = summary(groups, ["panel"], totals)
    shown = people.select("panel", "member", wrong="rate", found_rate="found", found_out="found_out")
    shown = shown.join(total.select("panel", *totals), on="panel", how="left")
    both = pl.concat([rows, shown], how="diagonal_relaxed")
    return Findings(tuple(verdicts), both, {"means": means, "members": people})


def _words(panel: str) -> str:
    return "members differ" if panel == "different" else panel


def _early(what: str, runs: pl.DataFrame) -> Verdict:
    """Over all seeds together: one late pair in a run with ten would else count for a tenth."""
    total, late = float(runs["unfair_pairs"].sum()), float(runs["late_unfair_pairs"].sum())
    share = late / max(total, 1.0)
    return Verdict(
        f"{what}: unfair pairs come in the first half",
        f"{share:.1%} in the second half ({late:g} of {total:g} in {len(runs)} runs)",
        f"fewer than {LATE_SHARE:.0%}",
        share < LATE_SHARE,
    )


def _near(what: str, found: Estimate, true: float) -> Verdict:
    return Verdict(what, str(found), f"{true:g}, to within {NEAR:g}", abs(found.value - true) <= NEAR)


def _found_out(people: pl.DataFrame) -> Verdict:
    misleads = pl.col("rate") > 0.5
    missed = people.filter(misleads & (pl.col("found_out") == 0))
    blamed = people.filter(~misleads & (pl.col("found_out") == 1))
    return Verdict(
        "panels: who is wrong more often than right is found out, and nobody else is taken for such",
        f"{len(missed)} of {len(people.filter(misleads))} missed{_who(missed)}; "
        f"{len(blamed)} of {len(people.filter(~misleads))} blamed wrongly{_who(blamed)}",
        "none missed, none blamed wrongly",
        len(missed) == len(blamed) == 0,
    )


def _who(people: pl.DataFrame) -> str:
    found = sorted({f"{panel}: {rate:g}" for panel, rate in people.select("panel", "rate").iter_rows()})
    return f" ({'; '.join(found)})" if found else ""


def _all_near(people: pl.DataFrame) -> Verdict:
    means = summary(people, ["panel", "member", "rate"], ["found"])
    worst = (
        means.with_columns(off=(pl.col("found") - pl.col("rate")).abs()).sort("off", descending=True).row(0, named=True)
    )
    return Verdict(
        "panels: every member's rate is found, mean over seeds",
        f"at worst {worst['found']:.3g} for {worst['rate']:g} ({worst['panel']})",
        f"to within {NEAR:g}",
        bool(worst["off"] <= NEAR),
    )


def draw(table: pl.DataFrame, findings: Findings) -> Figure:
    """Unfair pairs and regret against errors, told in three ways; the rates found, of one reviewer and of panels."""
    means: pl.DataFrame = findings.numbers["means"]
    picture, (pairs, regret, rates, panels) = figure.multiples(4, columns=2, width=5.6, height=4.0)
    rounds = int(max(table["round"]))
    for place, (told, style) in enumerate(zip(TELLING, figure.dot_styles(), strict=False)):
        here = means.filter(pl.col("told") == told)
        for panel, value in ((pairs, "unfair_pairs"), (regret, "regret")):
            x = here["wrong"].to_numpy() + 0.008 * (place - 1)
            panel.errorbar(x, here[value], yerr=figure.reach(here, value), label=told, **style)
    pairs.plot(list(MOST), list(MOST.values()), label="promised at most where not told", **figure.PROMISED)
    for panel in (pairs, regret):
        panel.set_yscale("symlog", linthresh=10.0)
        panel.yaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    pairs.set(title="Unfair pairs", ylabel=f"pairs unfair by more than epsilon, {rounds:,} rounds")
    pairs.set_ylim(bottom=0)
    regret.set(title="Regret", ylabel="reward lost to the best fair odds")
    own = means.filter(pl.col("told") == NOT_TOLD)
    _found(rates, own["wrong"].to_numpy(), own, "found_rate", "one reviewer", next(figure.dot_styles()))
    rates.set(title="One reviewer", xlim=(-0.02, 0.35), ylim=(-0.02, 0.35))
    people: pl.DataFrame = findings.numbers["members"]
    for panel_name, style in zip(PANELS, figure.dot_styles(), strict=False):
        here = people.filter(pl.col("panel") == panel_name)
        # Members with one rate side by side.
        nth = np.array([sum(rate == other for other in here["rate"][:i]) for i, rate in enumerate(here["rate"])])
        _found(panels, here["rate"].to_numpy() + 0.02 * nth, here, "found", _words(panel_name), style)
    panels.set(title="Panels, a dot a member", xlim=(-0.05, 1.05), ylim=(-0.05, 1.05))
    for panel in (rates, panels):
        panel.axline((0, 0), slope=1, label="as it is", **figure.PROMISED)
        panel.set_ylabel("share that was found")
        panel.legend(frameon=False, loc="lower right")
    for panel in (pairs, regret, rates, panels):
        panel.set_xlabel("share of answers that are wrong")
    figure.legend_below(picture, pairs, columns=4)
    picture.suptitle("Reviewers who err, told how often or not: mean and 95% interval over seeds")
    return picture


def _found(panel: Axes, x: Any, means: pl.DataFrame, name: str, label: str, style: dict[str, Any]) -> None:
    panel.errorbar(x, means[name].to_numpy(), yerr=figure.reach(means, name), label=label, **style)


EXPERIMENT = Experiment(
    NAME,
    "How often reviewers err need not be told: it is found, also of those who mislead, and fairness comes to stay.",
    sweep,
    reviewed_run,
    analyse,
    draw,
)
