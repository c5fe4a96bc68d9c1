"""A file that has grown is imported again: what is new comes in, what was taken back goes, nothing comes in twice."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evenhand.desk import Desk, Event, Ledger
from evenhand.desk.imports.importing import import_jsonl
from evenhand.desk.replay import replay
from evenhand.errors import AlreadyRecorded, DamagedLedger, InvalidInput
from evenhand.ledger.verify import to_jsonl, verify
from tests.support.desk_play import QUICK, D, done, outcome_of, people, play, review_of
from tests.support.ledger_command import run
from tests.support.past_records import GOOD, distance, exported, written


def valid_content(desk: Desk) -> Counter[str]:
    """What a desk has imported and not taken back."""
    with desk.ledger.reading(desk.name) as view:
        gone = {seq for _, seq in view.withdrawals()}
    lines = [event for event in desk.events() if event.kind in ("imported", "answer") and event.seq not in gone]
    return Counter(map(content_of, lines))


def content_of(event: Event) -> str:
    """What a line says, whichever way it came."""
    return json.dumps({name: value for name, value in event.body.items() if name != "origins"}, sort_keys=True)


def grown(desk: Desk, first: list[Event], answers: list[Event]) -> None:
    """What arrives at a desk after it was exported once: outcomes, reviews, withdrawals, decisions."""
    rng = np.random.default_rng(9)
    desk.withdraw(first[0].id, "mixed up two files")
    desk.withdraw(answers[0].id)
    stated = review_of(desk.event(first[1].body["decision"]))
    names = desk.event(stated.decision).body["candidates"]
    desk.review(stated.decision, "partial", fair=[names[:2]], reviewer="Kim", supersedes=first[1].id)
    for event in desk.events(kinds=("decision",)):
        reported = [line for line in desk.events(kinds=("outcome",)) if line.body["decision"] == event.id]
        outcome = outcome_of(event, rng)
        if outcome is not None and not reported:
            done(desk.execute([outcome]))
        done(desk.execute([review_of(event, "Lee")]))
    desk.answer([0, 0.5, 0], [0, 0, 0.5], gap=0.3, unfair=False, reviewer="Kim")
    play(desk, 1, seed=5)


def test_what_came_since_is_taken_in(ledger: Ledger, name: str, tmp_path: Path) -> None:
    """Outcomes, reviews, withdrawals, superseding reviews, answers: then a desk knows what one knows that is new."""
    rng = np.random.default_rng(3)
    with (
        Desk.open(ledger, name, **QUICK, seed=1) as source,
        Desk.open(ledger, f"{name}-again", **QUICK, seed=2) as again,
        Desk.open(ledger, f"{name}-once", **QUICK, seed=2) as once,
    ):
        reviews = play(source, 3)
        source.decide(people(rng))
        answers = [source.answer([0.5, 0, 0], [0, 0.5, 0], gap=0.2, unfair=True, reviewer="Kim")]
        first = import_jsonl(again, exported(source, tmp_path / "first.jsonl"))
        assert (first.refused, first.known, first.withdrawn) == ([], 0, 0)
        grown(source, reviews, answers)
        file = exported(source, tmp_path / "second.jsonl")
        second, whole = import_jsonl(again, file), import_jsonl(once, file)
        assert (second.refused, whole.refused, whole.known, whole.withdrawn) == ([], [], 0, 0)
        assert second.known == first.added - 3
        assert second.withdrawn == 3
        assert second.outcomes == whole.outcomes - first.outcomes > 0
        assert second.reviews == whole.reviews - first.reviews + 2 > 0
        assert valid_content(again) == valid_content(once)
        for desk in (again, once):
            desk.catch_up(wait=True)
        learned, reported = (desk.projection.bandit.reward.estimate(np.eye(D)) for desk in (again, once))
        assert np.allclose(learned, reported)
        head = again.head.seq
        third = import_jsonl(again, file)
        assert (third.added, third.refused, again.head.seq) == (0, [], head)
        play(again, 1)
        assert verify(ledger, again.name).seq == again.head.seq
        assert replay(ledger, again.name).is_same
        # What was imported and taken back is imported from this desk no more, either.
        onwards = Desk.open(ledger, f"{name}-onwards", **QUICK)
        assert import_jsonl(onwards, exported(again, tmp_path / "third.jsonl")).refused == []
        imported = Counter(map(content_of, again.events(kinds=("imported",))))
        assert valid_content(again) <= valid_content(onwards)
        assert not (imported - valid_content(again)) & valid_content(onwards)
        onwards.close()


def test_an_imported_line_can_be_taken_back(ledger: Ledger, name: str, tmp_path: Path) -> None:
    """All that it taught goes, outcomes and reviews; once; and importing the file again does not bring it back."""
    other = {**GOOD, "rewards": {"b": 0.1}}
    with (
        Desk.open(ledger, name, **QUICK, seed=2) as desk,
        Desk.open("memory:", name, **QUICK, seed=2) as same,
    ):
        import_jsonl(same, written(tmp_path / "other.jsonl", other))
        import_jsonl(desk, written(tmp_path / "past.jsonl", GOOD, other))
        line = desk.events(kinds=("imported",))[0].id
        assert desk.withdraw(line, "of another year").body["review"] == line
        for one in (desk, same):
            one.catch_up(wait=True)
        assert distance(desk) == distance(same)
        learned, reported = (one.projection.bandit.reward.estimate(np.eye(D)) for one in (desk, same))
        assert np.array_equal(learned, reported)
        with pytest.raises(AlreadyRecorded):
            desk.withdraw(line)
        again = import_jsonl(desk, tmp_path / "past.jsonl")
        assert (again.added, again.known) == (0, 2)
        assert replay(ledger, name).is_same


def test_a_review_does_not_supersede_an_imported_line(tmp_path: Path) -> None:
    """It is of another decision, and stays."""
    with Desk.open("memory:", "loans", **QUICK) as desk:
        import_jsonl(desk, written(tmp_path / "past.jsonl", GOOD))
        line, decision = desk.events()[-1].id, desk.decide(people(np.random.default_rng(1)))
        with pytest.raises(InvalidInput, match="of the same decision"):
            desk.review(decision.id, "partial", unfair=[decision.candidates[:2]], supersedes=line)
        assert desk.withdraw(line).kind == "withdrawal"


def test_records_are_known_by_what_they_say(ledger: Ledger, name: str, tmp_path: Path) -> None:
    """Lines that come in between, or are set otherwise, make no new record; one more of the same kind is one more."""
    other = {**GOOD, "rewards": {"b": 0.1}}
    with Desk.open(ledger, name, **QUICK) as desk:
        first = import_jsonl(desk, written(tmp_path / "first.jsonl", GOOD, GOOD))
        assert (first.decisions, first.known) == (2, 0)
        turned = json.dumps(dict(reversed(GOOD.items())), indent=None, separators=(", ", " : "))
        second = import_jsonl(desk, written(tmp_path / "second.jsonl", {"settings": {}}, other, "", GOOD, turned))
        assert (second.decisions, second.known, second.refused) == (1, 2, [])
        third = import_jsonl(desk, written(tmp_path / "third.jsonl", GOOD, GOOD, GOOD, other))
        assert (third.decisions, third.known) == (1, 3)


@pytest.fixture
def lines(path: Path, tmp_path: Path) -> list[str]:
    """An exported ledger."""
    assert run("export", "loans", "--database", f"sqlite:///{path}", "--output", str(tmp_path / "out.jsonl")) == 0
    return (tmp_path / "out.jsonl").read_text().splitlines()


def changed(lines: list[str], how: str) -> list[str]:
    """The lines, damaged in the fifth."""
    if how == "changed":
        return [*lines[:4], lines[4].replace("person", "Person"), *lines[5:]]
    if how == "removed":
        return [*lines[:4], *lines[5:]]
    if how == "swapped":
        return [*lines[:4], lines[5], lines[4], *lines[6:]]
    if how == "cut off":
        return [*lines[:4], lines[4][:100]]
    if how == "without hashes":
        reported = json.loads(lines[4])
        return [*lines[:4], json.dumps({name: reported[name] for name in reported if name not in ("previous", "hash")})]
    return [*lines[:4], json.dumps({**json.loads(lines[4]), "hash": "0" * 64}), *lines[5:]]


@pytest.mark.parametrize("how", ["changed", "removed", "swapped", "cut off", "without hashes", "another hash"])
def test_a_broken_chain_is_refused(
    lines: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str], how: str
) -> None:
    """With the line's number, status 1, and before a desk is made; asked for, what fits is taken in."""
    file, where = written(tmp_path / "past.jsonl", *changed(lines, how)), ("--data", str(tmp_path / "new"))
    assert run("import", "new", str(file), *where) == 1
    assert capsys.readouterr().err.startswith("line 5 of the file was changed, or ")
    assert not (tmp_path / "new").exists()
    assert run("import", "new", str(file), *where, "--even-if-damaged") in (0, 1)
    assert "imported: " in capsys.readouterr().out
    with Desk.open(f"sqlite:///{tmp_path}/new/ledger.db", "new") as desk, pytest.raises(DamagedLedger):
        import_jsonl(desk, file)


def test_lines_with_hashes_may_be_set_otherwise_and_lie_beside_others(lines: list[str], tmp_path: Path) -> None:
    """Written anew with spaces, the beginning of a ledger, the same twice, another ledger or a plain record behind."""
    other = tmp_path / "other"
    other.mkdir()
    with Desk.open(f"sqlite:///{other}/ledger.db", "others", **QUICK, seed=4) as desk:
        play(desk, 1)
        more = list(to_jsonl(desk.ledger, desk.name))
    spaced: list[Any] = [json.loads(line) for line in lines]
    with Desk.open("memory:", "new", **QUICK) as new:
        for records in (lines[:7], spaced, [*lines, *lines], [*lines, *more], [*lines, GOOD]):
            assert import_jsonl(new, written(tmp_path / "past.jsonl", *records)).refused == []
