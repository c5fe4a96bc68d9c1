"""A snapshot that is not what was taken is not decided from; what its checksum cannot detect, a replay does."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from evenhand.desk import Desk, Ledger, open_ledger
from evenhand.desk.projection.reducer import Reducer
from evenhand.desk.projection.snapshots import OLDER, check_snapshots, checked, from_bytes, to_bytes, with_checksum
from evenhand.desk.replay import digest_of, replay
from evenhand.desk.settings import DeskSettings
from evenhand.errors import DamagedLedger
from evenhand.ledger.event import Stamp
from evenhand.ledger.verify import verify
from tests.support.desk_play import D, play
from tests.support.ledger_command import run

LOG = "evenhand.desk.projection.projector"


@pytest.fixture
def played(ledger: Ledger, name: str) -> str:
    """The name of a desk that has a snapshot of its newest line."""
    with Desk.open(ledger, name, n_features=D, metric="BayesPoint", seed=3) as desk:
        play(desk, 3)
    assert ledger.snapshots(name)
    return name


def newest(ledger: Ledger, desk: str) -> tuple[Stamp, bytes]:
    """The newest snapshot."""
    stamp = ledger.snapshots(desk)[-1]
    blob = ledger.snapshot(desk, stamp.seq)
    assert blob is not None
    return stamp, blob


def forged(blob: bytes) -> bytes:
    """A snapshot in which somebody taught the bandit something, with a fresh checksum."""
    reducer = from_bytes(blob)
    assert reducer is not None
    reducer.bandit.learn_pair([0.9, 0, 0], [0, 0.9, 0], gap=0.3, unfair=True)
    return to_bytes(reducer, checked(blob).chain)


def edited(blob: bytes) -> bytes:
    """The same by somebody who leaves the checksum as it is."""
    return blob.replace(checked(blob).content, checked(forged(blob)).content)


def flipped(blob: bytes) -> bytes:
    """One bit fell over."""
    return blob[:-9] + bytes([blob[-9] ^ 1]) + blob[-8:]


def of_another_line(blob: bytes) -> bytes:
    """Taken at another line."""
    found = checked(blob)
    return with_checksum(Stamp(found.stamp.seq - 1, found.stamp.until - 1), found.chain, found.content)


def cut_off(blob: bytes) -> bytes:
    """The rest of it is lost."""
    return blob[:60]


def nonsense(blob: bytes) -> bytes:
    """Something else."""
    return b"nonsense"


@pytest.mark.parametrize("damage", [edited, flipped, of_another_line, cut_off, nonsense])
def test_a_changed_snapshot_is_found_and_not_used(
    ledger: Ledger, played: str, damage: Callable[[bytes], bytes], caplog: pytest.LogCaptureFixture
) -> None:
    """verify names its line; a desk that opens says so in its log, and comes to the state of the lines."""
    check_snapshots(ledger, played)
    stamp, blob = newest(ledger, played)
    state = replay(ledger, played).state
    ledger.keep_snapshot(played, stamp, damage(blob), [])
    verify(ledger, played)
    with pytest.raises(
        DamagedLedger, match=f"the snapshot at event {stamp.seq} of desk '{played}' was .*events are intact"
    ):
        check_snapshots(ledger, played)
    with caplog.at_level(logging.WARNING, LOG), Desk.open(ledger, played) as desk:
        assert f"snapshot at event {stamp.seq} cannot be used" in caplog.text
        assert desk.projection.seq < stamp.seq
        desk.catch_up(wait=True)
        assert digest_of(desk.projection.bandit.state()) == state


def test_a_forged_snapshot_with_a_checksum_is_found_by_a_replay(ledger: Ledger, played: str) -> None:
    """A checksum has no key: verify cannot detect it, projecting everything again does."""
    stamp, blob = newest(ledger, played)
    assert replay(ledger, played).is_same
    ledger.keep_snapshot(played, stamp, forged(blob), [])
    check_snapshots(ledger, played)
    reported = replay(ledger, played)
    assert (reported.snapshots, reported.differences, reported.is_same) == ([stamp.seq], [], False)


def test_every_snapshot_is_compared(ledger: Ledger, played: str) -> None:
    """An older one too, one kept on the way to a later line, and one whose checksum is broken."""
    with ledger.reading(played) as view:
        rows = view.after(0, 1000)
    stamp, blob = newest(ledger, played)
    for seq, until in ((3, 3), (5, rows[-1].seq)):
        reducer = Reducer.initial(DeskSettings.from_dict(rows[0].event.body["settings"]))
        reducer.advance(ledger, played, seq, [])
        reducer.stamp = Stamp(seq, until)
        ledger.keep_snapshot(played, reducer.stamp, to_bytes(reducer, rows[seq - 1].hash), [])
    assert replay(ledger, played).is_same
    for seq, until in ((3, 3), (5, rows[-1].seq)):
        there = ledger.snapshot(played, seq)
        assert there is not None
        ledger.keep_snapshot(played, Stamp(seq, until), forged(there), [])
    ledger.keep_snapshot(played, stamp, edited(blob), [])
    assert replay(ledger, played).snapshots == [3, 5, stamp.seq]


def test_history_is_part_of_what_is_compared(ledger: Ledger, played: str) -> None:
    """The history that charts are drawn from is compared as well."""
    stamp, blob = newest(ledger, played)
    reducer = from_bytes(blob)
    assert reducer is not None
    reducer.history.taught += 1
    ledger.keep_snapshot(played, stamp, to_bytes(reducer, checked(blob).chain), [])
    assert replay(ledger, played).snapshots == [stamp.seq]


def test_snapshots_without_a_checksum_are_replaced_quietly(
    ledger: Ledger, played: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Those of the first versions: nobody is warned, nothing is damaged, and the desk comes to the same state."""
    stamp, blob = newest(ledger, played)
    state = replay(ledger, played).state
    older = checked(blob).content
    assert older.startswith(OLDER)
    ledger.keep_snapshot(played, stamp, older, [])
    check_snapshots(ledger, played)
    with caplog.at_level(logging.WARNING, LOG), Desk.open(ledger, played) as desk:
        assert desk.projection.seq < stamp.seq
        desk.catch_up(wait=True)
        assert digest_of(desk.projection.bandit.state()) == state
    assert caplog.text == ""
    assert from_bytes(newest(ledger, played)[1]) is not None
    assert replay(ledger, played).is_same


