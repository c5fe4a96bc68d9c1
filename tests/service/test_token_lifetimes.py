"""Tokens that expire, and secrets that are replaced by others: with a time in which both work."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from evenhand.cli.main import main
from evenhand.desk import open_ledger
from evenhand.errors import InvalidInput
from evenhand.ledger.event import now
from evenhand.service import ServiceSettings
from evenhand.service.serve import first_token
from evenhand.service.tokens import UnknownToken, digest_of, new_token, open_tokens
from tests.support.running_service import DECISIONS, Asking, candidates, is_problem

LOANS = "/api/desks/loans"


def expire_all(file: Path) -> None:
    """Let all tokens have expired a second ago."""
    with closing(sqlite3.connect(file)) as connection:
        connection.executescript(f"UPDATE tokens SET expires = '{at(seconds=-1)}'")


def at(**later: float) -> str:
    """A moment from now on."""
    return (datetime.now(UTC) + timedelta(**later)).isoformat(timespec="microseconds")


def end(ask: Asking, name: str, column: str) -> None:
    """Let the time of a token run out."""
    with ask.service.ledger.transaction(writes=True) as connection:
        connection.exec_driver_sql(f"UPDATE tokens SET {column} = ? WHERE name = ?", (at(seconds=-1), name))
    ask.service.authenticator.refresh()


def test_an_expired_token_is_refused_with_a_sentence(ask: Asking) -> None:
    """By header, by sign-in and by the cookie of a session that was begun before."""
    token, ask.secrets["Kim"] = new_token("Kim", ["review"], ["loans"], at(days=1))
    ask.service.tokens.add(token)
    ask.service.authenticator.refresh()
    session = ask("POST", "/session", {"token": ask.secrets["Kim"]}, by="nobody")
    assert session.status_code == 201
    cookie = {"Cookie": session.headers["set-cookie"].partition(";")[0]}
    assert ask("GET", LOANS, by="Kim").status_code == 200
    assert ask("GET", LOANS, by="nobody", headers=cookie).status_code == 200
    end(ask, "Kim", "expires")
    for refused in (
        ask("GET", LOANS, by="Kim"),
        ask("GET", LOANS, by="nobody", headers=cookie),
        ask("POST", "/session", {"token": ask.secrets["Kim"]}, by="nobody"),
    ):
        assert "this token expired at 20" in is_problem(refused, 401, "unauthorized")["detail"]


def test_a_rotated_token_works_with_both_secrets_for_a_while(ask: Asking) -> None:
    """The holder stays who they are: a retry under the same key gets the same response, whichever secret it has."""
    key = {"Idempotency-Key": "day 1"}
    first = ask("POST", DECISIONS, candidates(), by="decide", headers=key)
    _, ask.secrets["new"] = ask.service.tokens.rotate("decide", at(days=1))
    ask.service.authenticator.refresh()
    for by in ("decide", "new"):
        assert ask("POST", DECISIONS, candidates(), by=by, headers=key).content == first.content
    end(ask, "decide", "old_until")
    assert ask("POST", DECISIONS, candidates(), by="new", headers=key).content == first.content
    refused = is_problem(ask("GET", LOANS, by="decide"), 401, "unauthorized")
    assert "the secret of this token was replaced" in refused["detail"]


def test_a_token_that_is_rotated_twice_has_two_secrets(ask: Asking) -> None:
    """The first of three works no more, however long its overlap was to be; nor do any after it is revoked."""
    _, ask.secrets["second"] = ask.service.tokens.rotate("decide", at(days=1))
    _, ask.secrets["third"] = ask.service.tokens.rotate("decide", at(days=1))
    ask.service.authenticator.refresh()
    assert [ask("GET", LOANS, by=by).status_code for by in ("decide", "second", "third")] == [401, 200, 200]
    ask.service.tokens.revoke("decide", now())
    ask.service.authenticator.refresh()
    assert [ask("GET", LOANS, by=by).status_code for by in ("second", "third")] == [401, 401]


def test_what_cannot_be_rotated_or_never_worked_is_refused(tmp_path: Path) -> None:
    """An unknown token, a revoked one, an expired one without a new end, and an end in the past."""
    with open_tokens(f"sqlite:///{tmp_path}/ledger.db") as store:
        store.add(new_token("gone", ["decide"])[0])
        store.revoke("gone", now())
        store.add(new_token("over", ["decide"], expires=at(days=1))[0])
        with pytest.raises(UnknownToken):
            store.rotate("nobody", now())
        with pytest.raises(InvalidInput, match="was revoked"):
            store.rotate("gone", now())
        with pytest.raises(InvalidInput, match="in the future"):
            store.rotate("over", now(), at(days=-1))
        with pytest.raises(InvalidInput, match="in the future"):
            new_token("late", ["decide"], expires=at(seconds=-1))
        expire_all(tmp_path / "ledger.db")
        with pytest.raises(InvalidInput, match="expired at"):
            store.rotate("over", now())
        token, secret = store.rotate("over", at(days=1), at(days=30))
        assert token.is_valid(now())
        assert token.secrets[digest_of(secret)] == token.expires
        assert token.old_until is not None
        assert token.old_until < now(), "rotating must not bring an expired secret back"


def test_an_expired_admin_token_is_none(tmp_path: Path) -> None:
    """The next start on loopback makes another, so that nobody is locked out."""
    settings = ServiceSettings(database_url=f"sqlite:///{tmp_path}/ledger.db")
    assert first_token(settings, may_create=True) is not None
    expire_all(tmp_path / "ledger.db")
    assert first_token(settings, may_create=True) is not None


def test_the_command_line_says_when_tokens_end(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`--expires` takes a time or a date, `rotate` prints a new secret, `list` shows both ends."""
    where = ("--data", str(tmp_path))
    open_ledger(f"sqlite:///{tmp_path}/ledger.db").close()

    def run(*arguments: str) -> str:
        assert main([*arguments, *where]) == 0
        return capsys.readouterr().out.strip()

    first = run("token", "create", "intake", "--role", "decide", "--expires", "2061-05-17")
    assert "expires 2061-05-17T00:00:00.000000+00:00  in use" in run("token", "list")
    second = run("token", "rotate", "intake", "--overlap", "1d", "--expires", "90d")
    assert second.startswith("eh_")
    assert second != first
    listed = run("token", "list")
    assert "old secret until 20" in listed
    assert "2061" not in listed
    for wrong in ("tomorrow", "5", "-1d", "1e9d"):
        with pytest.raises(SystemExit):
            main(["token", "rotate", "intake", f"--overlap={wrong}", *where])
        assert "as in 90d" in capsys.readouterr().err
