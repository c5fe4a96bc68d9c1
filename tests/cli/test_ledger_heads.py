"""`evenhand ledger sign`, `heads`, `prove`, `keys`, `rotate-key`, and `verify` with heads that were kept."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

from evenhand.desk import Desk, open_ledger
from evenhand.ledger.merkle import is_consistent, is_included
from evenhand.ledger.signed_head import SignedHead
from evenhand.ledger.signing_keys import ENVIRONMENT
from evenhand.service.tokens import TokenStore, new_token
from tests.support.desk_play import D, play
from tests.support.ledger_command import run
from tests.support.owner import Owner, copy_of

Printed = pytest.CaptureFixture[str]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A data folder with a desk and a token."""
    with Desk.open(f"sqlite:///{tmp_path}/ledger.db", "loans", n_features=D, seed=1) as desk:
        play(desk, 1)
        TokenStore(desk.ledger).add(new_token("intake", ["decide"])[0])
    return tmp_path


def heads_in(printed: str) -> list[SignedHead]:
    """The heads that were printed."""
    return [SignedHead.from_line(line) for line in printed.splitlines()]


def test_heads_are_signed_and_printed(folder: Path, capsys: Printed) -> None:
    """`sign` prints what is new, `heads` what there is; keys are listed, and rotated."""
    where = ("--data", str(folder))
    assert run("sign", *where) == 0
    signed = heads_in(capsys.readouterr().out)
    assert [head.desk for head in signed] == ["loans", "@service"]
    assert run("sign", "loans", *where) == 0
    assert capsys.readouterr().out == ""
    assert run("heads", *where) == 0
    assert heads_in(capsys.readouterr().out) == signed
    assert run("heads", "loans", *where) == 0
    assert heads_in(capsys.readouterr().out) == signed[:1]
    assert run("rotate-key", *where) == 0
    (new,) = re.findall("[0-9a-f]{64}", capsys.readouterr().out)
    assert run("keys", *where) == 0
    old_line, new_line = capsys.readouterr().out.splitlines()
    assert old_line.startswith(signed[0].key)
    assert "until" in old_line
    assert new_line.startswith(new)
    assert new_line.endswith("in use, endorsed by the key before")
    assert run("heads", "nowhere", *where) == 2


def test_a_key_from_the_environment_signs(folder: Path, capsys: Printed, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is used instead of the database's own, and rotated where it is kept."""
    monkeypatch.setenv(ENVIRONMENT, "2b" * 32)
    assert run("sign", "--data", str(folder)) == 0
    assert len({head.key for head in heads_in(capsys.readouterr().out)}) == 1
    assert run("rotate-key", "--data", str(folder)) == 2
    monkeypatch.delenv(ENVIRONMENT)
    with Desk.open(f"sqlite:///{folder}/ledger.db", "loans") as desk:
        play(desk, 1)
    assert run("sign", "--data", str(folder)) == 2
    assert ENVIRONMENT in capsys.readouterr().err


def test_proofs_are_printed(folder: Path, capsys: Printed) -> None:
    """Of the newest head, or of a size; each is checked with pure functions."""
    where = ("--data", str(folder))
    run("sign", *where)
    head = heads_in(capsys.readouterr().out)[0]
    with Desk.open(f"sqlite:///{folder}/ledger.db", "loans") as desk:
        event = desk.events()[1]
    assert run("prove", "loans", "--event", event.id, *where) == 0
    shown = json.loads(capsys.readouterr().out)
    path = [bytes.fromhex(one) for one in shown["proof"]]
    assert shown["root"] == head.root
    assert is_included(bytes.fromhex(shown["leaf"]), event.seq - 1, head.size, path, bytes.fromhex(head.root))
    assert run("prove", "loans", "--first", "2", "--size", "5", *where) == 0
    shown = json.loads(capsys.readouterr().out)
    path = [bytes.fromhex(one) for one in shown["proof"]]
    roots = bytes.fromhex(shown["first_root"]), bytes.fromhex(shown["second_root"])
    assert is_consistent(2, roots[0], 5, roots[1], path)
    for wrong in ((), ("--event", "x", "--first", "2"), ("--event", "nothing"), ("--first", "2", "--size", "999")):
        assert run("prove", "loans", *wrong, *where) == 2


def test_verify_uses_kept_heads(folder: Path, capsys: Printed, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Stored heads, those in the file beside the database, and those of an auditor; of a desk, of all, of an export."""
    where, kept = ("--data", str(folder)), tmp_path_factory.mktemp("auditor") / "kept.jsonl"
    run("sign", *where)
    kept.write_text(capsys.readouterr().out)
    assert run("verify", *where) == 0
    assert "1 signed head fits" in capsys.readouterr().out
    assert run("verify", "--heads", str(kept), *where) == 0
    assert "1 token, each as it was recorded; 1 signed head fits" in capsys.readouterr().out
    export = kept.with_name("loans.jsonl")
    assert run("export", "loans", "--output", str(export), *where) == 0
    assert run("verify", str(export), "--heads", str(kept)) == 0
    assert "; 1 signed head fits" in capsys.readouterr().out
    with Owner(folder / "ledger.db", np.random.default_rng(0)) as owner:
        owner.rewrite("loans", 4)
        owner.signs_again = False
    assert run("verify", *where) == 1
    assert "the ledger was rewritten" in capsys.readouterr().err, "by the file beside the database"
    (folder / "ledger.db.heads.jsonl").unlink()
    assert run("verify", *where) == 0
    assert run("verify", "--heads", str(kept), *where) == 1
    assert run("verify", "loans", "--heads", str(kept), *where) == 1
    assert "the ledger was rewritten" in capsys.readouterr().err
    assert run("export", "loans", "--output", str(export), *where) == 0
    assert run("verify", str(export), "--heads", str(kept)) == 1
    assert run("verify", "--heads", str(folder / "nothing"), *where) == 2


def test_verify_finds_a_planted_token_and_a_removed_desk(folder: Path, capsys: Printed) -> None:
    """A row without a record; and a desk of which nothing is left but a head."""
    where, kept = ("--data", str(folder)), folder / "kept.jsonl"
    run("sign", *where)
    kept.write_text(capsys.readouterr().out)
    copy_of(folder / "ledger.db", folder / "copy.db")
    with Owner(folder / "ledger.db", np.random.default_rng(0)) as owner:
        owner.plant_token(in_record=False)
    assert run("verify", *where) == 1
    assert "was planted" in capsys.readouterr().err
    with Owner(folder / "copy.db", np.random.default_rng(0)) as owner:
        owner.run("DELETE FROM desks WHERE name = 'loans'")
        owner.run("DELETE FROM signed_heads WHERE desk = 'loans'")
        owner.run("DELETE FROM events WHERE desk = 'loans'")
        del owner.lines["loans"]
    at = ("--database", f"sqlite:///{folder}/copy.db")
    assert run("verify", *at) == 0
    capsys.readouterr()
    assert run("verify", "--heads", str(kept), *at) == 1
    assert "there is no desk 'loans'" in capsys.readouterr().err


def test_a_ledger_without_heads_verifies_as_before(path: Path, capsys: Printed) -> None:
    """No tokens, no heads: nothing is said of them, and reading creates no key."""
    assert run("verify", "--database", f"sqlite:///{path}") == 0
    assert "heads" not in capsys.readouterr().out
    ledger = open_ledger(f"sqlite:///{path}")
    assert ledger.heads(["@service"]) == {}
    ledger.close()
