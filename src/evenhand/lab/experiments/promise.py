"""promise: VersionSpace against its own promise of how many rounds can still be flagged."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from evenhand.lab import figure
from evenhand.lab.experiment import Check, Experiment, Findings
from evenhand.lab.runs import ASSUMED_ERROR, promised_run
from evenhand.lab.statistics import bands, difference, ends_of_runs, estimate, summary
from evenhand.lab.store import Case, grid, labelled

NAME = "promise"
CLAIM = "No more rounds are flagged than were promised at any earlier time, and few are, whoever chooses candidates."

QUANTILES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3)
QUICK_QUANTILES = (0.05, 0.2)
QUANTILE = 0.05
"""The learner's default."""

DEFAULT, BAYES, ATTACKED, INTERVIEWED = "FairBandit's default", "BayesPoint", "attacked", "interviewed"

WORLDS = ("attacker", "violation-hunter", "regret-hunter", "direction-hider")
"""The attacker sees the points of the learner and shows two candidates; the others show four."""

QUESTIONS = (50, 150)
QUICK_QUESTIONS = (5, 10)

MOST_PAIRS = 10
"""Unfair pairs at most, mean over seeds."""
MOST_FLAGS = 80
"""The promise before the first round at most."""
HALVING = 50
"""Questions after which the promise should be half of what it was."""

VALUES = ("unfair_pairs", "flagged_rounds_by_reviewer", "allowed", "left_at_start", "left_after_interview", "regret")


def hard(quantile: float) -> str:
    """The label of VersionSpace that takes every answer for right."""
    return f"VersionSpace, hard, q = {quantile:g}"


def soft(quantile: float) -> str:
    """The label of VersionSpace with FairBandit's default error rate."""
    return f"VersionSpace, soft, q = {quantile:g}"


