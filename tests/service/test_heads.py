"""Heads and proofs over HTTP: who may see them, what they say, and that a service signs by itself."""

from __future__ import annotations

import stat
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from evenhand.desk import open_ledger
from evenhand.ledger.ledger import SERVICE
from evenhand.ledger.merkle import is_consistent, is_included, leaf_hash
from evenhand.ledger.service_stream import check_tokens
from evenhand.ledger.signed_head import SignedHead, SigningKey
from evenhand.ledger.signing_keys import recorded_keys
from evenhand.ledger.verification.heads_file import KeptHeads
from evenhand.ledger.verification.verify_history import verify_history
from evenhand.service.head_signer import HeadSigner
from tests.support.kept_heads import heads_in
from tests.support.running_service import MEMORY, Asking, asking, is_problem
from tests.support.waiting import wait_for

LATEST = "/api/desks/loans/heads/latest"
SECRET = "1f" * 32


def latest(ask: Asking, desk: str = "loans") -> SignedHead:
    """The newest head of a desk, after everything was signed."""
    ask.service.signer.sign_all()
    return SignedHead.from_dict(ask("GET", f"/api/desks/{desk}/heads/latest").json())


def test_a_decision_says_what_to_keep(ask: Asking) -> None:
    """Its response has the seq and hash of its event, also when it is sent again with the same key."""
    made = ask.decide(by="decide", headers={"Idempotency-Key": "one"})
    again = ask.decide(by="decide", headers={"Idempotency-Key": "one"})
    (event,) = [one for one in ask("GET", "/api/desks/loans/events").json()["events"] if one["id"] == made["id"]]
    assert (made["seq"], made["hash"]) == (event["seq"], event["hash"]) == (again["seq"], again["hash"])


def test_reviewers_get_no_hash(ask: Asking) -> None:
    """What reviewers send is answered without hashes, and they get no heads, keys or proofs, audit or not."""
    made = ask.decide()
    body = {"kind": "complete", "unfair": []}
    answer = ask("POST", f"/api/desks/loans/decisions/{made['id']}/reviews", body, by="review")
    assert answer.status_code == 201
    assert "hash" not in answer.json()
    ask.token("both", ["review", "audit"])
    for path in ("/api/heads", "/api/keys", "/api/desks/loans/heads", LATEST):
        for by in ("review", "both"):
            is_problem(ask("GET", path, by=by), 403, "forbidden")
        is_problem(ask("GET", path, by="nobody"), 401)


def test_an_auditor_sees_heads_and_nothing_else(ask: Asking) -> None:
    """The role audit is for heads, keys and proofs of its desks; the service's own are for tokens of all desks."""
    ask.token("auditor", ["audit"])
    ask.token("of jobs", ["audit"], ["jobs"])
    made = ask.decide()
    ask.service.signer.sign_all()
    for path in ("/api/heads", "/api/keys", "/api/desks/loans/heads", LATEST, f"/api/desks/{SERVICE}/heads/latest"):
        assert ask("GET", path, by="auditor").status_code == 200
    is_problem(ask("GET", LATEST, by="of jobs"), 403)
    is_problem(ask("GET", f"/api/desks/{SERVICE}/heads/latest", by="of jobs"), 403)
    newest = ask("GET", "/api/heads", by="of jobs").json()["heads"]
    assert [head["desk"] for head in newest] == ["jobs"]
    for path in ("/api/desks/loans", "/api/desks/loans/events", f"/api/desks/loans/decisions/{made['id']}"):
        is_problem(ask("GET", path, by="auditor"), 403)


def test_heads_come_in_pages(ask: Asking) -> None:
    """All heads of a desk, in order; a desk without a head, or without a name, is not found."""
    sizes = []
    for _ in range(3):
        ask.decide()
        sizes.append(latest(ask).size)
    first = ask("GET", "/api/desks/loans/heads?limit=2").json()
    rest = ask("GET", f"/api/desks/loans/heads?after={first['next']}").json()
    heads = [SignedHead.from_dict(one) for one in first["heads"] + rest["heads"]]
    assert [head.size for head in heads][-3:] == sizes
    assert all(head.is_signed for head in heads)
    assert rest["next"] is None
    is_problem(ask("GET", "/api/desks/nowhere/heads"), 404)
    is_problem(ask("GET", "/api/desks/nowhere/heads/latest"), 404)
    is_problem(ask("GET", "/api/desks/nowhere/proofs/consistency?first=1&second=1"), 404)


