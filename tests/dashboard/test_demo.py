"""The demonstration: a link that signs in once, people who arrive by themselves, and nothing left at the end."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from evenhand.errors import InvalidInput
from evenhand.service.demo import serve_demo
from tests.support.waiting import wait_for

BEGIN = "from evenhand.service.demo import serve_demo; serve_demo(port=0, decisions=8)"


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[subprocess.Popen[str], str, Path]]:
    """A demonstration with a short past, its link, and where it may leave things."""
    folder = tmp_path_factory.mktemp("demo")
    environment = {**os.environ, "TMPDIR": str(folder)}
    with subprocess.Popen([sys.executable, "-c", BEGIN], stdout=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stdout is not None
        output = ""
        while (found := re.search(r"http://\S+/welcome/\S+", output)) is None:
            line = process.stdout.readline()
            assert line, output
            output += line
        yield process, found.group(), folder
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
            process.wait(60)


def kept(process: subprocess.Popen[str], folder: Path) -> list[Path]:
    """The folders of a demonstration, wherever it may have put them."""
    return [path for place in (folder, Path("/dev/shm")) for path in place.glob(f"evenhand-demo-{process.pid}-*")]


@pytest.mark.process
def test_it_plays_by_itself_and_leaves_nothing(demo: tuple[subprocess.Popen[str], str, Path]) -> None:
    """The link signs in once, with all roles, the token as often as one likes; decisions come; Ctrl-C ends it.

    Opened again the link leads to the story whoever is signed in, and others to a page that explains the token.
    """
    process, link, folder = demo
    base = link.split("/welcome/")[0]
    assert len(kept(process, folder)) == 1
    with httpx.Client(base_url=base, timeout=60) as http:
        welcome = http.get(link)
        assert (welcome.status_code, welcome.headers["location"]) == (303, "/story")
        story = http.get("/story/numbers").json()
        assert (story["decisions"], story["candidates"], story["capacity"]) == (8, 5, 1)
        assert http.get("/story").status_code == 200
        assert "HttpOnly" in welcome.headers["set-cookie"]
        assert {"review", "decide", "admin"} == set(http.get("/session").json()["roles"])
        made = http.get("/api/desks/loans").json()["decisions"]
        wait_for(lambda: http.get("/api/desks/loans").json()["decisions"] > made, what="a decision", pause=0.1)
        people = http.get("/api/desks/loans/window").json()["reviewers"]["people"]
        assert {person["name"] for person in people} <= {"Ana", "Ben"}
        wait_for(lambda: http.get("/api/desks/loans/review/next").json()["item"], what="a waiting pair", pause=0.1)
        once_more = http.get(link)
        assert (once_more.status_code, once_more.headers["location"]) == (303, "/story")
    again = httpx.get(link, timeout=60)
    assert (again.status_code, again.headers["location"]) == (303, "/sign-in?next=/story")
    assert "in the terminal" in httpx.get(f"{base}/sign-in", timeout=60).text
    assert "set-cookie" not in again.headers
    assert process.stdout is not None
    while (token := re.search(r"use this token: (\S+)", process.stdout.readline())) is None:
        pass
    assert httpx.post(f"{base}/session", json={"token": token.group(1)}, timeout=60).status_code == 201
    process.send_signal(signal.SIGINT)
    assert process.wait(60) == 0
    assert kept(process, folder) == []


def test_it_is_for_this_machine_alone() -> None:
    """Its link lets anybody in, so nobody else must reach it."""
    with pytest.raises(InvalidInput, match="loopback"):
        serve_demo(host="0.0.0.0")
