"""What a feature and a schema may be made of, and which values they read."""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from evenhand.errors import InvalidInput
from evenhand.schema import Category, Number, Schema, YesNo

if TYPE_CHECKING:
    from collections.abc import Callable


loose: Any = SimpleNamespace(Number=Number, Category=Category, YesNo=YesNo, Schema=Schema)
"""The same names without their types, to be called wrongly."""


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: loose.Number("", low=0, high=1), "the name of a feature must be a non-empty string, got ''"),
        (lambda: loose.YesNo("  "), "the name of a feature must be a non-empty string, got '  '"),
        (lambda: loose.Category(3, ("a", "b")), "the name of a feature must be a non-empty string, got 3"),
        (lambda: loose.Number("n", low=2, high=2), "n: low must be below high, got 2 and 2"),
        (lambda: loose.Number("n", low=0, high=float("inf")), "n: high must be a finite number, got inf"),
        (lambda: loose.Number("n", low=float("nan"), high=1), "n: low must be a finite number, got nan"),
        (lambda: loose.Number("n", low="0", high=1), "n: low must be a finite number, got '0'"),
        (
            lambda: loose.Number("n", low=-1.7e308, high=1.7e308),
            "n: high - low must be a finite float, got -1.7e+308 to 1.7e+308",
        ),
        (
            lambda: loose.Number("n", low=0.5, high=2, integer=True),
            "n: low and high must be whole numbers, got 0.5 and 2",
        ),
        (lambda: loose.Number("n", low=0, high=2, step=3), "n: step must be > 0 and <= 2, got 3"),
        (lambda: loose.Number("n", low=0, high=2, step=0), "n: step must be > 0 and <= 2, got 0"),
        (lambda: loose.Number("n", low=0, high=2, unit=3), "n: unit must be a string, got 3"),
        (lambda: loose.Number("n", low=0, high=2, integer=1), "n: integer must be True or False, got 1"),
        (lambda: loose.Category("c", ("a",)), "c: a category must have at least 2 levels, got 1"),
        (lambda: loose.Category("c", ("a", "b", "a")), "c: levels must be unique, got 'a' twice"),
        (lambda: loose.Category("c", ("a", "")), "c: a level must be a non-empty string, got ''"),
        (lambda: loose.Category("c", ("a", 2)), "c: a level must be a non-empty string, got 2"),
        (lambda: loose.Category("c", "ab"), "c: levels must be a sequence of strings, got 'ab'"),
        (lambda: loose.Category("c", {"a"}), "c: levels must be a sequence of strings, got {'a'}"),
        (lambda: loose.Category("c", 5), "c: levels must be a sequence of strings, got 5"),
        (lambda: loose.Schema([]), "a schema must have at least 1 feature, got 0"),
        (lambda: loose.Schema(4), "features must be a list of Number, Category, YesNo, Ordinal or Date, got 4"),
        (lambda: loose.Schema(["age"]), "a feature must be a Number, Category, YesNo, Ordinal or Date, got 'age'"),
        (
            lambda: loose.Schema([YesNo("a"), YesNo("a")]),
            "names of features must be unique, got 'a' twice",
        ),
        (
            lambda: loose.Schema([YesNo("a=x"), Category("a", ("x", "y"))]),
            "names of coordinates must be unique, got 'a=x' twice",
        ),
        (
            lambda: loose.Schema([loose.YesNo("intercept")]),
            "a feature must not be called 'intercept', as the constant coordinate is: rename it",
        ),
        (lambda: loose.Schema([loose.YesNo("a")], intercept=1), "intercept must be True or False, got 1"),
        (lambda: loose.Schema([loose.YesNo("a")]).feature("b"), "unknown feature 'b'; the schema has a"),
    ],
)
def test_invalid_features_and_schemas_raise(make: Callable[[], Any], sentence: str) -> None:
    """Each wrong setting is refused with a sentence that quotes it and says what is allowed."""
    with pytest.raises(InvalidInput, match=f"^{re.escape(sentence)}"):
        make()


def test_a_feature_named_intercept_is_fine_without_the_intercept() -> None:
    """The name is taken only where the coordinate exists."""
    assert Schema([YesNo("intercept")], intercept=False).coordinates == ("intercept",)


@pytest.mark.parametrize(
    "value", [7, 7.0, np.int8(7), np.uint64(7), np.float32(7), np.float64(7), Decimal(7), Fraction(14, 2)]
)
def test_a_number_reads_every_type_of_number(value: object) -> None:
    """Python's, numpy's, decimal and fractional numbers all mean the same."""
    schema = Schema([Number("n", low=0, high=10, integer=True)])
    np.testing.assert_array_equal(schema.encode([[value]]), schema.encode([[7]]))


@pytest.mark.parametrize("value", [True, np.True_, 1, 1.0, np.int64(1), np.float32(1), "yes", "Yes", "YES"])
def test_yes_is_read_in_all_its_forms(value: object) -> None:
    """Truth values, 1, and "yes" in any case are yes."""
    assert YesNo("y").read(value) is True


@pytest.mark.parametrize("value", [False, np.False_, 0, 0.0, -0.0, np.int64(0), Decimal(0), "no", "No", np.str_("NO")])
def test_no_is_read_in_all_its_forms(value: object) -> None:
    """Truth values, 0, and "no" in any case are no."""
    assert YesNo("y").read(value) is False


def test_levels_are_read_as_numpy_texts_too() -> None:
    """A numpy text is a text, as a level and as a value."""
    category = Category("c", np.array(["a", "b"]))  # type: ignore[arg-type]  # an array of texts is fine
    assert category == Category("c", ("a", "b"))
    assert type(category.levels[0]) is str
    assert category.read(np.str_("b")) == "b"


def test_equal_settings_make_equal_features() -> None:
    """Whole numbers and floats, lists and tuples, 0.0 and -0.0 make the same schema with the same digest."""
    one = Schema([Number("n", low=0, high=10), Category("c", ("a", "b"))])
    other = Schema([Number("n", low=-0.0, high=10.0), Category("c", ["a", "b"])])  # type: ignore[arg-type]
    assert one == other
    assert hash(one) == hash(other)
    assert one.digest == other.digest
    assert one != Schema(one.features, intercept=False)
    assert one != Schema(one.features[::-1])


@pytest.mark.parametrize(
    ("low", "high", "integer", "step"),
    [
        (0, 200_000, False, 10_000.0),
        (18, 98, False, 1.0),
        (0, 1, False, 0.1),
        (0, 3, True, 1.0),
        (0, 100, False, 10.0),
        (-1e-4, 1e-4, False, 1e-5),
        (0, 5e-324, False, 5e-324),
    ],
)
def test_the_step_left_out_is_a_power_of_ten(low: float, high: float, integer: bool, step: float) -> None:
    """The range holds at least ten steps, and fewer than a hundred; whole numbers step by at least one."""
    assert Number("n", low=low, high=high, integer=integer).step == step


def test_features_and_schemas_cannot_be_changed() -> None:
    """They are frozen, so a schema in a record stays what it was."""
    schema = Schema([YesNo("a")])
    with pytest.raises(AttributeError):
        schema.intercept = False  # type: ignore[misc]
    with pytest.raises(AttributeError):
        schema.features[0].name = "b"  # type: ignore[misc]