def test_the_command_line_names_the_snapshot_first(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Before it speaks of decisions, versions and processors; decisions made from it come out otherwise."""
    url = f"sqlite:///{path}"
    where = ("--database", url)
    ledger = open_ledger(url)
    stamp, blob = newest(ledger, "loans")
    ledger.keep_snapshot("loans", stamp, forged(blob), [])
    assert run("verify", "loans", *where) == 0
    assert run("replay", "loans", *where) == 1
    begun = f"the snapshot at event {stamp.seq} does not follow from the ledger; "
    assert capsys.readouterr().err.startswith(f"{begun}delete the snapshots")
    with Desk.open(ledger, "loans") as desk:
        assert desk.projection.seq == stamp.seq
        made = desk.decide([[0.9, 0, 0], [0, 0.9, 0], [0, 0, 0.9]])
    assert run("replay", "loans", *where) == 1
    stated = capsys.readouterr().err
    assert stated.startswith(f"{begun}1 of ")
    assert re.search(rf"the first is event {made.event.seq}: [a-z_, ]*\bprobabilities\b", stated)
    ledger.keep_snapshot("loans", stamp, edited(blob), [])
    assert run("verify", *where) == 1
    assert capsys.readouterr().err.startswith(f"the snapshot at event {stamp.seq} of desk 'loans' was changed")
    ledger.close()
