"""Whatever shaped a distance is quoted with the line that says it: a review, an imported line, an answer."""

from __future__ import annotations

import itertools
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from evenhand.desk import Desk, Ledger
from evenhand.desk.explain.evidence import Quoted
from evenhand.desk.imports.importing import import_jsonl
from tests.support.desk_play import QUICK, D, bound, people, play
from tests.support.past_records import exported, written


def past(rng: np.random.Generator, kind: str = "complete", reviewer: str | None = "Kim") -> dict[str, Any]:
    """A record of a past decision with a review of it; some probabilities are equal, and teach nothing."""
    candidates = people(rng, k=4)
    names = [person["id"] for person in candidates]
    stated = {"kind": kind, "unfair": [names[1::-1]], "fair": [names[2:]] if kind == "partial" else []}
    return {
        "candidates": candidates,
        "probabilities": [0.4, 0.1, 0.3, 0.1],
        "reviews": [{**stated, "reviewer": reviewer}],
    }


def quoted(desk: Desk, decision: str, *, then: bool = False) -> list[Quoted]:
    """All verdicts that an explanation quotes."""
    return [stated for pair in desk.explain(decision, then=then).binding_pairs for stated in pair.shaped_by]


def check(desk: Desk, stated: Quoted, decided_from: int) -> None:
    """The line that is quoted says this of these two, with this gap."""
    event = desk.event(stated.review)
    body = event.body
    assert event.kind == stated.kind
    assert stated.is_later == (event.seq > decided_from)
    if stated.kind == "answer":
        assert (body["gap"], body["unfair"], body["reviewer"]) == (stated.gap, stated.unfair, stated.reviewer)
        assert (stated.decision, stated.first, stated.second) == ("", "one", "the other")
    elif stated.kind == "imported":
        (review,) = body["reviews"]
        probabilities = dict(zip(body["candidates"], body["probabilities"], strict=True))
        assert stated.decision == ""
        assert abs(probabilities[stated.first] - probabilities[stated.second]) == stated.gap
        assert review["reviewer"] == stated.reviewer
        assert ({stated.first, stated.second} in map(set, review["unfair"])) == stated.unfair
    else:
        assert body["decision"] == stated.decision


def test_a_warm_start_is_quoted(ledger: Ledger, name: str, tmp_path: Path) -> None:
    """Imported reviews and answers, each with its line; none is missing, and none of the later ones is quoted then."""
    rng = np.random.default_rng(2)
    records = [past(rng, kind, reviewer) for kind in ("complete", "partial") for reviewer in ("Kim", None)]
    with Desk.open(ledger, name, **QUICK, seed=1) as desk:
        import_jsonl(desk, written(tmp_path / "past.jsonl", *records))
        for x, y in itertools.combinations(0.5 * np.eye(D), 2):
            desk.answer(x, y, gap=0.6, unfair=True, reviewer="Kim")
            desk.answer(x, -y, gap=0.1, unfair=False, reviewer="Lee")
        desk.answer([0, 0.5, 0], [0, 0, 0.4], gap=0.3, unfair=None, reviewer="Lee")
        event = bound(desk, rng)
        found = quoted(desk, event.id)
        assert {len(pair.shaped_by) for pair in desk.explain(event.id).binding_pairs} == {5}
        assert {stated.kind for stated in found} == {"imported", "answer"}
        for stated in [*found, *quoted(desk, event.id, then=True)]:
            check(desk, stated, event.body["state"])
        play(desk, 1)
        import_jsonl(desk, written(tmp_path / "more.jsonl", *(past(rng, reviewer="Lee") for _ in range(6))))
        desk.catch_up(wait=True)
        later = quoted(desk, event.id)
        assert any(stated.is_later and stated.kind == "imported" for stated in later)
        for stated in later:
            check(desk, stated, event.body["state"])
        assert quoted(desk, event.id, then=True) == found
        with Desk.open(ledger, name) as afresh:  # which has read nothing of the ledger before
            afresh.catch_up(wait=True)
            assert quoted(afresh, event.id) == later


