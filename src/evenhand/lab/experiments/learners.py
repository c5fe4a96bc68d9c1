"""learners: the default and its parts in every world, under many reviewers, at many sizes."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from evenhand.environments import names
from evenhand.lab import figure
from evenhand.lab.experiment import Check, Experiment, Findings
from evenhand.lab.runs import ASSUMED_ERROR, promised_run
from evenhand.lab.statistics import difference, ends_of_runs, estimate, summary
from evenhand.lab.store import Case, labelled

NAME = "learners"
CLAIM = "The default is at least as fair as BayesPoint and costs little more regret, in any world, under any reviewer."

DEFAULT, BAYES, SPACE = "FairBandit's default", "BayesPoint", "VersionSpace"
CONTENDERS: dict[str, dict[str, Any]] = {
    DEFAULT: {"policy": "evenhand"},
    BAYES: {"policy": "bayes-point"},
    SPACE: {"policy": "version-space"},
}
"""The last two are told whether to learn the error rate; the default is told nothing."""

SIZES = (2, 3, 5, 8, 10)
QUICK_SIZES = (2, 3)
QUICK_WORLDS = ("sphere", "camps")

LEARNED: dict[str, Any] = {"error_rate": None}
REVIEWERS: dict[str, dict[str, Any]] = {
    "10% wrong, rate unknown": {**LEARNED, "wrong": 0.1},
    "20% wrong, rate unknown": {**LEARNED, "wrong": 0.2},
    "a panel that differs": {**LEARNED, "panel": "different"},
    "two proposed pairs": {"shows": "proposed pairs"},
    "two proposed pairs, 10% wrong": {**LEARNED, "shows": "proposed pairs", "wrong": 0.1, "errs": "answering"},
    "one bit": {"shows": "one bit"},
    "up to 20 rounds late": {"late": 20},
    "wobbles by 10%": {**LEARNED, "follows": "wobble 10%"},
    "follows an l1 norm": {**LEARNED, "follows": "l1 norm"},
}
QUICK_REVIEWERS = ("10% wrong, rate unknown", "two proposed pairs")

VALUES = ("unfair_pairs", "late_unfair_pairs", "regret")

DEARER = 1.1
"""Regret at most this multiple of the other's counts as little more."""


def sweep(quick: bool) -> list[Case]:
    """Sizes, worlds and reviewers: 5 seeds of 500 rounds; quick, 3 seeds of 40."""
    rounds, seeds = (40, range(3)) if quick else (500, range(5))
    common: dict[str, Any] = {"k": 5, "rounds": rounds, "epsilon": 0.01, "seed": seeds}
    exact = common | {"error_rate": ASSUMED_ERROR}
    cases = [*labelled(NAME, CONTENDERS, d=QUICK_SIZES if quick else SIZES, **exact)]
    for world in QUICK_WORLDS if quick else names():
        own = {"world": world, "d": 5 if world == "lending" else 4}
        hides = {"reveal_at": rounds // 3} if world == "direction-hider" else {}
        cases += labelled(NAME, CONTENDERS, **own, **hides, **exact)
    for name in QUICK_REVIEWERS if quick else REVIEWERS:
        cases += labelled(NAME, CONTENDERS, d=4, **exact | REVIEWERS[name])
    return cases


def _setting(run: dict[str, Any]) -> str:
    """What a run is an example of."""
    for name, own in REVIEWERS.items():
        fields = own | {"shows": own.get("shows"), "wrong": own.get("wrong")}
        if all(run.get(field) == value for field, value in fields.items()):
            return name
    return f"d = {run['d']}" if run.get("world") is None else str(run["world"])


def analyse(table: pl.DataFrame) -> Findings:
    """Unfair pairs and regret of all, setting by setting."""
    runs = ends_of_runs(table, ["unfair_pairs"])
    runs = runs.with_columns(setting=pl.Series([_setting(run) for run in runs.iter_rows(named=True)]))
    means = summary(runs, ["setting", "label"], VALUES)
    checks = [check for label in (DEFAULT, SPACE) for check in _against_bayes(runs, label)]
    return Findings(tuple(checks), means.select("setting", "label", *VALUES), {"means": means})


def _against_bayes(runs: pl.DataFrame, label: str) -> list[Check]:
    """Where this contender has more unfair pairs or more regret than BayesPoint."""
    worse, dearer, ratios = [], [], []
    for (setting,), here in runs.group_by(["setting"], maintain_order=True):
        more = difference(here, "unfair_pairs", by="label", first=label, second=BAYES)
        if more.lower > 0:
            worse.append(f"{setting} by {more}")
        ours, theirs = (estimate(here.filter(pl.col("label") == each)["regret"]).value for each in (label, BAYES))
        ratios.append(ours / theirs)
        if ours > DEARER * theirs:
            dearer.append(f"{setting} {ours / theirs:.2f}")
    typical, regret = float(np.median(ratios)), f"{label}'s regret, as a multiple of {BAYES}'s, is above {DEARER}"
    return [
        Check(f"{label} has more unfair pairs than {BAYES}", "; ".join(worse) or "nowhere", "nowhere", not worse),
        Check(regret, f"{'; '.join(dearer) or 'nowhere'}; median {typical:.2f}", "nowhere", not dearer),
    ]


def draw(table: pl.DataFrame, findings: Findings) -> figure.Figure:
    """A row a setting: unfair pairs, and regret."""
    means: pl.DataFrame = findings.numbers["means"]
    settings = means["setting"].unique(maintain_order=True).to_list()
    picture, panels = figure.panels(2, width=6.4, height=1.2 + 0.3 * len(settings))
    for panel, value, label in zip(
        panels, ("unfair_pairs", "regret"), (figure.UNFAIR_PAIRS, figure.REGRET), strict=True
    ):
        figure.draw_rows(panel, means, value, rows=("setting", settings), dots=("label", (DEFAULT, BAYES, SPACE)))
        panel.set_xlabel(label)
        figure.count_scale(panel)
    return figure.finish(picture, panels, "Three learners: mean and 95% interval over seeds", columns=3)


EXPERIMENT = Experiment(NAME, CLAIM, sweep, promised_run, analyse, draw)
