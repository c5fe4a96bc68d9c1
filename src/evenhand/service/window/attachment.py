"""attachment: the header that makes an answer a file to keep, with a name."""

from __future__ import annotations


def attachment(name: str) -> tuple[bytes, bytes]:
    """The header, with a name that it cannot be broken with.

    >>> attachment('loans "2"-decisions.csv')[1]
    b'attachment; filename="loans__2_-decisions.csv"'
    """
    safe = "".join(c if c.isascii() and (c.isalnum() or c in "._-") else "_" for c in name)
    return b"content-disposition", f'attachment; filename="{safe}"'.encode()
