"""Tokens: kept as digests, made and ended on the command line, the first one printed once."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from evenhand.cli.main import main
from evenhand.cli.main import main as command
from evenhand.desk import Desk, open_ledger
from evenhand.errors import InvalidInput
from evenhand.ledger.event import now
from evenhand.service import ServiceSettings
from evenhand.service.serve import check_may_listen, first_token
from evenhand.service.tokens import TokenStore, UnknownToken, digest_of, new_token, open_tokens


@pytest.fixture
def url(tmp_path: Path) -> str:
    """A new database."""
    return f"sqlite:///{tmp_path / 'ledger.db'}"


def test_tokens_are_stored_and_revoked(url: str) -> None:
    """A store keeps tokens, no name twice, and remembers what was revoked."""
    with open_tokens(url) as store:
        check_store(store)


def check_store(store: TokenStore) -> None:
    """What a store of tokens does."""
    first, _ = new_token("intake", ["decide"], ["b", "a"])
    second, _ = new_token("owner", ["admin", "review"])
    store.add(first)
    store.add(second)
    assert store.all() == [first, second]
    assert first.desks == ("a", "b")
    assert second.roles == ("review", "admin")
    with pytest.raises(InvalidInput, match="intake"):
        store.add(new_token("intake", ["review"])[0])
    ended = store.revoke("intake", now())
    assert ended.revoked is not None
    assert store.revoke(first.id, "later").revoked == ended.revoked
    assert [token.revoked for token in store.all()] == [ended.revoked, None]
    with pytest.raises(UnknownToken, match="nobody"):
        store.revoke("nobody", now())


def test_the_database_never_sees_a_secret(url: str, tmp_path: Path) -> None:
    """Only the digest is on disk."""
    token, secret = new_token("intake", ["decide"])
    with open_tokens(url) as store:
        store.add(token)
    assert not [path for path in tmp_path.iterdir() if secret.encode() in path.read_bytes()]
    connection = sqlite3.connect(tmp_path / "ledger.db")
    assert connection.execute("SELECT digest FROM tokens").fetchall() == [(digest_of(secret),)]
    connection.close()


@pytest.mark.parametrize(
    ("name", "roles", "desks"),
    [
        ("", ["decide"], None),
        ("a\nb", ["decide"], None),
        ("a", [], None),
        ("a", ["root"], None),
        ("a", ["decide"], []),
        ("admin", ["review"], None),
        ("Metrics", ["review"], None),
        ("local", ["decide"], ["loans"]),
    ],
)
def test_a_token_that_makes_no_sense_is_refused(name: str, roles: list[str], desks: list[str] | None) -> None:
    """A name, one role or more of those there are, and desks or none for all."""
    with pytest.raises(InvalidInput):
        new_token(name, roles, desks)


def test_the_command_line_makes_lists_and_ends_tokens(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`token create` prints the secret once, `token list` all but the secret, `token revoke` ends it."""

    def run(*arguments: str) -> str:
        monkeypatch.setattr(sys, "argv", ["evenhand", *arguments, "--data", str(tmp_path / "data")])
        assert main() == 0
        return capsys.readouterr().out.strip()

    (tmp_path / "data").mkdir()
    open_ledger(f"sqlite:///{tmp_path}/data/ledger.db").close()
    secret = run("token", "create", "intake", "--role", "decide", "--desk", "loans")
    assert secret.startswith("eh_")
    listed = run("token", "list")
    assert "intake  decide  loans" in listed
    assert "in use" in listed
    assert secret not in listed
    assert "revoked token intake" in run("token", "revoke", "intake")
    assert "revoked" in run("token", "list")
    with pytest.raises(SystemExit):
        run("token", "revoke", "nobody")