def test_a_ledger_imported_is_quoted(tmp_path: Path) -> None:
    """Another desk's reviews shape a new desk's first decision, and are quoted by the line that is here."""
    with Desk.open("memory:", "old", **QUICK, seed=1) as old, Desk.open("memory:", "new", **QUICK) as new:
        play(old, 2)
        import_jsonl(new, exported(old, tmp_path / "old.jsonl"))
        new.catch_up(wait=True)
        event = bound(new, np.random.default_rng(4))
        found = quoted(new, event.id)
        assert found
        for stated in found:
            check(new, stated, event.body["state"])
            assert stated.kind == "imported"


def test_a_verdict_that_occurs_twice_is_quoted_twice(tmp_path: Path) -> None:
    """The same record two times, and the same answer with other gaps: each with a line of its own."""
    record = past(np.random.default_rng(2), "partial")
    with (
        Desk.open("memory:", "a", **QUICK, seed=1) as first,
        Desk.open("memory:", "b", **QUICK, seed=1) as other,
    ):
        import_jsonl(first, written(tmp_path / "past.jsonl", record, record))
        first.catch_up(wait=True)
        for gap in (0.3, 0.2, 0.3):
            other.answer([0, 0, 0.5], [0.5, 0, 0], gap=gap, unfair=True)
        for desk, times in ((first, 2), (other, 1)):
            event = bound(desk, np.random.default_rng(4))
            lines = {line.id: times for line in desk.events(kinds=("imported", "answer"))}
            for pair in desk.explain(event.id).binding_pairs:
                assert Counter(stated.review for stated in pair.shaped_by) == lines
                for stated in pair.shaped_by:
                    check(desk, stated, event.body["state"])


def test_an_imported_line_that_was_taken_back_is_quoted_no_more(tmp_path: Path) -> None:
    """But for what was known then, before it was taken back."""
    rng = np.random.default_rng(2)
    with Desk.open("memory:", "loans", **QUICK, seed=1) as desk:
        import_jsonl(desk, written(tmp_path / "past.jsonl", past(rng), past(rng)))
        desk.catch_up(wait=True)
        event = bound(desk, rng)
        gone = quoted(desk, event.id)[0].review
        desk.withdraw(gone)
        desk.catch_up(wait=True)
        assert gone not in {stated.review for stated in quoted(desk, event.id)}
        assert gone in {stated.review for stated in quoted(desk, event.id, then=True)}


def test_then_the_review_is_named_that_stood_then(ledger: Ledger, name: str) -> None:
    """Taken back since, and given again in the same words: it is the first one that shaped the probabilities."""
    both = [{"id": "a", "context": [0.9, 0.1, 0.0]}, {"id": "b", "context": [0.1, 0.9, 0.0]}]
    with Desk.open(ledger, name, **QUICK, seed=1) as desk:
        first = desk.decide(both)
        while not first.event.body["tight_pairs"] or abs(first.probabilities["a"] - first.probabilities["b"]) < 0.01:
            desk.outcome(first.id, {person: float(person == "a") for person in first.chosen})
            first = desk.decide(both)
        review = desk.review(first.id, "partial", unfair=[("a", "b")], reviewer="Kim")
        desk.outcome(first.id, {person: float(person == "a") for person in first.chosen})
        shaped = desk.decide(both)
        assert [stated.review for stated in quoted(desk, shaped.id, then=True)] == [review.id]
        desk.withdraw(review.id, "a slip of the finger")
        assert [stated.review for stated in quoted(desk, shaped.id, then=True)] == [review.id]
        again = desk.review(first.id, "partial", unfair=[("a", "b")], reviewer="Kim")
        then, now = quoted(desk, shaped.id, then=True), quoted(desk, shaped.id)
        assert [(stated.review, stated.is_later) for stated in then] == [(review.id, False)]
        assert [(stated.review, stated.is_later) for stated in now] == [(again.id, True)]
