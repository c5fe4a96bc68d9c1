"""Schema.read: who does not fit is refused, left out or clipped; the others are encoded as if alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.errors import ExtraColumns, InvalidInput
from evenhand.schema import Category, CountedAs, Date, DoesNotFit, LeftOut, Number, Schema, YesNo

SCHEMA = Schema(
    [
        Number("income", low=0, high=100),
        Number("age", low=18, high=98, missing=40),
        Category("job", ("nurse", "clerk"), other="other"),
        Date("opened", low="2020-01-01", high="2020-12-31"),
        YesNo("member", missing="unknown"),
    ],
    carry=("id", "branch"),
)
GOOD = {"id": "ada", "income": 50, "age": 30, "job": "nurse", "opened": "2020-05-01", "member": True, "branch": "Bern"}
RICH = {**GOOD, "id": "bob", "income": 250, "opened": "2024-01-01"}
ODD = {**GOOD, "id": "cyn", "income": "much", "age": None, "job": "mime"}
VAGUE = {**GOOD, "id": "dan", "age": None, "job": "mime", "member": None, "branch": None}


def test_refuse_names_everybody_by_id() -> None:
    """All reasons of all candidates, and how to go on without them."""
    with pytest.raises(DoesNotFit) as caught:
        SCHEMA.read([GOOD, RICH, ODD])
    assert str(caught.value).split("\n") == [
        "candidate bob: income must be a number from 0 to 100, got 250",
        "candidate bob: opened must be a date from 2020-01-01 to 2020-12-31, got '2024-01-01'",
        "candidate cyn: income must be a number from 0 to 100, got 'much'",
        "(on_invalid='skip' leaves out who does not fit)",
    ]


def test_skip_leaves_out_who_does_not_fit() -> None:
    """The others have the contexts that they have alone; what counts as another is told, by candidate and feature."""
    people = SCHEMA.read([RICH, GOOD, ODD, VAGUE], on_invalid="skip")
    assert (people.ids, people.places, len(people)) == (("ada", "dan"), (1, 3), 2)
    assert people.left_out == (
        LeftOut(
            "bob",
            (
                "income must be a number from 0 to 100, got 250",
                "opened must be a date from 2020-01-01 to 2020-12-31, got '2024-01-01'",
            ),
        ),
        LeftOut("cyn", ("income must be a number from 0 to 100, got 'much'",)),
    )
    assert people.counted_as == (CountedAs("dan", "age", None, 40.0), CountedAs("dan", "job", "mime", "other"))
    assert [str(one) for one in people.counted_as] == [
        "dan: age with no value counts as 40",
        "dan: job 'mime' counts as 'other'",
    ]
    np.testing.assert_array_equal(people.contexts, SCHEMA.encode([GOOD, VAGUE]))
    assert people.rows[1] == {"income": 50, "age": None, "job": "mime", "opened": "2020-05-01", "member": None}
    assert people.carried == ({"id": "ada", "branch": "Bern"}, {"id": "dan", "branch": None})


def test_clip_counts_values_beyond_a_range_as_its_end() -> None:
    """Numbers and dates are clipped and told; who still does not fit is left out; values stay as they were given."""
    people = SCHEMA.read([RICH, ODD], on_invalid="clip")
    assert people.ids == ("bob",)
    assert [one.id for one in people.left_out] == ["cyn"]
    assert people.counted_as == (
        CountedAs("bob", "income", 250, 100.0),
        CountedAs("bob", "opened", "2024-01-01", "2020-12-31"),
    )
    assert people.rows[0]["income"] == 250
    np.testing.assert_array_equal(people.contexts, SCHEMA.encode([{**RICH, "income": 100, "opened": "2020-12-31"}]))


@given(st.lists(st.sampled_from([GOOD, RICH, ODD, VAGUE]), min_size=1, max_size=6), st.sampled_from(["skip", "clip"]))
def test_nobody_is_lost(rows: list[dict[str, Any]], mode: Any) -> None:
    """Everybody is either encoded or left out with a reason, in order, whatever the mode."""
    rows = [{**row, "id": f"{row['id']}-{place}"} for place, row in enumerate(rows)]
    try:
        people = SCHEMA.read(rows, on_invalid=mode)
    except InvalidInput:
        with pytest.raises(InvalidInput, match=f"^at least one candidate must fit, got none of {len(rows)}: "):
            SCHEMA.read(rows, on_invalid=mode)
        return
    left_out = [one.id for one in people.left_out]
    assert sorted((*people.ids, *left_out)) == sorted(row["id"] for row in rows)
    assert all(one.reasons for one in people.left_out)
    assert [rows[place]["id"] for place in people.places] == list(people.ids)
    assert len(people.ids) == len(people.contexts) == len(people.rows) == len(people.carried)


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_a_frame_means_the_same_as_dicts(make: Any) -> None:
    """Carried columns are known, others are named in a warning, and ids come from the column "id"."""
    frame = make([{**row, "shoe": 42} for row in (GOOD, RICH)])
    with pytest.warns(ExtraColumns, match="are not used: shoe"):
        people = SCHEMA.read(frame, on_invalid="skip")
    assert people.ids == ("ada",)
    assert people.rows == SCHEMA.read([GOOD]).rows
    np.testing.assert_array_equal(people.contexts, SCHEMA.encode([GOOD]))


def test_ids_come_from_the_index_or_are_numbered() -> None:
    """Without a carried column "id": the index of a pandas frame, the number of a row, or what is passed."""
    schema = Schema([YesNo("member")])
    assert schema.read(pd.DataFrame({"member": [True, False]}, index=["x", "y"])).ids == ("x", "y")
    assert schema.read(pl.DataFrame({"member": [True, False]})).ids == ("0", "1")
    assert schema.read([[1], [0]], ids=["a", "b"]).ids == ("a", "b")
    assert Schema([YesNo("member")], carry=("id",)).read([{"member": 1, "id": 17.0}]).ids == ("17",)


@pytest.mark.parametrize(
    ("rows", "options", "sentence"),
    [
        ([GOOD, RICH, RICH], {}, "id must be unique, got 'bob' twice"),
        ([GOOD, {**GOOD, "id": None}], {}, "id must have a value in every row, got none in row 1"),
        ([GOOD], {"ids": ["a", "b"]}, "ids must be one for each of 1 rows, got 2"),
        ([GOOD], {"on_invalid": "drop"}, "on_invalid must be 'refuse', 'skip' or 'clip', got 'drop'"),
        ([ODD], {"on_invalid": "skip"}, "at least one candidate must fit, got none of 1: cyn: income must be a number"),
        (
            pd.DataFrame([GOOD]).drop(columns="age"),
            {"on_invalid": "skip"},
            "age must be one column of the frame, got 0",
        ),
        ([{**GOOD, "shoe": 42}], {}, "candidate ada: unknown feature 'shoe'"),
    ],
)
def test_what_is_wrong_with_the_whole_table_is_refused(rows: Any, options: Any, sentence: str) -> None:
    """Ids that name nobody, a column that is not there: no mode can go on from that."""
    with pytest.raises(InvalidInput) as caught:
        SCHEMA.read(rows, **options)
    assert str(caught.value).startswith(sentence)