def test_proofs_verify(ask: Asking) -> None:
    """An event is in the tree of a head, and a later tree continues an earlier one: shown with pure functions."""
    made = ask.decide()
    early = latest(ask)
    for _ in range(5):
        ask.decide()
    late = latest(ask)
    (event,) = [one for one in ask("GET", "/api/desks/loans/events").json()["events"] if one["id"] == made["id"]]
    with ask.service.ledger.reading("loans") as view:
        row = view.by_id([made["id"]])[made["id"]]
    proof = ask("GET", f"/api/desks/loans/proofs/inclusion?event={made['id']}&size={late.size}").json()
    path = [bytes.fromhex(one) for one in proof["proof"]]
    leaf = leaf_hash(event["previous"], row.text)
    assert (proof["seq"], proof["leaf"], proof["root"]) == (made["seq"], leaf.hex(), late.root)
    assert is_included(leaf, made["seq"] - 1, late.size, path, bytes.fromhex(late.root))
    grown = ask("GET", f"/api/desks/loans/proofs/consistency?first={early.size}&second={late.size}").json()
    path = [bytes.fromhex(one) for one in grown["proof"]]
    roots = bytes.fromhex(early.root), bytes.fromhex(late.root)
    assert (grown["first_root"], grown["second_root"]) == (early.root, late.root)
    assert is_consistent(early.size, roots[0], late.size, roots[1], path)


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ("consistency?first=0&second=1", 422),
        ("consistency?first=2&second=1", 422),
        ("consistency?first=1&second=99", 422),
        ("consistency?first=1", 422),
        ("consistency?first=1&second=1&third=1", 422),
        ("inclusion?event=nothing&size=1", 404),
        ("inclusion?event={made}&size=1", 422),
        ("inclusion?event={made}&size=99", 422),
        ("inclusion?size=1", 422),
    ],
)
def test_what_cannot_be_proved_is_refused(ask: Asking, query: str, status: int) -> None:
    """Sizes beyond the ledger or the wrong way round, events that are not in it."""
    made = ask.decide()
    is_problem(ask("GET", f"/api/desks/loans/proofs/{query.format(made=made['id'])}"), status)


def test_a_service_signs_when_it_stops(tmp_path: Path) -> None:
    """Heads of all desks and of the service's own stream, with the key from the settings, in the file of the settings.

    Tokens are recorded, and everything verifies against the file.
    """
    file = tmp_path / "elsewhere.jsonl"
    url = f"sqlite:///{tmp_path}/ledger.db"
    settings = replace(MEMORY, database_url=url, sign_every=3600.0, signing_key=SECRET, heads_file=str(file))
    with asking(settings) as ask:
        made = ask.decide()
    heads = {head.desk: head for head in heads_in(file)}
    assert set(heads) == {"loans", "jobs", SERVICE}
    assert (heads["loans"].size, heads["loans"].hash) == (made["seq"], made["hash"])
    assert {head.key for head in heads.values()} == {SigningKey.from_hex(SECRET).public}
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    with closing(open_ledger(url)) as ledger:
        for desk in heads:
            verify_history(ledger, desk, kept=KeptHeads([file]))
        assert check_tokens(ledger) == 4
        assert [key.key for key in recorded_keys(ledger)] == [SigningKey.from_hex(SECRET).public]


def test_a_service_signs_on_a_timer() -> None:
    """New events are signed without anybody asking for it."""
    settings = replace(MEMORY, sign_every=0.05)
    with asking(settings) as often:
        made = often.decide()
        head = often.service.signer.heads
        wait_for(
            lambda: (found := head.latest("loans")) is not None and found.size >= made["seq"], what="a signed head"
        )


def test_one_process_of_several_signs(tmp_path: Path) -> None:
    """What another process has just signed is left to it, until it is as old as half a round, or the service stops."""
    url = f"sqlite:///{tmp_path}/ledger.db"
    settings = replace(MEMORY, database_url=url, sign_every=3600.0)
    with asking(settings) as ask:
        made = ask.decide()
        signed = latest(ask)
        with closing(open_ledger(url)) as ledger:
            other = HeadSigner(ledger, settings)
            ask.decide()
            other.sign_all(at_once=False)
            assert ask.service.signer.heads.latest("loans") == signed
            other.stop()
        found = ask.service.signer.heads.latest("loans")
    assert found is not None
    assert (signed.size, found.size) == (made["seq"], made["seq"] + 1)


def test_a_damaged_desk_keeps_no_other_from_being_signed(ask: Asking, caplog: pytest.LogCaptureFixture) -> None:
    """What cannot be signed is logged; decisions and other heads go on."""
    ask.decide()
    ledger = ask.service.ledger
    with ledger.transaction(writes=True) as connection:
        connection.exec_driver_sql("DROP TRIGGER events_no_delete")
        connection.exec_driver_sql("DELETE FROM events WHERE desk = 'jobs'")
    ask.service.signer._signed.clear()
    ask.service.signer.heads._trees.clear()
    with ledger.transaction(writes=True) as connection:
        connection.exec_driver_sql("UPDATE desks SET seq = 5 WHERE name = 'jobs'")
    assert latest(ask).size == 2
    assert "head cannot be signed" in caplog.text
