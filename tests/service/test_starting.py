"""A service that cannot start says why in a sentence."""

from __future__ import annotations

import asyncio
import json
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
from evenhand.desk.projection.reducer import Reducer
from evenhand.errors import DamagedLedger, EvenhandError
from evenhand.service import Settings, create_app
from evenhand.service.apart import Apart, OfficeFailed
from evenhand.service.serve import serve as start
from evenhand.service.token_store import open_tokens
from tests.support.ledgers import running_postgresql
from tests.support.running_service import ADMIN
from tests.support.tampering import tampered
from tests.support.waiting import wait_for


async def failure_of(settings: Settings) -> str:
    """What the server is told when the application cannot start."""
    told: list[Any] = []

    async def receive() -> dict[str, str]:
        return {"type": "lifespan.startup"}

    async def send(message: Any) -> None:
        told.append(message)

    with pytest.raises(EvenhandError):
        await create_app(settings)({"type": "lifespan", "state": {}}, receive, send)
    (message,) = told
    assert message["type"] == "lifespan.startup.failed"
    return str(message["message"])


def test_a_start_that_fails_is_told_in_a_sentence(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """One line that says what is wrong; the traceback is there for whoever asks for the level debug."""
    (tmp_path / "ledger.db").write_bytes(b"this is no database " * 500)
    with caplog.at_level(logging.DEBUG, "evenhand.service.starting"):
        said = asyncio.run(failure_of(Settings(database_url=f"sqlite:///{tmp_path}/ledger.db", admin_token=ADMIN)))
    assert said.startswith("the service cannot start: the database was damaged")
    assert "\n" not in said
    assert "Traceback" not in said
    traces = [record for record in caplog.records if record.exc_info]
    assert [record.levelno for record in traces] == [logging.DEBUG]


def test_a_folder_that_fails_logs_a_sentence(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A desk whose ledger cannot be folded says why, without a traceback above the level debug."""

    def damaged(*_: Any, **__: Any) -> None:
        raise DamagedLedger("line 2 of the ledger cannot be read; verify it")

    with Desk.open(f"sqlite:///{tmp_path}/ledger.db", "loans", n_features=2) as desk:
        desk.decide([[0.1, 0.2], [0.3, 0.4]])
        monkeypatch.setattr(Reducer, "advance", damaged)
        with caplog.at_level(logging.INFO, "evenhand.desk.projection.projector"):
            desk.project_in_background()
            wait_for(lambda: bool(caplog.records))
    assert "line 2 of the ledger cannot be read" in caplog.records[0].getMessage()
    assert not any(record.exc_info for record in caplog.records)


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


@pytest.mark.parametrize("token", ["", ADMIN])
@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("postgresql+psycopg://nobody:very-secret@127.0.0.1:1/none", "the database cannot be used now"),
        ("sqlite:///{folder}/newer.db", "the database is at step 9999"),
        ("sqlite:///{folder}/letter.db", "the database was damaged"),
        ("sqlite:////proc/ledger.db", "the database cannot be used now"),
        ("sqlite:///{folder}/empty.db", "the database {folder}/empty.db is empty"),
    ],
)
def test_serve_says_in_a_sentence_why_it_cannot(tmp_path: Path, url: str, said: str, token: str) -> None:
    """Unreachable, newer, damaged, not to be written: one sentence, status 1, no traceback and no password."""
    Desk.open(f"sqlite:///{tmp_path}/newer.db", "loans", n_features=2).close()
    tampered(tmp_path / "newer.db", "UPDATE evenhand_version SET version_num = '9999'")
    (tmp_path / "letter.db").write_text("Dear Sir or Madam, " * 500)
    (tmp_path / "empty.db").touch()
    ended = serve("--database", url.format(folder=tmp_path), EVENHAND_ADMIN_TOKEN=token)
    assert ended.returncode == 1
    assert ended.stderr.startswith(said.format(folder=tmp_path))
    assert ended.stderr.count("\n") == 1
    assert "very-secret" not in ended.stderr
    assert ended.stdout == ""


def test_a_user_whom_postgresql_does_not_let_in_is_told() -> None:
    """In its own words, in a sentence, without the password."""
    with running_postgresql() as server:
        url = re.sub("^postgresql://postgres:?", "postgresql+psycopg://nobody:very-secret", server.get_uri())
        ended = serve("--database", url)
    assert ended.returncode == 1
    assert ended.stderr.startswith("the database cannot be used now")
    assert ended.stderr.count("\n") == 1
    assert "very-secret" not in ended.stderr


@pytest.mark.parametrize("options", [(), ("--workers", "2"), ("--demo",)])
def test_a_port_that_is_taken_is_told_before_a_token_is_made(tmp_path: Path, options: tuple[str, ...]) -> None:
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


def test_a_host_that_is_not_here_is_told(tmp_path: Path) -> None:
    """An address of somebody else, and a name that nobody has."""
    for host in ("192.0.2.7", "nobody.invalid"):
        ended = serve("--host", host, "--data", str(tmp_path), EVENHAND_ADMIN_TOKEN=ADMIN)
        assert ended.stderr.startswith(f"nothing can listen on port 0 of {host}: ")
        assert (ended.returncode, ended.stdout, ended.stderr.count("\n")) == (1, "", 1)


def test_an_office_that_cannot_work_logs_a_sentence(tmp_path: Path) -> None:
    """The process that has the desks ends with one line of JSON that says why, and status 1."""
    here, there = socket.socketpair()
    with here, there:
        ended = subprocess.run(
            [sys.executable, "-m", "evenhand.service.office_process", str(there.fileno())],
            input=json.dumps({"EVENHAND_DATABASE_URL": f"sqlite:///{tmp_path}/nowhere/ledger.db"}) + "\n",
            pass_fds=[there.fileno()],
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
    assert ended.returncode == 1
    (line,) = ended.stderr.splitlines()
    assert "there is no ledger" in json.loads(line)["message"]


def test_a_server_that_cannot_start_ends_with_status_1(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also when the ledger opened at first and the part that has the desks did not start."""

    async def failing(*_: Any) -> None:
        raise OfficeFailed("the part of the service that has the desks did not start; its log says why")

    monkeypatch.setattr(Apart, "opened", failing)
    settings = Settings(database_url=f"sqlite:///{tmp_path}/ledger.db", admin_token=ADMIN)
    monkeypatch.setattr("evenhand.service.serve.set_up_logs", lambda: None)
    with pytest.raises(SystemExit) as ended:
        start(settings, port=0, say=lambda words: None)
    assert ended.value.code == 1


def test_a_demonstration_keeps_nothing_and_says_so(tmp_path: Path) -> None:
    """Whoever names a place to keep things in is told, and nothing begins."""
    ended = serve("--demo", "--data", str(tmp_path / "here"))
    assert "error: --demo keeps nothing; leave out --data and --database" in ended.stderr
    assert (ended.returncode, ended.stdout) == (2, "")
    assert not (tmp_path / "here").exists()
