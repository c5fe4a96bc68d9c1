"""Data frames and arrays mean the same as rows of dicts."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from evenhand.errors import ExtraColumns
from evenhand.schema import Category, DoesNotFit, Number, Schema, YesNo

SCHEMA = Schema(
    [
        Number("income", low=0, high=200_000, unit="EUR"),
        Category("purpose", levels=("car", "home", "study")),
        YesNo("has_guarantor"),
    ]
)
ROWS: list[dict[str, Any]] = [
    {"income": 0.0, "purpose": "car", "has_guarantor": True},
    {"income": 51_000.5, "purpose": "study", "has_guarantor": False},
    {"income": 200_000.0, "purpose": "home", "has_guarantor": True},
]
MAKERS = pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])


@MAKERS
def test_a_frame_means_the_same_as_dicts(make: Any) -> None:
    """Columns are found by name, in any order."""
    frame = make(ROWS)[["purpose", "has_guarantor", "income"]]
    np.testing.assert_array_equal(SCHEMA.encode(frame), SCHEMA.encode(ROWS))


def test_frames_with_special_columns_mean_the_same() -> None:
    """Categorical, nullable and whole-number columns, and an index of its own, change nothing."""
    expected = SCHEMA.encode(ROWS)
    frame = pd.DataFrame(ROWS, index=[9, 9, 4])
    frame["purpose"] = frame["purpose"].astype("category")
    frame["has_guarantor"] = frame["has_guarantor"].astype("boolean")
    np.testing.assert_array_equal(SCHEMA.encode(frame), expected)
    frame["has_guarantor"] = frame["has_guarantor"].astype("int64")
    np.testing.assert_array_equal(SCHEMA.encode(frame), expected)
    polar = pl.DataFrame(ROWS).with_columns(pl.col("purpose").cast(pl.Categorical))
    np.testing.assert_array_equal(SCHEMA.encode(polar), expected)


def test_rows_of_frames_are_rows() -> None:
    """Tuples of pandas and named rows of polars can be given as they come."""
    expected = SCHEMA.encode(ROWS)
    np.testing.assert_array_equal(SCHEMA.encode(pd.DataFrame(ROWS).itertuples(index=False)), expected)
    np.testing.assert_array_equal(SCHEMA.encode(pl.DataFrame(ROWS).iter_rows(named=True)), expected)


def test_arrays_are_rows_in_the_order_of_the_schema() -> None:
    """A numpy array of objects or of numbers is a list of sequences."""
    table = np.array([list(row.values()) for row in ROWS], dtype=object)
    np.testing.assert_array_equal(SCHEMA.encode(table), SCHEMA.encode(ROWS))
    numbers = Schema([Number("a", low=0, high=1), YesNo("b")])
    np.testing.assert_array_equal(numbers.encode(np.array([[0.25, 1.0]])), numbers.encode([[0.25, True]]))


@MAKERS
def test_problems_of_a_frame(make: Any) -> None:
    """A column that is not there, or not known if that is an error, is one problem; wrong values are named by row."""
    frame = make({"income": [1.0, None], "purpose": ["car", "boat"], "age": [3, 4]})
    with pytest.raises(DoesNotFit) as caught:
        SCHEMA.encode(frame, extra="error")
    assert str(caught.value).split("\n") == [
        "unknown feature 'age'; the schema has income, purpose, has_guarantor (extra='ignore' skips others)",
        "has_guarantor must be one column of the frame, got 0",
        "row 1: income must be a number from 0 to 200000 EUR, got no value",
        "row 1: purpose must be one of 'car', 'home', 'study', got 'boat'",
    ]


@MAKERS
def test_extra_columns_are_named_or_ignored(make: Any) -> None:
    """Columns that are no feature are named in a warning; `extra="ignore"` passes over them."""
    frame = make([{**row, "name": "Ada"} for row in ROWS])
    with pytest.warns(ExtraColumns, match="columns that the schema does not have are not used: name"):
        np.testing.assert_array_equal(SCHEMA.encode(frame), SCHEMA.encode(ROWS))
    np.testing.assert_array_equal(SCHEMA.encode(frame, extra="ignore"), SCHEMA.encode(ROWS))


def test_a_column_that_is_there_twice_is_refused() -> None:
    """pandas allows two columns of one name; which one is meant cannot be known."""
    frame = pd.DataFrame(ROWS)
    twice = pd.concat([frame, frame[["income"]]], axis=1)
    with pytest.raises(DoesNotFit, match=r"^income must be one column of the frame, got 2$"):
        SCHEMA.encode(twice)


def test_columns_named_by_numbers_are_no_features() -> None:
    """A column 0 is not the feature "0"."""
    with pytest.raises(DoesNotFit, match=r"unknown feature 0; the schema has 0 \(extra='ignore' skips others\)"):
        Schema([YesNo("0")]).encode(pd.DataFrame([[True]]), extra="error")


def test_an_empty_frame_gives_no_contexts() -> None:
    """The columns have to be there all the same."""
    assert SCHEMA.encode(pd.DataFrame(ROWS).iloc[:0]).shape == (0, 6)


def test_the_schema_imports_no_frame_library() -> None:
    """pandas and polars are not loaded by importing the schema."""
    code = "import sys, evenhand.schema; print({'pandas', 'polars'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
