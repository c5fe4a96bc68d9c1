"""A ledger that somebody changed: verify finds it, replay refuses it, and it does not open unnoticed."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import orjson
import pytest

from evenhand.desk import Decide, Desk, open_ledger
from evenhand.desk.replay import replay
from evenhand.errors import DamagedLedger
from evenhand.ledger.event import Row, canonical
from evenhand.ledger.ledger import Ledger
from evenhand.ledger.verify import Chain, verify
from tests.support.desk_play import D, done, people, play
from tests.support.tampering import lines, tampered, written_anew

LAST = -1
"""The last line, which came with an idempotency key."""


def with_another_name(text: str) -> str:
    """A line in which somebody is called otherwise."""
    return text.replace("person 0", "person O")


@pytest.mark.parametrize(
    ("statement", "line"),
    [
        ("UPDATE events SET text = replace(text, 'person 0', 'person O') WHERE seq = 5", 5),
        ("UPDATE events SET text = replace(text, '0.', '1.') WHERE seq = 3", 3),
        ("UPDATE events SET text = 'nonsense' WHERE seq = 7", 7),
        ("UPDATE events SET text = CAST(x'7bff7d' AS TEXT) WHERE seq = 7", 7),
        ("UPDATE events SET text = CAST(text AS BLOB) WHERE seq = 7", 7),
        ("UPDATE events SET text = 17 WHERE seq = 7", 7),
        ("UPDATE events SET hash = CAST(hash AS BLOB) WHERE seq = 6", 6),
        ("UPDATE events SET id = CAST(x'ff' AS TEXT) WHERE seq = 6", 6),
        ("UPDATE desks SET hash = CAST(x'ff' AS TEXT)", None),
        ("UPDATE desks SET seq = 'many'", None),
        ("UPDATE events SET hash = previous WHERE seq = 6", 6),
        ("UPDATE events SET previous = hash WHERE seq = 6", 6),
        ("UPDATE events SET target = NULL WHERE seq = 4", 4),
        ("UPDATE events SET number = 99 WHERE seq = 2", 2),
        ("UPDATE events SET kind = 'outcome' WHERE seq = 2", 2),
        ("UPDATE events SET id = 'dec_0' WHERE seq = 2", 2),
        ("UPDATE events SET undoes = 3 WHERE seq = 5", 5),
        ("UPDATE events SET key = 'another' WHERE seq = 4", 4),
        ("UPDATE events SET key = 'another' WHERE key IS NOT NULL", LAST),
        ("UPDATE events SET key = NULL WHERE key IS NOT NULL", LAST),
        ("UPDATE events SET fingerprint = 'another' WHERE key IS NOT NULL", LAST),
        ("DELETE FROM events WHERE seq = 5", 5),
        ("DELETE FROM events WHERE seq > 8", None),
        ("UPDATE events SET seq = seq + 100 WHERE seq = 3", 3),
        ("UPDATE desks SET decisions = decisions + 1", None),
        ("UPDATE desks SET seq = seq - 1", None),
    ],
)
def test_any_change_is_found(path: Path, statement: str, line: int | None) -> None:
    """verify names the line that was changed, whichever column it was."""
    tampered(path, statement)
    with closing(open_ledger(f"sqlite:///{path}")) as ledger, pytest.raises(DamagedLedger) as raised:
        verify(ledger, "loans")
    assert "{" not in str(raised.value), "what a line says is nobody's business here"
    if line is not None:
        assert f"event {len(lines(path)) if line == LAST else line} " in str(raised.value)


def test_a_line_put_in_the_place_of_another_is_found(path: Path) -> None:
    """SQLite's triggers do not see INSERT OR REPLACE; the chain does."""
    changed = (
        "seq, id, kind, target, number, undoes, key, fingerprint, replace(text, ':', ': '), previous, hash, contents"
    )
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(f"INSERT OR REPLACE INTO events SELECT desk, {changed} FROM events WHERE seq = 5")
    with (
        closing(open_ledger(f"sqlite:///{path}")) as ledger,
        pytest.raises(DamagedLedger, match=r"event 5 .* was changed"),
    ):
        verify(ledger, "loans")


