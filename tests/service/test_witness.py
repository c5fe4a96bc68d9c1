"""A witness keeps heads of services and notices when one contradicts another, whoever rewrote what."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from evenhand.cli.main import main
from evenhand.errors import InvalidInput
from evenhand.ledger.ledger import SERVICE, Ledger, open_ledger
from evenhand.ledger.signed_head import SignedHead, SigningKey
from evenhand.ledger.signed_heads import SignedHeads
from evenhand.ledger.signing_keys import recorded_keys, rotate_key, signing_key
from evenhand.ledger.verification.heads_file import KeptHeads
from evenhand.ledger.verification.verify_history import verify_history
from evenhand.service.settings import ServiceSettings
from evenhand.service.witness.app import witness_app
from evenhand.service.witness.client import WitnessClient
from evenhand.service.witness.pull import CannotFetch, pull
from evenhand.service.witness.witness import Contradiction, HeadRefused, NeedsProof, Submission, Witness
from tests.service.test_http_parsing import read_to_end
from tests.support.kept_heads import heads_in
from tests.support.long_ledgers import append_events
from tests.support.ports import free_port
from tests.support.running_app import running_app
from tests.support.running_service import ADMIN, MEMORY, asking


class Signer:
    """A ledger that grows and is signed."""

    def __init__(self, url: str = "memory:") -> None:
        self.ledger: Ledger = open_ledger(url)
        self.heads = SignedHeads(self.ledger)

    def grow(self, n: int = 3, key: SigningKey | None = None) -> SignedHead:
        """Some more events, and the head after them."""
        append_events(self.ledger, "loans", n)
        head = self.heads.sign("loans", key or signing_key(self.ledger))
        assert head is not None
        return head

    def submission(self, head: SignedHead, first: int = 0) -> Submission:
        """A head with the proof that it continues one of `first` events."""
        proof = self.heads.tree("loans").consistency(first, head.size) if first else []
        return Submission(head, first, tuple(proof), [key.to_dict() for key in recorded_keys(self.ledger)])


@pytest.fixture
def signer() -> Iterator[Signer]:
    """A ledger in memory."""
    made = Signer()
    yield made
    made.ledger.close()


def test_heads_that_continue_are_kept(signer: Signer, tmp_path: Path) -> None:
    """Each with the proof from the last one; a witness that starts again knows them, and says from where to prove."""
    witness = Witness(tmp_path)
    first, second, third = signer.grow(), signer.grow(), signer.grow()
    assert witness.accept(signer.submission(first)) is True
    assert witness.accept(signer.submission(first)) is False
    with pytest.raises(NeedsProof, match="must begin at 3 events") as needed:
        witness.accept(signer.submission(third))
    assert needed.value.size == 3
    assert witness.accept(signer.submission(second, 3)) is True
    again = Witness(tmp_path)
    assert again.accept(signer.submission(third, 6)) is True
    assert again.accept(signer.submission(second, 3)) is False, "sent late"
    assert again.latest() == [third]
    assert again.contradictions == []
    (file,) = tmp_path.glob("*.heads.jsonl")
    assert heads_in(file) == [first, second, third]
    assert verify_history(signer.ledger, "loans", kept=KeptHeads([file]))[1] == 3


def test_a_witness_starts_again_after_its_machine_stopped(signer: Signer, tmp_path: Path) -> None:
    """What was being written then is dropped: nobody was told that it is kept, and it is sent again."""
    witness = Witness(tmp_path)
    witness.accept(signer.submission(signer.grow()))
    (file,) = tmp_path.glob("*.heads.jsonl")
    later = signer.grow()
    with file.open("ab") as end:
        end.write(later.to_line().encode()[:100])
    (tmp_path / "contradictions.jsonl").write_bytes(b'{"kind": "fork", ')
    again = Witness(tmp_path)
    assert again.contradictions == []
    assert again.accept(signer.submission(later, 3)) is True
    assert Witness(tmp_path).latest() == [later]


def test_a_fork_is_found(signer: Signer, tmp_path: Path) -> None:
    """Another ledger under the same key: of the same size, or a longer one that does not continue what was kept."""
    key = SigningKey.from_hex("77" * 32)
    other = Signer()
    with closing(other.ledger):
        witness = Witness(tmp_path)
        witness.accept(signer.submission(signer.grow(3, key)))
        same, longer = other.grow(3, key), other.grow(2, key)
        with pytest.raises(Contradiction, match="fork: two heads of desk 'loans' with 3 events differ"):
            witness.accept(other.submission(same))
        with pytest.raises(Contradiction, match="fork: the first 3 of 5 events"):
            witness.accept(other.submission(longer, 3))
        assert witness.accept(signer.submission(signer.grow(3, key), 3)) is True
        with pytest.raises(Contradiction, match="rollback"):
            witness.accept(other.submission(longer, 3), is_newest=True)
    assert [one["kind"] for one in Witness(tmp_path).contradictions] == ["fork", "fork", "rollback"]
    shown = Witness(tmp_path).contradictions[0]
    pair = SignedHead.from_dict(shown["kept"]), SignedHead.from_dict(shown["head"])
    assert pair[0].is_signed
    assert pair[1].is_signed
    assert pair[0].root != pair[1].root, "both are signed: anybody can see the contradiction"


def test_a_rollback_and_a_backdated_head_are_found(signer: Signer, tmp_path: Path) -> None:
    """A shorter ledger than before, and a longer one that says it is older."""
    witness, key = Witness(tmp_path), signing_key(signer.ledger)
    short, long = signer.grow(), signer.grow()
    witness.accept(signer.submission(long))
    assert witness.accept(signer.submission(short)) is False, "it may have been on its way"
    with pytest.raises(Contradiction, match="rollback: desk 'loans' has 3 events, and had 6"):
        witness.accept(signer.submission(short), is_newest=True)
    later = {**short.to_dict(), "time": "2999-01-01T00:00:00.000000+00:00"}
    signed = SignedHead.sign(key, **{name: later[name] for name in ("desk", "size", "root", "hash", "time")})
    with pytest.raises(Contradiction, match="rollback"):
        witness.accept(signer.submission(signed))
    newest = signer.grow()
    older = {**newest.to_dict(), "time": "2001-01-01T00:00:00.000000+00:00"}
    signed = SignedHead.sign(key, **{name: older[name] for name in ("desk", "size", "root", "hash", "time")})
    with pytest.raises(Contradiction, match="backdated"):
        witness.accept(signer.submission(signed, 6))
    assert witness.accept(signer.submission(newest, 6)) is True


def test_keys_are_pinned_and_may_be_rotated(signer: Signer, tmp_path: Path) -> None:
    """The first key is trusted, or those that are named; a new one only if the key before has endorsed it."""
    witness = Witness(tmp_path / "first")
    witness.accept(signer.submission(signer.grow()))
    rotate_key(signer.ledger)
    rotate_key(signer.ledger)
    second = signer.grow()
    stripped = replace(signer.submission(second, 3), keys=())
    with pytest.raises(HeadRefused, match="which no known key has endorsed"):
        witness.accept(stripped)
    assert witness.accept(signer.submission(second, 3)) is True
    stranger = Signer()
    with closing(stranger.ledger):
        unknown = stranger.submission(stranger.grow())
        with pytest.raises(HeadRefused, match="which no known key has endorsed"):
            witness.accept(unknown)
        pinned = Witness(tmp_path / "pinned", [signing_key(stranger.ledger).public])
        with pytest.raises(HeadRefused, match="which no known key has endorsed"):
            pinned.accept(signer.submission(second))
        assert pinned.accept(unknown) is True
    with pytest.raises(HeadRefused, match="wrong signature"):
        witness.accept(Submission(replace(second, size=7)))


@pytest.mark.parametrize("body", [None, [], {"head": {}}, {"head": None, "proof": "x"}, {"proof": [1]}, {"keys": 3}])
def test_what_is_not_a_head_is_refused(body: Any) -> None:
    """A submission from elsewhere is checked before it is used."""
    with pytest.raises(InvalidInput):
        Submission.from_dict(body)


def test_a_witness_refuses_over_http(signer: Signer, tmp_path: Path) -> None:
    """With problem documents; nothing is kept."""
    with running_app(witness_app(Witness(tmp_path, ["ab" * 32]))) as url, httpx.Client(base_url=url) as http:
        unknown = {"head": signer.grow().to_dict()}
        assert http.post("/heads", json=unknown).status_code == 403
        assert http.post("/heads", json={"head": {}}).status_code == 422
        assert http.post("/heads", content=b"{").status_code == 400
        assert http.post("/heads", content=b" " * 2_000_000).status_code == 413
        assert http.get("/heads").json() == {"heads": []}
        assert http.get("/status").json() == {"status": "consistent", "contradictions": []}


def test_connections_that_send_nothing_are_closed_by_a_witness(signer: Signer, tmp_path: Path) -> None:
    """Half a head, or half a body, is waited for as long as by a service: nobody can take all its descriptors."""
    limits = ServiceSettings(head_seconds=0.3, body_seconds=0.3)
    head, half = b"POST /heads HTTP/1.1\r\nHost: witness\r\n", b"Content-Length: 9\r\n\r\n{"
    with running_app(witness_app(Witness(tmp_path), limits)) as url:
        host, port = url.removeprefix("http://").split(":")
        for begin, answer in ((head, b""), (head + half, b"HTTP/1.1 408")):
            with socket.create_connection((host, int(port)), timeout=30) as connection:
                connection.sendall(begin)
                assert read_to_end(connection)[:12] == answer
        with httpx.Client(base_url=url) as http:
            assert http.post("/heads", json={"head": signer.grow().to_dict()}).status_code == 201


def test_a_service_sends_its_heads_to_a_witness(
    signer: Signer, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """With proofs from the size the witness has, also after either of them was started again; failures are retried."""
    witness, port = Witness(tmp_path), free_port()
    url = f"http://127.0.0.1:{port}/heads"
    client = WitnessClient(url, signer.ledger, signer.heads)

    def send() -> None:
        signer.grow()
        client.add("loans")
        client.send_all()

    with running_app(witness_app(witness), port):
        send()
    send()
    assert "the witness does not answer; retrying" in caplog.text
    with running_app(witness_app(witness), port):
        client.send_all()
        assert [head.size for head in witness.latest()] == [6]
        client = WitnessClient(url, signer.ledger, signer.heads)
        send()
        assert [head.size for head in witness.latest()] == [9]
        assert httpx.get(f"{url[:-5]}status").json()["status"] == "consistent"
        rewritten(signer)
        client = WitnessClient(url, signer.ledger, signer.heads)
        send()
        found = httpx.get(f"{url[:-5]}status").json()
    assert "the witness refused the head of 14 events: status 422" in caplog.text
    assert (found["status"], found["contradictions"][0]["kind"]) == ("contradiction", "fork")


def rewritten(signer: Signer) -> None:
    """Another history of the desk, as somebody writes it who owns the database and its key."""
    with signer.ledger.transaction(writes=True) as connection:
        for trigger in ("events_no_delete", "signed_heads_no_delete"):
            connection.exec_driver_sql(f"DROP TRIGGER {trigger}")
        for table in ("events", "signed_heads", "tree_tiles"):
            connection.exec_driver_sql(f"DELETE FROM {table} WHERE desk = 'loans'")
        connection.exec_driver_sql("DELETE FROM desks WHERE name = 'loans'")
    signer.heads = SignedHeads(signer.ledger)
    append_events(signer.ledger, "loans", 11)


def test_any_endpoint_will_do(signer: Signer, monkeypatch: pytest.MonkeyPatch) -> None:
    """What answers 2xx is sent the newest head, once."""
    sent: list[Any] = []

    class Endpoint(httpx.Client):
        def post(self, url: Any, json: Any = None, **more: Any) -> httpx.Response:
            sent.append(json)
            return httpx.Response(204)

    monkeypatch.setattr("evenhand.service.witness.client.httpx.Client", Endpoint)
    client, head = WitnessClient("http://any/", signer.ledger, signer.heads), signer.grow()
    for _ in range(2):
        client.add("loans") if not sent else None
        client.send_all()
    assert [one["head"] for one in sent] == [head.to_dict()]


def test_a_witness_asks_a_service(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`evenhand witness --url` keeps the newest heads, asks for proofs, and ends with 1 once the ledger was cut."""
    url, folder = f"sqlite:///{tmp_path}/ledger.db", tmp_path / "kept"
    settings = replace(MEMORY, database_url=url, sign_every=3600.0)

    def ask_once(address: str) -> int:
        return main(["witness", "--url", address, "--token", ADMIN, "--folder", str(folder)])

    with asking(settings) as ask:
        for _ in range(3):
            ask.decide()
            ask.service.signer.sign_all()
            assert ask_once(ask.url) == 0
        assert capsys.readouterr().out.count("kept") == 9
        ledger = ask.service.ledger
        with ledger.transaction(writes=True) as connection:
            for trigger in ("events_no_delete", "signed_heads_no_delete"):
                connection.exec_driver_sql(f"DROP TRIGGER {trigger}")
            connection.exec_driver_sql("DELETE FROM signed_heads WHERE desk = 'loans' AND size > 2")
        assert ask_once(ask.url) == 1
        assert "rollback: desk 'loans' has 2 events, and had 4" in capsys.readouterr().out
        with ledger.transaction(writes=True) as connection:
            connection.exec_driver_sql("DELETE FROM signed_heads WHERE desk = 'loans'")
        assert ask_once(ask.url) == 1
        assert "removed: the service has no head of desk 'loans' any more" in capsys.readouterr().out
        with pytest.raises(CannotFetch, match="answered 401"):
            pull(Witness(folder), ask.url, "wrong")
    assert json.loads((folder / "contradictions.jsonl").read_text().splitlines()[0])["kind"] == "rollback"
    assert ask_once(ask.url) == 1
    assert "cannot be reached" in capsys.readouterr().err
    (file,) = folder.glob("*.heads.jsonl")
    assert {head.desk for head in heads_in(file)} == {"loans", "jobs", SERVICE}


