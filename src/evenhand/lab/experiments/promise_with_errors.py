"""promise-with-errors: VersionSpace under lies aimed to hurt, and under wrong answers at a rate it must learn."""

from __future__ import annotations

from typing import Any, get_args

import numpy as np
import polars as pl

from evenhand.auditors.wrong import Aim
from evenhand.lab import figure
from evenhand.lab.experiment import Check, Experiment, Findings
from evenhand.lab.growth import NORM
from evenhand.lab.runs import promised_run
from evenhand.lab.statistics import ends_of_runs, estimate, summary
from evenhand.lab.store import Case, grid, labelled
from evenhand.metrics.learner_settings import default_set_back
from evenhand.theory import flagged_rounds

NAME = "promise-with-errors"
CLAIM = "C lies add no more flagged rounds than proved, and wrong answers at an unknown rate cost few unfair pairs."

LIED, DEFAULT, BAYES, OURS = "lies", "FairBandit's default", "BayesPoint", "VersionSpace"
"""All but the first learn the error rate."""

AIMS: tuple[str, ...] = get_args(Aim)
LIES = (10, 40)
BURST = 6
"""Maximum number of lies in one decision beside 1: every pair of four."""
P, Q = 0.1, 0.05
"""The error rate that the learner of the theorem assumes, and its quantile."""

MOST = {0.1: 40, 0.2: 90, 0.3: 250}
"""The share of wrong answers, and the maximum number of unfair pairs, mean over seeds."""
PROPOSED, MOST_PROPOSED = "proposed pairs", 110
"""Two of them a round, and the maximum number of unfair pairs then, with the smallest share of wrong answers."""
DEARER = 1.3
"""Regret at most this multiple of BayesPoint's."""

VALUES = ("unfair_pairs", "late_unfair_pairs", "regret")


def sweep(quick: bool) -> list[Case]:
    """Lies of every aim, 5 seeds of 300 rounds; three rates, 5 of 6,000 (35 core-minutes); quick, 3 seeds of few."""
    seeds = range(3 if quick else 5)
    ours: dict[str, Any] = {"policy": "version-space", "epsilon": 0.01, "seed": seeds}
    shape: dict[str, Any] = {"d": 2 if quick else 3, "k": 4, "rounds": 40 if quick else 300}
    lies = {"lies": 5 if quick else LIES, "aim": AIMS, "lies_per_decision": (1, BURST)}
    lied = grid(NAME, label=LIED, **ours, **shape, **lies, error_rate=P, quantile=Q)
    shape = {"d": 2 if quick else 5, "k": 4 if quick else 10, "rounds": 40 if quick else 6000}
    policies = {OURS: "version-space", DEFAULT: "evenhand", BAYES: "bayes-point"}
    contenders = {label: {"policy": policy} for label, policy in policies.items()}
    wrong = {"error_rate": None, "epsilon": 0.01, "seed": seeds}
    complete = labelled(NAME, contenders, **shape, **wrong, wrong=list(MOST))
    return [*lied, *complete, *labelled(NAME, contenders, **shape, **wrong, wrong=min(MOST), shows=PROPOSED)]


def proved(run: dict[str, Any]) -> float:
    """The second theorem's number of flagged rounds in a run with lies, by the lies that were told."""
    m = run["d"] * (run["d"] + 1) // 2
    sizes = {"bound": NORM, "set_back": default_set_back(run["epsilon"])}
    return flagged_rounds(m, **sizes, quantile=Q, error_rate=P, n_wrong=int(run["lies_told"]))


