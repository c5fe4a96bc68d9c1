"""Output: lines to a file, which is written atomically, to a device or a pipe, or to standard output."""

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
    """Write lines to a path, or to standard output. A new file can be read by its owner only: lines are about people.

    A file has all of them or is unchanged, also if producing one of them raises an error. InvalidInput if there can be
    no file there, CannotWrite if there is no room, BrokenPipeError if the reader has ended.
    """
    if path is None:
        try:
            with _translated("standard output"):
                sys.stdout.flush()
                _write(lines, sys.stdout.buffer)
        except CannotWrite:
            discard_stdout()
            raise
        return
    with _translated(str(path)), ExitStack() as stack:
        _write(lines, _opened(path, stack))


def _opened(path: Path, stack: ExitStack) -> BinaryIO:
    if path.is_dir():
        raise InvalidInput(f"output must be a file, such as {path / 'ledger.jsonl'}, got the folder {path}")
    if not path.resolve().parent.is_dir():
        raise InvalidInput(f"there is no folder {path.resolve().parent} to write {path.name} in")
    try:
        return stack.enter_context(open(path, "wb") if _is_stream(path) else atomic_write(path, private=True))
    except OSError as error:
        raise InvalidInput(f"{path} cannot be written: {error.strerror}") from None


def discard_stdout() -> None:
    """Discard what is still to be written to standard output: Python would try again when it exits, and complain."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _is_stream(path: Path) -> bool:
    """Whether it is a device or a pipe, which cannot be replaced by another file."""
    return path.is_relative_to("/dev") or (path.exists() and not path.is_file())


@contextmanager
def _translated(name: str) -> Iterator[None]:
    """Errors of the operating system as CannotWrite."""
    try:
        yield
    except (EvenhandError, BrokenPipeError):
        raise
    except OSError as error:
        raise CannotWrite(f"{name} cannot be written completely: {error.strerror}") from None


def _write(lines: Iterable[str], file: BinaryIO) -> None:
    for line in lines:
        file.write(line.encode() + b"\n")
    file.flush()
