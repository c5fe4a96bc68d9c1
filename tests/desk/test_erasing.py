"""People who are erased: nothing of them can be read, the ledger verifies, and the desk goes on."""

from __future__ import annotations

import json
import shutil
import sqlite3
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evenhand.adapters.dsjson_ledger import to_dsjson
from evenhand.desk import Decide, Desk, GiveReview, ImportPast, open_ledger
from evenhand.desk.imports.importing import import_jsonl
from evenhand.desk.queue import QueueFeeder
from evenhand.desk.replay import digest_of, replay
from evenhand.errors import DamagedLedger, Erased, InvalidInput, UnknownRecord
from evenhand.ledger.backup import copy_database, noted_erasures
from evenhand.ledger.event import Stamp
from evenhand.ledger.verify import to_jsonl, verified_chain, verify, verify_lines
from evenhand.rewards import RidgeUCB
from tests.support.desk_play import done
from tests.support.forgotten import FEATURES, WHO, WORDS, found_in, person, play, signs, visit

DATA = Path(__file__).parents[1] / "data" / "v0_1"
SETTINGS: dict[str, Any] = {"features": list(FEATURES), "seed": 3}


class Story:
    """A desk in a file that decided about her among others."""

    def __init__(self, folder: Path, before: int = 3, after: int = 3) -> None:
        self.file = folder / "ledger.db"
        self.desk = Desk.open(f"sqlite:///{self.file}", "loans", **SETTINGS)
        self.rng = np.random.default_rng(1)
        self.before = play(self.desk, self.rng, before)
        self.visit = visit(self.desk, self.rng, "bob", "cleo", "dan")
        self.after = play(self.desk, self.rng, after)

    @property
    def files(self) -> tuple[Path, ...]:
        """Where something of her could be."""
        return (self.file, Path(f"{self.file}-wal"), Path(f"{self.file}.erasures"))


@pytest.fixture
def story(tmp_path: Path) -> Story:
    """A desk that knows her."""
    return Story(tmp_path)


