"""Missing values, values beyond a range, levels that are not listed, dates, grades: stated, never silent."""

from __future__ import annotations

import datetime
import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.errors import InvalidInput
from evenhand.schema import Category, Date, Number, Ordinal, Schema, YesNo
from evenhand.schema.number import RANGE_TOLERANCE

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from evenhand.schema import Feature

OWN: list[Feature] = [
    Number("income", low=0, high=100, missing="unknown"),
    Number("debt", low=0, high=100, scale="log", missing="unknown"),
    YesNo("member", missing="unknown"),
    Ordinal("degree", levels=("none", "bachelor", "master"), missing="unknown"),
    Date("opened", low="2020-01-01", high="2021-01-01", missing="unknown"),
    Category("job", levels=("nurse", "clerk"), other="other", missing="unknown"),
]
SCHEMA = Schema(OWN)
VALUES = st.fixed_dictionaries(
    {
        "income": st.none() | st.floats(0, 100),
        "debt": st.none() | st.floats(0, 100),
        "member": st.none() | st.booleans(),
        "degree": st.none() | st.sampled_from(("none", "bachelor", "master")),
        "opened": st.none()
        | st.dates(datetime.date(2020, 1, 1), datetime.date(2021, 1, 1)).map(datetime.date.isoformat),
        "job": st.sampled_from(("nurse", "clerk", "other", "unknown")),
    }
)


@given(st.lists(VALUES, min_size=1, max_size=5))
def test_every_row_has_norm_at_most_one_and_comes_back(rows: list[dict[str, Any]]) -> None:
    """Missing values of their own level decode as None; numbers come back up to rounding, the rest exactly."""
    contexts = SCHEMA.encode(rows)
    assert (np.linalg.norm(contexts, axis=1) <= 1.0).all()
    for row, again in zip(rows, SCHEMA.decode(contexts), strict=True):
        for name, value in row.items():
            assert again[name] == (pytest.approx(value, abs=1e-9) if isinstance(value, float) else value)


@pytest.mark.parametrize("feature", OWN, ids=lambda feature: feature.name)
def test_a_missing_value_of_its_own_level_is_no_known_value(feature: Feature) -> None:
    """Its block differs from that of every known value; without the level it is refused."""
    known: dict[str, list[Any]] = {"income": [0, 50, 100], "debt": [0, 50, 100], "member": [True, False]}
    values = known.get(feature.name) or [feature.contrasts()[0][0], feature.contrasts()[0][1]]
    block = feature.encode([feature.read(None)])[0]
    assert all(np.linalg.norm(block - feature.encode([feature.read(value)])[0]) > 0.9 for value in values)


@pytest.mark.parametrize(
    ("feature", "missing", "same"),
    [
        (Number("n", low=0, high=10, missing=4), float("nan"), 4),
        (YesNo("y", missing=False), None, "no"),
        (Category("c", ("a", "b"), missing="b"), pd.NA, "b"),
        (Ordinal("o", ("a", "b", "c"), missing="a"), None, "a"),
        (Date("d", low="2020-01-01", high="2020-12-31", missing="2020-02-01"), pd.NaT, "2020-02-01"),
        (Category("c", ("a", "b"), other="b"), "z", "b"),
        (Category("c", ("1", "2"), other="rest"), 3.0, "rest"),
        (Category("codes", ("1", "2")), np.float64(2.0), "2"),
        (Number("n", low=0, high=10, clip=True), 10**6, 10),
        (Number("n", low=0, high=10, clip=True), -3.5, 0),
        (Date("d", low="2020-01-01", high="2020-12-31", clip=True), "1999-01-01", "2020-01-01"),
        (Date("d", low="2020-01-01", high="2020-12-31"), pd.Timestamp("2020-03-01 10:00"), "2020-03-01"),
        (Date("d", low="2020-01-01", high="2020-12-31"), np.datetime64("2020-03-01"), "2020-03-01"),
        (Date("d", low="2020-01-01", high="2020-12-31"), datetime.date(2020, 3, 1), "2020-03-01"),
        (YesNo("y"), "TRUE", True),
        (Category("c", ("a", "b"), other="b", missing="a"), " ", "a"),
        (Category("c", (" ", "b"), other="b", missing="b"), " ", " "),
        (YesNo("y"), "n", False),
    ],
)
def test_a_value_counts_as_another_only_as_stated(feature: Feature, missing: object, same: object) -> None:
    """Stated imputation, clipping, other levels, and other spellings of the same value."""
    assert feature.read(missing) == feature.read(same)


