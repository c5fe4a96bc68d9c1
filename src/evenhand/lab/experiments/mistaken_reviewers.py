"""mistaken-reviewers: a share of the answers is wrong, known to the bandit or not; and panels of reviewers."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from evenhand.lab import figure, growth
from evenhand.lab.experiment import Check, Experiment, Findings
from evenhand.lab.reviewers import PANELS
from evenhand.lab.runs import ASSUMED_ERROR, reviewed_run
from evenhand.lab.statistics import Estimate, ends_of_runs, estimate, summary
from evenhand.lab.store import Case, grid, labelled

NAME = "mistaken-reviewers"
CLAIM = "The error rates of reviewers are learned, even of those who mislead, and fairness lasts."

MOST = {0.0: 50, 0.1: 120, 0.2: 330, 0.3: 560}
"""The share of wrong answers, and the maximum number of unfair pairs if it is unknown to the bandit."""

UNKNOWN, KNOWN, ASSUMED = "rate unknown", "rate known", f"assumed {ASSUMED_ERROR:g}"
"""What the bandit knows about the error rate; the last is FairBandit's default."""

LATE_SHARE = 0.02
"""Maximum share of all unfair pairs in the second half."""

NEAR = 0.03
"""Tolerance of a learned rate, mean over seeds."""

TOTALS = ("unfair_pairs", "late_unfair_pairs", "regret", "late_regret")
VALUES = (*TOTALS, "learned_rate", "conflicts")


def sweep(quick: bool) -> list[Case]:
    """Every share of errors, known in three ways, and every panel: 5 seeds of 6,000 rounds; quick, 3 of 150."""
    d, k, rounds, seeds = (3, 5, 150, range(3)) if quick else (5, 10, 6000, range(5))
    shape: dict[str, Any] = {"policy": "evenhand", "d": d, "k": k, "rounds": rounds, "epsilon": 0.01, "seed": seeds}
    cases = []
    for wrong in MOST:
        rates = {UNKNOWN: None, KNOWN: wrong, ASSUMED: ASSUMED_ERROR}
        contenders = {label: {"reviewer_error": rate} for label, rate in rates.items()}
        cases += labelled(NAME, contenders, wrong=wrong, **shape)
    return [*cases, *grid(NAME, panel=list(PANELS), reviewer_error=None, **shape)]


def members(table: pl.DataFrame) -> pl.DataFrame:
    """One row for each panel, seed and member: the member's rate, and what was learned about it."""
    rows = []
    for run in table.filter(pl.col("panel").is_not_null()).iter_rows(named=True):
        for name, rate in PANELS[run["panel"]].items():
            learned = {"learned_rate": run[f"learned_rate_{name}"], "misleading": run[f"misleading_{name}"]}
            rows.append({"panel": run["panel"], "seed": run["seed"], "member": name, "wrong": rate} | learned)
    return pl.DataFrame(rows)


def analyse(table: pl.DataFrame) -> Findings:
    """Unfair pairs where the rate is unknown, when they come, and whether every rate was learned."""
    ends = ends_of_runs(table, ["unfair_pairs", "regret"])
    single, groups = ends.filter(pl.col("panel").is_null()), ends.filter(pl.col("panel").is_not_null())
    checks: list[Check] = []
    for wrong, most in MOST.items():
        here = single.filter((pl.col("wrong") == wrong) & (pl.col("label") == UNKNOWN))
        what = f"{wrong:.0%} of answers wrong, {UNKNOWN}"
        checks += [
            growth.below(f"{what}: unfair pairs", here["unfair_pairs"], most),
            _early(what, here),
            _near(f"{what}: the learned rate", estimate(here["learned_rate"]), wrong),
        ]
    for (panel,), here in groups.group_by(["panel"], maintain_order=True):
        checks.append(_early(f"panel: {panel}", here))
    people = members(ends)
    checks += [_misleading(people), _all_near(people)]
    means = summary(single, ["wrong", "label"], VALUES)
    learned = summary(people, ["panel", "member", "wrong"], ["learned_rate", "misleading"])
    shown = learned.select("panel", "member", "wrong", "learned_rate", "misleading")
    shown = shown.join(summary(groups, ["panel"], TOTALS).select("panel", *TOTALS), on="panel", how="left")
    both = pl.concat([means.select("wrong", "label", *VALUES), shown], how="diagonal_relaxed")
    return Findings(tuple(checks), both, {"means": means, "members": learned})


def _early(what: str, runs: pl.DataFrame) -> Check:
    """Over all seeds together: a single late pair in a run with ten would otherwise count for a tenth."""
    total, late = float(runs["unfair_pairs"].sum()), float(runs["late_unfair_pairs"].sum())
    share = late / max(total, 1.0)
    return Check(
        f"{what}: unfair pairs come in the first half",
        f"{share:.1%} in the second half ({late:g} of {total:g} in {len(runs)} runs)",
        f"fewer than {LATE_SHARE:.0%}",
        share < LATE_SHARE,
    )


