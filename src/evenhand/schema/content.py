"""The content of a schema as plain data: to JSON and back, with a format version and a digest."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import MISSING, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

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

    The format and its version are left out: a later format that says the same keeps the digest.
    """
    told = {"intercept": content["intercept"], "features": content["features"]}
    text = json.dumps(told, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def read_content(content: object) -> tuple[tuple[Feature, ...], bool]:
    """The features and the intercept of a written content; DamagedFile or NewerFile when it is none."""
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise DamagedFile(f"this is no saved schema: its format must be {FORMAT!r}")
    version = content.get("version")
    if isinstance(version, bool) or not isinstance(version, int) or version < 1:
        raise DamagedFile(f"the schema's version is {shown(version)}; it must be a whole number from 1 on")
    if version > VERSION:
        raise NewerFile(f"the schema has format version {version}; this evenhand reads up to {VERSION}")
    listed, intercept = content.get("features"), content.get("intercept")
    if not isinstance(listed, list) or not isinstance(intercept, bool):
        raise DamagedFile("the schema is damaged: it needs a list of features and an intercept of true or false")
    features = tuple(_read_feature(number, entry) for number, entry in enumerate(listed))
    written = content.get("digest")
    if written is not None and written != digest_of(write_content(features, intercept=intercept)):
        raise DamagedFile("the schema was changed since it was saved: its digest does not match its content")
    return features, intercept


def save_content(content: Mapping[str, Any], path: str | os.PathLike[str]) -> None:
    """Write the content and its digest as JSON; the file appears whole or not at all."""
    target = Path(path)
    text = json.dumps({**content, "digest": digest_of(content)}, indent=2, allow_nan=False) + "\n"
    draft = target.with_name(f".{target.name}.{uuid4().hex}")
    try:
        draft.write_text(text, encoding="utf-8")
        draft.replace(target)
    finally:
        draft.unlink(missing_ok=True)


def load_content(path: str | os.PathLike[str]) -> object:
    """What a file holds as JSON; DamagedFile when it holds none."""
    try:
        return json.loads(Path(path).read_bytes().decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise DamagedFile(f"{os.fspath(path)} is no saved schema: it cannot be read as JSON ({error})") from error


def _write_feature(feature: Feature) -> dict[str, Any]:
    values = {field.name: getattr(feature, field.name) for field in fields(feature)}
    return {"kind": feature.kind} | {
        name: list(value) if isinstance(value, tuple) else value for name, value in values.items()
    }


def _read_feature(number: int, entry: object) -> Feature:
    if not isinstance(entry, dict) or entry.get("kind") not in list(KINDS):
        raise DamagedFile(f"feature {number} of the schema is damaged: its kind must be one of {', '.join(KINDS)}")
    kind = KINDS[entry["kind"]]
    given = {name: value for name, value in entry.items() if name != "kind"}
    known = {field.name: field.default is MISSING for field in fields(kind)}
    wrong = [name for name in given if name not in known]
    absent = [name for name, required in known.items() if required and name not in given]
    if wrong or absent:
        raise DamagedFile(
            f"feature {number} of the schema is damaged: unknown entries {wrong}, entries that are not there {absent}"
        )
    try:
        return kind(**given)
    except InvalidInput as error:
        raise DamagedFile(f"feature {number} of the schema is damaged: {error}") from error
