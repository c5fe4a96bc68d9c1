"""A service that cannot start says why in a sentence."""

from __future__ import annotations

import asyncio
import logging
import os
import re
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from evenhand.desk import Desk
from evenhand.errors import EvenhandError, LedgerUnavailable
from evenhand.service import ServiceSettings, create_app
from evenhand.service.serve import serve as start
from evenhand.service.tokens import TokenStore, open_tokens
from tests.support.ledgers import running_postgresql
from tests.support.running_service import ADMIN
from tests.support.tampering import tampered


async def failure_of(settings: ServiceSettings) -> str:
    """The message to the server when the application cannot start."""
    messages: list[Any] = []

    async def receive() -> dict[str, str]:
        return {"type": "lifespan.startup"}

    async def send(message: Any) -> None:
        messages.append(message)

    with pytest.raises(EvenhandError):
        await create_app(settings)({"type": "lifespan", "state": {}}, receive, send)
    (message,) = messages
    assert message["type"] == "lifespan.startup.failed"
    return str(message["message"])


def test_a_start_that_fails_is_reported_in_a_sentence(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """One line that says what is wrong; the traceback is there for whoever asks for the level debug."""
    (tmp_path / "ledger.db").write_bytes(b"this is no database " * 500)
    with caplog.at_level(logging.DEBUG, "evenhand.service.middleware"):
        message = asyncio.run(
            failure_of(ServiceSettings(database_url=f"sqlite:///{tmp_path}/ledger.db", admin_token=ADMIN))
        )
    assert message.startswith("the service cannot start: the database is damaged")
    assert "\n" not in message
    assert "Traceback" not in message
    traces = [record for record in caplog.records if record.exc_info]
    assert [record.levelno for record in traces] == [logging.DEBUG]


def serve(*options: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """`evenhand serve` with these options, once it has ended by itself."""
    return subprocess.run(
        [sys.executable, "-m", "evenhand", "serve", "--port", "0", *options],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={**os.environ, **environment},
    )


@pytest.mark.process
@pytest.mark.parametrize("token", ["", ADMIN])
@pytest.mark.parametrize(
    ("url", "sentence"),
    [
        ("postgresql+psycopg://nobody:very-secret@127.0.0.1:1/none", "the database cannot be used now"),
        ("sqlite:///{folder}/newer.db", "the database is at migration 9999"),
        ("sqlite:///{folder}/letter.db", "the database is damaged"),
        ("sqlite:////proc/ledger.db", "the database cannot be used now"),
        ("sqlite:///{folder}/empty.db", "the database {folder}/empty.db is empty"),
    ],
)
def test_serve_says_in_a_sentence_why_it_cannot(tmp_path: Path, url: str, sentence: str, token: str) -> None:
    """Unreachable, newer, damaged, not to be written: one sentence, status 1, no traceback and no password."""
    Desk.open(f"sqlite:///{tmp_path}/newer.db", "loans", n_features=2).close()
    tampered(tmp_path / "newer.db", "UPDATE evenhand_version SET version_num = '9999'")
    (tmp_path / "letter.db").write_text("Dear Sir or Madam, " * 500)
    (tmp_path / "empty.db").touch()
    ended = serve("--database", url.format(folder=tmp_path), EVENHAND_ADMIN_TOKEN=token)
    assert ended.returncode == 1
    assert ended.stderr.startswith(sentence.format(folder=tmp_path))
    assert ended.stderr.count("\n") == 1
    assert "very-secret" not in ended.stderr
    assert ended.stdout == ""


@pytest.mark.postgres
@pytest.mark.process
def test_a_user_whom_postgresql_rejects_gets_a_sentence() -> None:
    """In its own words, in a sentence, without the password."""
    with running_postgresql() as server:
        url = re.sub("^postgresql://postgres:?", "postgresql+psycopg://nobody:very-secret", server.get_uri())
        ended = serve("--database", url)
    assert ended.returncode == 1
    assert ended.stderr.startswith("the database cannot be used now")
    assert ended.stderr.count("\n") == 1
    assert "very-secret" not in ended.stderr


@pytest.mark.process
@pytest.mark.parametrize("options", [(), ("--workers", "2"), ("--demo",)])
def test_a_port_that_is_taken_is_reported_before_a_token_is_made(tmp_path: Path, options: tuple[str, ...]) -> None:
    """One sentence and status 1; the token that is shown once is not, nor is it kept."""
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = str(other.getsockname()[1])
        where = () if "--demo" in options else ("--data", str(tmp_path))
        ended = serve("--port", port, *where, *options, EVENHAND_ADMIN_TOKEN="")
    assert ended.stderr.startswith(f"port {port} of 127.0.0.1 is taken by another program")
    assert (ended.returncode, ended.stdout, ended.stderr.count("\n")) == (1, "", 1)
    if where:
        with open_tokens(f"sqlite:///{tmp_path}/ledger.db") as store:
            assert store.all() == []


@pytest.mark.process
def test_an_unknown_host_is_reported(tmp_path: Path) -> None:
    """An address of somebody else, and a name that nobody has."""
    for host in ("192.0.2.7", "nobody.invalid"):
        ended = serve("--host", host, "--data", str(tmp_path), EVENHAND_ADMIN_TOKEN=ADMIN)
        assert ended.stderr.startswith(f"cannot listen on port 0 of {host}: ")
        assert (ended.returncode, ended.stdout, ended.stderr.count("\n")) == (1, "", 1)


def test_a_server_that_cannot_start_ends_with_status_1(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also when the ledger could be opened at first and tokens cannot be read."""

    def failing(*_: Any) -> None:
        raise LedgerUnavailable("the database has gone")

    monkeypatch.setattr(TokenStore, "all", failing)
    monkeypatch.setattr("evenhand.service.serve.prepare_process", lambda: None)
    settings = ServiceSettings(database_url=f"sqlite:///{tmp_path}/ledger.db", admin_token=ADMIN)
    monkeypatch.setattr("evenhand.service.serve.set_up_logs", lambda: None)
    with pytest.raises(SystemExit) as ended:
        start(settings, port=0, say=lambda words: None)
    assert ended.value.code == 1


@pytest.mark.process
def test_a_demonstration_keeps_nothing_and_says_so(tmp_path: Path) -> None:
    """A place to keep things in is refused, and nothing begins."""
    ended = serve("--demo", "--data", str(tmp_path / "here"))
    assert "error: --demo cannot be combined with --data or --database" in ended.stderr
    assert (ended.returncode, ended.stdout) == (2, "")
    assert not (tmp_path / "here").exists()
