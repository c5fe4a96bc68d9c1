"""learners: three learners in every setting; whatever one of them does worse is named."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from evenhand.environments import names
from evenhand.lab.experiments import EXPERIMENTS, learners
from evenhand.lab.store import Case
from tests.support.tiny_results import tiny_results


def made_up(setting: dict[str, Any], label: str, seed: int, *, pairs: float, regret: float) -> pl.DataFrame:
    """The two checkpoints of a run of 100 rounds whose totals grow evenly."""
    case = Case("made-up", {**setting, "seed": seed, "policy": label}, label)
    totals = {"unfair_pairs": [pairs / 2, pairs], "regret": [regret / 2, regret]}
    table = pl.DataFrame({"round": [50.0, 100.0]} | totals)
    return table.with_columns(**{name: pl.lit(value) for name, value in case.columns.items()})


def runs(setting: dict[str, Any], ours: tuple[float, float], theirs: tuple[float, float]) -> list[pl.DataFrame]:
    """Three seeds of each learner, with (unfair pairs, regret) that differ a little from seed to seed."""
    return [
        made_up(setting, label, seed, pairs=pairs + seed, regret=regret)
        for label, (pairs, regret) in ((learners.DEFAULT, ours), (learners.SPACE, ours), (learners.BAYES, theirs))
        for seed in range(3)
    ]


PLAIN = {"d": 3, "error_rate": 0.001}
CAMPS = {"d": 4, "world": "camps", "error_rate": 0.001}
ERRING = {"d": 4, "wrong": 0.1, "error_rate": None}


@pytest.mark.parametrize(("pairs", "holds"), [(5.0, True), (30.0, False)])
def test_more_unfair_pairs_in_one_setting_are_named(pairs: float, holds: bool) -> None:
    """One setting in which the default is less fair in every seed is enough."""
    table = runs(PLAIN, (5.0, 3.0), (10.0, 3.0)) + runs(CAMPS, (pairs, 3.0), (10.0, 3.0))
    check = learners.EXPERIMENT.analyse(pl.concat(table, how="diagonal_relaxed")).checks[0]
    assert check.holds == holds
    assert ("camps" in check.measured) == (not holds)


@pytest.mark.parametrize(("regret", "holds"), [(3.2, True), (3.4, False)])
def test_more_regret_in_one_setting_is_named(regret: float, holds: bool) -> None:
    """Up to a tenth more counts as little more."""
    table = runs(PLAIN, (5.0, 3.0), (10.0, 3.0)) + runs(ERRING, (5.0, regret), (10.0, 3.0))
    check = learners.EXPERIMENT.analyse(pl.concat(table, how="diagonal_relaxed")).checks[1]
    assert check.holds == holds
    assert ("10% wrong, rate unknown" in check.measured) == (not holds)


def test_every_case_belongs_to_one_setting() -> None:
    """The full sweep has every world and every reviewer, five seeds of each learner."""
    found: dict[str, list[tuple[str, int]]] = {}
    for case in learners.EXPERIMENT.sweep(False):
        found.setdefault(learners._setting(dict(case.settings)), []).append((case.label, case.settings["seed"]))
    assert set(found) == {*(f"d = {d}" for d in learners.SIZES), *names(), *learners.REVIEWERS}
    both = sorted((label, seed) for label in learners.CONTENDERS for seed in range(5))
    assert all(sorted(runs) == both for runs in found.values())


def test_real_runs_are_analysed_and_drawn(tmp_path: Path) -> None:
    """A few rounds of each quick setting; the experiment is registered under its name."""
    experiment = EXPERIMENTS["learners"]
    table = tiny_results(experiment, tmp_path, rounds=2)
    findings = experiment.analyse(table)
    assert len(findings.table) == 3 * (2 + 2 + 2)
    experiment.draw(table, findings).canvas.draw()
