"""Signed heads: who signs, with which key, where they are kept, and what verifying says of them."""

from __future__ import annotations

import os
import stat
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from evenhand.desk import Desk, open_ledger
from evenhand.errors import DamagedLedger, InvalidInput, UnknownRecord
from evenhand.ledger.engine import open_engine
from evenhand.ledger.ledger import SERVICE, Ledger
from evenhand.ledger.merkle import leaf_hash, nodes_of, root
from evenhand.ledger.migrate import _upgrade
from evenhand.ledger.service_stream import check_tokens
from evenhand.ledger.signed_head import SignedHead, SigningKey
from evenhand.ledger.signed_heads import SignedHeads, heads_file
from evenhand.ledger.signing_keys import recorded_keys, rotate_key, signing_key
from evenhand.ledger.transaction import transaction
from evenhand.ledger.tree import WIDTH
from evenhand.ledger.verification.heads_file import KeptHeads
from evenhand.ledger.verification.verify_history import checked_heads, verify_history
from evenhand.service.tokens import TokenStore, new_token
from tests.support.desk_play import D, play
from tests.support.kept_heads import heads_in
from tests.support.long_ledgers import append_events

SECRET = "5a" * 32


def test_a_head_states_where_a_ledger_ends(durable_ledger: Ledger, name: str) -> None:
    """Desk, size, root, hash, time and key are signed; the next head is signed only when there are more events."""
    append_events(durable_ledger, name, 5)
    heads, key = SignedHeads(durable_ledger), signing_key(durable_ledger)
    head = heads.sign(name, key)
    assert head is not None
    rows = list(durable_ledger.rows(name))
    assert (head.desk, head.size, head.hash, head.key) == (name, 5, rows[-1].hash, key.public)
    assert head.root == root(5, nodes_of([leaf_hash(row.previous, row.text) for row in rows])).hex()
    assert head.is_signed
    assert heads.sign(name, key) is None
    append_events(durable_ledger, name, 1)
    again = heads.sign(name, key)
    assert again is not None
    assert again.size == 6
    assert again.time >= head.time
    assert list(heads.all(name)) == [head, again] == heads.page(name, 0, 9)
    assert heads.latest(name) == again
    assert heads.page(name, 5, 9) == [again]
    assert verify_history(durable_ledger, name)[1] == 2


@pytest.mark.parametrize("field", ["desk", "size", "root", "hash", "time", "key", "signature"])
def test_every_field_is_signed(field: str) -> None:
    """A head of which anything was changed is not signed, nor is one whose key is another."""
    signed = SignedHead.sign(
        SigningKey.from_hex(SECRET),
        desk="loans",
        size=7,
        root="ab" * 32,
        hash="cd" * 32,
        time="2026-01-01T00:00:00+00:00",
    )
    assert signed.is_signed
    assert SignedHead.from_line(signed.to_line()) == signed
    other: dict[str, Any] = {"size": 8, "time": "2026-01-01T00:00:01+00:00", "desk": "jobs", "signature": "00" * 64}
    assert not replace(signed, **{field: other.get(field, "ef" * 32)}).is_signed


@pytest.mark.parametrize(
    "change", [{"size": 0}, {"size": True}, {"root": "AB" * 32}, {"key": "ab"}, {"time": "today"}, {"desk": None}]
)
def test_what_is_not_a_head_is_refused(change: dict[str, object]) -> None:
    """A head from elsewhere is checked before it is used."""
    key = SigningKey.from_hex(SECRET)
    signed = SignedHead.sign(key, desk="a", size=7, root="ab" * 32, hash="cd" * 32, time="2026-01-01T00:00:00+00:00")
    with pytest.raises(InvalidInput):
        SignedHead.from_dict({**signed.to_dict(), **change})
    with pytest.raises(DamagedLedger):
        SignedHead.from_line("{}")


def test_heads_are_append_only(durable_ledger: Ledger, name: str) -> None:
    """The database refuses to change or remove a head, as it does with events."""
    append_events(durable_ledger, name, 2)
    SignedHeads(durable_ledger).sign(name, signing_key(durable_ledger))
    for statement in ("UPDATE signed_heads SET size = 1", "DELETE FROM signed_heads"):
        with pytest.raises(Exception, match="append-only"), durable_ledger.transaction(writes=True) as connection:
            connection.exec_driver_sql(statement)