def test_a_running_service_has_its_heads_witnessed(tmp_path: Path) -> None:
    """With `witness_url` in its settings, at the latest when it stops; without a witness there it stops as well."""
    witness = Witness(tmp_path)
    with running_app(witness_app(witness)) as url:
        with asking(replace(MEMORY, sign_every=3600.0, witness_url=f"{url}/heads")) as ask:
            made = ask.decide()
        heads = {head.desk: head for head in witness.latest()}
        assert set(heads) == {"loans", "jobs", SERVICE}
        assert (heads["loans"].size, heads["loans"].hash) == (made["seq"], made["hash"])
    with asking(replace(MEMORY, sign_every=3600.0, witness_url=f"{url}/heads")) as ask:
        ask.decide()


@pytest.mark.process
def test_the_command_receives_heads(signer: Signer, tmp_path: Path) -> None:
    """`evenhand witness --listen` says where, keeps what it is sent, and reports a contradiction when it is asked."""
    command = [sys.executable, "-m", "evenhand", "witness", "--listen", "127.0.0.1:0", "--folder", str(tmp_path)]
    key, other = SigningKey.from_hex("77" * 32), Signer()
    with closing(other.ledger):
        heads = signer.grow(3, key), other.grow(3, key)
    for number, expected, status in ((1, [201], "consistent"), (2, [200, 422], "contradiction")):
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
            try:
                assert process.stdout is not None
                address = process.stdout.readline().rpartition(" ")[2].strip()
                bodies = [{"head": head.to_dict()} for head in heads[:number]]
                assert [httpx.post(address, json=body, timeout=60).status_code for body in bodies] == expected
                found = httpx.get(address.replace("/heads", "/status"), timeout=60).json()
                assert found["status"] == status
            finally:
                process.terminate()
    (file,) = tmp_path.glob("*.heads.jsonl")
    assert heads_in(file) == [heads[0]]


@pytest.mark.parametrize(
    "arguments", [(), ("--url", "http://x", "--listen", "127.0.0.1:0"), ("--listen", "x"), ("--url", "x", "--key", "y")]
)
def test_wrong_usage_is_refused(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    """One source of heads, an address, whole keys."""
    with pytest.raises(SystemExit) as ended:
        main(["witness", "--folder", str(tmp_path), *arguments])
    assert ended.value.code == 2
