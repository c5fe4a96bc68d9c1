"""Files that only their owner can read."""

from __future__ import annotations

import os
from contextlib import suppress

OWNER_ONLY = 0o600
OTHERS = 0o077


def make_private(path: str | os.PathLike[str]) -> None:
    """Create an empty file for its owner only; a file that is there stays as it is."""
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, OWNER_ONLY))


def is_private(path: str | os.PathLike[str]) -> bool:
    """Whether nobody but its owner may read or write a file; where users have no such rights, or there is no file."""
    try:
        return os.name != "posix" or not os.stat(path).st_mode & OTHERS
    except OSError:
        return True