def test_heads_are_in_a_file_beside_the_database(tmp_path: Path) -> None:
    """One line a head, for its owner's eyes only; what is in it fits the ledger."""
    with closing(open_ledger(f"sqlite:///{tmp_path}/ledger.db")) as ledger:
        file = heads_file(ledger)
        assert file == tmp_path / "ledger.db.heads.jsonl"
        heads, key = SignedHeads(ledger, file), signing_key(ledger)
        for _ in range(3):
            append_events(ledger, "loans", 2)
            heads.sign("loans", key)
        assert heads_in(file) == list(heads.all("loans"))
        assert stat.S_IMODE(os.stat(file).st_mode) == 0o600
        assert verify_history(ledger, "loans", kept=KeptHeads([file]))[1] == 3, "the same heads count once"
    with closing(open_ledger("memory:")) as ledger:
        assert heads_file(ledger) is None


def test_two_processes_sign_one_head(durable_url: str, name: str) -> None:
    """Of two that sign the same size one stores it, and its line is the one in the file."""
    with closing(open_ledger(durable_url)) as one, closing(open_ledger(durable_url)) as other:
        append_events(one, name, 3)
        key = signing_key(one)
        assert signing_key(other).public == key.public
        first, second = SignedHeads(one), SignedHeads(other)
        second.latest = lambda desk: None  # type: ignore[method-assign]  # it looked before the first had signed
        assert first.sign(name, key) is not None
        assert second.sign(name, key) is None
        assert len(list(first.all(name))) == 1


def test_keys_follow_each_other(ledger: Ledger) -> None:
    """The database's own key is made once; a new one is endorsed by it, and both stay valid for their heads."""
    append_events(ledger, "loans", 2)
    heads, first = SignedHeads(ledger), signing_key(ledger)
    assert signing_key(ledger).public == first.public
    heads.sign("loans", first)
    second = rotate_key(ledger)
    assert signing_key(ledger).public == second.public != first.public
    append_events(ledger, "loans", 2)
    heads.sign("loans", second)
    old, new = recorded_keys(ledger)
    assert (old.key, new.key, new.previous) == (first.public, second.public, first.public)
    assert old.retired == new.created
    assert new.retired is None
    assert (old.is_endorsed, new.is_endorsed) == (False, True)
    assert not replace(new, key="ab" * 32).is_endorsed
    assert verify_history(ledger, "loans")[1] == 2
    assert verify_history(ledger, SERVICE)[0].seq == 3


def test_a_secret_from_elsewhere_is_not_in_the_database(tmp_path: Path) -> None:
    """It signs from its first use on; without it nobody signs by accident with another; a retired one is refused."""
    with closing(open_ledger(f"sqlite:///{tmp_path}/ledger.db")) as ledger:
        own = signing_key(ledger)
        given = signing_key(ledger, SECRET)
        assert given.public == SigningKey.from_hex(SECRET).public
        assert recorded_keys(ledger)[-1].is_endorsed, "by the database's own, whose secret was at hand"
        with pytest.raises(InvalidInput, match="EVENHAND_SIGNING_KEY"):
            signing_key(ledger)
        assert signing_key(ledger, SECRET).public == given.public
        third = rotate_key(ledger)
        assert not recorded_keys(ledger)[-1].is_endorsed
        with pytest.raises(InvalidInput, match="was retired"):
            signing_key(ledger, SECRET)
        assert [key.key for key in recorded_keys(ledger)] == [own.public, given.public, third.public]
        for wrong in ("", "5a", "zz" * 32):
            with pytest.raises(InvalidInput, match="64 hexadecimal digits"):
                signing_key(ledger, wrong)
    content = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert bytes.fromhex(SECRET) not in content
    assert SECRET.encode() not in content


def test_a_head_with_a_key_that_was_not_in_use_is_found(ledger: Ledger) -> None:
    """A head of a retired or unknown key, and two heads of one size."""
    append_events(ledger, "loans", 2)
    key = signing_key(ledger)
    head = SignedHeads(ledger).sign("loans", key)
    assert head is not None
    (recorded,) = recorded_keys(ledger)
    list(checked_heads("loans", [head], [recorded]))
    early = replace(recorded, created="2999-01-01T00:00:00.000000+00:00")
    late = replace(recorded, retired="2001-01-01T00:00:00.000000+00:00")
    for keys, message in (([], "not recorded"), ([early], "not in use"), ([late], "not in use")):
        with pytest.raises(DamagedLedger, match=message):
            list(checked_heads("loans", [head], keys))
    with pytest.raises(DamagedLedger, match="signature is wrong"):
        list(checked_heads("loans", [replace(head, size=9)], None))
    with pytest.raises(DamagedLedger, match="signature is wrong"):
        list(checked_heads("jobs", [head], None))
    fields = {name: value for name, value in head.to_dict().items() if name not in ("key", "signature")}
    forked = SignedHead.sign(key, **{**fields, "root": "ab" * 32})
    with pytest.raises(DamagedLedger, match="forked"):
        list(checked_heads("loans", [head, forked], [recorded]))
    backdated = SignedHead.sign(key, **{**fields, "size": 9, "time": "2001-01-01T00:00:00.000000+00:00"})
    with pytest.raises(DamagedLedger, match="backdated"):
        list(checked_heads("loans", [head, backdated], None))


