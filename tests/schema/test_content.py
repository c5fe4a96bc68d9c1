"""A schema is saved and loaded whole; a file that is none says so."""

from __future__ import annotations

import json
import pickle
from typing import TYPE_CHECKING, Any

import pytest

from evenhand.errors import DamagedFile, NewerFile
from evenhand.schema import Category, Number, Schema, YesNo

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

KINDS = "number, category, yes/no, ordinal, date"
SCHEMA = Schema(
    [
        Number("income", low=0, high=200_000, unit="EUR", step=5_000),
        Number("children", low=0, high=20, integer=True),
        Category("purpose", levels=("car", "home", "Künstler 🎨")),
        YesNo("has_guarantor"),
    ]
)


@pytest.mark.parametrize("schema", [SCHEMA, Schema(SCHEMA.features, intercept=False)])
def test_a_saved_schema_comes_back_equal(schema: Schema, tmp_path: Path) -> None:
    """Features, intercept and digest are the same; saving over a file replaces it, and nothing else is left."""
    path = tmp_path / "schema.json"
    path.write_text("something else")
    schema.save(path)
    assert Schema.load(path) == schema
    assert Schema.load(str(path)).digest == schema.digest
    assert [entry.name for entry in tmp_path.iterdir()] == ["schema.json"]


def test_the_dict_is_plain_json() -> None:
    """The dict survives JSON unchanged, so that any record can carry it."""
    content = SCHEMA.to_dict()
    assert json.loads(json.dumps(content)) == content
    assert (content["format"], content["version"]) == ("evenhand schema", 1)


def test_the_digest_never_changes() -> None:
    """Records written by one version are compared with schemas of another: this literal must stay."""
    schema = Schema([Number("age", low=18, high=98, unit="years"), Category("c", ("a", "b")), YesNo("y")])
    assert schema.digest == "52e6864afeb6de699f497d379e8a4f0d762dc60a15cb39e84bc40ea3fa752f71"


def test_every_part_of_the_content_is_in_the_digest() -> None:
    """No two of these schemas are the same, nor are their digests."""
    variants = [
        SCHEMA,
        Schema(SCHEMA.features, intercept=False),
        Schema(SCHEMA.features[::-1]),
        Schema(SCHEMA.features[:3]),
        Schema([Number("income", low=0, high=200_000, unit="USD", step=5_000), *SCHEMA.features[1:]]),
        Schema([Number("income", low=0, high=200_001, unit="EUR", step=5_000), *SCHEMA.features[1:]]),
        Schema([Number("income", low=0, high=200_000, unit="EUR"), *SCHEMA.features[1:]]),
        Schema([*SCHEMA.features[:3], YesNo("has_Guarantor")]),
    ]
    assert len({schema.digest for schema in variants}) == len(variants)


def test_a_schema_survives_pickling() -> None:
    """Workers in other processes can have it, also after its properties were used."""
    assert SCHEMA.blocks
    again = pickle.loads(pickle.dumps(SCHEMA))
    assert again == SCHEMA
    assert again.blocks == SCHEMA.blocks


def test_a_schema_written_by_hand_needs_no_digest(tmp_path: Path) -> None:
    """Without a digest the content is taken as it is; what has a default may be left out."""
    path = tmp_path / "hand.json"
    feature = {"kind": "number", "name": "age", "low": 18, "high": 98}
    path.write_text(json.dumps({"format": "evenhand schema", "version": 1, "intercept": True, "features": [feature]}))
    assert Schema.load(path) == Schema([Number("age", low=18, high=98)])


