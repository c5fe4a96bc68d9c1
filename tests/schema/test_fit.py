"""Rows that do not fit are reported all at once, as sentences and as records."""

from __future__ import annotations

import pickle
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from evenhand.errors import InvalidInput
from evenhand.schema import Category, DoesNotFit, Number, RowProblem, Schema, YesNo

SCHEMA = Schema(
    [
        Number("income", low=0, high=200_000, unit="EUR"),
        Number("children", low=0, high=20, integer=True),
        Category("purpose", levels=("car", "home", "study")),
        YesNo("has_guarantor"),
    ]
)
GOOD: dict[str, Any] = {"income": 30_000, "children": 2, "purpose": "car", "has_guarantor": True}
INCOME = "a number from 0 to 200000 EUR"
CHILDREN = "a whole number from 0 to 20"
PURPOSE = "one of 'car', 'home', 'study'"
GUARANTOR = "yes or no (True or False, 1 or 0)"


def problems_of(rows: Any, **options: Any) -> list[str]:
    """The lines of the error; `problems` must say the same without raising."""
    with pytest.raises(DoesNotFit) as caught:
        SCHEMA.encode(rows, **options)
    assert caught.value.problems == SCHEMA.problems(rows, **options)
    assert isinstance(caught.value, InvalidInput)
    return str(caught.value).split("\n")


@pytest.mark.parametrize(
    ("feature", "value", "sentence"),
    [
        ("income", 250_000, f"income must be {INCOME}, got 250000"),
        ("income", -0.5, f"income must be {INCOME}, got -0.5"),
        ("income", float("inf"), f"income must be {INCOME}, got inf"),
        ("income", np.float64(200_000.25), f"income must be {INCOME}, got 200000.25"),
        ("income", Decimal("200000.1"), f"income must be {INCOME}, got 200000.1"),
        ("income", 10**400, f"income must be {INCOME}, got 1{'0' * 56}..."),
        pytest.param(
            "income", -(10**5000), f"income must be {INCOME}, got a number of thousands of digits", id="endless"
        ),
        ("income", True, f"income must be {INCOME}, got True"),
        ("income", np.True_, f"income must be {INCOME}, got True"),
        ("income", "30000", f"income must be {INCOME}, got '30000'"),
        ("income", 1j, f"income must be {INCOME}, got 1j"),
        ("income", [3], f"income must be {INCOME}, got [3]"),
        ("income", None, f"income must be {INCOME}, got no value"),
        ("income", float("nan"), f"income must be {INCOME}, got no value"),
        ("income", np.float32("nan"), f"income must be {INCOME}, got no value"),
        ("income", Decimal("sNaN"), f"income must be {INCOME}, got no value"),
        ("income", pd.NA, f"income must be {INCOME}, got no value"),
        ("income", pd.NaT, f"income must be {INCOME}, got no value"),
        ("children", 2.5, f"children must be {CHILDREN}, got 2.5"),
        ("children", 21, f"children must be {CHILDREN}, got 21"),
        ("purpose", "boat", f"purpose must be {PURPOSE}, got 'boat'"),
        ("purpose", "Car", f"purpose must be {PURPOSE}, got 'Car'"),
        ("purpose", 1, f"purpose must be {PURPOSE}, got 1"),
        ("purpose", None, f"purpose must be {PURPOSE}, got no value"),
        ("has_guarantor", "perhaps", f"has_guarantor must be {GUARANTOR}, got 'perhaps'"),
        ("has_guarantor", 2, f"has_guarantor must be {GUARANTOR}, got 2"),
        ("has_guarantor", float("nan"), f"has_guarantor must be {GUARANTOR}, got no value"),
    ],
)
def test_a_value_that_does_not_fit_is_named(feature: str, value: object, sentence: str) -> None:
    """The sentence names row, feature, value and what is allowed, the same for dicts and sequences."""
    row = {**GOOD, feature: value}
    for rows in ([GOOD, row], [list(GOOD.values()), list(row.values())]):
        assert problems_of(rows) == [f"row 1: {sentence}"]


def test_a_key_that_is_not_there_is_missing() -> None:
    """A dict without a feature says the same as one with None."""
    assert problems_of([{name: value for name, value in GOOD.items() if name != "purpose"}]) == [
        f"row 0: purpose must be {PURPOSE}, got no value"
    ]


