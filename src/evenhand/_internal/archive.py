"""Nested dicts of arrays, numbers and strings in one .npz file: versioned, without pickle, written atomically.

The array `manifest.json` holds the structure as JSON text, with a placeholder for each of the other arrays. In files
of version 0.1 it is a plain member of the zip; numpy returns either as bytes.
"""

from __future__ import annotations

import io
import json
import os
import zipfile
import zlib
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from evenhand._internal.atomic_write import atomic_write
from evenhand.errors import DamagedFile, EvenhandError, InvalidInput, NewerFile

Restored = TypeVar("Restored")

MANIFEST = "manifest.json"

ARRAY = "array:"  # The first letters of a placeholder in the manifest.

UNREADABLE = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    LookupError,
    ValueError,
    TypeError,
    AttributeError,
    OSError,
    ArithmeticError,
    RuntimeError,
    MemoryError,
)
"""Everything that reading a damaged zip, JSON or array can raise."""


def write_archive(path: str | os.PathLike[str], *, kind: str, version: int, content: dict[str, Any]) -> None:
    """Write `content` to `path`; an older file there stays intact until the new one is safely on disk."""
    with atomic_write(path) as file:
        file.write(to_archive(kind=kind, version=version, content=content))


def to_archive(*, kind: str, version: int, content: dict[str, Any]) -> bytes:
    """The bytes of an archive."""
    arrays: dict[str, Any] = {}
    manifest = {"kind": kind, "version": version, "content": _extract_arrays(content, arrays)}
    arrays[MANIFEST] = np.frombuffer(json.dumps(manifest, allow_nan=False).encode(), np.uint8)
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **arrays)
    return buffer.getvalue()


def read_archive(path: str | os.PathLike[str], *, kind: str, version: int) -> dict[str, Any]:
    """The content that was written to `path`; raises DamagedFile or NewerFile."""
    with open(path, "rb") as file:
        return from_archive(file.read(), str(path), kind=kind, version=version)


def from_archive(raw: bytes, path: str, *, kind: str, version: int) -> dict[str, Any]:
    """The content of the bytes of an archive; errors name it by its `path`."""
    try:
        if not zipfile.is_zipfile(io.BytesIO(raw)):  # numpy would take it for a pickle, and say how to load that
            raise zipfile.BadZipFile("it is not a zip archive")
        arrays = np.load(io.BytesIO(raw), allow_pickle=False)
        if MANIFEST not in arrays:
            raise zipfile.BadZipFile("it has no manifest")
        manifest = json.loads(bytes(arrays[MANIFEST]))
        found_kind, found_version = manifest["kind"], manifest["version"]
        if found_kind == kind and found_version in range(1, version + 1) and found_version is not True:
            return {name: _insert_arrays(value, arrays) for name, value in manifest["content"].items()}
    except UNREADABLE as error:
        raise DamagedFile(f"{path} is not a saved {kind}, or was damaged: {error}") from None
    if found_kind != kind:
        raise DamagedFile(f"{path} must be a saved {kind}, got a saved {found_kind}")
    if isinstance(found_version, int) and found_version > version:
        raise NewerFile(
            f"{path} has format {found_version}, written by a newer evenhand; this one reads up to {version}"
        )
    raise DamagedFile(f"the format of {path} must be a whole number from 1 to {version}, got {found_version!r}")


def load_archive(
    path: str | os.PathLike[str], *, kind: str, version: int, restore: Callable[[dict[str, Any]], Restored]
) -> Restored:
    """What `restore` makes of the content of `path`; DamagedFile if it cannot."""
    content = read_archive(path, kind=kind, version=version)
    try:
        return restore(content)
    except (EvenhandError, *UNREADABLE) as error:
        raise DamagedFile(f"{path} cannot be read as a saved {kind}: {error}") from None


def _extract_arrays(value: Any, arrays: dict[str, Any]) -> Any:
    """`value` with each array moved to `arrays` and replaced by a placeholder."""
    if isinstance(value, dict):
        return {str(key): _extract_arrays(item, arrays) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_extract_arrays(item, arrays) for item in value]
    if isinstance(value, np.ndarray) and not value.dtype.hasobject:
        name = f"a{len(arrays)}"
        arrays[name] = value
        return ARRAY + name
    if isinstance(value, np.generic):
        return value.item()
    if value is None or isinstance(value, (bool, int, float)):
        return value
    if isinstance(value, str) and not value.startswith(ARRAY):
        return value
    raise InvalidInput(f"saved values must be numeric arrays, numbers, strings, None, dicts or lists, got {value!r}")


def _insert_arrays(value: Any, arrays: Any) -> Any:
    """The inverse of `_extract_arrays`."""
    if isinstance(value, dict):
        return {key: _insert_arrays(item, arrays) for key, item in value.items()}
    if isinstance(value, list):
        return [_insert_arrays(item, arrays) for item in value]
    if isinstance(value, str) and value.startswith(ARRAY):
        return np.array(arrays[value.removeprefix(ARRAY)])
    return value
