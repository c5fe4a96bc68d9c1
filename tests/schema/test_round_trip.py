"""Random schemas and rows: every context has norm <= 1 and comes back as the row it was made from."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.errors import InvalidInput
from evenhand.schema import Category, DoesNotFit, Number, Schema, YesNo

if TYPE_CHECKING:
    from evenhand.schema import Feature

ENDS = st.floats(-1e12, 1e12, allow_nan=False)


@st.composite
def features(draw: st.DrawFn, name: str) -> Feature:
    """A feature of any kind."""
    kind = draw(st.sampled_from(["number", "integer", "category", "yes/no"]))
    if kind == "yes/no":
        return YesNo(name)
    if kind == "category":
        return Category(name, tuple(draw(st.lists(st.text(min_size=1), min_size=2, max_size=9, unique=True))))
    if kind == "integer":
        low = draw(st.integers(-(10**9), 10**9))
        return Number(name, low=low, high=low + draw(st.integers(1, 10**9)), integer=True)
    low_end = draw(ENDS)
    span = draw(st.floats(1e-3, 1e12)) * max(1.0, abs(low_end) * 1e-6)
    return Number(name, low=low_end, high=low_end + span)


def values(feature: Feature) -> st.SearchStrategy[Any]:
    """A value of a feature; the ends of a number are as likely as all that is between."""
    if isinstance(feature, YesNo):
        return st.booleans()
    if isinstance(feature, Category):
        return st.sampled_from(feature.levels)
    assert isinstance(feature, Number)
    ends = st.sampled_from([feature.low, feature.high])
    if feature.integer:
        return st.integers(int(feature.low), int(feature.high)) | ends.map(int)
    return st.floats(feature.low, feature.high) | ends


@st.composite
def tables(draw: st.DrawFn) -> tuple[Schema, list[dict[str, Any]]]:
    """A schema, and rows that fit it."""
    count = draw(st.integers(1, 7))
    schema = Schema([draw(features(f"f{number}")) for number in range(count)], intercept=draw(st.booleans()))
    row = st.fixed_dictionaries({feature.name: values(feature) for feature in schema.features})
    return schema, draw(st.lists(row, max_size=5))


@given(tables())
@settings(max_examples=150, deadline=None)
def test_every_row_becomes_a_context_of_norm_at_most_one(table: tuple[Schema, list[dict[str, Any]]]) -> None:
    """The norm is at most 1 with no tolerance, whichever way it is computed."""
    schema, rows = table
    contexts = schema.encode(rows)
    assert contexts.shape == (len(rows), schema.n_features)
    assert contexts.dtype == np.float64
    for context in contexts:
        assert float(np.linalg.norm(context)) <= 1.0
        assert sum(float(x) ** 2 for x in context) <= 1.0
        assert sum(float(x) ** 2 for x in sorted(context, key=abs)) <= 1.0
        assert math.hypot(*context) <= 1.0


@given(tables())
@settings(max_examples=150, deadline=None)
def test_decoding_gives_the_rows_back(table: tuple[Schema, list[dict[str, Any]]]) -> None:
    """Levels, yes/no and whole numbers come back exactly, other numbers to rounding."""
    schema, rows = table
    again = schema.decode(schema.encode(rows))
    assert [list(row) for row in again] == [list(schema.names)] * len(rows)
    for before, after in zip(rows, again, strict=True):
        for feature in schema.features:
            if isinstance(feature, Number) and not feature.integer:
                room = 1e-11 * (feature.high - feature.low) + 1e-15 * max(abs(feature.low), abs(feature.high))
                assert abs(after[feature.name] - before[feature.name]) <= room
            else:
                assert after[feature.name] == before[feature.name]
                assert type(after[feature.name]) is type(before[feature.name])


@given(tables())
@settings(max_examples=80, deadline=None)
def test_sequences_and_dicts_give_the_same_contexts(table: tuple[Schema, list[dict[str, Any]]]) -> None:
    """A row as a sequence in the schema's order means the same as the row as a dict in any order."""
    schema, rows = table
    sequences = [tuple(row[name] for name in schema.names) for row in rows]
    backwards = [dict(reversed(row.items())) for row in rows]
    expected = schema.encode(rows)
    np.testing.assert_array_equal(schema.encode(sequences), expected)
    np.testing.assert_array_equal(schema.encode(backwards), expected)


@given(tables())
@settings(max_examples=80, deadline=None)
def test_a_schema_comes_back_from_its_dict(table: tuple[Schema, list[dict[str, Any]]]) -> None:
    """`from_dict(to_dict())` is the same schema with the same digest and the same contexts."""
    schema, rows = table
    again = Schema.from_dict(schema.to_dict())
    assert again == schema
    assert again.digest == schema.digest
    np.testing.assert_array_equal(again.encode(rows), schema.encode(rows))


