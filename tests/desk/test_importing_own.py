"""What comes back to the desk it came from is known there, by its line's id; a record's own source is not read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evenhand.desk import Desk, ImportPast, Ledger, open_ledger
from evenhand.desk.imports.importing import import_jsonl
from evenhand.errors import InvalidInput
from tests.support.desk_play import QUICK, D, play
from tests.support.past_records import GOOD, exported, written

SOURCES: list[Any] = [
    {"file": "2024.csv", "line": 12},
    {"decision": ["of", "1999"], "line": "x"},
    {"desk": 1, "decision": {}, "line": None, "origins": [{"line": 7}]},
    [1, 2],
    "2024.csv",
]


@pytest.mark.parametrize("source", SOURCES)
def test_a_source_may_be_anything(tmp_path: Path, source: Any) -> None:
    """Each record is one decision, whatever its source says; exported and imported elsewhere it is still."""
    record = {**GOOD, "source": source}
    with Desk.open("memory:", "first", **QUICK) as first, Desk.open("memory:", "second", **QUICK) as second:
        reported = import_jsonl(first, written(tmp_path / "past.jsonl", record, {**record, "rewards": {"b": 0.1}}))
        assert (reported.decisions, reported.outcomes, reported.reviews, reported.refused) == (2, 2, 2, [])
        assert [event.body["source"] for event in first.events(kinds=("imported",))] == [source, source]
        onwards = import_jsonl(second, exported(first, tmp_path / "first.jsonl"))
        assert (onwards.decisions, onwards.outcomes, onwards.refused) == (2, 2, [])
        assert [event.body["source"] for event in second.events(kinds=("imported",))] == [source, source]


def test_outcome_and_review_of_one_decision_are_one_however_far_they_came(tmp_path: Path) -> None:
    """Counted by the decision that was made first, over two desks."""
    with (
        Desk.open("memory:", "a", **QUICK, seed=1) as a,
        Desk.open("memory:", "b", **QUICK) as b,
        Desk.open("memory:", "c", **QUICK) as c,
    ):
        play(a, 2)
        near = import_jsonl(b, exported(a, tmp_path / "a.jsonl"))
        far = import_jsonl(c, exported(b, tmp_path / "b.jsonl"))
        assert near.decisions == far.decisions == 4
        assert far.added == near.added > 4


def filled(ledger: Ledger, tmp_path: Path) -> Desk:
    """A desk with decisions, outcomes and reviews of its own, an answer, and a record from a file."""
    desk = Desk.open(ledger, "own", **QUICK, seed=1)
    reviews = play(desk, 2)
    desk.withdraw(reviews[0].id)
    desk.answer([0.5, 0, 0], [0, 0.5, 0], gap=0.2, unfair=True, reviewer="Kim")
    import_jsonl(desk, written(tmp_path / "past.jsonl", GOOD))
    return desk


def test_a_desk_learns_nothing_from_its_own_export(tmp_path: Path) -> None:
    """Nothing is added; every line that has something to teach is reported as already here."""
    ledger = open_ledger("memory:")
    with filled(ledger, tmp_path) as desk, Desk.open(ledger, "other", **QUICK) as other:
        file, head = exported(desk, tmp_path / "own.jsonl"), desk.head
        reported, there = import_jsonl(desk, file), import_jsonl(other, file)
        assert (desk.head, reported.added, reported.known, reported.refused) == (head, 0, 0, [])
        assert reported.own == there.added > 4
        assert f"{reported.own} lines are this desk's own" in str(reported)
        assert there.own == 0
        assert "here already" not in str(there)


def test_what_comes_back_by_way_of_others_is_known(tmp_path: Path) -> None:
    """Over one desk and over two, answers and records among it; what those desks have learned themselves comes in."""
    ledger = open_ledger("memory:")
    with filled(ledger, tmp_path) as desk:
        file, before = exported(desk, tmp_path / "0.jsonl"), desk.head.seq
        for name in ("b", "c"):
            with Desk.open(ledger, name, **QUICK, seed=3) as other:
                taken = import_jsonl(other, file).added
                file = exported(other, tmp_path / f"{name}.jsonl")
                reported = import_jsonl(desk, file)
                assert (reported.added, reported.own, reported.refused) == (0, taken, [])
                assert desk.head.seq == before
        with Desk.open(ledger, "c") as other:
            other.answer([0.1, 0, 0], [0, 0.1, 0], gap=0.2, unfair=True, reviewer="Lee")
            reported = import_jsonl(desk, exported(other, tmp_path / "c.jsonl"))
        assert (reported.added, reported.answers, reported.own) == (1, 1, taken)


def test_of_a_desk_in_between_too(tmp_path: Path) -> None:
    """What b had from a and gave to c comes back to b from c, and is known there."""
    ledger = open_ledger("memory:")
    with (
        filled(ledger, tmp_path) as a,
        Desk.open(ledger, "b", **QUICK) as b,
        Desk.open(ledger, "c", **QUICK) as c,
    ):
        taken = import_jsonl(b, exported(a, tmp_path / "a.jsonl")).added
        import_jsonl(c, exported(b, tmp_path / "b.jsonl"))
        b.catch_up(wait=True)
        learned = b.projection.bandit.reward.estimate(np.eye(D))
        reported = import_jsonl(b, exported(c, tmp_path / "c.jsonl"))
        b.catch_up(wait=True)
        assert (reported.added, reported.own) == (0, taken)
        assert np.array_equal(b.projection.bandit.reward.estimate(np.eye(D)), learned)


@pytest.mark.parametrize("origins", ["rev_1", [7], [{"desk": "a"}], [{"desk": "a", "line": 3}], {"desk": "a"}])
def test_origins_that_are_none_are_refused(origins: Any) -> None:
    """With a sentence, and nothing is written."""
    with Desk.open("memory:", "a", **QUICK) as desk:
        (result,) = desk.execute([ImportPast(GOOD, origins)])
        assert isinstance(result, InvalidInput)
        assert "must be a list of" in str(result)
        assert desk.head.seq == 1