def _near(what: str, found: Estimate, true: float) -> Check:
    return Check(what, str(found), f"{true:g}, to within {NEAR:g}", abs(found.value - true) <= NEAR)


def _misleading(people: pl.DataFrame) -> Check:
    misleads = pl.col("wrong") > 0.5
    missed = people.filter(misleads & (pl.col("misleading") == 0))
    blamed = people.filter(~misleads & (pl.col("misleading") == 1))
    return Check(
        "panels: members who are wrong more often than right are reported as misleading, and nobody else",
        f"{len(missed)} of {len(people.filter(misleads))} missed{_who(missed)}; "
        f"{len(blamed)} of {len(people.filter(~misleads))} blamed wrongly{_who(blamed)}",
        "none missed, none blamed wrongly",
        len(missed) == len(blamed) == 0,
    )


def _who(people: pl.DataFrame) -> str:
    found = sorted({f"{panel}: {rate:g}" for panel, rate in people.select("panel", "wrong").iter_rows()})
    return f" ({'; '.join(found)})" if found else ""


def _all_near(people: pl.DataFrame) -> Check:
    means = summary(people, ["panel", "member", "wrong"], ["learned_rate"])
    off = (pl.col("learned_rate") - pl.col("wrong")).abs()
    worst = means.with_columns(off=off).sort("off", descending=True).row(0, named=True)
    return Check(
        "panels: every member's rate is learned, mean over seeds",
        f"at worst {worst['learned_rate']:.3g} for {worst['wrong']:g} ({worst['panel']})",
        f"to within {NEAR:g}",
        bool(worst["off"] <= NEAR),
    )


def draw(table: pl.DataFrame, findings: Findings) -> figure.Figure:
    """Unfair pairs and regret against errors, known in three ways; learned rates, of one reviewer and of panels."""
    means: pl.DataFrame = findings.numbers["means"]
    picture, (pairs, regret, rates, panels) = figure.panels(4, columns=2, width=5.6, height=4.0)
    for place, (label, style) in enumerate(zip((UNKNOWN, KNOWN, ASSUMED), figure.dot_styles(), strict=False)):
        here = means.filter(pl.col("label") == label)
        for panel, value in ((pairs, "unfair_pairs"), (regret, "regret")):
            x = here["wrong"].to_numpy() + 0.008 * (place - 1)
            panel.errorbar(x, here[value], yerr=figure.reach(here, value), label=label, **style)
    pairs.plot(list(MOST), list(MOST.values()), label=f"promised at most, {UNKNOWN}", **figure.PROMISED)
    for panel in (pairs, regret):
        panel.set_yscale("symlog", linthresh=10.0)
        panel.yaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    pairs.set(title="Unfair pairs", ylabel=f"{figure.UNFAIR_PAIRS}, {int(max(table['round'])):,} rounds")
    pairs.set_ylim(bottom=0)
    regret.set(title="Regret", ylabel=figure.REGRET)
    one = means.filter(pl.col("label") == UNKNOWN)
    _draw_rates(rates, one, "one reviewer", next(figure.dot_styles()))
    rates.set(title="One reviewer", xlim=(-0.02, 0.35), ylim=(-0.02, 0.35))
    people: pl.DataFrame = findings.numbers["members"]
    for name, style in zip(PANELS, figure.dot_styles(), strict=False):
        _draw_rates(panels, people.filter(pl.col("panel") == name), name, style)
    panels.set(title="Panels, a dot a member", xlim=(-0.05, 1.05), ylim=(-0.05, 1.05))
    for panel in (rates, panels):
        panel.axline((0, 0), slope=1, label="true rate", **figure.PROMISED)
        panel.set_ylabel("learned share of wrong answers")
        panel.legend(frameon=False, loc="lower right")
    for panel in (pairs, regret, rates, panels):
        panel.set_xlabel("share of wrong answers")
    title = "Reviewers who err, their rate known or unknown: mean and 95% interval over seeds"
    return figure.finish(picture, [pairs], title, columns=4)


def _draw_rates(panel: figure.Axes, means: pl.DataFrame, label: str, style: dict[str, Any]) -> None:
    """Learned rates against true ones; equal rates side by side."""
    repeats = np.array([sum(rate == other for other in means["wrong"][:i]) for i, rate in enumerate(means["wrong"])])
    x, reach = means["wrong"].to_numpy() + 0.02 * repeats, figure.reach(means, "learned_rate")
    panel.errorbar(x, means["learned_rate"].to_numpy(), yerr=reach, label=label, **style)


EXPERIMENT = Experiment(NAME, CLAIM, sweep, reviewed_run, analyse, draw)