@pytest.mark.parametrize("blocks", [1, 2, 3, 5, 6, 7, 10, 11, 13, 40, 101])
def test_full_contexts_stay_within_norm_one_and_use_it(blocks: int) -> None:
    """With every block full the norm is 1 but for the rounding margin, and never above."""
    many = [Category(f"c{number}", tuple(map(str, range(2 + number % 17)))) for number in range(blocks - 1)]
    schema = Schema([*many, Number("n", low=0, high=3)], intercept=False)
    for number in (0, 3):
        context = schema.encode([[*(f.levels[-1] for f in many), number]])[0]
        assert 1.0 - 1e-11 < float(np.linalg.norm(context)) <= 1.0


def test_every_feature_starts_with_the_same_weight() -> None:
    """A number's ends, yes and no, and two levels of a two-level category differ by the same length, 2/sqrt(b)."""
    schema = Schema([Number("n", low=-5, high=90), YesNo("y"), Category("c", ("a", "b"))])
    for name, first, second in (("n", -5, 90), ("y", "no", "yes"), ("c", "a", "b")):
        assert np.linalg.norm(schema.difference(name, first, second)) == pytest.approx(2 / math.sqrt(4))
    three = Schema([Category("c", ("a", "b", "c"))], intercept=False)
    lengths = [np.linalg.norm(three.difference("c", *pair)) for pair in (("a", "b"), ("a", "c"), ("b", "c"))]
    assert lengths == pytest.approx([math.sqrt(3.0)] * 3)


def test_the_intercept_is_the_same_for_everybody_and_can_be_left_out() -> None:
    """The last coordinate is a positive constant, so differences are zero there; without it, it is not there."""
    schema = Schema([Number("n", low=0, high=1), YesNo("y")])
    contexts = schema.encode([[0.1, True], [0.9, False]])
    assert schema.coordinates[-1] == "intercept"
    assert contexts[0, -1] == contexts[1, -1] == pytest.approx(1 / math.sqrt(3))
    bare = Schema(schema.features, intercept=False)
    assert bare.coordinates == ("n", "y")
    assert bare.encode([[1, True]])[0] == pytest.approx([1 / math.sqrt(2)] * 2)


def test_a_difference_is_the_difference_of_two_encoded_rows() -> None:
    """`difference` equals encode(second) - encode(first) for rows that differ in that feature only."""
    schema = Schema([Number("n", low=0, high=8), Category("c", ("x", "y", "z")), YesNo("y")])
    first, second = schema.encode([[3, "x", True], [3, "z", True]])
    np.testing.assert_allclose(schema.difference("c", "x", "z"), second - first, atol=1e-15)
    first, second = schema.encode([[3, "x", True], [7, "x", True]])
    np.testing.assert_allclose(schema.difference("n", 3, 7), second - first, atol=1e-15)


def test_no_rows_give_no_contexts() -> None:
    """An empty list is an array of shape (0, n_features), and decodes to an empty list."""
    schema = Schema([YesNo("y")])
    assert schema.encode([]).shape == (0, 2)
    assert schema.decode(schema.encode([])) == []


def test_contexts_kept_as_float32_are_decoded() -> None:
    """Half the digits are enough to find levels, yes/no and whole numbers again."""
    schema = Schema([Number("n", low=0, high=99, integer=True), Category("c", ("x", "y", "z")), YesNo("y")])
    row = {"n": 42, "c": "y", "y": False}
    assert schema.decode(schema.encode([row]).astype(np.float32)) == [row]


@pytest.mark.parametrize(
    ("column", "value"), [("n", 1.5), ("c=x", 0.9), ("intercept", 0.0), ("y", 0.0), ("n", 1e308), ("n", -1e308)]
)
def test_a_context_that_is_no_row_is_not_decoded(column: str, value: float) -> None:
    """A context with an impossible coordinate is refused, by its number and its coordinate."""
    schema = Schema([Number("n", low=0, high=9, integer=True), Category("c", ("x", "y")), YesNo("y")])
    contexts = schema.encode([[1, "y", True], [2, "x", False]])
    contexts[1, schema.coordinates.index(column)] = value
    with pytest.raises(
        DoesNotFit, match="row 1: the context must be an encoded row of the schema, got an invalid coordinate '"
    ) as caught:
        schema.decode(contexts)
    assert [problem.row for problem in caught.value.problems] == [1]


def test_contexts_of_the_wrong_shape_or_not_finite_are_not_decoded() -> None:
    """The message quotes the shape that was given and the one that is wanted."""
    schema = Schema([YesNo("y")])
    with pytest.raises(InvalidInput, match=r"contexts must have shape \(k, 2\), got \(2,\)"):
        schema.decode([0.1, 0.2])
    with pytest.raises(InvalidInput, match=r"contexts must be a table of numbers, got \[\['a', 'b'\]\]"):
        schema.decode([["a", "b"]])
    with pytest.raises(DoesNotFit, match="row 0: the context must be finite, got nan in it"):
        schema.decode([[np.nan, 0.2]])
