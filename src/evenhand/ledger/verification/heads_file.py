"""HeadsFile: signed heads in a file of JSON lines, which is read head by head.

A busy desk has half a million heads a year. In memory is only how large each is and where its line begins.
"""

from __future__ import annotations

import errno
import os
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from heapq import merge
from pathlib import Path
from typing import Any

import orjson

from evenhand._internal.private_file import make_private
from evenhand.errors import DamagedLedger, InvalidInput
from evenhand.ledger.signed_head import SignedHead

Content = dict[str, Any]
"""A line, parsed: the fields of a head, and perhaps others."""


class HeadsFile:
    """The heads in one file, by desk and in the order of their sizes. It may be missing: then there are none.

    watch: gets every line that is read at the start or appended later. is_own: whether nobody else appends to it; then
    a last line without an end, which was being written when the machine stopped, is removed.

    InvalidInput if the file cannot be read, DamagedLedger if a line is not a head.
    """

    def __init__(self, file: Path, watch: Callable[[Content], None] = lambda line: None, *, is_own: bool = False):
        self.file, self._watch = file, watch
        self._sizes: dict[str, array[int]] = {}
        self._places: dict[str, array[int]] = {}
        """Where the line of each begins."""
        try:
            self._read(is_own)
        except FileNotFoundError:
            pass
        except OSError as error:
            raise InvalidInput(f"the heads in {file} cannot be read: {error.strerror}") from None

    def _read(self, is_own: bool) -> None:
        place = 0
        with self.file.open("r+b" if is_own else "rb") as lines:
            for number, line in enumerate(lines, start=1):
                if is_own and not line.endswith(b"\n"):
                    lines.truncate(place)
                    return
                if line.strip():
                    self._add(_parsed(line, f"line {number} of {self.file}"), place)
                place += len(line)

    def _add(self, content: Content, place: int) -> None:
        head = SignedHead.from_dict(content)
        self._watch(content)
        sizes = self._sizes.setdefault(head.desk, array("q"))
        places = self._places.setdefault(head.desk, array("q"))
        at = len(sizes) if not sizes or sizes[-1] < head.size else bisect_left(sizes, head.size)
        sizes.insert(at, head.size)
        places.insert(at, place)

    @property
    def desks(self) -> set[str]:
        """The desks that there are heads of."""
        return set(self._sizes)

    def size_of(self, desk: str) -> int:
        """The size of the largest head of a desk; 0 if there is none."""
        return self._sizes[desk][-1] if desk in self._sizes else 0

    def latest(self, desk: str) -> SignedHead | None:
        """The largest head of a desk; None if there is none."""
        return self.find(desk, self.size_of(desk))

    def find(self, desk: str, size: int) -> SignedHead | None:
        """The head of a desk with this size; None if there is none."""
        sizes = self._sizes.get(desk, array("q"))
        at = bisect_left(sizes, size)
        if at == len(sizes) or sizes[at] != size:
            return None
        return next(self._heads([self._places[desk][at]]))

    def of(self, desk: str) -> Iterator[SignedHead]:
        """The heads of a desk, the smallest first."""
        return self._heads(self._places.get(desk, array("q")))

    def _heads(self, places: Sequence[int]) -> Iterator[SignedHead]:
        with self.file.open("rb") as lines:
            for place in places:
                lines.seek(place)
                yield SignedHead.from_line(lines.readline())

    def append(self, content: Content, line: str) -> None:
        """Append a head, whose line this is, and have it on disk."""
        self._add(content, append_line(self.file, line))


class KeptHeads:
    """The heads in several files, which somebody kept."""

    def __init__(self, files: Sequence[Path]) -> None:
        missing = next((file for file in files if not file.exists()), None)
        if missing is not None:
            raise InvalidInput(f"the heads in {missing} cannot be read: there is no such file")
        self._files = [HeadsFile(file) for file in files]

    @property
    def desks(self) -> set[str]:
        """The desks that there are heads of."""
        return {desk for file in self._files for desk in file.desks}

    def of(self, desk: str) -> Iterator[SignedHead]:
        """The heads of a desk, the smallest first; one that is in two files comes twice."""
        return merge(*(file.of(desk) for file in self._files), key=lambda head: head.size)


def _parsed(line: bytes, where: str) -> Content:
    try:
        content = orjson.loads(line)
        SignedHead.from_dict(content)
    except (orjson.JSONDecodeError, InvalidInput) as error:
        raise DamagedLedger(
            f"{where} cannot be read: {error}; if a machine stopped while it was written, remove the line"
        ) from None
    return dict(content)


def append_line(file: Path, line: str) -> int:
    """Append a line to a file that only its owner can read, and have it on disk; returns where it begins.

    A line before it that has no end, because its writer was stopped, gets one.
    """
    make_private(file)
    handle = os.open(file, os.O_RDWR | os.O_APPEND)
    try:
        end = os.fstat(handle).st_size
        is_cut = end > 0 and os.pread(handle, 1, end - 1) != b"\n"
        text = b"\n" * is_cut + line.encode() + b"\n"
        if os.write(handle, text) != len(text):  # one write: lines of several processes do not mix
            raise OSError(errno.ENOSPC, "only a part of the line could be written", str(file))
        os.fsync(handle)
        return os.lseek(handle, 0, os.SEEK_CUR) - len(line.encode()) - 1
    finally:
        os.close(handle)