@pytest.mark.parametrize(
    ("feature", "value", "sentence"),
    [
        (Number("n", low=0, high=10, clip=True), float("inf"), "must be a number from 0 to 10, got inf"),
        (Number("n", low=0, high=10, clip=True, integer=True), 2.5, "must be a whole number from 0 to 10, got 2.5"),
        (Number("n", low=0, high=10, clip=True), None, "must be a number from 0 to 10, got no value"),
        (Number("n", low=0, high=10, missing=1), "", None),
        (Category("c", ("a", "b"), other="b"), None, "must be one of 'a', 'b', got no value"),
        (Category("c", ("a", "b"), other="b"), 2.5, "must be one of 'a', 'b', got 2.5"),
        (Ordinal("o", ("low", "high")), "middle", "must be one of 'low', 'high', got 'middle'"),
        (Date("d", low="2020-01-01", high="2020-12-31"), "31.3.2020", "must be a date from 2020-01-01 to 2020-12-31"),
        (Date("d", low="2020-01-01", high="2020-12-31"), "2021-01-01", "must be a date from 2020-01-01 to 2020-12-31"),
        (
            Date("d", low="2020-01-01", high="2020-12-31"),
            pd.NaT,
            "must be a date from 2020-01-01 to",
        ),
    ],
)
def test_what_is_not_stated_is_refused(feature: Feature, value: object, sentence: str | None) -> None:
    """Clipping does not make a number of what is none, and other levels do not hold missing values."""
    if sentence is None:
        assert feature.read(value) is not None
        return
    with pytest.raises(InvalidInput) as caught:
        feature.read(value)
    assert str(caught.value).startswith(sentence)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (
            lambda: Number("n", low=0, high=1, missing=2),
            "n: missing must be a number from 0 to 1, got 2; or 'unknown', a level",
        ),
        (lambda: Number("n", low=0, high=1, clip=1), "n: clip must be True or False, got 1"),  # type: ignore[arg-type]
        (lambda: YesNo("y", missing="maybe"), "y: missing must be yes or no"),  # type: ignore[arg-type]
        (lambda: Category("c", ("a", "b"), other=""), "c: other must be a non-empty string, got ''"),
        (lambda: Category("c", ("a",), missing="a"), "c: a category must have at least 2 levels, got 1"),
        (lambda: Ordinal("o", ("a",)), "o: an ordinal must have at least 2 levels, got 1"),
        (
            lambda: Ordinal("o", ("a", "unknown"), missing="unknown"),
            "o: missing must be a level of its own",
        ),
        (lambda: Date("d", low="soon", high="2020-01-01"), "d: low must be a date such as '2026-03-31', got 'soon'"),
        (lambda: Date("d", low="2020-01-01", high="2020-01-01"), "d: low must be before high"),
        (lambda: Schema([YesNo("a")], carry="id"), "carry must be a list of names of columns, got 'id'"),
        (lambda: Schema([YesNo("a")], carry=["a"]), "names of columns must be unique, got 'a' twice"),
    ],
)
def test_wrong_settings_are_refused(make: Callable[[], object], sentence: str) -> None:
    """One sentence that quotes what was passed."""
    with pytest.raises(InvalidInput) as caught:
        make()
    assert str(caught.value).startswith(sentence)


