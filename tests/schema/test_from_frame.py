"""Schema.from_frame: every column of a table gets a kind, or a reason why it is carried."""

from __future__ import annotations

import datetime
import json
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.errors import InvalidInput
from evenhand.schema import Category, Date, Number, Ordinal, Schema, YesNo
from evenhand.schema._proposal import nice_range

N = 200


def table() -> dict[str, list[Any]]:
    """Two hundred made-up people with everything that real tables have."""
    rng = np.random.default_rng(4)
    jobs = ["nurse"] * 90 + ["clerk"] * 105 + ["diver", "mime", "spy", "poet", "clown"]
    income = np.round(rng.lognormal(10, 1, N), 2).tolist()
    return {
        "person_id": [1000 + 7 * n for n in range(N)],
        "income": [None if n == 5 else value for n, value in enumerate(income)],
        "children": rng.integers(0, 4, N).tolist(),
        "score": [999 if n < 3 else int(s) for n, s in enumerate(rng.integers(0, 100, N))],
        "job": [jobs[n] for n in rng.permutation(N)],
        "member": (rng.random(N) < 0.5).tolist(),
        "owner": [("Yes", "no")[n] for n in rng.integers(0, 2, N)],
        "approved": rng.integers(0, 2, N).tolist(),
        "opened": [datetime.date(2020, 1, 1) + datetime.timedelta(days=int(n)) for n in rng.integers(0, 900, N)],
        "country": ["CH"] * N,
        "remark": [f"remark {n}" for n in range(N)],
        "empty": [None] * N,
    }


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, lambda columns: pd.DataFrame(columns).to_dict("records")])
def test_kinds_are_proposed_column_by_column(make: Any) -> None:
    """The same from pandas, polars and dicts; what tells nobody apart is carried, and why is noted."""
    schema = Schema.from_frame(make(table()))
    kinds = {feature.name: type(feature) for feature in schema.features}
    assert kinds == {
        "income": Number,
        "children": Number,
        "score": Number,
        "job": Category,
        "member": YesNo,
        "owner": YesNo,
        "approved": YesNo,
        "opened": Date,
    }
    assert schema.carry == ("person_id", "country", "remark", "empty")
    assert {f.name: f.missing for f in schema.features if f.missing is not None} == {"income": "unknown"}
    assert schema.feature("job") == Category("job", ("clerk", "nurse"), other="other")
    assert {f.name: f.scale for f in schema.features if isinstance(f, Number)}["income"] in ("log", "quantile")
    notes = {note.column: note.text for note in schema.notes}
    assert notes["score"].startswith("999 in 3 rows may stand for a missing value")
    assert notes["children"].startswith("few different whole numbers")
    assert notes["job"].startswith("5 rare levels count as 'other': ")
    assert set(schema.carry) <= set(notes)
    assert not schema.is_open


def test_the_text_names_every_column_and_every_note() -> None:
    """What is printed can be looked over without the JSON."""
    schema = Schema.from_frame(pd.DataFrame(table()))
    lines = str(schema).split("\n")
    assert lines[0].split() == ["feature", "kind", "values", "missing"]
    assert [line.split()[0] for line in lines[1 : 1 + len(schema.features)]] == list(schema.names)
    assert "carried, not used: person_id, country, remark, empty" in lines
    assert any(line.startswith("income") and line.endswith("own level, unknown") for line in lines)
    assert any("others count as other" in line for line in lines)
    assert all(note.text in str(schema) for note in schema.notes)


def test_a_column_has_one_line() -> None:
    """Headers of spreadsheets have line breaks."""
    text = str(Schema.from_frame([{"age\nin years": age, "to\nsay": None} for age in (20, 31, 45)]))
    assert text.splitlines()[1].startswith("age in years  number  20 to 46")
    assert text.splitlines()[2:] == [
        "carried, not used: to say",
        "1 feature, 2 coordinates with the intercept",
        "look at:",
        "  to say: no values; carried, not used",
    ]


def test_the_proposal_survives_json_and_editing() -> None:
    """Through JSON it is the same schema; a changed line of JSON is another one."""
    schema = Schema.from_frame(pd.DataFrame(table()))
    content = json.loads(json.dumps(schema.to_dict()))
    assert Schema.from_dict(content) == schema
    for feature in content["features"]:
        if feature["name"] == "children":
            feature["high"] = 12
    assert Schema.from_dict(content).feature("children").read(11) == 11.0


def test_codes_and_grades_are_named() -> None:
    """`kinds` makes categories and ordinals of numbers; an ordered pandas column is an ordinal by itself."""
    frame = pd.DataFrame({"code": [3, 1, 2, 1] * 10, "grade": [10, 9, 2, None] * 10, "age": [20, 30, 41, 55] * 10})
    frame["size"] = pd.Categorical(["S", "M", "L", "M"] * 10, categories=["S", "M", "L", "XL"], ordered=True)
    schema = Schema.from_frame(frame, kinds={"code": "category", "grade": "ordinal"})
    assert schema.feature("code") == Category("code", ("1", "2", "3"))
    assert schema.feature("grade") == Ordinal("grade", ("2", "9", "10"), missing="unknown")
    assert schema.feature("size") == Ordinal("size", ("S", "M", "L", "XL"))
    assert schema.problems(frame) == ()
    with pytest.raises(InvalidInput, match="the kind of age must be 'category' or 'ordinal', got 'number'"):
        Schema.from_frame(frame, kinds={"age": "number"})  # type: ignore[dict-item]
    with pytest.raises(InvalidInput, match="kinds must name columns of the table, got 'ages'"):
        Schema.from_frame(frame, kinds={"ages": "category"})


