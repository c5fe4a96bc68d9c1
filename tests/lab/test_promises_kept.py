"""flags_left against what was flagged, in the runs of every experiment."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import polars as pl
import pytest

from evenhand.lab.account import Account
from evenhand.lab.experiment import Findings
from evenhand.lab.experiments import EXPERIMENTS
from evenhand.lab.runs import promised_run, reviewed_run, standard_run

SHAPE: dict[str, Any] = {"policy": "evenhand", "d": 2, "k": 3, "rounds": 12, "epsilon": 0.05, "seed": 0}


def test_the_least_promise_counts() -> None:
    """A promise of 5, then of 3 after two rounds were flagged: 5 in all; no promise changes nothing."""
    account = Account(0.01)
    assert math.isnan(account.allowed)
    account.promised(5)
    account._flagged = {0, 1}
    for left, allowed in ((4, 5), (3, 5), (None, 5), (2, 4)):
        account.promised(left)
        assert account.allowed == allowed


def test_runs_with_an_exact_reviewer_note_what_was_promised() -> None:
    """Nothing is noted where the reviewer errs, is late or follows no metric, nor of a policy that promises nothing."""
    for run in (standard_run(**SHAPE), reviewed_run(**SHAPE), promised_run(**SHAPE, error_rate=None)):
        assert 0 <= run["flagged_rounds_by_reviewer"][-1] <= run["allowed"][-1]
    for reviewer in ({"wrong": 0.1}, {"late": 2}, {"follows": "l1 norm"}, {"panel": "different"}, {"lies": 2}):
        assert math.isnan(reviewed_run(**SHAPE, **reviewer)["allowed"][-1])
    assert math.isnan(standard_run(**SHAPE | {"policy": "bayes-point"})["allowed"][-1])


@pytest.mark.parametrize(("allowed", "holds"), [(7.0, True), (6.0, False), (math.nan, None)])
def test_one_run_above_its_promise_is_flagged(allowed: float, holds: bool | None) -> None:
    """In any experiment; runs without a promise are not counted, and an experiment without one has no such check."""
    rows = {"case": ["a", "a", "b"], "flagged_rounds_by_reviewer": [3.0, 7.0, 2.0], "allowed": [allowed] * 3}
    experiment = replace(EXPERIMENTS["promise"], analyse=lambda table: Findings((), table))
    found = [check.holds for check in experiment.findings(pl.DataFrame(rows)).checks]
    assert found == ([] if holds is None else [holds])