def test_a_ledger_written_anew_is_found_by_a_noted_line(path: Path) -> None:
    """Somebody who chains everything again passes, but not whoever noted a hash before."""
    ledger = open_ledger(f"sqlite:///{path}")
    noted = verify(ledger, "loans")
    ledger.close()
    written_anew(path, with_another_name)
    with closing(open_ledger(f"sqlite:///{path}")) as ledger:
        assert verify(ledger, "loans").seq == noted.seq
        with pytest.raises(DamagedLedger):
            verify(ledger, "loans", known=(noted.seq, noted.hash))
        with pytest.raises(DamagedLedger):
            verify(ledger, "loans", known=(noted.seq + 1, noted.hash))


def test_the_database_itself_refuses_changes(durable_url: str, name: str) -> None:
    """Rows of the ledger can be neither changed nor removed, short of removing the triggers."""
    with Desk.open(durable_url, name, n_features=D) as desk:
        done(desk.execute([Decide(people(np.random.default_rng(0)))]))
        assert isinstance(desk.ledger, Ledger)
        for statement in ("UPDATE events SET kind = 'x'", "DELETE FROM events"):
            with pytest.raises(Exception, match="append-only"), desk.ledger.transaction(writes=True) as connection:
                connection.exec_driver_sql(statement)
        assert verify(desk.ledger, name).seq == 2


def test_a_replay_refuses_what_does_not_verify(path: Path) -> None:
    """A change that changes no probabilities: the replay names its line before it makes any decision again."""
    last = max(seq for seq, kind in lines(path) if kind == "outcome")
    tampered(path, f"UPDATE events SET text = replace(text, 'rewards', 'Rewards') WHERE seq = {last}")
    with (
        closing(open_ledger(f"sqlite:///{path}")) as ledger,
        pytest.raises(DamagedLedger, match=f"event {last} .* was changed"),
    ):
        replay(ledger, "loans")


def test_a_first_ledger_still_verifies(path: Path) -> None:
    """The first ledgers signed no idempotency keys, and noted of residuals only a limit.

    They verify as they did, a desk goes on with them, and every decision comes out the same.
    """

    def as_at_first(text: str) -> str:
        old = {name: value for name, value in orjson.loads(text).items() if name != "request"}
        if old["kind"] == "decision":
            del old["body"]["worst_residual"]
            old["body"]["worst_residual_at_most"] = 1e-9
        return canonical(old)

    written_anew(path, as_at_first)
    tampered(path, "DELETE FROM snapshots")
    with Desk.open(f"sqlite:///{path}", "loans") as desk:
        first = next(event for event in desk.events() if event.kind == "decision")
        assert desk.explain(first.id).worst_residual is None
        play(desk, 1)
        assert verify(desk.ledger, "loans").seq == desk.head.seq
        assert replay(desk.ledger, "loans").is_same


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("worst_residual", 1e-3),
        ("estimated_rewards", [0.1, 0.2, 0.3, 0.4]),
        ("optimistic_rewards", [0.1, 0.2, 0.3, 0.4]),
        ("lots", {"generator": "Philox", "counter": [0, 7, 0, 0]}),
        ("schema", "0" * 64),
        ("capacity", 2),
        ("chosen", []),
        ("tight_pairs", [[0, 1], [0, 2], [0, 3], [1, 3]]),
        ("seal", "0-0"),
    ],
)
def test_a_decision_that_claims_what_was_not_is_found(path: Path, field: str, value: object) -> None:
    """A chain written anew in which a decision's record says something else: the replay names it.

    Everything is in its text, as in ledgers of earlier versions: so nothing has to be encrypted anew.
    """
    with closing(open_ledger(f"sqlite:///{path}")) as ledger, ledger.reading("loans") as view:
        body = view.after(1, 1)[0].event.body

    def embellished(text: str) -> str:
        line = orjson.loads(text)
        if line["seq"] == 2:
            assert body[field] != value
            line["body"] = {**body, field: value}
        return canonical(line)

    written_anew(path, embellished)
    tampered(path, "UPDATE events SET contents = NULL WHERE seq = 2")
    with closing(open_ledger(f"sqlite:///{path}")) as ledger:
        found = replay(ledger, "loans").differences[0]  # what was learned from it differs after it
        assert (found[0], found[1].split()[0]) == (2, field)


