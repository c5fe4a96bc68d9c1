"""What does not fit is said for all rows at once, in sentences and in records."""

from __future__ import annotations

import pickle
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from evenhand.errors import InvalidInput
from evenhand.schema import Category, DoesNotFit, Number, Problem, Schema, YesNo

SCHEMA = Schema(
    [
        Number("income", low=0, high=200_000, unit="EUR"),
        Number("children", low=0, high=20, integer=True),
        Category("purpose", levels=("car", "home", "study")),
        YesNo("has_guarantor"),
    ]
)
GOOD: dict[str, Any] = {"income": 30_000, "children": 2, "purpose": "car", "has_guarantor": True}
INCOME = "allowed is 0 to 200000 EUR"
CHILDREN = "allowed are whole numbers from 0 to 20"
PURPOSE = "allowed are 'car', 'home', 'study'"
GUARANTOR = "allowed are yes and no (True and False, 1 and 0)"


def said(rows: Any, **options: Any) -> list[str]:
    """The lines of the error; `problems` must say the same without raising."""
    with pytest.raises(DoesNotFit) as caught:
        SCHEMA.encode(rows, **options)
    assert caught.value.problems == SCHEMA.problems(rows, **options)
    assert isinstance(caught.value, InvalidInput)
    return str(caught.value).split("\n")


@pytest.mark.parametrize(
    ("feature", "value", "sentence"),
    [
        ("income", 250_000, f"income is 250000; {INCOME}"),
        ("income", -0.5, f"income is -0.5; {INCOME}"),
        ("income", float("inf"), f"income is inf; {INCOME}"),
        ("income", np.float64(200_000.25), f"income is 200000.25; {INCOME}"),
        ("income", Decimal("200000.1"), f"income is 200000.1; {INCOME}"),
        ("income", 10**400, f"income is 1{'0' * 56}...; {INCOME}"),
        pytest.param("income", -(10**5000), f"income is a number of thousands of digits; {INCOME}", id="endless"),
        ("income", True, f"income is True, which is no number; {INCOME}"),
        ("income", np.True_, f"income is True, which is no number; {INCOME}"),
        ("income", "30000", f"income is '30000', which is no number; {INCOME}"),
        ("income", 1j, f"income is 1j, which is no number; {INCOME}"),
        ("income", [3], f"income is [3], which is no number; {INCOME}"),
        ("income", None, f"income is missing; {INCOME}"),
        ("income", float("nan"), f"income is missing; {INCOME}"),
        ("income", np.float32("nan"), f"income is missing; {INCOME}"),
        ("income", Decimal("sNaN"), f"income is missing; {INCOME}"),
        ("income", pd.NA, f"income is missing; {INCOME}"),
        ("income", pd.NaT, f"income is missing; {INCOME}"),
        ("children", 2.5, f"children is 2.5; {CHILDREN}"),
        ("children", 21, f"children is 21; {CHILDREN}"),
        ("purpose", "boat", f"purpose is 'boat'; {PURPOSE}"),
        ("purpose", "Car", f"purpose is 'Car'; {PURPOSE}"),
        ("purpose", 1, f"purpose is 1; {PURPOSE}"),
        ("purpose", None, f"purpose is missing; {PURPOSE}"),
        ("has_guarantor", "perhaps", f"has_guarantor is 'perhaps'; {GUARANTOR}"),
        ("has_guarantor", 2, f"has_guarantor is 2; {GUARANTOR}"),
        ("has_guarantor", float("nan"), f"has_guarantor is missing; {GUARANTOR}"),
    ],
)
def test_a_value_that_does_not_fit_is_named(feature: str, value: object, sentence: str) -> None:
    """The sentence names row, feature, value and what is allowed, the same for dicts and sequences."""
    row = {**GOOD, feature: value}
    for rows in ([GOOD, row], [list(GOOD.values()), list(row.values())]):
        assert said(rows) == [f"row 1: {sentence}"]


