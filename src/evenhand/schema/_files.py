"""Schemas as JSON: features as dicts and back, and the format's version."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from evenhand._internal.checks import is_whole
from evenhand.errors import DamagedFile, InvalidInput, NewerFile
from evenhand.schema.features import KINDS, Feature
from evenhand.schema.rows import shown

FORMAT = "evenhand schema"
VERSION = 2  # Written only if the schema has something that 0.1 does not know: 0.1 reads the others.
KINDS_OF_0_1 = ("number", "category", "yes/no")

LATER: dict[str, object] = {"scale": "linear", "knots": None, "clip": False, "missing": None, "other": None}
"""Fields that 0.1 does not have, with the values that are left out: such schemas keep the digests of 0.1."""


def read_json(path: str | os.PathLike[str]) -> object:
    """The content of a JSON file; raises DamagedFile if it is none."""
    try:
        return json.loads(Path(path).read_bytes().decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise DamagedFile(f"{os.fspath(path)} must be a saved schema in JSON: {error}") from error


def write_feature(feature: Feature) -> dict[str, Any]:
    """A feature as JSON."""
    values = {name: value for name, value in vars(feature).items() if name not in LATER or value is not LATER[name]}
    values = {name: value for name, value in values.items() if name != "scale" or value != LATER["scale"]}
    return {"kind": feature.kind} | {name: _plain(value) for name, value in values.items()}


def _plain(value: Any) -> Any:
    return [_plain(item) for item in value] if isinstance(value, tuple) else value


def version_of(features: list[dict[str, Any]], *, carry: bool) -> int:
    """The first version of the format that has all this."""
    is_later = any(feature["kind"] not in KINDS_OF_0_1 or not feature.keys().isdisjoint(LATER) for feature in features)
    return VERSION if carry or is_later else 1


def read_content(content: object) -> tuple[list[Feature], bool, Any, object]:
    """Features, intercept, carried columns and digest of a saved schema; raises DamagedFile or NewerFile."""
    if not isinstance(content, dict):
        raise DamagedFile(f"a saved schema must be a JSON object, got {shown(content)}")
    if content.get("format") != FORMAT:
        raise DamagedFile(f"the format of a saved schema must be {FORMAT!r}, got {shown(content.get('format'))}")
    version: Any = content.get("version")
    if not is_whole(version) or version < 1:
        raise DamagedFile(f"the version of a schema must be a whole number >= 1, got {shown(version)}")
    if version > VERSION:
        raise NewerFile(f"the schema has format {version}, written by a newer evenhand; this one reads up to {VERSION}")
    listed, intercept = content.get("features"), content.get("intercept")
    if not isinstance(listed, list) or not isinstance(intercept, bool):
        kinds = f"{type(listed).__name__} and {shown(intercept)}"
        raise DamagedFile(f"the schema is damaged: features must be a list and intercept a bool, got {kinds}")
    features = [_read_feature(number, entry) for number, entry in enumerate(listed)]
    return features, intercept, content.get("carry", ()), content.get("digest")


def _read_feature(number: int, entry: object) -> Feature:
    """The feature of an entry of a saved schema; DamagedFile if it is none."""
    found = entry.get("kind") if isinstance(entry, dict) else entry
    if not isinstance(entry, dict) or found not in list(KINDS):
        expected = f"its kind must be one of {', '.join(KINDS)}, got {shown(found)}"
        raise DamagedFile(f"feature {number} of the schema is damaged: {expected}")
    kind = KINDS[entry["kind"]]
    try:
        return kind(**{name: value for name, value in entry.items() if name != "kind"})
    except (InvalidInput, TypeError) as error:  # TypeError: an entry that is missing or unknown
        raise DamagedFile(f"feature {number} of the schema is damaged: {error}") from error
