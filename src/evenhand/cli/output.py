"""Output: lines to a file, which is written whole or not at all, to a device or a pipe, or to standard output."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import BinaryIO

from evenhand._internal.atomic_write import atomic_write
from evenhand.errors import CannotWrite, EvenhandError, InvalidInput


def write_lines(lines: Iterable[str], path: Path | None) -> None:
    """Write lines to a path, or to standard output.

    A file has all of them or is as it was, also if making one of them raises an error. InvalidInput if there can be no
    file there, CannotWrite if there is no room, BrokenPipeError if a reader went away.
    """
    if path is None:
        try:
            with _told("standard output"):
                sys.stdout.flush()
                _write(lines, sys.stdout.buffer)
        except CannotWrite:
            let_go_of_stdout()
            raise
        return
    with _told(str(path)), ExitStack() as until_the_end:
        _write(lines, _opened(path, until_the_end))


def _opened(path: Path, until_the_end: ExitStack) -> BinaryIO:
    if path.is_dir():
        raise InvalidInput(f"{path} is a folder; a file in it is needed, such as {path / 'ledger.jsonl'}")
    if not path.resolve().parent.is_dir():
        raise InvalidInput(f"there is no folder {path.resolve().parent} to write {path.name} in")
    try:
        return until_the_end.enter_context(open(path, "wb") if _is_stream(path) else atomic_write(path))
    except OSError as error:
        raise InvalidInput(f"{path} cannot be written: {error.strerror}") from None


def let_go_of_stdout() -> None:
    """What is still to be written to standard output goes nowhere: Python would try again at its end, and complain."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _is_stream(path: Path) -> bool:
    """Whether it is a device or a pipe: those cannot be replaced by another file."""
    return path.is_relative_to("/dev") or (path.exists() and not path.is_file())


@contextmanager
def _told(name: str) -> Iterator[None]:
    """What goes wrong in writing is told in a sentence."""
    try:
        yield
    except (EvenhandError, BrokenPipeError):
        raise
    except OSError as error:
        raise CannotWrite(f"{name} cannot be written to the end: {error.strerror}") from None


def _write(lines: Iterable[str], file: BinaryIO) -> None:
    for line in lines:
        file.write(line.encode() + b"\n")
    file.flush()