@pytest.mark.parametrize("action", [("create", "kim", "--role", "review"), ("list",), ("revoke", "kim")])
def test_tokens_are_looked_for_where_a_database_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], action: tuple[str, ...]
) -> None:
    """In the wrong folder no database is made, and no secret shown that no service would know."""
    for where in (("--data", str(tmp_path / "typo")), ("--database", f"sqlite:///{tmp_path}/typo.db")):
        assert evenhand("token", *action, *where) == 2
        printed = capsys.readouterr()
        assert "there is no ledger" in printed.err
        assert printed.out == ""
    assert evenhand("token", *action, "--database", "memory:") == 2
    assert list(tmp_path.iterdir()) == []


def test_a_token_for_a_missing_desk_prints_a_warning(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It is made, for the desk may come later; whoever mistyped a name reads so."""
    where = ("--data", str(tmp_path))
    Desk.open(f"sqlite:///{tmp_path}/ledger.db", "loans", n_features=2).close()
    assert evenhand("token", "create", "kim", "--role", "review", "--desk", "loans", *where) == 0
    assert capsys.readouterr().err == ""
    assert evenhand("token", "create", "lee", "--role", "review", "--desk", "loans", "--desk", "laons", *where) == 0
    printed = capsys.readouterr()
    assert printed.out.startswith("eh_")
    assert printed.out.count("\n") == 1
    assert printed.err == "there is no desk laons yet; the token will work once it exists\n"


def evenhand(*arguments: str) -> int:
    """The exit status of `evenhand` with these arguments."""
    try:
        return command(list(arguments))
    except SystemExit as ended:
        return int(ended.code or 0)


def test_the_first_start_makes_one_admin_token_and_no_later_one_does(url: str) -> None:
    """The secret is given once; after it was revoked, the next start makes another."""
    settings = ServiceSettings(database_url=url)
    secret = first_token(settings, may_create=True)
    assert secret is not None
    assert first_token(settings, may_create=True) is None
    with open_tokens(url) as store:
        (token,) = store.all()
        assert token.digest == digest_of(secret)
        assert token.roles == ("admin",)
        store.revoke(token.id, now())
    assert first_token(settings, may_create=True) not in (None, secret)


def test_a_service_without_tokens_stays_on_loopback(url: str) -> None:
    """Beyond loopback there must be tokens, and one of them there already."""
    for host in ("0.0.0.0", "::", "192.0.2.7", "example.org"):
        with pytest.raises(InvalidInput, match="loopback"):
            check_may_listen(ServiceSettings(tokens=False), host)
    for host in ("127.0.0.1", "::1", "localhost"):
        check_may_listen(ServiceSettings(tokens=False), host)
    with pytest.raises(InvalidInput, match="needs an admin token"):
        first_token(ServiceSettings(database_url=url), may_create=False)
    assert first_token(ServiceSettings(database_url=url, admin_token="x" * 20), may_create=False) is None


@pytest.mark.process
def test_the_command_refuses_to_listen_beyond_loopback(tmp_path: Path) -> None:
    """`evenhand serve --host 0.0.0.0` ends with a sentence, not with a server."""
    command = [sys.executable, "-m", "evenhand", "serve", "--host", "0.0.0.0", "--data", str(tmp_path)]
    for more in ([], ["--without-tokens"]):
        done = subprocess.run([*command, *more], capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 2
        assert "token" in done.stderr
        assert "Traceback" not in done.stderr


def test_settings_come_from_the_environment_and_go_there() -> None:
    """Whatever was set is read back, so that worker processes have the same settings."""
    settings = ServiceSettings(
        database_url="sqlite:///x.db", admin_token="y" * 30, tokens=True, rate=12.5, max_body=77, log_requests=False
    )
    assert ServiceSettings.from_environment(settings.to_environment()) == settings
    for wrong in ({"EVENHAND_RATE": "many"}, {"EVENHAND_TOKENS": "perhaps"}, {"EVENHAND_ADMIN_TOKEN": "short"}):
        with pytest.raises(InvalidInput):
            ServiceSettings.from_environment(wrong)
    assert "y" * 30 not in repr(settings)