def test_all_problems_of_all_rows_come_at_once() -> None:
    """Rows in order, features in the order of the schema, good rows unmentioned."""
    rows = [
        {**GOOD, "purpose": "boat", "income": 250_000},
        GOOD,
        {"has_guarantor": "maybe", "car": 1},
        [1, 2, 3],
        "car",
        7,
    ]
    expected = "the row must be a dict or a sequence of 4 values, income, children, purpose, has_guarantor"
    assert problems_of(rows) == [
        f"row 0: income must be {INCOME}, got 250000",
        f"row 0: purpose must be {PURPOSE}, got 'boat'",
        "row 2: unknown feature 'car'; the schema has income, children, purpose, has_guarantor "
        "(extra='ignore' skips others)",
        f"row 2: income must be {INCOME}, got no value",
        f"row 2: children must be {CHILDREN}, got no value",
        f"row 2: purpose must be {PURPOSE}, got no value",
        f"row 2: has_guarantor must be {GUARANTOR}, got 'maybe'",
        f"row 3: {expected}, got 3 values",
        f"row 4: {expected}, got 'car'",
        f"row 5: {expected}, got 7",
    ]


def test_problems_are_records() -> None:
    """A page can put each problem beside its field."""
    (problem,) = SCHEMA.problems([GOOD, {**GOOD, "purpose": "boat"}])
    assert problem == RowProblem(row=1, feature="purpose", reason=f"must be {PURPOSE}, got 'boat'")
    assert SCHEMA.problems([GOOD]) == ()


def test_the_message_of_many_problems_is_cut_and_the_records_are_not() -> None:
    """Fifty lines are shown, the rest counted."""
    with pytest.raises(DoesNotFit) as caught:
        SCHEMA.encode([{**GOOD, "income": -1}] * 60)
    assert len(caught.value.problems) == 60
    lines = str(caught.value).split("\n")
    assert len(lines) == 51
    assert lines[-1] == "and 10 more, see .problems"


def test_the_error_survives_pickling() -> None:
    """Workers in other processes can send it back."""
    error = DoesNotFit([RowProblem(0, "income", "must be a number")])
    again = pickle.loads(pickle.dumps(error))
    assert again.problems == error.problems
    assert str(again) == "row 0: income must be a number"


def test_many_levels_are_not_all_listed() -> None:
    """Twelve levels are listed, the rest counted."""
    schema = Schema([Category("c", tuple(f"L{number}" for number in range(40)))])
    with pytest.raises(DoesNotFit, match=r"must be one of 'L0', .*'L11' or 28 more, got "):
        schema.encode([["x"]])


def test_extra_keys_are_ignored_on_request_only() -> None:
    """`extra="ignore"` passes over other keys; anything but the three words is refused."""
    row: dict[Any, Any] = {**GOOD, "name": "Ada", 3: 4}
    assert [line.split(";")[0] for line in problems_of([row])] == [
        "row 0: unknown feature 'name'",
        "row 0: unknown feature 3",
    ]
    np.testing.assert_array_equal(SCHEMA.encode([row], extra="ignore"), SCHEMA.encode([GOOD]))
    with pytest.raises(InvalidInput, match="extra must be 'error', 'warn' or 'ignore', got 'drop'"):
        SCHEMA.encode([GOOD], extra="drop")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        (GOOD, "rows must be a list of rows, got one dict; pass [row] for a single one"),
        ("car", "rows must be a list of dicts or sequences, or a data frame, got 'car'"),
        (5, "rows must be a list of dicts or sequences, or a data frame, got 5"),
        (None, "rows must be a list of dicts or sequences, or a data frame, got None"),
        (np.array(3.0), "rows must be a list of dicts or sequences, or a data frame, got array(3.)"),
        (pl.LazyFrame({"income": [1]}), "rows must be an eager frame, got a lazy one; call its collect() first"),
    ],
)
def test_what_is_no_table_is_refused(rows: Any, sentence: str) -> None:
    """A single dict is refused too: it could be one row or columns."""
    with pytest.raises(InvalidInput) as caught:
        SCHEMA.encode(rows)
    assert str(caught.value).startswith(sentence)


def test_one_row_without_its_list_is_explained() -> None:
    """A sequence of values where rows are wanted says what a row is."""
    assert problems_of(list(GOOD.values()))[0].startswith(
        "row 0: the row must be a dict or a sequence of 4 values, income, children, purpose, has_guarantor, got 30000"
    )


def test_a_difference_of_values_that_do_not_fit_is_refused() -> None:
    """Both values are checked and both are named."""
    with pytest.raises(DoesNotFit) as caught:
        SCHEMA.difference("purpose", "boat", None)
    assert str(caught.value) == f"purpose must be {PURPOSE}, got 'boat'\npurpose must be {PURPOSE}, got no value"