def changed(change: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
    """The content after a change."""
    content = json.loads(json.dumps(SCHEMA.to_dict()))
    change(content)
    return dict(content)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ([1], "a saved schema must be a JSON object, got [1]"),
        ({}, "the format of a saved schema must be 'evenhand schema', got None"),
        (
            changed(lambda c: c.update(format="other")),
            "the format of a saved schema must be 'evenhand schema', got 'other'",
        ),
        (changed(lambda c: c.pop("version")), "the version of a schema must be a whole number >= 1, got None"),
        (changed(lambda c: c.update(version=True)), "the version of a schema must be a whole number >= 1, got True"),
        (changed(lambda c: c.update(version=0)), "the version of a schema must be a whole number >= 1, got 0"),
        (
            changed(lambda c: c.pop("features")),
            "the schema is damaged: features must be a list and intercept a bool, got NoneType and True",
        ),
        (
            changed(lambda c: c.update(intercept="yes")),
            "the schema is damaged: features must be a list and intercept a bool, got list and 'yes'",
        ),
        (
            changed(lambda c: c.update(features=[])),
            "the schema is damaged: a schema must have at least 1 feature, got 0",
        ),
        (
            changed(lambda c: c["features"].append(c["features"][0])),
            "the schema is damaged: names of features must be unique, got 'income' twice",
        ),
        (
            changed(lambda c: c["features"].append(3)),
            f"feature 4 of the schema is damaged: its kind must be one of {KINDS}, got 3",
        ),
        (
            changed(lambda c: c["features"][1].update(kind="colour")),
            f"feature 1 of the schema is damaged: its kind must be one of {KINDS}, got 'colour'",
        ),
        (
            changed(lambda c: c["features"][1].update(kind=[])),
            f"feature 1 of the schema is damaged: its kind must be one of {KINDS}, got []",
        ),
        (
            changed(lambda c: c["features"][0].pop("high")),
            "feature 0 of the schema is damaged: Number.__init__() missing 1 required keyword-only argument: 'high'",
        ),
        (
            changed(lambda c: c["features"][3].update(log=True)),
            "feature 3 of the schema is damaged: YesNo.__init__() got an unexpected keyword argument 'log'",
        ),
        (
            changed(lambda c: c["features"][0].update(low=300_000)),
            "feature 0 of the schema is damaged: income: low must be below high, got 300000 and 200000",
        ),
        (
            changed(lambda c: c["features"][2].update(levels="car")),
            "feature 2 of the schema is damaged: purpose: levels must be a sequence of strings, got 'car'",
        ),
        (
            changed(lambda c: c.update(digest="0" * 64)),
            "the schema was changed since it was saved: its digest does not match",
        ),
    ],
)
def test_damaged_content_is_refused_with_a_sentence(content: Any, sentence: str, tmp_path: Path) -> None:
    """From a dict and from a file alike; the file is named."""
    with pytest.raises(DamagedFile) as caught:
        Schema.from_dict(content)
    assert sentence in str(caught.value)
    path = tmp_path / "schema.json"
    path.write_text(json.dumps(content))
    with pytest.raises(DamagedFile) as caught:
        Schema.load(path)
    assert sentence in str(caught.value)
    assert "schema.json" in str(caught.value)


def test_a_later_format_is_refused_as_such(tmp_path: Path) -> None:
    """A newer file is not called damaged."""
    path = tmp_path / "schema.json"
    path.write_text(json.dumps({**SCHEMA.to_dict(), "version": 3, "features": "in a new way"}))
    with pytest.raises(NewerFile, match=r"has format 3, written by a newer evenhand; this one reads up to 2"):
        Schema.load(path)


@pytest.mark.parametrize("raw", [b"", b"{", b"\xff\xfe\x00", b"[" * 100_000, b'{"format": "evenhand schema"'])
def test_a_file_that_is_no_json_is_damaged(raw: bytes, tmp_path: Path) -> None:
    """Empty, cut, binary and endlessly nested files say that they cannot be read."""
    path = tmp_path / "schema.json"
    path.write_bytes(raw)
    with pytest.raises(DamagedFile, match=r"schema.json must be a saved schema in JSON"):
        Schema.load(path)


def test_a_cut_or_edited_file_never_loads(tmp_path: Path) -> None:
    """Every prefix of a saved file is refused, and so is a changed range."""
    path = tmp_path / "schema.json"
    SCHEMA.save(path)
    text = path.read_text()
    for length in range(0, len(text.rstrip()), 37):
        path.write_text(text[:length])
        with pytest.raises(DamagedFile):
            Schema.load(path)
    path.write_text(text.replace("200000.0", "300000.0"))
    with pytest.raises(DamagedFile, match="changed since it was saved"):
        Schema.load(path)


def test_a_file_that_is_not_there_is_the_systems_error(tmp_path: Path) -> None:
    """No file is not a damaged file."""
    with pytest.raises(FileNotFoundError):
        Schema.load(tmp_path / "none.json")


def test_a_save_that_fails_leaves_nothing_behind(tmp_path: Path) -> None:
    """Where no file can be put, no draft is left either."""
    (tmp_path / "taken").mkdir()
    with pytest.raises(OSError, match="taken"):
        SCHEMA.save(tmp_path / "taken")
    assert [entry.name for entry in tmp_path.iterdir()] == ["taken"]