def test_nothing_of_her_can_be_read(story: Story, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Not in the database, its log, a backup made afterwards, the exports or what is logged; before, all could."""
    export = "\n".join(to_jsonl(story.desk.ledger, "loans")).encode()
    assert all(sign in export for sign in signs() if sign.isascii())  # numbers as text, and words
    caplog.set_level("DEBUG")
    with story.desk.ledger.transaction() as connection:
        select = "SELECT key FROM person_keys WHERE person = ?"
        key = bytes(connection.exec_driver_sql(select, (WHO,)).scalar_one())
    assert any(key in file.read_bytes() for file in story.files if file.exists())
    story.desk.erase(WHO, reason="asked for it")
    assert not any(key in file.read_bytes() for file in story.files if file.exists())
    copy_database(story.file, tmp_path / "copy.db")
    assert found_in(*story.files) == found_in(tmp_path / "copy.db") == []
    lines = [*to_jsonl(story.desk.ledger, "loans"), *to_dsjson(story.desk.ledger, "loans"), caplog.text]
    assert not any(sign in "\n".join(lines).encode() for sign in signs())
    story.desk.close()
    assert found_in(*story.files) == []


def test_an_erasure_is_finished_by_whoever_opens_the_desk_next(
    story: Story, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process that is killed right after the event was committed leaves her key in the log, and the list without her.

    The files are copied as they are then: closing them would tidy up.
    """
    with story.desk.ledger.transaction() as connection:
        select = "SELECT key FROM person_keys WHERE person = ?"
        key = bytes(connection.exec_driver_sql(select, (WHO,)).scalar_one())
    monkeypatch.setattr(Desk, "finish_erasure", lambda *_: None)
    erased = story.desk.erase(WHO)
    monkeypatch.undo()
    left = tmp_path / "left"
    left.mkdir()
    for file in story.files:
        if file.exists():
            shutil.copy(file, left)
    files = [left / file.name for file in story.files]
    assert any(key in file.read_bytes() for file in files if file.exists())
    for _ in range(2):  # what is finished stays finished
        with Desk.open(f"sqlite:///{left / 'ledger.db'}", "loans"):
            assert not any(key in file.read_bytes() for file in files if file.exists())
            assert found_in(*files) == []
            noted = [(one.candidate, one.time) for one in noted_erasures(files[-1])]
            assert noted == [(WHO, erased.time)]


def test_what_was_learned_from_her_is_in_no_snapshot(story: Story) -> None:
    """Snapshots that hold differences from her context are gone, also from the bytes of the file."""
    story.desk.catch_up(wait=True)
    story.desk.projector._keep_snapshot(story.desk.projector._reducer)  # it would keep one only after a second
    *_, newest = story.desk.ledger.snapshots("loans")
    contexts = np.array(story.visit.event.body["contexts"])
    verdicts = story.desk.projector.at(newest.seq).bandit.safeguards.log.verdicts()
    assert (contexts[0] - contexts[1]).tobytes() in verdicts.differences.tobytes()
    blob = story.desk.ledger.snapshot("loans", newest.seq) or b""
    pieces = [blob[at : at + 64] for at in range(len(blob) // 4, len(blob) // 2, 1024)]

    def is_there() -> bool:
        content = b"".join(file.read_bytes() for file in story.files if file.exists())
        return any(piece in content for piece in pieces)

    assert is_there()
    story.desk.erase(WHO)
    verdicts = story.desk.projection.bandit.safeguards.log.verdicts()
    assert (contexts[0] - contexts[1]).tobytes() not in verdicts.differences.tobytes()
    assert not is_there()


def test_the_ledger_verifies_and_says_how_much_was_erased(story: Story) -> None:
    """Hashes and links stay right, in the database and in the export; an erasure is one more event."""
    assert verified_chain(story.desk.ledger, "loans")[0].erased == 0
    head = verify(story.desk.ledger, "loans")
    event = story.desk.erase(WHO, reason="asked for it")
    assert event.body == {"candidate": WHO, "old_events": 0, "reason": "asked for it", "since": story.visit.event.seq}
    chain, _ = verified_chain(story.desk.ledger, "loans", known=(head.seq, head.hash))
    assert chain.erased == 6  # hers and everybody's in the decision; review, note, withdrawal, override
    assert verify_lines(to_jsonl(story.desk.ledger, "loans"), known=(head.seq, head.hash)).hash == event.hash


def test_json_and_sha_256_verify_an_export(story: Story) -> None:
    """Chain and commitments, as docs/ledger.md has it; a changed content is noticed."""
    story.desk.erase(WHO)
    lines, previous, checked, gone = list(to_jsonl(story.desk.ledger, "loans")), "0" * 64, 0, 0
    for line in lines:
        text, _, hashes = line.rpartition(',"previous":')
        stored, event = json.loads('{"previous":' + hashes), json.loads(line)
        previous = sha256((previous + text + "}").encode()).hexdigest()
        assert stored["hash"] == previous
        sealed = event["body"].get("sealed", {"contents": []})["contents"]
        for commitment, content in zip(sealed, event.get("contents", []), strict=True):
            if content is None:
                gone += 1
                continue
            assert sha256(bytes.fromhex(content["salt"]) + content["text"].encode()).hexdigest() == commitment["hash"]
            checked += 1
    assert checked > 20
    assert gone == 6
    changed = [line.replace(r"\"debt\":", r"\"dept\":", 1) for line in lines]
    with pytest.raises(DamagedLedger, match="commitment"):
        verify_lines(changed)


def test_the_desk_goes_on_without_what_it_learned_from_her(story: Story) -> None:
    """No verdict on her and no outcome of hers counts any more; verdicts on others of the same decision still do."""
    story.desk.erase(WHO)
    bandit = story.desk.projection.bandit
    verdicts = bandit.safeguards.log.verdicts()
    hers = [row for row, source in enumerate(verdicts.sources) if source.startswith(f"{story.visit.number}-")]
    assert {tuple(verdicts.pairs[row].tolist()) for row in hers} == {(1, 2), (1, 3), (2, 3)}
    learned = [
        one.event.body["contexts"][one.candidates.index(name)]
        for one in (*story.before, *story.after)
        for name in one.chosen
    ]
    assert isinstance(bandit.reward, RidgeUCB)
    fresh = RidgeUCB(3)
    fresh.learn(np.array(learned), np.full(len(learned), 0.3))
    assert np.allclose(bandit.reward.theta, fresh.theta, atol=1e-12)
    assert play(story.desk, story.rng, 2)[-1].event.body["state"] > story.visit.event.seq
    assert story.desk.projection.skipped == 0
    with pytest.raises(UnknownRecord, match="was erased before"):
        story.desk.erase(WHO)


def test_snapshots_and_the_first_event_lead_to_the_same(story: Story) -> None:
    """After an erasure, what is projected again from a snapshot is what is projected from the first event on."""
    story.desk.erase(WHO)
    known = digest_of(story.desk.projection.bandit.state())
    result = replay(story.desk.ledger, "loans")
    assert (result.state, result.is_same) == (known, True)


def test_replay_names_the_decisions_that_it_cannot_make_again(story: Story) -> None:
    """Hers, and those that had learned from her; all others come out the same, earlier ones and later ones."""
    story.desk.erase(WHO)
    later = play(story.desk, story.rng, 2)
    result = replay(story.desk.ledger, "loans")
    assert result.is_same
    assert result.erased == [one.event.seq for one in (story.visit, *story.after)]
    assert result.decisions == len(story.before) + 1 + len(story.after) + len(later)
    with pytest.raises(Erased, match="cannot be computed again"):
        story.desk.explain(story.after[-1].id, then=True)
    assert story.desk.explain(later[-1].id, then=True).state == later[-1].event.body["state"]


def test_explanations_say_erased(story: Story) -> None:
    """Of her decision what can still be said is said; those of other people are as before."""
    before = story.desk.explain(story.before[-1].id)
    story.desk.erase(WHO)
    reported = story.desk.explain(story.visit.id)
    assert reported.candidates[0].estimated_reward is None
    assert reported.candidates[1].estimated_reward is not None
    assert reported.price is None
    assert f"Candidate {WHO} was erased" in reported.sentences[-1]
    assert not any(WHO in (pair.first, pair.second) for pair in reported.binding_pairs)
    after = story.desk.explain(story.before[-1].id)
    assert (after.candidates, after.price) == (before.candidates, before.price)
    record = story.desk.decision(story.visit.id)
    assert record["body"]["erased"] == [WHO]
    assert record["body"]["contexts"][0] is None
    assert record["body"]["probabilities"] == list(story.visit.probabilities.values())


def test_her_pairs_leave_the_queue() -> None:
    """No reviewer is asked about her any more, also not about pairs of hers that are queued afterwards."""
    with Desk.open("memory:", "loans", n_features=3, seed=3, pairs_per_decision=6, reviewing={"certain": 1}) as desk:
        others = [{"id": name, "context": row} for name, row in zip("abc", np.eye(3).tolist(), strict=True)]
        people = [{"id": WHO, "context": list(FEATURES.values())}, *others]
        desk.outcome(desk.decide([others[0]]).id, {"a": 0.9})
        made = desk.decide(people)
        desk.catch_up(wait=True)
        waiting = desk.queue(1000)
        assert {WHO in (pair.first, pair.second) for pair in waiting} == {True, False}
        desk.erase(WHO)
        left = desk.queue(1000)
        assert left == [pair for pair in waiting if WHO not in (pair.first, pair.second)]
        feeder = QueueFeeder(desk.ledger, "loans")  # of a process that has not queued this decision yet
        feeder.feed(desk.projection, patiently=False)
        assert desk.queue(1000) == left
        assert {pair.decision for pair in left} == {made.id}


def test_nothing_new_is_recorded_about_her(story: Story) -> None:
    """Outcomes of hers and reviews that name her are refused, those of others are recorded."""
    story.desk.erase(WHO)
    for refused in (
        lambda: story.desk.review(story.visit.id, "partial", fair=[(WHO, "dan")], reviewer="Noa"),
        lambda: story.desk.review(story.visit.id, "ratings", ratings={WHO: 1, "dan": 2}, reviewer="Noa"),
        lambda: story.desk.decide([{"id": WHO, "features": FEATURES}], idempotency_key="with ('bob', 'cleo', 'dan')"),
    ):
        with pytest.raises(Erased):
            refused()
    story.desk.review(story.visit.id, "partial", fair=[("cleo", "dan")], reviewer="Noa")
    story.desk.review(story.visit.id, "one_bit", any_unfair=True, reviewer="Noa")
    assert story.desk.projection.skipped == 0


def test_she_may_come_again(story: Story) -> None:
    """Under the same id she gets a new key: what was erased stays so, what is new can be read, and be erased again."""
    story.desk.erase(WHO)
    again = visit(story.desk, story.rng, "eve", "finn")
    assert story.desk.decision(story.visit.id)["body"]["contexts"][0] is None
    assert story.desk.decision(again.id)["body"]["features"][0] == FEATURES
    assert verified_chain(story.desk.ledger, "loans")[0].erased == 6
    assert story.desk.erase(WHO).body["since"] == again.event.seq
    assert found_in(*story.files) == []
    assert replay(story.desk.ledger, "loans").is_same


def test_a_missing_key_without_an_erasure_is_damage(story: Story) -> None:
    """Somebody who removes a key, or changes contents, is found out."""
    connection = sqlite3.connect(story.file)
    connection.execute("DELETE FROM person_keys WHERE person = ?", (WHO,))
    connection.commit()
    with pytest.raises(DamagedLedger, match=f"about .*{WHO}.* cannot be read"):
        verify(story.desk.ledger, "loans")
    connection.execute("DROP TRIGGER events_no_update")
    blob = connection.execute("SELECT contents FROM events WHERE seq = 2").fetchone()[0]
    connection.execute("UPDATE events SET contents = ? WHERE seq = 2", (blob[:-1] + bytes([blob[-1] ^ 1]),))
    connection.commit()
    connection.close()
    with pytest.raises(DamagedLedger, match=r"event 2 .* does not have its commitment"):
        verify(story.desk.ledger, "loans")


def test_an_export_without_her_is_imported_without_her(story: Story, tmp_path: Path) -> None:
    """Another desk learns what remains; lines that were about her alone are left out."""
    story.desk.erase(WHO)
    (tmp_path / "loans.jsonl").write_text("\n".join(to_jsonl(story.desk.ledger, "loans")) + "\n")
    with Desk.open("memory:", "new", **SETTINGS) as other:
        report = import_jsonl(other, tmp_path / "loans.jsonl")
        assert report.refused == []
        assert report.reviews == 3 + 1 + 3  # of the three on her decision: hers and a withdrawn one are not among them
        imported = [event.body["candidates"] for event in other.events(kinds=["imported"])]
        assert not any(WHO in names for names in imported)


def test_imported_people_and_answers_are_erased_alike(story: Story) -> None:
    """A past decision loses her; an answer about her is gone; one about nobody known goes by its own id."""
    desk, hers = story.desk, list(FEATURES.values())
    record = {
        "candidates": [{"id": WHO, "context": hers}, {"id": "gus", "context": [0.1, 0.1, 0.1]}],
        "probabilities": [0.5, 0.2],
        "rewards": {WHO: 0.4, "gus": 0.1},
        "source": WORDS[3],
    }
    done(desk.execute([ImportPast(record)]))
    about_her = desk.answer(hers, [0.0, 0.1, 0.0], gap=0.3, unfair=True, reviewer="Kim", people=[WHO])
    nobody = desk.answer([0.0, 0.2, 0.0], hers, gap=0.3, unfair=False, reviewer="Kim")
    desk.erase(WHO)
    with pytest.raises(Erased):
        desk.answer(hers, [0.0, 0.1, 0.0], gap=0.3, unfair=True, people=[WHO])
    assert "x" not in desk.event(about_her.id).body
    assert desk.event(nobody.id).body["y"] == hers
    taught = desk.projection.history.taught
    desk.erase(nobody.id)
    assert desk.projection.history.taught == taught - 1
    assert found_in(*story.files) == []
    assert replay(desk.ledger, "loans").is_same


def test_old_events_are_named_and_stay(tmp_path: Path) -> None:
    """A ledger of 0.1 has everything in its hashed texts: the refusal says how many, and what is possible."""
    shutil.copy(DATA / "ledger.db", tmp_path / "ledger.db")
    ledger = open_ledger(f"sqlite:///{tmp_path}/ledger.db", make=False)
    with Desk.open(ledger, "loans") as desk:
        decisions = desk.events(kinds=["decision"])
        who, head = decisions[0].body["candidates"][0], desk.head
        with pytest.raises(InvalidInput, match=r"cannot be erased from this ledger: \d+ events .* import it"):
            desk.erase(who)
        assert desk.head == head
        contexts = decisions[0].body["contexts"]
        desk.decide([{"id": who, "context": contexts[0]}, {"id": "new", "context": contexts[1]}])
        assert desk.erase(who).body["old_events"] > 0
        assert desk.decision(decisions[0].id)["body"]["contexts"] == contexts
        verify(ledger, "loans")
    ledger.close()


def test_another_process_writes_with_no_destroyed_key(story: Story) -> None:
    """A desk that was open elsewhere gives her a new key when she comes again, and keeps no snapshot from before."""
    with Desk.open(f"sqlite:///{story.file}", "loans") as other:
        known = other.projection.seq
        story.desk.erase(WHO)
        made = other.decide([{"id": WHO, "features": FEATURES}, person(story.rng, "gus")])
        assert made.event.body["features"][0] == FEATURES
        before = story.desk.ledger.snapshots("loans")
        story.desk.ledger.keep_snapshot("loans", Stamp(known, known), b"it may hold what was learned from her", [])
        assert story.desk.ledger.snapshots("loans") == before
        assert other.erase(WHO).body["since"] == made.event.seq
    assert verified_chain(story.desk.ledger, "loans")[0].erased == 8


def test_a_file_of_an_earlier_version_is_written_anew_once(tmp_path: Path) -> None:
    """Free pages of such a file may hold anything; after the first erasure they are gone."""
    file, rest = tmp_path / "ledger.db", b"deleted long ago, and not overwritten"
    shutil.copy(DATA / "ledger.db", file)
    connection = sqlite3.connect(file)
    connection.execute("PRAGMA secure_delete = OFF")
    connection.execute("CREATE TABLE gone (text TEXT)")
    connection.executemany("INSERT INTO gone VALUES (?)", [(rest.decode() * 1000,)] * 9)
    connection.commit()
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.execute("DROP TABLE gone")
    connection.commit()
    connection.close()
    assert rest in file.read_bytes()
    with Desk.open(f"sqlite:///{file}", "loans") as desk:
        desk.decide([{"id": "new", "context": [0.1, 0.2, 0.3]}])
        desk.erase("new")
        assert rest not in file.read_bytes()


@pytest.mark.postgres
def test_on_postgresql(postgresql: str, name: str) -> None:
    """The same in a real PostgreSQL: contents and snapshots are gone, and the ledger verifies."""
    ledger = open_ledger(postgresql)
    with Desk.open(ledger, name, **SETTINGS) as desk:
        rng = np.random.default_rng(1)
        play(desk, rng, 2)
        made = visit(desk, rng, "bob", "cleo")
        desk.erase(WHO)
        assert desk.decision(made.id)["body"]["contexts"][0] is None
        play(desk, rng, 1)
        assert verified_chain(ledger, name)[0].erased == 6
        assert replay(ledger, name).is_same
        assert not any(sign in "\n".join(to_jsonl(ledger, name)).encode() for sign in signs())
    ledger.close()


@pytest.mark.slow
def test_one_of_ten_thousand(tmp_path: Path) -> None:
    """In a ledger of 10,000 people nothing of her is left, and the ledger verifies; other people are explained."""
    file, rng = tmp_path / "ledger.db", np.random.default_rng(1)
    with Desk.open(f"sqlite:///{file}", "loans", **SETTINGS) as desk:
        made = visit(desk, rng, "bob", "cleo")
        for batch in range(20):
            people = [[person(rng, f"{batch}-{at}-{i}") for i in range(10)] for at in range(50)]
            decided = done(desk.execute([Decide(some) for some in people]))
            names = [event.body["candidates"] for event in decided[:5]]
            verdicts = zip(decided, names, strict=False)
            done(desk.execute([GiveReview(event.id, "partial", unfair=[(a, b)]) for event, (a, b, *_) in verdicts]))
        desk.catch_up(wait=True)
        assert found_in(file, Path(f"{file}-wal")) == []  # encrypted
        desk.erase(WHO)
        copy_database(file, tmp_path / "copy.db")
        with desk.ledger.transaction() as connection:
            people_left = connection.exec_driver_sql("SELECT count(*) FROM person_keys").scalar_one()
        assert people_left == 10_002
        assert desk.explain(decided[0].id).price is not None
        assert desk.decision(made.id)["body"]["erased"] == [WHO]
        desk.catch_up(wait=True)
        assert play(desk, rng, 2)[-1].event.body["state"] > made.event.seq
        assert verified_chain(desk.ledger, "loans")[0].erased == 6
        with open(tmp_path / "export.jsonl", "w") as export:
            export.writelines(f"{line}\n" for line in to_jsonl(desk.ledger, "loans"))
    assert found_in(file, tmp_path / "copy.db") == []
    assert not any(sign in (tmp_path / "export.jsonl").read_bytes() for sign in signs())