def test_types_of_pandas_say_what_is_a_level() -> None:
    """A category of numbers, intervals with an order or without one: the people of the table fit."""
    age = [20, 30, 41, 55] * 10
    bands = pd.cut(pd.Series(age), [0, 25, 50, 100])
    frame = pd.DataFrame({"age": age, "code": pd.Categorical([1, 2, 2, 3] * 10), "band": bands})
    frame["group"] = bands.cat.as_unordered()
    frame["member"] = pd.Categorical(["yes", "no"] * 20)  # texts are read as texts
    frame["step"] = pd.Categorical([0.5, 1.0, 1.5, 0.5] * 10)  # no level is a fraction
    schema = Schema.from_frame(frame)
    assert schema.feature("code") == Category("code", ("1", "2", "3"))
    assert schema.feature("band") == Ordinal("band", ("(0, 25]", "(25, 50]", "(50, 100]"))
    assert schema.feature("group") == Category("group", ("(0, 25]", "(25, 50]", "(50, 100]"))
    assert Schema.from_frame(pa.Table.from_pandas(frame[["age", "code"]])).feature("code") == schema.feature("code")
    assert (schema.feature("member"), type(schema.feature("step"))) == (YesNo("member"), Number)
    assert schema.problems(frame) == ()
    with pytest.raises(InvalidInput, match="the values of step must be texts or whole numbers to be levels"):
        Schema.from_frame(frame, kinds={"step": "ordinal"})


def test_tiny_numbers_are_compared_without_warnings(recwarn: pytest.WarningsRecorder) -> None:
    """Deviations whose squares are lost to underflow say nothing about other columns."""
    frame = pd.DataFrame({"a": [1e-300, 2e-300, 4e-300], "b": [2e-300, 4e-300, 8e-300]})
    assert Schema.from_frame(frame).notes == ()
    assert not recwarn.list


def test_columns_that_say_the_same_are_noted() -> None:
    """A column that is another one turned round or in another unit is one too many."""
    frame = pd.DataFrame({"approve": [0, 1, 1, 0, 1], "reject": [1, 0, 0, 1, 0], "age": [20, 30, 25, 61, 44]})
    (note,) = [note for note in Schema.from_frame(frame).notes if "says the same" in note.text]
    assert str(note) == "reject: says the same as approve; one of them is enough"


NUMBERS = st.none() | st.integers(-(10**9), 10**9) | st.floats(-1e12, 1e12)
COLUMNS = st.one_of(
    st.lists(NUMBERS, min_size=8, max_size=8),
    st.lists(st.none() | st.floats(-1.0, 1.0), min_size=8, max_size=8),
    st.lists(st.none() | st.sampled_from(["a", "b", "c", "Yes", "no", "7", " "]), min_size=8, max_size=8),
    st.lists(st.none() | st.booleans() | st.sampled_from([0, 1]), min_size=8, max_size=8),
    st.lists(st.none() | st.dates(), min_size=8, max_size=8),
    st.lists(st.sampled_from([1, "x", None, 2.5, (3,)]), min_size=8, max_size=8),
)


@given(st.dictionaries(st.sampled_from("abcdef"), COLUMNS, min_size=1))
def test_every_row_of_the_table_fits_the_proposal(columns: dict[str, list[Any]]) -> None:
    """Whatever the columns hold: each is a feature or carried, and encoding the table has no problem."""
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    try:
        schema = Schema.from_frame(rows)
    except InvalidInput:
        with pytest.raises(InvalidInput, match=r"^a table must have a column that tells people apart, got none: "):
            Schema.from_frame(rows)
        return
    assert sorted((*schema.names, *schema.carry)) == sorted(columns)
    assert set(schema.carry) <= {note.column for note in schema.notes}
    assert schema.problems(rows) == ()
    contexts = schema.encode(rows)
    assert (np.linalg.norm(contexts, axis=1) <= 1.0).all()
    assert len(set(map(tuple, contexts))) > 1 or len(schema.features) == 0
    assert Schema.from_frame(rows) == schema == Schema.from_dict(json.loads(json.dumps(schema.to_dict())))
    assert str(schema)


@given(st.floats(-1e15, 1e15), st.floats(1e-9, 1e15), st.booleans())
def test_a_range_has_round_ends_around_the_values(lowest: float, span: float, whole: bool) -> None:
    """It holds both values, and is wider by no more than a tenth at each end, or by one whole number."""
    highest = lowest + span
    if whole:
        lowest, highest = float(round(lowest)), float(round(highest))
    if not lowest < highest:
        return
    low, high = nice_range(lowest, highest, whole=whole)
    room = max(0.11 * (highest - lowest), 1.0 * whole) + 1e-9 * max(abs(lowest), abs(highest))
    assert lowest - room <= low <= lowest < highest <= high <= highest + room
    assert not whole or (low.is_integer() and high.is_integer())
