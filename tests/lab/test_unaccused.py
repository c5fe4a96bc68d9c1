"""The experiment on reviewers with a metric under the default: each broken promise is flagged, kept ones pass."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from evenhand.lab.experiments.unaccused import (
    DEFAULT,
    ERRING,
    EXACT,
    EXPERIMENT,
    HESITATING,
    METRICS,
    MORE_SHOWN,
    RATE_LEARNED,
)
from evenhand.lab.reviewers import ReviewerSetting
from tests.support.tiny_results import check_analysis, tiny_results

Settings = Mapping[str, Any]
REVIEWER = set(ReviewerSetting.__dataclass_fields__)


def kept(of: Settings) -> dict[str, float]:
    """Nobody accused; as many unfair pairs as the rivals, half of them late where the threshold moves."""
    late = 5.0 if of.get("follows") and of["policy"] == DEFAULT else 10.0
    return {"unfair_pairs": 40.0 + of["seed"], "late": late, "no_metric": 0.0}


def broken(ends: Callable[[Settings], dict[str, float]]) -> list[str]:
    """The claims that do not hold of a full sweep with these totals and late unfair pairs."""
    tables = []
    for case in EXPERIMENT.sweep(False):
        found, rounds = ends(case.settings), float(case.settings["rounds"])
        at_end = {"regret": 1.0, "no_metric": found["no_metric"]}
        pairs = {"round": [rounds * 2 / 3, rounds], "unfair_pairs": [found["unfair_pairs"] - found["late"]]}
        pairs["unfair_pairs"].append(found["unfair_pairs"])
        columns = pairs | {name: [value] * 2 for name, value in at_end.items()}
        own = {name: pl.lit(value) for name, value in case.columns.items()}
        tables.append(pl.DataFrame(columns).with_columns(**own))
    findings = EXPERIMENT.analyse(pl.concat(tables, how="diagonal_relaxed"))
    return [check.claim for check in findings.checks if not check.holds]


def test_kept_promises_pass() -> None:
    """Each check on a sweep without anything wrong."""
    assert broken(kept) == []


@pytest.mark.parametrize(
    ("label", "policy", "d", "changed", "claim"),
    [
        (ERRING, DEFAULT, 10, {"no_metric": 1.0}, f"{ERRING}, d = 10: told that no metric fits"),
        *(
            (label, DEFAULT, 10, {"no_metric": 1.0}, f"{label}, d = 10: told that no metric fits")
            for label in MORE_SHOWN
        ),
        (EXACT, DEFAULT, 5, {"no_metric": 1.0}, f"{EXACT}, d = 5: told that no metric fits"),
        (EXACT, DEFAULT, 5, {"unfair_pairs": 60.0}, f"{EXACT}: unfair pairs in all, more than {METRICS}"),
        (ERRING, DEFAULT, 5, {"late": 12.0}, f"{ERRING}: unfair pairs in the last third, more than {RATE_LEARNED}"),
        (HESITATING, DEFAULT, 5, {"late": 6.0}, f"{HESITATING}: unfair pairs in the last third"),
    ],
)
def test_each_broken_promise_is_flagged(label: str, policy: str, d: int, changed: dict[str, float], claim: str) -> None:
    """An accusation, more unfair pairs than the rival, more than half of them: one check each."""
    cases = {case.key: case.label for case in EXPERIMENT.sweep(False)}

    def ends(of: Settings) -> dict[str, float]:
        more = {shown["shows"]: name for name, shown in MORE_SHOWN.items()}
        of_label = HESITATING if of.get("follows") else ERRING if of.get("wrong") else EXACT
        of_label = more.get(of["shows"], of_label)
        is_changed = (of_label, of["policy"], of["d"]) == (label, policy, d)
        return kept(of) | (changed if is_changed else {})

    assert len(cases) == len(EXPERIMENT.sweep(False))
    assert broken(ends) == [claim]


def test_every_reviewer_of_the_full_sweep_exists() -> None:
    """And the last third begins at a checkpoint in both sweeps."""
    from evenhand.lab.account import checkpoints

    for case in [*EXPERIMENT.sweep(False), *EXPERIMENT.sweep(True)]:
        ReviewerSetting(**{name: value for name, value in case.settings.items() if name in REVIEWER})
        assert 2 * case.settings["rounds"] // 3 in checkpoints(case.settings["rounds"])


@pytest.mark.statistical
def test_real_results_are_analysed_and_drawn(tmp_path: Path) -> None:
    """Few rounds of each reviewer and policy."""
    check_analysis(EXPERIMENT, tiny_results(EXPERIMENT, tmp_path, rounds=12), tmp_path)