def test_a_tile_that_was_changed_is_found(ledger: Ledger) -> None:
    """A wrong tile would give wrong proofs; verifying names the tree."""
    append_events(ledger, "loans", WIDTH + 1)
    SignedHeads(ledger).sign("loans", signing_key(ledger))
    verify_history(ledger, "loans")
    with ledger.transaction(writes=True) as connection:
        connection.exec_driver_sql("UPDATE tree_tiles SET root = ?", (bytes(32),))
    with pytest.raises(DamagedLedger, match="the tree of desk 'loans' was changed"):
        verify_history(ledger, "loans")


def test_tokens_are_recorded(durable_ledger: Ledger) -> None:
    """What is done with tokens is an event each; a row that was planted, changed or removed is named."""
    store = TokenStore(durable_ledger)
    token, _ = new_token(f"intake {os.urandom(4).hex()}", ["decide"])
    store.add(token)
    before = durable_ledger.head(SERVICE).seq
    store.revoke(token.id, "2026-01-01T00:00:00+00:00")
    store.revoke(token.id, "2026-01-02T00:00:00+00:00")
    assert durable_ledger.head(SERVICE).seq == before + 1, "revoked once"
    check_tokens(durable_ledger)
    assert SERVICE not in durable_ledger.names()
    for statement, message in (
        (f"UPDATE tokens SET revoked = NULL WHERE id = '{token.id}'", f"token {token.id} was changed: its revoked"),
        (f"DELETE FROM tokens WHERE id = '{token.id}'", f"token {token.id} was removed"),
        (
            "INSERT INTO tokens (id, name, digest, roles, created) VALUES ('tok_0', 'x', 'x', '[\"admin\"]', 'now')",
            "token tok_0 was planted",
        ),
    ):
        with durable_ledger.transaction(writes=True) as connection:
            kept = connection.exec_driver_sql("SELECT * FROM tokens").fetchall()
            connection.exec_driver_sql(statement)
        with pytest.raises(DamagedLedger, match=message):
            check_tokens(durable_ledger)
        with durable_ledger.transaction(writes=True) as connection:
            connection.exec_driver_sql("DELETE FROM tokens")
            marks = ", ".join("?" * len(kept[0]))
            connection.exec_driver_sql(f"INSERT INTO tokens VALUES ({marks})", [tuple(row) for row in kept])
    check_tokens(durable_ledger)


def test_tokens_of_an_earlier_version_are_adopted(tmp_path: Path) -> None:
    """They were recorded nowhere; the first event of the stream has them, and whatever is planted later is found."""
    url = f"sqlite:///{tmp_path}/ledger.db"
    insert = "INSERT INTO tokens (id, name, digest, roles, created) VALUES (?, ?, ?, '[\"admin\"]', 'then')"
    engine = open_engine(url)
    with transaction(engine, writes=True) as connected:
        _upgrade(connected, to="0003")
        connected.exec_driver_sql(insert, ("tok_1", "old", "a"))
    engine.dispose()
    with closing(open_ledger(url)) as ledger:
        assert ledger.head(SERVICE).seq == 1
        assert check_tokens(ledger) == 1
        TokenStore(ledger).add(new_token("new", ["review"])[0])
        assert check_tokens(ledger) == 2
        with ledger.transaction(writes=True) as connected:
            connected.exec_driver_sql("ALTER TABLE tokens ADD COLUMN colour TEXT")
        assert check_tokens(ledger) == 2, "a column that was added since is empty"
        with ledger.transaction(writes=True) as connected:
            connected.exec_driver_sql(insert, ("tok_2", "planted", "b"))
        with pytest.raises(DamagedLedger, match="tok_2 was planted"):
            check_tokens(ledger)


def test_a_desk_says_what_to_keep(path: Path) -> None:
    """A decision carries the seq and hash of its event; a desk of the service's name cannot be opened."""
    with Desk.open(f"sqlite:///{path}", "loans") as desk:
        play(desk, 1)
        decision = desk.decide([[0.1] * D, [0.2] * D])
        assert (decision.seq, decision.hash) == (desk.head.seq, desk.head.hash)
        with pytest.raises((InvalidInput, UnknownRecord)):
            Desk.open(desk.ledger, SERVICE, n_features=2)