@pytest.mark.parametrize("snapshots", ["kept", "deleted"])
@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE events SET text = replace(text, ':', ': ') WHERE seq = (SELECT max(seq) FROM events)",
        "UPDATE events SET text = replace(text, ':', ': ') WHERE seq = (SELECT max(seq) FROM snapshots)",
        "UPDATE events SET kind = 'answer' WHERE seq = (SELECT max(seq) FROM events)",
        "UPDATE events SET text = replace(text, 'capacity', 'Capacity') WHERE seq = 1",
        "DELETE FROM events WHERE seq = (SELECT max(seq) FROM events)",
        "DELETE FROM events WHERE seq = 1",
        "UPDATE desks SET hash = '0'",
    ],
)
def test_opening_a_changed_ledger_is_refused(path: Path, statement: str, snapshots: str) -> None:
    """What opening relies on is checked: the first line, the settings, the line of the snapshot, all lines since."""
    tampered(path, statement, *(["DELETE FROM snapshots"] if snapshots == "deleted" else []))
    with pytest.raises(DamagedLedger):
        Desk.open(f"sqlite:///{path}", "loans")


def test_a_ledger_written_anew_does_not_fit_its_snapshot(path: Path) -> None:
    """A whole chain under another name: the hash at the snapshot's line is not the one it was taken at."""
    written_anew(path, with_another_name)
    with pytest.raises(DamagedLedger, match="another hash when a snapshot was taken"):
        Desk.open(f"sqlite:///{path}", "loans")


def test_opening_checks_the_newest_lines_alone(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However long a ledger is, opening it checks so many lines; older ones are verify's business."""
    monkeypatch.setattr("evenhand.ledger.verify.NEWEST", 5)
    checked: list[int] = []
    add = Chain.add

    def noticed(self: Chain, row: Row) -> None:
        checked.append(row.seq)
        add(self, row)

    monkeypatch.setattr(Chain, "add", noticed)
    tampered(path, "DELETE FROM snapshots", "UPDATE events SET text = replace(text, '0.', '1.') WHERE seq = 3")
    with Desk.open(f"sqlite:///{path}", "loans") as desk:
        head = desk.head.seq
        assert checked == [*range(head - 4, head + 1)]
        with pytest.raises(DamagedLedger, match="event 3 "):
            verify(desk.ledger, "loans")


@pytest.mark.parametrize("change", ["person 0|person O", '"actor":"desk"|"actor":"Kim"', "0.5|0.9"])
def test_a_changed_line_is_not_shown_as_true(path: Path, change: str) -> None:
    """Whoever asks an open desk for a line that was changed since gets an error, whatever was changed in it."""
    was, is_now = change.split("|")
    with Desk.open(f"sqlite:///{path}", "loans") as desk:
        lines = desk.events()
        hit = next(event for event in lines if event.kind in ("decision", "outcome") and was in event.text)
        tampered(path, f"UPDATE events SET text = replace(text, '{was}', '{is_now}') WHERE seq = {hit.seq}")
        decision = hit.body.get("decision", hit.id)
        for ask in (desk.events, lambda: desk.event(hit.id), lambda: desk.decision(decision)):
            with pytest.raises(DamagedLedger, match=f"event {hit.seq} was changed"):
                ask()