def analyse(table: pl.DataFrame) -> Findings:
    """Flagged rounds against the second theorem, run by run; unfair pairs and regret against BayesPoint."""
    runs = ends_of_runs(table, ["unfair_pairs"])
    lied = runs.filter(pl.col("label") == LIED)
    lied = lied.with_columns(proved=np.array([proved(run) for run in lied.iter_rows(named=True)]))
    lied = lied.with_columns(share=pl.col("flagged_rounds_by_reviewer") / pl.col("proved"))
    above, share = lied.filter(pl.col("share") > 1.0), float(np.max(lied["share"].to_numpy()))
    claim = "C lies aimed to hurt: flagged rounds never above the second theorem's number"
    measured = f"above in {len(above)} of {len(lied)} runs; at most {share:.0%} of it"
    checks = [Check(claim, measured, "none", len(above) == 0)]
    proposed = pl.col("shows").is_not_null()
    complete = runs.filter((pl.col("label") != LIED) & ~proposed)
    means = summary(complete, ["wrong", "label"], VALUES)
    for wrong, most in MOST.items():
        what = f"{wrong:.0%} of answers wrong, rate unknown"
        checks += _rate(what, most, complete.filter(pl.col("wrong") == wrong))
    checks += _rate(f"two {PROPOSED}, {min(MOST):.0%} wrong, rate unknown", MOST_PROPOSED, runs.filter(proposed))
    lies = lied.group_by("aim", "lies", "lies_per_decision", maintain_order=True).agg(
        pl.col("flagged_rounds_by_reviewer", "proved", "share").max()
    )
    shown = [lies, means.select("wrong", "label", *VALUES)]
    return Findings(tuple(checks), pl.concat(shown, how="diagonal_relaxed"), {"lied": lied, "means": means})


def _rate(what: str, most: int, runs: pl.DataFrame) -> list[Check]:
    bayes, checks = runs.filter(pl.col("label") == BAYES), []
    before, usual = estimate(bayes["unfair_pairs"]), float(np.mean(bayes["regret"].to_numpy()))
    for label in (OURS, DEFAULT):
        own = runs.filter(pl.col("label") == label)
        pairs, late = estimate(own["unfair_pairs"]), float(own["late_unfair_pairs"].sum())
        dearer, claim = float(np.mean(own["regret"].to_numpy())) / usual, f"{label}, {what}"
        checks += [
            Check(f"{claim}: unfair pairs", f"{pairs}; {BAYES} {before}", f"at most {most}", pairs.value <= most),
            Check(f"{claim}: unfair pairs in the second half", f"{late:g} in {len(own)} runs", "none", late == 0),
            Check(f"{claim}: regret", f"{dearer:.2f} times {BAYES}'s", f"at most {DEARER} times", dearer <= DEARER),
        ]
    return checks


def draw(table: pl.DataFrame, findings: Findings) -> figure.Figure:
    """Flagged rounds against what is proved, a dot a run; unfair pairs and regret against the rate."""
    lied, means = findings.numbers["lied"], findings.numbers["means"]
    picture, (lies, pairs, regret) = figure.panels(3, width=4.9, height=4.4)
    for aim, style in zip(AIMS, figure.dot_styles(), strict=False):
        here = lied.filter(pl.col("aim") == aim)
        lies.errorbar(here["proved"], here["flagged_rounds_by_reviewer"], label=f"aimed at {aim}", **style)
    lies.axline((0, 0), slope=1, label="proved at most", **figure.PROMISED)
    lies.set(title="Lies", xlabel="proved at most", ylabel="flagged rounds", xlim=(0, None), ylim=(0, None))
    for label, style in zip((OURS, DEFAULT, BAYES), figure.dot_styles(), strict=False):
        here = means.filter(pl.col("label") == label)
        for panel, value in ((pairs, "unfair_pairs"), (regret, "regret")):
            panel.errorbar(here["wrong"], here[value], yerr=figure.reach(here, value), label=label, **style)
            panel.set_xticks(list(MOST), [f"{wrong:.0%}" for wrong in MOST])
    pairs.plot(list(MOST), list(MOST.values()), label="aim", **figure.PROMISED)
    pairs.set(title="Unfair pairs, rate unknown", ylabel=figure.UNFAIR_PAIRS, xlabel="share of wrong answers")
    regret.set(title="Regret, rate unknown", ylabel=figure.REGRET, xlabel="share of wrong answers")
    for panel in (lies, pairs, regret):
        panel.set_ylim(bottom=0)
        panel.legend(frameon=False)
    picture.suptitle("Lies and wrong answers: mean and 95% interval over seeds")
    return picture


EXPERIMENT = Experiment(NAME, CLAIM, sweep, promised_run, analyse, draw)