def test_ranges_compare_with_the_tolerance_of_rounding() -> None:
    """A number that 32-bit floats moved beyond the range is the end; one beyond that is refused."""
    number = Number("rate", low=95.1, high=99.9)
    assert float(np.float32(99.9)) > 99.9
    assert number.read(np.float32(99.9)) == 99.9
    assert number.read(95.1 - 95.1 * RANGE_TOLERANCE / 2) == 95.1
    for beyond in (99.9 * (1 + 4 * RANGE_TOLERANCE), 95.1 - 4 * 99.9 * RANGE_TOLERANCE):
        with pytest.raises(InvalidInput):
            number.read(beyond)


def test_new_fields_survive_json_and_are_in_the_digest(tmp_path: Path) -> None:
    """A schema with all of them comes back equal; each of them makes another digest, and all are in format 2."""
    whole = Schema(OWN, carry=("id", "branch"))
    whole.save(tmp_path / "schema.json")
    assert Schema.load(tmp_path / "schema.json") == whole
    assert json.loads(json.dumps(whole.to_dict()))["version"] == 2
    variants = [
        whole,
        Schema(OWN),
        Schema([Number("income", low=0, high=100, missing=0), *OWN[1:]]),
        Schema([Number("income", low=0, high=100, missing="unknown", clip=True), *OWN[1:]]),
        Schema([*OWN[:5], Category("job", levels=("nurse", "clerk"), other="rest", missing="unknown")]),
        Schema([*OWN[:2], YesNo("member", missing=False), *OWN[3:]]),
        Schema([*OWN[:2], YesNo("member", missing=True), *OWN[3:]]),
    ]
    assert len({schema.digest for schema in variants}) == len(variants)
    for schema in variants:
        assert Schema.from_dict(schema.to_dict()) == schema


def test_what_0_1_knows_is_written_as_0_1_wrote_it() -> None:
    """No new field appears where it has its default: the digest of an old schema stays."""
    old = Schema([Number("n", low=0, high=1), Category("c", ("a", "b")), YesNo("y")]).to_dict()
    assert [set(feature) for feature in old["features"]] == [
        {"kind", "name", "low", "high", "unit", "integer", "step"},
        {"kind", "name", "levels"},
        {"kind", "name"},
    ]
    assert Schema([YesNo("y")], carry=("id",)).to_dict()["version"] == 2
    assert (old["version"], set(old)) == (1, {"format", "version", "intercept", "features"})


def test_explanations_speak_of_grades_dates_and_missing_values() -> None:
    """Each has its own sentences, and the distance to what is not known is told."""
    G = np.diag([0.0] * SCHEMA.n_features)
    for name in ("income", "degree", "opened", "opened=unknown"):
        at = SCHEMA.coordinates.index(name)
        G[at, at] = 1.0
    sentences = str(SCHEMA.explain(G))
    assert "One level of degree makes a distance of 0.38" in sentences
    assert "The whole range of degree, none to master, makes a distance of 0.76" in sentences
    assert "A difference of 30 days in opened makes" in sentences
    assert "Where opened is not known, the distance is 0.53 to 2020-01-01 and 0.53 to 2021-01-01." in sentences
    assert "Where income is not known, the distance is 0.38 to 0 and 0.38 to 100." in sentences
    assert "debt makes no difference so far" in sentences


def test_a_schema_is_edited_by_feature() -> None:
    """`replace` keeps the place, `without` drops or carries; unknown names are refused."""
    schema = Schema([YesNo("a"), Number("b", low=1, high=3), YesNo("c")], carry=("id",))
    changed = schema.replace(Category("b", ("1", "2", "3"))).without("c", carry=True)
    assert (changed.names, changed.carry) == (("a", "b"), ("id", "c"))
    assert changed.encode([{"a": 1, "b": 2, "c": 0, "id": 7}]).shape == (1, 5)
    assert schema.without("id").carry == ()
    with pytest.raises(InvalidInput, match="unknown feature 'd'"):
        schema.without("d")
