"""The lottery: every draw was committed to before its candidates were known; it can be verified, and not foreseen."""

from __future__ import annotations

import hashlib
import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pytest

from evenhand.adapters.dsjson_ledger import to_dsjson
from evenhand.desk import ChangeSettings, Decide, Desk, Event, Ledger, open_ledger
from evenhand.desk.imports.importing import import_jsonl
from evenhand.desk.lottery import SeededDraws, new_secret
from evenhand.desk.projection.projection import QuietBandit
from evenhand.desk.replay import replay
from evenhand.errors import DamagedLedger, EvenhandError
from evenhand.ledger.event import Row, canonical
from evenhand.ledger.lottery import keep_secret, secret_of
from evenhand.ledger.verify import to_jsonl, verify, verify_lines
from evenhand.rewards import RidgeUCB
from tests.support.desk_play import D, done, people, play
from tests.support.tampering import tampered, written_anew

OLD = Path(__file__).parents[1] / "data" / "v0_1" / "ledger.db"


@pytest.fixture(autouse=True)
def _lotteries_of_their_own(same_lottery: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Random secrets, as outside of tests."""
    for module in ("opening", "lottery"):
        monkeypatch.setattr(f"evenhand.desk.{module}.new_secret", new_secret)


def decisions(desk: Desk) -> list[Event]:
    """All decisions of a desk."""
    return desk.events(kinds=["decision"])


def drawn(event: Event) -> list[str]:
    """Who is chosen of a decision of capacity 1, by its revealed key alone."""
    mark = np.random.default_rng(int(event.body["lottery"]["key"], 16)).random()
    above = np.flatnonzero(np.cumsum(event.body["probabilities"]) > mark)
    return [event.body["candidates"][above[0]]] if len(above) else []


def check_commitments(desk: Desk, first: str) -> None:
    """Every key has the digest that the event before it has."""
    for event in decisions(desk):
        lottery = event.body["lottery"]
        assert hashlib.sha256(bytes.fromhex(lottery["key"])).hexdigest() == first
        first = lottery["next"]


def test_draws_do_not_follow_from_the_seed() -> None:
    """Two desks with one seed, and so the same probabilities, draw differently; nor are the draws the seed's own."""
    chosen = []
    for _ in range(2):
        with Desk.open("memory:", "loans", n_features=D, seed=42) as desk:
            rng = np.random.default_rng(0)
            events = done(desk.execute([Decide(people(rng)) for _ in range(60)]))
            seeded = [
                desk.projection.bandit.propose(e.body["contexts"], number=n, rng=SeededDraws(42).of(n).rng).chosen
                for n, e in enumerate(events)
            ]
            assert [[f"person {i}" for i in places] for places in seeded] != [e.body["chosen"] for e in events]
            chosen.append([(e.body["probabilities"], e.body["chosen"]) for e in events])
    first, second = chosen
    assert [p for p, _ in first] == [p for p, _ in second]
    assert first != second


def test_every_draw_can_be_verified(durable_ledger: Ledger, name: str) -> None:
    """The key fits the commitment made one decision before, and the draw follows from it and the probabilities."""
    with Desk.open(durable_ledger, name, n_features=D, seed=1) as desk:
        play(desk, 3)
        desk.change_settings(overlap=0.1)
        play(desk, 1, seed=9)
        check_commitments(desk, desk.events(limit=1)[0].body["lottery"]["next"])
        assert all(drawn(event) == event.body["chosen"] for event in decisions(desk))
        assert verify(durable_ledger, name).decisions == 8
        assert replay(durable_ledger, name).is_same


def test_the_secret_is_in_nothing_that_leaves_the_database(played: Desk) -> None:
    """Neither in an event nor in an export, a snapshot or a record; nor are keys of later decisions."""
    secret = secret_of(played.ledger, played.name)
    assert secret is not None
    texts = [*to_jsonl(played.ledger, played.name), *to_dsjson(played.ledger, played.name)]
    blobs = [played.ledger.snapshot(played.name, stamp.seq) or b"" for stamp in played.ledger.snapshots(played.name)]
    for form in (secret.hex(), str(int.from_bytes(secret))):
        assert not any(form in text for text in texts)
    assert not any(secret in blob or secret.hex().encode() in blob for blob in blobs)
    assert len({event.body["lottery"]["key"] for event in decisions(played)}) == len(decisions(played))


CHANGES: dict[str, Callable[[dict[str, Any]], object]] = {
    "its key is another": lambda body: body["lottery"].update(key="00" * 32),
    "its key is no key": lambda body: body["lottery"].update(key="zz"),
    "its key is left out": lambda body: body["lottery"].pop("key"),
    "it has no lottery": lambda body: body.pop("lottery"),
    "it commits to another": lambda body: body["lottery"].update(next="00" * 32),
    "it commits to nothing": lambda body: body["lottery"].pop("next"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_draw_with_another_key_is_found(path: Path, change: str) -> None:
    """In a chain written anew: by verify, in the database and in a file, whoever has neither seed nor secret."""

    def changed(text: str) -> str:
        line = orjson.loads(text)
        if line["kind"] == "decision" and line["body"]["number"] == 3:
            CHANGES[change](line["body"])
        return canonical(line)

    written_anew(path, changed)
    with closing(open_ledger(f"sqlite:///{path}")) as ledger:
        with pytest.raises(DamagedLedger, match="lottery"):
            verify(ledger, "loans")
        with pytest.raises(DamagedLedger, match="lottery"):
            verify_lines(list(to_jsonl(ledger, "loans", damaged=lambda error: None)))


def test_a_key_that_nothing_committed_to_is_found(path: Path) -> None:
    """Somebody takes the commitment out of the first event: the key of the first decision could be any."""

    def changed(text: str) -> str:
        line = orjson.loads(text)
        if line["seq"] == 1:
            del line["body"]["lottery"]
        return canonical(line)

    written_anew(path, changed)
    with (
        closing(open_ledger(f"sqlite:///{path}")) as ledger,
        pytest.raises(DamagedLedger, match=r"event 2 .*committed"),
    ):
        verify(ledger, "loans")


@pytest.mark.parametrize("statement", ["DELETE FROM lottery_secrets", "UPDATE lottery_secrets SET secret = x'01'"])
def test_a_desk_without_its_secret_decides_nothing(path: Path, statement: str) -> None:
    """With another secret no draw would fit the commitment: refused, and the ledger stays as it was."""
    tampered(path, statement)
    with Desk.open(f"sqlite:///{path}", "loans") as desk:
        before = desk.head
        candidates = people(np.random.default_rng(0))
        with pytest.raises(DamagedLedger, match=r"secret of desk 'loans' .*; restore a backup"):
            desk.decide(candidates)
        changed, refused = desk.execute([ChangeSettings({"overlap": 0.5}), Decide(candidates)])
        assert isinstance(changed, Event)
        assert isinstance(refused, DamagedLedger)
        assert desk.head.seq == before.seq + 1
        assert secret_of(desk.ledger, "loans") in (None, b"\1")


def test_processes_that_begin_at_once_get_one_secret(durable_url: str, name: str) -> None:
    """Whoever is first makes it."""
    with Desk.open(durable_url, name, n_features=D) as desk:
        with desk.ledger.transaction(writes=True) as connection:
            connection.exec_driver_sql("DELETE FROM lottery_secrets WHERE desk = ?", (name,))
        found: set[bytes] = set()
        make = lambda: found.add(keep_secret(desk.ledger, name, new_secret()))  # noqa: E731
        threads = [threading.Thread(target=make) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(found) == 1


# Desks of earlier versions.


@pytest.fixture
def old(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Ledger]:
    """A ledger of 0.1; with its optimistic rewards, so that its decisions replay."""
    monkeypatch.setattr(RidgeUCB, "optimistic", lambda self, x: self.estimate(x) + self.widths(x))
    shutil.copy(OLD, tmp_path / "ledger.db")
    with closing(open_ledger(f"sqlite:///{tmp_path}/ledger.db", make=False)) as ledger:
        yield ledger


def lotteries(desk: Desk, after: int) -> list[tuple[int, set[str]]]:
    """The number of each decision after an event, and what it says of the lottery."""
    found = [event for event in decisions(desk) if event.seq > after]
    return [(event.body["number"], set(event.body.get("lottery", ()))) for event in found]


def test_the_first_decision_of_this_version_begins_the_commitments(old: Ledger) -> None:
    """It is drawn as before and commits to the next; from then on every draw has a key."""
    with Desk.open(old, "loans") as desk:
        head, rng = desk.head, np.random.default_rng(0)
        assert all("lottery" not in event.body for event in decisions(desk))
        done(desk.execute([Decide(people(rng)), Decide(people(rng))]))
    with Desk.open(old, "loans") as desk:
        done(desk.execute([ChangeSettings({"overlap": 0.5}), Decide(people(rng))]))
        found = lotteries(desk, head.seq)
    first = head.decisions
    assert found == [(first, {"next"}), (first + 1, {"key", "next"}), (first + 2, {"key", "next"})]
    verify(old, "loans")
    assert replay(old, "loans").is_same


def test_commitments_that_one_process_began_go_on(old: Ledger) -> None:
    """Batch by batch: none is drawn without a key after one that committed to it."""
    with Desk.open(old, "loans") as desk:
        head, rng = desk.head, np.random.default_rng(0)
        for _ in range(4):
            desk.decide(people(rng))
        found = lotteries(desk, head.seq)
    assert [names for _, names in found] == [{"next"}, *[{"key", "next"}] * 3]
    verify(old, "loans")
    assert replay(old, "loans").is_same


def test_a_decision_that_cannot_be_written_commits_to_nothing(old: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    """The next one of its batch is the first, and is drawn as before."""
    make = Row.make
    failed: list[bool] = []

    def failing(*arguments: Any, **named: Any) -> Row:
        if not failed:
            failed.append(True)
            raise TypeError("not JSON")
        return make(*arguments, **named)

    monkeypatch.setattr(Row, "make", failing)
    with Desk.open(old, "loans") as desk:
        head, rng = desk.head, np.random.default_rng(0)
        refused, *made = desk.execute([Decide(people(rng)) for _ in range(3)])
        assert isinstance(refused, EvenhandError)
        assert [names for _, names in lotteries(desk, head.seq)] == [{"next"}, {"key", "next"}]
        assert len(done(made)) == 2
    verify(old, "loans")


def test_two_processes_begin_the_commitments_once(old: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    """One computes a batch while the other begins: its events are built again, with keys that fit."""
    with Desk.open(old, "loans") as first, Desk.open(old, "loans") as second:
        head, rng = first.head, np.random.default_rng(0)
        waits, goes_on, propose = threading.Event(), threading.Event(), QuietBandit.propose

        def slow(self: QuietBandit, *arguments: Any, **named: Any) -> Any:
            if threading.current_thread() is deciding:
                waits.set()
                assert goes_on.wait(60)
            return propose(self, *arguments, **named)

        monkeypatch.setattr(QuietBandit, "propose", slow)
        batch = [Decide(people(rng)), Decide(people(rng))]
        deciding = threading.Thread(target=lambda: done(first.execute(batch)))
        deciding.start()
        assert waits.wait(60)
        second.decide(people(rng))
        goes_on.set()
        deciding.join()
        second.decide(people(rng))
        found = lotteries(first, head.seq)
    assert [number - head.decisions for number, _ in found] == [0, 1, 2, 3]
    assert [names for _, names in found] == [{"next"}, *[{"key", "next"}] * 3]
    verify(old, "loans")
    assert replay(old, "loans").is_same


def test_a_warm_start_has_a_lottery_of_its_own(played: Desk, tmp_path: Path) -> None:
    """An imported ledger brings neither its keys nor its commitments."""
    file = tmp_path / "loans.jsonl"
    file.write_text("".join(f"{line}\n" for line in to_jsonl(played.ledger, played.name)))
    with Desk.open("memory:", "new", n_features=D, seed=1) as desk:
        assert import_jsonl(desk, file).added
        play(desk, 1)
        check_commitments(desk, desk.events(limit=1)[0].body["lottery"]["next"])
        assert verify(desk.ledger, "new").decisions == 2
        keys = {event.body["lottery"]["key"] for event in decisions(played)}
        assert keys.isdisjoint(event.body["lottery"]["key"] for event in decisions(desk))
