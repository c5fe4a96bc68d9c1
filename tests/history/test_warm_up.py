"""A warm start: reward model and metric learn from the past, and so does a desk."""

from __future__ import annotations

import json
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import evenhand as eh
from evenhand.desk.imports.importing import import_jsonl
from evenhand.errors import InvalidInput
from evenhand.history import PastVerdict
from evenhand.ledger.ledger import open_ledger
from tests.support.simulated_log import simulated_log

LOG = simulated_log(40, 2, np.random.default_rng(0))
IDS = LOG.ids
VERDICTS = (
    PastVerdict(IDS[0], IDS[1], True, 0.6, "kim"),
    PastVerdict(IDS[2], IDS[13], False, 0.1),
    PastVerdict(IDS[4], IDS[5], True, 0.0),
)


def test_outcomes_and_verdicts_are_learned() -> None:
    """The reward model is that of the outcomes alone; verdicts teach the metric as answers to questions do."""
    bandit, by_hand = (eh.FairBandit(4, seed=0) for _ in range(2))
    report = replace(LOG, verdicts=VERDICTS).warm_up(bandit)
    assert str(report) == "learned from 80 outcomes and 2 verdicts on pairs; 1 were about people treated the same"
    seen = LOG.is_observed
    by_hand.reward.learn(LOG.contexts[seen], LOG.outcomes[seen])
    by_hand.learn_pair(LOG.contexts[0], LOG.contexts[1], gap=0.6, unfair=True, reviewer="kim")
    by_hand.learn_pair(LOG.contexts[2], LOG.contexts[13], gap=0.1, unfair=False)
    assert repr(bandit.state()) == repr(by_hand.state())


def test_a_failed_warm_up_changes_nothing() -> None:
    """Outcomes in other units are refused, and so is a bandit of another size; the bandit is what it was."""
    bandit = eh.FairBandit(4, seed=0)
    before = repr(bandit.state())
    large = replace(LOG, outcomes=np.where(LOG.chosen, np.arange(LOG.n_candidates), np.nan), verdicts=VERDICTS)
    with pytest.raises(InvalidInput, match=r"rewards must be from -20 to 20, got 39\d; set the outcome_unit"):
        large.warm_up(bandit)
    assert repr(bandit.state()) == before
    broken = replace(LOG, verdicts=(*VERDICTS, PastVerdict(IDS[0], IDS[3], True, 7.0)))
    with pytest.raises(InvalidInput, match="gap must be a number from 0 to 1, got 7"):
        broken.warm_up(bandit)
    assert repr(bandit.state()) == before
    with pytest.raises(InvalidInput, match="bandit must have 4 features as the log has, got 3"):
        LOG.warm_up(eh.FairBandit(3))


def test_a_desk_imports_the_records(tmp_path: Path) -> None:
    """Every record is accepted: all outcomes, and all verdicts on a gap, also on people of different rounds."""
    log = replace(LOG, probabilities=None, verdicts=())
    chosen, other = (int(np.flatnonzero(mask[:10])[0]) for mask in (log.chosen, ~log.chosen))
    verdicts = (
        PastVerdict(IDS[chosen], IDS[other], True, 1.0, "kim"),
        PastVerdict(IDS[0], IDS[12], True, 1.0),
        PastVerdict(IDS[0], IDS[3], True, 0.0),
        PastVerdict(IDS[20], IDS[31], False, 0.3),
    )
    log = replace(log, verdicts=verdicts)
    lines = [json.dumps(record) for record in log.records()]
    (tmp_path / "past.jsonl").write_text("\n".join(lines))
    with closing(open_ledger("memory:")) as ledger, eh.Desk.open(ledger, "loans", n_features=4, capacity=2) as desk:
        report = import_jsonl(desk, tmp_path / "past.jsonl")
        desk.catch_up()
        assert (report.outcomes, report.reviews, report.refused) == (80, 3, [])
        assert desk.projection.skipped == 0
    *_, first, last = log.records()
    assert sorted(first["source"]["verdict"]) == [IDS[0], IDS[12]]
    assert last["probabilities"] in ({IDS[20]: 0.3, IDS[31]: 0.0}, {IDS[31]: 0.3, IDS[20]: 0.0})
    assert last["reviews"] == [{"kind": "partial", "fair": [[IDS[20], IDS[31]]]}]