def sweep(quick: bool) -> list[Case]:
    """The default and all quantiles, 5 seeds of 3,000 rounds; attacks on three sizes, 5 of 300; quick, 3 seeds."""
    d, rounds, quantiles, questions = (
        (3, 60, QUICK_QUANTILES, QUICK_QUESTIONS) if quick else (5, 3000, QUANTILES, QUESTIONS)
    )
    seeds = range(3 if quick else 5)
    shape: dict[str, Any] = {"d": d, "k": 5, "rounds": rounds, "epsilon": 0.01, "seed": seeds}
    ours: dict[str, Any] = {"policy": "version-space", "error_rate": 0.0}
    contenders: dict[str, dict[str, Any]] = {
        DEFAULT: {"policy": "evenhand", "error_rate": None},
        BAYES: {"policy": "bayes-point", "error_rate": ASSUMED_ERROR},
    }
    contenders |= {hard(q): ours | {"quantile": q} for q in quantiles}
    contenders |= {soft(q): ours | {"quantile": q, "error_rate": ASSUMED_ERROR} for q in quantiles if q in (0.05, 0.1)}
    interviewed = grid(NAME, label=INTERVIEWED, **ours, quantile=QUANTILE, questions=questions, **shape)
    attacked = []
    for world in WORLDS:
        size: dict[str, Any] = {
            "k": 2 if world == "attacker" else 4,
            "rounds": 40 if quick else 300,
            "epsilon": 0.01,
            "seed": seeds,
        }
        hides = {"reveal_at": size["rounds"] // 4} if world == "direction-hider" else {}
        for d in (2,) if quick else (2, 3, 5):
            ranks = (0, d) if quick else sorted({0, 1, 2, d})
            common = {"world": world, "d": d, "rank": ranks, "quantile": QUANTILE}
            attacked += grid(NAME, label=ATTACKED, **ours, **common, **size, **hides)
    return [*labelled(NAME, contenders, **shape), *interviewed, *attacked]


def analyse(table: pl.DataFrame) -> Findings:
    """Unfair pairs and regret against the default; flagged rounds against every earlier promise, in every run."""
    runs = ends_of_runs(table)
    runs = runs.with_columns(share=pl.col("flagged_rounds_by_reviewer") / pl.col("left_at_start"))
    played = runs.filter(~pl.col("label").is_in([ATTACKED, INTERVIEWED]))
    attacked, interviewed = (runs.filter(pl.col("label") == label) for label in (ATTACKED, INTERVIEWED))
    checks = []
    for label in (DEFAULT, hard(QUANTILE), soft(QUANTILE)):
        pairs = estimate(played.filter(pl.col("label") == label)["unfair_pairs"])
        more = difference(played, "regret", by="label", first=label, second=BAYES)
        claim = f"{label}: unfair pairs, mean over seeds"
        checks.append(Check(claim, str(pairs), f"at most {MOST_PAIRS}", pairs.value <= MOST_PAIRS))
        claim = f"{label}: no more regret than {BAYES}, seed by seed"
        checks.append(Check(claim, f"{more} more", "none", bool(more.lower <= 0)))
    start = float(runs.filter(pl.col("quantile") == QUANTILE)["left_at_start"].max())  # type: ignore[arg-type]
    checks.append(
        Check("the promise before the first round", f"{start:g}", f"at most {MOST_FLAGS}", start <= MOST_FLAGS)
    )
    checks += [_kept("complete reviews", played), _kept("attacks", attacked), _kept("after an interview", interviewed)]
    checks += _halved(interviewed)
    means = summary(played, ["label"], VALUES)
    attacks = attacked.group_by("world", "d", "rank", maintain_order=True).agg(
        pl.col("flagged_rounds_by_reviewer", "allowed", "left_at_start", "share").max()
    )
    asked = summary(interviewed, ["questions"], VALUES)
    shown = [means.select("label", *VALUES), attacks, asked.select("questions", *VALUES)]
    return Findings(tuple(checks), pl.concat(shown, how="diagonal_relaxed"), {"means": means, "runs": runs})


def _kept(what: str, runs: pl.DataFrame) -> Check:
    """Whether in every run that promised something no promise was exceeded."""
    promised = runs.filter(pl.col("allowed").is_not_nan())
    above = promised.filter(pl.col("flagged_rounds_by_reviewer") > pl.col("allowed"))
    share, refuted = np.max(promised["share"].to_numpy(), initial=0.0), int(promised["refuted"].sum())
    return Check(
        f"{what}: flagged rounds never above a promise made at any earlier time",
        f"above in {len(above)} of {len(promised)} runs, given up in {refuted}; at most {share:.0%} of the first",
        "none, and no promise given up",
        len(above) == refuted == 0 and len(promised) > 0,
    )


def _halved(runs: pl.DataFrame) -> list[Check]:
    here = runs.filter(pl.col("questions") == HALVING)
    if not len(here):
        return []
    left = estimate(here["left_after_interview"] / here["left_at_start"])
    claim = f"{HALVING} questions: what remains of the promise"
    return [Check(claim, str(left), "at most 0.5", left.value <= 0.5)]


def draw(table: pl.DataFrame, findings: Findings) -> figure.Figure:
    """The promise as it falls, the frontier of flags and regret, shares under attack, and interviews."""
    runs: pl.DataFrame = findings.numbers["runs"]
    picture, (falling, frontier, attacks, interviews) = figure.panels(4, columns=2, width=6.0, height=4.4)
    _draw_falling(falling, table.filter(pl.col("label") == hard(QUANTILE)))
    _draw_frontier(frontier, findings.numbers["means"])
    sizes = sorted(set(runs.filter(pl.col("label") == ATTACKED)["d"]))
    shares = runs.filter(pl.col("label") == ATTACKED).with_columns(size=pl.format("d = {}", "d"))
    most = pl.col("share").max()
    shares = shares.group_by("world", "size").agg(share=most, share_lower=most, share_upper=most)
    figure.draw_rows(attacks, shares, "share", rows=("world", WORLDS), dots=("size", [f"d = {d}" for d in sizes]))
    attacks.axvline(1.0, **figure.PROMISED)
    attacks.set(title="Under attack", xlabel="flagged rounds as a share of the promise, most of all runs")
    attacks.set_xlim(0, 1.05)
    attacks.legend(frameon=False)
    asked = runs.filter((pl.col("label") == INTERVIEWED) | (pl.col("label") == hard(QUANTILE)))
    asked = asked.with_columns(pl.col("questions").fill_null(0))
    views = (("left_after_interview", "promised"), ("flagged_rounds_by_reviewer", "flagged live"))
    for (value, label), style in zip(views, figure.styles(), strict=False):
        figure.draw_band(interviews, bands(asked, value, by="questions"), along="questions", label=label, style=style)
    interviews.set(title="After an interview", xlabel="questions before going live", ylabel="flagged rounds to come")
    interviews.set_ylim(bottom=0)
    interviews.legend(frameon=False)
    picture.suptitle("How many rounds can be flagged, and how many are: mean and 95% over seeds")
    return picture


def _draw_falling(panel: figure.Axes, table: pl.DataFrame) -> None:
    total = pl.col("flagged_rounds_by_reviewer") + pl.col("flags_left")
    table = table.with_columns(promised=total)
    views = (("promised", "flagged so far, and promised at most"), ("flagged_rounds_by_reviewer", "flagged so far"))
    for (value, label), style in zip(views, figure.styles(), strict=False):
        figure.draw_band(panel, bands(table, value), label=label, style=style)
    panel.set(title=hard(QUANTILE), xlabel="round", ylabel="flagged rounds", xscale="log")
    panel.set_ylim(bottom=0)
    panel.legend(frameon=False)


def _draw_frontier(panel: figure.Axes, means: pl.DataFrame) -> None:
    """Regret against flagged rounds, and against unfair pairs, as the quantile varies."""
    line = means.filter(pl.col("label").str.contains("hard"))
    names = [label.split(" = ")[1] for label in line["label"]]
    for value, label, style in zip(
        ("flagged_rounds_by_reviewer", "unfair_pairs"),
        ("flagged rounds", figure.UNFAIR_PAIRS),
        figure.styles(),
        strict=False,
    ):
        x, y = line[value].to_numpy(), line["regret"].to_numpy()
        panel.plot(x, y, marker="o", label=label, **style)
        for name, a, b in zip(names, x, y, strict=True):
            panel.annotate(name, (a, b), textcoords="offset points", xytext=(4, 4), fontsize=8)
        default = means.filter(pl.col("label") == DEFAULT)
        panel.plot(default[value], default["regret"], "*", markersize=13, color=style["color"])
    panel.plot([], [], "*", color="black", label=DEFAULT)
    panel.set(title="The frontier, as the quantile varies", xlabel="rounds, pairs", ylabel=figure.REGRET)
    panel.legend(frameon=False)


EXPERIMENT = Experiment(NAME, CLAIM, sweep, promised_run, analyse, draw)
