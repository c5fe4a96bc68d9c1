"""Nested dicts of arrays and numbers in one file, without pickle: versioned, written whole or not at all.

The file is a zip: `manifest.json` holds the structure, numbers and strings, with a place holder for each array;
each array is a `.npy` member beside it. The zip's checksums tell a damaged file.
"""

from __future__ import annotations

import io
import json
import os
import zipfile
import zlib
from typing import Any

import numpy as np

from evenhand._internal.atomic_write import atomic_write
from evenhand.errors import DamagedFile, InvalidInput, NewerFile

UNREADABLE = (
    zipfile.BadZipFile,
    zlib.error,
    KeyError,
    ValueError,
    TypeError,
    EOFError,
    OSError,
    OverflowError,
    RuntimeError,
)
"""All that reading a damaged zip, JSON or array can raise."""

ARRAY = "array:"
"""What a place holder in the manifest begins with."""


def write_archive(path: str | os.PathLike[str], *, kind: str, version: int, content: dict[str, Any]) -> None:
    """Write `content` to `path`; an older file there stays whole until the new one is safely on disk."""
    arrays: dict[str, np.ndarray[Any, Any]] = {}
    manifest = {"kind": kind, "version": version, "content": _take_out_arrays(content, arrays)}
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("manifest.json", json.dumps(manifest, allow_nan=False))
        for name, array in arrays.items():
            member = io.BytesIO()
            np.lib.format.write_array(member, np.ascontiguousarray(array), allow_pickle=False)
            archive.writestr(f"{name}.npy", member.getvalue())
    with atomic_write(path) as file:
        file.write(buffer.getvalue())


def read_archive(path: str | os.PathLike[str], *, kind: str, version: int) -> dict[str, Any]:
    """The content that was written to `path`; raises DamagedFile or NewerFile, each with a sentence."""
    with open(path, "rb") as file:
        raw = file.read()
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            members = {name: archive.read(name) for name in archive.namelist()}
        manifest = json.loads(members["manifest.json"])
        found_kind, found_version, content = manifest["kind"], manifest["version"], manifest["content"]
    except UNREADABLE as error:
        raise DamagedFile(
            f"{path} is not a saved {kind}, or was damaged ({error}); allowed is what save() wrote"
        ) from None
    if found_kind != kind:
        raise DamagedFile(f"{path} holds {found_kind}; allowed is a saved {kind}: load it with {found_kind}.load")
    if isinstance(found_version, bool) or not isinstance(found_version, int) or found_version < 1:
        raise DamagedFile(f"{path} has format {found_version!r}; allowed is a whole number from 1 to {version}")
    if found_version > version:
        raise NewerFile(
            f"{path} has format {found_version}; this version reads formats up to {version}: a newer evenhand wrote it"
        )
    try:
        restored = _put_in_arrays(content, members)
    except UNREADABLE as error:
        raise DamagedFile(f"{path} was damaged: {error}") from None
    if not isinstance(restored, dict):
        raise DamagedFile(f"{path} was damaged: its content is no record")
    return restored


def _take_out_arrays(value: Any, arrays: dict[str, np.ndarray[Any, Any]]) -> Any:
    """`value` with each array replaced by a place holder and put into `arrays`."""
    if isinstance(value, dict):
        return {str(key): _take_out_arrays(item, arrays) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_take_out_arrays(item, arrays) for item in value]
    if isinstance(value, np.ndarray):
        name = f"a{len(arrays)}"
        arrays[name] = value
        return ARRAY + name
    if isinstance(value, np.generic):
        return value.item()
    if value is None or isinstance(value, (bool, int, float)):
        return value
    if isinstance(value, str) and not value.startswith(ARRAY):
        return value
    raise InvalidInput(
        f"{value!r} cannot be saved; allowed are arrays, numbers, strings, None, and dicts or lists of them"
    )


def _put_in_arrays(value: Any, members: dict[str, bytes]) -> Any:
    """The inverse of `_take_out_arrays`."""
    if isinstance(value, dict):
        return {key: _put_in_arrays(item, members) for key, item in value.items()}
    if isinstance(value, list):
        return [_put_in_arrays(item, members) for item in value]
    if isinstance(value, str) and value.startswith(ARRAY):
        member = io.BytesIO(members[value.removeprefix(ARRAY) + ".npy"])
        return np.array(np.lib.format.read_array(member, allow_pickle=False))
    return value