def test_a_key_that_is_not_there_is_missing() -> None:
    """A dict without a feature says the same as one with None."""
    assert said([{name: value for name, value in GOOD.items() if name != "purpose"}]) == [
        f"row 0: purpose is missing; {PURPOSE}"
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
    wanted = "a row is a dict, or a sequence of 4 values: income, children, purpose, has_guarantor"
    assert said(rows) == [
        f"row 0: income is 250000; {INCOME}",
        f"row 0: purpose is 'boat'; {PURPOSE}",
        "row 2: 'car' is no feature; the features are income, children, purpose, has_guarantor "
        "(extra='ignore' passes over others)",
        f"row 2: income is missing; {INCOME}",
        f"row 2: children is missing; {CHILDREN}",
        f"row 2: purpose is missing; {PURPOSE}",
        f"row 2: has_guarantor is 'maybe'; {GUARANTOR}",
        f"row 3: the row has 3 values; {wanted}",
        f"row 4: the row is 'car'; {wanted}",
        f"row 5: the row is 7; {wanted}",
    ]


def test_problems_are_records() -> None:
    """A page can put each problem beside its field."""
    (problem,) = SCHEMA.problems([GOOD, {**GOOD, "purpose": "boat"}])
    assert problem == Problem(row=1, feature="purpose", reason=f"is 'boat'; {PURPOSE}")
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
    error = DoesNotFit([Problem(0, "income", "is missing")])
    again = pickle.loads(pickle.dumps(error))
    assert again.problems == error.problems
    assert str(again) == "row 0: income is missing"


def test_many_levels_are_not_all_listed() -> None:
    """Twelve levels are listed, the rest counted."""
    schema = Schema([Category("c", tuple(f"L{number}" for number in range(40)))])
    with pytest.raises(DoesNotFit, match=r"allowed are 'L0', .*'L11' and 28 more$"):
        schema.encode([["x"]])


def test_extra_keys_are_ignored_on_request_only() -> None:
    """`extra="ignore"` passes over other keys; anything but the two words is refused."""
    row: dict[Any, Any] = {**GOOD, "name": "Ada", 3: 4}
    assert [line.split(";")[0] for line in said([row])] == [
        "row 0: 'name' is no feature",
        "row 0: 3 is no feature",
    ]
    np.testing.assert_array_equal(SCHEMA.encode([row], extra="ignore"), SCHEMA.encode([GOOD]))
    with pytest.raises(InvalidInput, match="extra is 'drop'; allowed are 'error' and 'ignore'"):
        SCHEMA.encode([GOOD], extra="drop")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        (GOOD, "rows is one dict; give a list of rows, [row] for a single one"),
        ("car", "rows is 'car'; it must be a list of dicts or sequences, or a data frame"),
        (5, "rows is 5; it must be"),
        (None, "rows is None; it must be"),
        (np.array(3.0), "rows is array(3.); it must be"),
        (pl.LazyFrame({"income": [1]}), "rows is a lazy frame; call its collect() first"),
    ],
)
def test_what_is_no_table_is_refused(rows: Any, sentence: str) -> None:
    """A single dict is refused too: it could be one row or columns."""
    with pytest.raises(InvalidInput) as caught:
        SCHEMA.encode(rows)
    assert str(caught.value).startswith(sentence)


def test_one_row_without_its_list_is_explained() -> None:
    """A sequence of values where rows are wanted says what a row is."""
    assert said(list(GOOD.values()))[0].startswith("row 0: the row is 30000; a row is a dict, or a sequence of 4")


def test_a_difference_of_values_that_do_not_fit_is_refused() -> None:
    """Both values are checked and both are named."""
    with pytest.raises(DoesNotFit) as caught:
        SCHEMA.difference("purpose", "boat", None)
    assert str(caught.value) == f"purpose is 'boat'; {PURPOSE}\npurpose is missing; {PURPOSE}"
