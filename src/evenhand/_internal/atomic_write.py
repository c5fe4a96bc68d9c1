"""A file that is there whole or not at all: written beside its place, and put there once it is safely on disk."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

SHOWN = 100
"""So much of a file's name is in the name of its draft, which has to be shorter than the longest allowed."""


@contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A file to write to, which takes its place at the end of the block; what was there stays as it was until then.

    After an error nothing has changed. A link is followed: what it points to is replaced.
    """
    target = Path(path).resolve()
    handle, draft = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name[:SHOWN]}.")
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.chmod(draft, _mode(target))
        os.replace(draft, target)
    except BaseException:
        os.unlink(draft)
        raise


def _mode(target: Path) -> int:
    """The permissions of the file that is replaced, or those a new file gets here: mkstemp's are for its owner only."""
    if target.exists():
        return target.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
