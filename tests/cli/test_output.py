"""An export is whole or absent; what cannot be written is an error in a sentence; a damaged ledger is not passed on."""

from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from evenhand.desk import open_ledger
from evenhand.ledger.verify import to_jsonl, verify_lines
from tests.support.ledger_command import run
from tests.support.tampering import lines, tampered

FORMATS = ("jsonl", "dsjson")


def export(*options: str, output: str = "") -> subprocess.CompletedProcess[str]:
    """`evenhand ledger export` in a process and a shell of its own; `output`: what stands behind it."""
    words = " ".join([sys.executable, "-m", "evenhand", "ledger", "export", *options, output])
    return subprocess.run(["bash", "-c", words], capture_output=True, text=True, timeout=120, check=False)


@pytest.mark.parametrize("form", FORMATS)
def test_a_failed_export_leaves_what_was_there(path: Path, tmp_path: Path, form: str) -> None:
    """A mistyped desk, a ledger that breaks half way: yesterday's file is as it was, and nothing lies beside it."""
    file = tmp_path / "out" / "good.jsonl"
    file.parent.mkdir()
    file.write_text("yesterday's\n")
    where = ("--database", f"sqlite:///{path}", "--format", form, "--output", str(file))
    assert run("export", "laons", *where) == 2
    tampered(path, "UPDATE events SET text = replace(text, ':', ': ') WHERE seq = (SELECT max(seq) FROM events)")
    assert run("export", "loans", *where) == 1
    assert file.read_text() == "yesterday's\n"
    assert list(file.parent.iterdir()) == [file]


def test_an_export_replaces_the_file_and_keeps_its_permissions(path: Path, tmp_path: Path) -> None:
    """Through a link, too: what it points to is replaced."""
    file, link = tmp_path / "lines.jsonl", tmp_path / "link.jsonl"
    file.write_text("yesterday's\n")
    file.chmod(0o640)
    link.symlink_to(file)
    assert run("export", "loans", "--database", f"sqlite:///{path}", "--output", str(link)) == 0
    assert link.is_symlink()
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    assert verify_lines(file.read_text().splitlines()).seq == len(lines(path))


@pytest.mark.parametrize(
    ("target", "status", "stated"),
    [
        ("{folder}/nowhere/x.jsonl", 2, "there is no folder {folder}/nowhere"),
        ("{folder}", 2, "got the folder {folder}"),
        ("{folder}/ledger.db/x.jsonl", 2, "there is no folder"),
        ("/proc/x.jsonl", 2, "/proc/x.jsonl cannot be written"),
        ("/dev/full", 1, "/dev/full cannot be written completely: No space left on device"),
    ],
)
def test_what_cannot_be_written_is_a_sentence(
    path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], target: str, status: int, stated: str
) -> None:
    """Status 2 for a place where no file can be, 1 where there is no room."""
    output = target.format(folder=tmp_path)
    assert run("export", "loans", "--database", f"sqlite:///{path}", "--output", output) == status
    assert stated.format(folder=tmp_path) in capsys.readouterr().err


def test_a_disk_that_fills_up_leaves_what_was_there(
    path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Found out as late as when the last bytes are to be on disk."""

    def full(handle: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    file = tmp_path / "out" / "lines.jsonl"
    file.parent.mkdir()
    file.write_text("yesterday's\n")
    monkeypatch.setattr("evenhand._internal.atomic_write.os.fsync", full)
    assert run("export", "loans", "--database", f"sqlite:///{path}", "--output", str(file)) == 1
    assert capsys.readouterr().err == f"{file} cannot be written completely: No space left on device\n"
    assert (list(file.parent.iterdir()), file.read_text()) == ([file], "yesterday's\n")


@pytest.mark.process
def test_a_full_disk_behind_standard_output_is_a_sentence(path: Path) -> None:
    """Nothing of Python's own comes after it."""
    ended = export("loans", "--database", f"sqlite:///{path}", output="> /dev/full")
    assert ended.stderr == "standard output cannot be written completely: No space left on device\n"
    assert ended.returncode == 1


@pytest.mark.process
@pytest.mark.parametrize("form", FORMATS)
def test_a_reader_who_has_seen_enough_ends_it_quietly(path: Path, form: str) -> None:
    """No traceback, and no error status."""
    ended = export("loans", "--database", f"sqlite:///{path}", "--format", form, output="| true; exit ${PIPESTATUS[0]}")
    assert (ended.returncode, ended.stderr, ended.stdout) == (0, "", "")


def test_a_pipe_is_written_to_and_not_replaced(path: Path, tmp_path: Path) -> None:
    """What reads a named pipe gets all lines."""
    pipe, read = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: read.append(pipe.read_text()))
    reader.start()
    assert run("export", "loans", "--database", f"sqlite:///{path}", "--output", str(pipe)) == 0
    reader.join(60)
    assert pipe.is_fifo()
    assert verify_lines(read[0].splitlines()).seq == len(lines(path))


@pytest.mark.parametrize(
    ("statement", "lost"),
    [
        ("UPDATE events SET text = replace(text, 'person 0', 'person O') WHERE seq = 5", 0),
        ("UPDATE events SET text = CAST(text AS BLOB) WHERE seq = 5", 1),
        ("UPDATE events SET kind = 'answer' WHERE seq = 5", 0),
        ("DELETE FROM events WHERE seq = 5", 0),
        ("UPDATE desks SET decisions = decisions + 1", 0),
        ("DELETE FROM events WHERE seq > 8", 0),
    ],
)
def test_a_damaged_ledger_is_exported_on_request_only(
    path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], statement: str, lost: int
) -> None:
    """A sentence, status 1, and no file; on request all that can be read is written, with the same sentence."""
    tampered(path, statement)
    file, where = tmp_path / "lines.jsonl", ("--database", f"sqlite:///{path}")
    for form in FORMATS:
        assert run("export", "loans", *where, "--output", str(file), "--format", form) == 1
        reported = capsys.readouterr().err
        assert reported.count("\n") == 1
        assert not file.exists()
    assert run("export", "loans", *where, "--output", str(file), "--even-if-damaged") == 1
    assert capsys.readouterr().err == f"{reported[:-1]}; it was written as it is\n"
    assert len(file.read_text().splitlines()) == len(lines(path)) - lost
    assert run("export", "loans", *where, "--format", "dsjson", "--even-if-damaged") == 2


def test_a_whole_ledger_is_exported_the_same_either_way(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing is found, nothing printed, status 0."""
    where = ("--database", f"sqlite:///{path}")
    assert run("export", "loans", *where) == 0
    plain = capsys.readouterr()
    assert run("export", "loans", *where, "--even-if-damaged") == 0
    assert capsys.readouterr() == plain
    ledger = open_ledger(f"sqlite:///{path}")
    assert plain.out.splitlines() == list(to_jsonl(ledger, "loans"))
    ledger.close()
