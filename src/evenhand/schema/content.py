"""A schema as JSON, with a format version and a digest."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evenhand._internal.atomic_write import atomic_write
from evenhand.errors import DamagedFile, InvalidInput, NewerFile
from evenhand.schema.features import Category, Feature, Number, YesNo
from evenhand.schema.values import shown

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

FORMAT = "evenhand schema"
VERSION = 1
KINDS: dict[str, type[Feature]] = {kind.kind: kind for kind in (Number, Category, YesNo)}


def write_content(features: Sequence[Feature], *, intercept: bool) -> dict[str, Any]:
    """Everything a schema is, in JSON's own types."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "intercept": intercept,
        "features": [_write_feature(feature) for feature in features],
    }


def digest_of(content: Mapping[str, Any]) -> str:
    """The SHA-256 of the features and the intercept, as 64 hexadecimal digits.

    Without the format version: the same schema in a later format keeps its digest.
    """
    part = {"intercept": content["intercept"], "features": content["features"]}
    text = json.dumps(part, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def read_content(content: object) -> tuple[tuple[Feature, ...], bool]:
    """The features and the intercept; raises DamagedFile or NewerFile."""
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise DamagedFile(f"the format of a saved schema must be {FORMAT!r}")
    version = content.get("version")
    if isinstance(version, bool) or not isinstance(version, int) or version < 1:
        raise DamagedFile(f"the version of a schema must be a whole number >= 1, got {shown(version)}")
    if version > VERSION:
        raise NewerFile(f"the schema has format {version}, written by a newer evenhand; this one reads up to {VERSION}")
    listed, intercept = content.get("features"), content.get("intercept")
    if not isinstance(listed, list) or not isinstance(intercept, bool):
        raise DamagedFile("the schema is damaged: features must be a list, and intercept true or false")
    features = tuple(_read_feature(number, entry) for number, entry in enumerate(listed))
    written = content.get("digest")
    if written is not None and written != digest_of(write_content(features, intercept=intercept)):
        raise DamagedFile("the schema was changed since it was saved: its digest does not match")
    return features, intercept


def save_content(content: Mapping[str, Any], path: str | os.PathLike[str]) -> None:
    """Write the content and its digest as JSON, atomically."""
    text = json.dumps({**content, "digest": digest_of(content)}, indent=2, allow_nan=False) + "\n"
    with atomic_write(path) as file:
        file.write(text.encode())


def load_content(path: str | os.PathLike[str]) -> object:
    """The JSON in a file; raises DamagedFile."""
    try:
        return json.loads(Path(path).read_bytes().decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise DamagedFile(f"{os.fspath(path)} must be a saved schema in JSON: {error}") from error


def _write_feature(feature: Feature) -> dict[str, Any]:
    values = {field.name: getattr(feature, field.name) for field in fields(feature)}
    return {"kind": feature.kind} | {
        name: list(value) if isinstance(value, tuple) else value for name, value in values.items()
    }


def _read_feature(number: int, entry: object) -> Feature:
    if not isinstance(entry, dict) or entry.get("kind") not in list(KINDS):
        raise DamagedFile(f"feature {number} of the schema is damaged: its kind must be one of {', '.join(KINDS)}")
    kind = KINDS[entry["kind"]]
    try:
        return kind(**{name: value for name, value in entry.items() if name != "kind"})
    except (InvalidInput, TypeError) as error:  # TypeError: an entry that is missing or unknown
        raise DamagedFile(f"feature {number} of the schema is damaged: {error}") from error
