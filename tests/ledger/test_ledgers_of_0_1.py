"""A ledger written by evenhand 0.1 opens, verifies, replays, and goes on; on its processor to the bit.

tests/data/v0_1/ledger.db has two desks. "loans": decisions with idempotency keys, outcomes, complete, partial and
one-bit reviews, review metadata, a withdrawn review, an override, interview answers, changed settings, waiting pairs
and a snapshot. "grants": a schema, imported records, decisions, outcomes and a review. Besides an access token.
expected.json has what 0.1 computed from it; loans.jsonl is 0.1's export of "loans".
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evenhand._internal.rounding import ROUNDING, distance_between
from evenhand.desk import Decide, Desk, Ledger, open_ledger
from evenhand.desk.imports.importing import import_jsonl
from evenhand.desk.projection.snapshots import check_snapshots
from evenhand.desk.replay import digest_of, replay
from evenhand.ledger.verify import to_jsonl, verify, verify_lines
from evenhand.rewards import RidgeUCB
from tests.support.desk_play import done
from tests.support.processors import is_the_one_of_0_1

DATA = Path(__file__).parents[1] / "data" / "v0_1"
EXPECTED: dict[str, Any] = json.loads((DATA / "expected.json").read_text())
DESKS = pytest.mark.parametrize("name", list(EXPECTED["desks"]))


@pytest.fixture
def old(tmp_path: Path) -> Iterator[Ledger]:
    """A copy of the ledger, opened, and so migrated."""
    shutil.copy(DATA / "ledger.db", tmp_path / "ledger.db")
    ledger = open_ledger(f"sqlite:///{tmp_path}/ledger.db", make=False)
    yield ledger
    ledger.close()


@DESKS
def test_it_verifies(old: Ledger, name: str) -> None:
    """Every hash is right, the head is the one that 0.1 knew, and so are the snapshots."""
    expected = EXPECTED["desks"][name]
    found = verify(old, name, known=(expected["seq"], expected["hash"]))
    assert (found.seq, found.hash, found.decisions) == (expected["seq"], expected["hash"], expected["decisions"])
    assert [list(stamp) for stamp in old.snapshots(name)] == expected["snapshots"]
    check_snapshots(old, name)


@pytest.fixture
def _uncapped(monkeypatch: pytest.MonkeyPatch) -> None:
    """Optimistic rewards without the cap that 0.1 did not have; decisions are promised to the bit within a version."""
    monkeypatch.setattr(RidgeUCB, "optimistic", lambda self, x: self.estimate(x) + self.widths(x))


@DESKS
@pytest.mark.usefixtures("_uncapped")
def test_it_replays(old: Ledger, name: str) -> None:
    """Every decision and snapshot comes out the same; on the processor that wrote it so does the bandit, to the bit."""
    result = replay(old, name)
    assert result.is_same, (result.differences, result.snapshots)
    if not is_the_one_of_0_1():
        return
    assert result.rounding == 0
    with Desk.open(old, name) as desk:
        desk.catch_up(wait=True)
        state = {**desk.projection.bandit.state(), "first_metric": None, "history": None}  # 0.1 kept both, empty
        del state["fit"]  # and did not check whether a metric fits
    assert digest_of(state) == EXPECTED["desks"][name]["state_digest"]


@DESKS
@pytest.mark.parametrize("with_snapshots", [True, False])
def test_its_projection_is_the_one_of_0_1(old: Ledger, name: str, with_snapshots: bool) -> None:
    """From the snapshot of 0.1 or from the first event: the same distances, counts and skipped events."""
    expected = EXPECTED["desks"][name]
    if not with_snapshots:
        with old.transaction(writes=True) as connection:
            connection.exec_driver_sql("DELETE FROM snapshots")
    with Desk.open(old, name) as desk:
        desk.catch_up(wait=True)
        assert desk.projection.seq == expected["seq"]
        distances = desk.projection.bandit.distances(expected["contexts"])
        for bound, values in expected["distances"].items():
            assert distance_between(getattr(distances, bound).tolist(), values) <= ROUNDING
        history = desk.projection.history
        assert {"kinds": history.kinds, "taught": history.taught} == expected["history"]
        assert desk.projection.skipped == expected["skipped"]


@DESKS
@pytest.mark.usefixtures("_uncapped")
def test_decisions_go_on(old: Ledger, name: str) -> None:
    """The next decision is the one that 0.1 would have made; the ledger stays intact."""
    expected = EXPECTED["desks"][name]
    with Desk.open(old, name) as desk:
        desk.catch_up(wait=True)
        people = [{"id": str(i), "context": context} for i, context in enumerate(expected["contexts"])]
        (event,) = done(desk.execute([Decide(people)]))
        rounding = distance_between(event.body["probabilities"], expected["next"]["probabilities"])
        assert rounding <= ROUNDING
        assert event.body["chosen"] == [str(i) for i in expected["next"]["chosen"]]
        assert not is_the_one_of_0_1() or event.body["seal"] == expected["next"]["seal"]
        desk.review(event.id, unfair=[("0", "1")], reviewer="Kim")
        assert not np.array_equal(
            desk.projection.bandit.distances(expected["contexts"]).estimate, expected["distances"]["estimate"]
        )
    assert replay(old, name).is_same


def test_idempotency_keys_of_0_1_still_hold(old: Ledger) -> None:
    """A command that 0.1 has acknowledged gives its event again."""
    with Desk.open(old, "loans") as desk:
        first = next(event for event in desk.events() if event.kind == "decision")
        people = [
            {"id": name, "context": context}
            for name, context in zip(first.body["candidates"], first.body["contexts"], strict=True)
        ]
        assert desk.decide(people, idempotency_key="day 0").event == first


def test_the_queue_and_the_token_are_there(old: Ledger) -> None:
    """Pairs that waited under 0.1 are handed out, and tokens are kept."""
    assert old.pairs.count("loans") == EXPECTED["desks"]["loans"]["waiting"] > 0
    with Desk.open(old, "loans") as desk:
        assert len(desk.queue(3, reviewer="Kim")) == 3
    with old.transaction() as connection:
        tokens = connection.exec_driver_sql("SELECT name, digest FROM tokens").fetchall()
    assert [dict(row._mapping) for row in tokens] == [EXPECTED["token"]]


def test_the_export_of_0_1_is_the_export_of_today(old: Ledger) -> None:
    """Line by line, and it verifies without a database."""
    lines = (DATA / "loans.jsonl").read_text().splitlines()
    assert list(to_jsonl(old, "loans")) == lines
    assert verify_lines(lines).hash == EXPECTED["desks"]["loans"]["hash"]


def test_the_export_of_0_1_is_a_warm_start() -> None:
    """Imported into a new desk it teaches; imported again it adds nothing."""
    with Desk.open("memory:", "new", n_features=3, seed=1) as desk:
        report = import_jsonl(desk, DATA / "loans.jsonl")
        assert not report.refused
        assert (report.outcomes, report.reviews, report.answers) == (7, 4, 1)
        again = import_jsonl(desk, DATA / "loans.jsonl")
        assert (again.added, again.known) == (0, report.added)
