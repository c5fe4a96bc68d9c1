"""Files that only their owner can read."""

from __future__ import annotations

import os
from contextlib import suppress

OWNER_ONLY = 0o600
OTHERS = 0o077


def make_private(path: str | os.PathLike[str], like: str | os.PathLike[str] | None = None) -> None:
    """Create an empty file for its owner only; a file that is there stays as it is.

    What root creates gets the owner of the file `like`, by default of the folder, as SQLite does with its logs: a
    command that an operator runs must leave nothing beside a ledger that its service cannot write to.
    """
    with suppress(FileExistsError):
        file = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, OWNER_ONLY)
        try:
            if os.name == "posix" and os.geteuid() == 0:
                owner = os.stat(os.path.dirname(os.path.abspath(path)) if like is None else like)
                with suppress(PermissionError):  # root of a container, or of another machine, may not
                    os.fchown(file, owner.st_uid, owner.st_gid)
        finally:
            os.close(file)


def is_private(path: str | os.PathLike[str]) -> bool:
    """Whether nobody but its owner may read or write a file; where users have no such rights, or there is no file."""
    try:
        return os.name != "posix" or not os.stat(path).st_mode & OTHERS
    except OSError:
        return True
