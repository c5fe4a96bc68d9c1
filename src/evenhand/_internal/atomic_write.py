"""Atomic file writes: a file is replaced as a whole, once its content is safely on disk."""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from evenhand._internal.private_file import OWNER_ONLY

PREFIX_LENGTH = 100
"""How much of the file's name goes into the draft's name, which must stay below the system's limit."""


@contextmanager
def atomic_write(path: str | os.PathLike[str], *, private: bool = False) -> Iterator[BinaryIO]:
    """A file to write to, which replaces `path` at the end of the block.

    After an error nothing has changed. A symbolic link is followed: its target is replaced. private: a new file can be
    read by its owner only; one that is replaced keeps its permissions.
    """
    target = Path(path).resolve()
    if target.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), os.fspath(path))
    try:
        handle, draft = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name[:PREFIX_LENGTH]}.")
    except OSError as error:  # it names the draft, of which nobody knows
        raise OSError(error.errno, error.strerror, os.fspath(path)) from None
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.chmod(draft, _mode(target, private=private))
        os.replace(draft, target)
    except BaseException:
        os.unlink(draft)
        raise


def _mode(target: Path, *, private: bool) -> int:
    """The permissions of the file that is replaced, or those of a new file: mkstemp's are for the owner only."""
    if target.exists():
        return target.stat().st_mode & 0o777
    if private:
        return OWNER_ONLY
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
