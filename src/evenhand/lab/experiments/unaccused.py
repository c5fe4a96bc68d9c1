"""unaccused: reviewers with a metric, who err or hesitate, and a default that also expects people without one."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from evenhand.lab import figure
from evenhand.lab.experiment import Check, Experiment, Findings
from evenhand.lab.runs import reviewed_run
from evenhand.lab.statistics import difference, ends_of_runs, summary
from evenhand.lab.store import Case, grid

NAME = "unaccused"
CLAIM = "Reviewers with a metric are not told that they have none, and the default costs them nothing."

EXACT, ERRING, HESITATING = "exact", "10% wrong", "threshold moves by 0.1"
REVIEWERS: dict[str, dict[str, Any]] = {EXACT: {}, ERRING: {"wrong": 0.1}, HESITATING: {"follows": "moving threshold"}}
DEFAULT, RATE_LEARNED, METRICS = "evenhand", "rate-learned", "evenhand-without-last-resort"
RIVALS = {EXACT: METRICS, ERRING: RATE_LEARNED, HESITATING: RATE_LEARNED}
"""What the default is compared with: itself without Score, or BayesPoint with a learned error rate."""

MORE_SHOWN: dict[str, dict[str, Any]] = {
    "10% wrong, three pairs": {"shows": "three proposed pairs", "rounds": 384},
    "10% wrong, complete": {"shows": "everything", "rounds": 96},
}
"""The default under one who errs and answers more of each decision: is anybody accused?"""

LATE = 2 / 3
"""Rounds from here on are late; the numbers of rounds are such that a checkpoint is there."""
HALF = 0.5
"""Late unfair pairs under a threshold that moves, at most this share of the rival's."""

VALUES = ("unfair_pairs", "late_unfair_pairs", "regret", "no_metric")


def sweep(quick: bool) -> list[Case]:
    """One who errs, 20 seeds of two sizes, with two or three proposed pairs a round or complete reviews; each reviewer
    and rival with two pairs, 5 seeds. Quick: 2 seeds, one size, two pairs.
    """
    sizes, rounds = ((2,), 48) if quick else ((5, 10), 768)
    few, many = (range(2), range(2)) if quick else (range(5), range(20))
    shape: dict[str, Any] = {"k": 10, "rounds": rounds, "epsilon": 0.01, "shows": "proposed pairs"}
    cases = grid(NAME, label=ERRING, policy=DEFAULT, d=sizes, **REVIEWERS[ERRING], **shape, seed=many)
    for name, reviewer in REVIEWERS.items():
        policies = [RIVALS[name]] if name == ERRING else [DEFAULT, RIVALS[name]]
        cases += grid(NAME, label=name, policy=policies, d=sizes[0], **reviewer, **shape, seed=few)
    for name, shown in () if quick else MORE_SHOWN.items():
        cases += grid(NAME, label=name, policy=DEFAULT, d=sizes, **REVIEWERS[ERRING], **shape | shown, seed=many)
    return cases


def late(table: pl.DataFrame) -> pl.DataFrame:
    """One row a case: totals, and the unfair pairs of the late rounds."""
    early = table.filter(pl.col("round") <= LATE * pl.col("rounds")).sort("round", maintain_order=True)
    before = early.group_by("case").agg(before=pl.col("unfair_pairs").last())
    ends = ends_of_runs(table).join(before, on="case", how="left")
    return ends.with_columns(late_unfair_pairs=pl.col("unfair_pairs") - pl.col("before").fill_null(0.0))


def analyse(table: pl.DataFrame) -> Findings:
    """Accusations, run by run; unfair pairs against the rivals', on the same seeds."""
    runs = late(table)
    smallest = runs.filter(pl.col("d") == pl.col("d").min())
    checks = []
    for (d,), here in runs.filter(pl.col("policy") == DEFAULT).group_by(["d"], maintain_order=True):
        for (label,), own in here.group_by(["label"], maintain_order=True):
            if label != HESITATING:
                accused = int(own["no_metric"].sum())
                measured = f"{accused} of {len(own)} runs"
                checks.append(Check(f"{label}, d = {d}: told that no metric fits", measured, "none", accused == 0))
    for label, value in ((EXACT, "unfair_pairs"), (ERRING, "late_unfair_pairs")):
        checks.append(_no_worse(label, smallest, value))
    mean = {
        policy: float(np.mean(own["late_unfair_pairs"].to_numpy()))
        for (policy,), own in smallest.filter(pl.col("label") == HESITATING).group_by(["policy"])
    }
    checks.append(
        Check(
            f"{HESITATING}: unfair pairs in the last third",
            f"{mean[DEFAULT]:.3g}; {RATE_LEARNED}: {mean[RATE_LEARNED]:.3g}",
            f"at most {HALF:.0%} of that of {RATE_LEARNED}",
            mean[DEFAULT] <= HALF * mean[RATE_LEARNED],
        )
    )
    means = summary(runs, ["label", "d", "policy"], VALUES)
    return Findings(tuple(checks), means.select("label", "d", "policy", *VALUES), {"means": means})


def _no_worse(label: str, runs: pl.DataFrame, value: str) -> Check:
    """No more than the rival's, seed by seed, to within the 95% interval of the difference."""
    rival = RIVALS[label]
    shared = runs.filter((pl.col("label") == label) & pl.col("seed").is_in(_seeds(runs, label, rival)))
    more = difference(shared, value, by="policy", first=DEFAULT, second=rival)
    what = "in the last third" if value == "late_unfair_pairs" else "in all"
    return Check(f"{label}: unfair pairs {what}, more than {rival}", str(more), "not above 0", not more.lower > 0.0)


def _seeds(runs: pl.DataFrame, label: str, policy: str) -> list[int]:
    return runs.filter((pl.col("label") == label) & (pl.col("policy") == policy))["seed"].to_list()


def draw(table: pl.DataFrame, findings: Findings) -> figure.Figure:
    """Unfair pairs along the rounds, a panel for each reviewer."""
    smallest = table.filter(pl.col("d") == pl.col("d").min())
    picture, panels = figure.panels(len(REVIEWERS), columns=3, width=4.6, height=4.0)
    for panel, name in zip(panels, REVIEWERS, strict=True):
        here = smallest.filter((pl.col("label") == name) & pl.col("seed").is_in(_seeds(smallest, name, RIVALS[name])))
        figure.draw_lines(panel, here, "unfair_pairs", by="policy", order=(DEFAULT, RATE_LEARNED, METRICS))
        panel.set_yscale("symlog", linthresh=1.0)  # there may be none
        panel.set(title=name, xlabel="round", ylabel=figure.UNFAIR_PAIRS)
    title = "Reviewers who follow a metric, two proposed pairs a round: mean and 95% band over seeds"
    return figure.finish(picture, panels, title, columns=3)


EXPERIMENT = Experiment(NAME, CLAIM, sweep, reviewed_run, analyse, draw)
