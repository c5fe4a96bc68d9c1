"""Scales of numbers: increasing, within the range, back to the same value; taken from tables with holes and tails."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from evenhand.desk import Desk
from evenhand.errors import DamagedFile, InvalidInput
from evenhand.review.display import features_of
from evenhand.schema import DoesNotFit, Number, Schema, YesNo
from evenhand.schema.scales import MOST_KNOTS, SKEWED, WORDS, skewness

SCALES = ("linear", "log", "quantile", "auto")
HOLES = (None, float("nan"))

ends = st.tuples(st.floats(-1e6, 1e6), st.floats(1e-3, 1e9)).map(lambda pair: (pair[0], pair[0] + pair[1]))


@st.composite
def fitted_numbers(draw: st.DrawFn) -> Number:
    """A number with a scale from a random table: holes, ties, tails, one value, no value."""
    low, high = draw(ends)
    number = Number("x", low=low, high=high, scale=draw(st.sampled_from(SCALES)))
    rng, n = np.random.default_rng(draw(st.integers(0, 2**32 - 1))), draw(st.sampled_from([0, 1, 2, 30, 500]))
    shape = draw(st.sampled_from(["even", "heavy", "few", "constant", "ends"]))
    shares = {
        "even": rng.random(n),
        "heavy": np.minimum(np.exp(2.0 * rng.standard_normal(n) - 8.0), 1.0),
        "few": rng.integers(0, 3, n) / 3.0,
        "constant": np.full(n, rng.random()),
        "ends": rng.integers(0, 2, n).astype(np.float64),
    }[shape]
    values: list[Any] = np.clip(low + shares * (high - low), low, high).tolist()
    holes = [HOLES[int(rng.integers(2))] if rng.random() < 0.2 else value for value in values]
    return number.fitted(holes) if number.is_open else number


@example(Number("x", low=0.0, high=937918261.7422929, scale="log", step=1e7), 0)
@given(fitted_numbers(), st.integers(0, 2**32 - 1))
@settings(max_examples=200, deadline=None)
def test_every_scale_increases_within_its_range_and_comes_back(number: Number, seed: int) -> None:
    """Low is -1, high is 1, larger values have larger coordinates, and decoding gives the value back."""
    values = np.sort(np.random.default_rng(seed).uniform(number.low, number.high, 40))
    values = np.unique(np.clip(np.concatenate([[number.low], values, [number.high]]), number.low, number.high))
    block = number.encode(values.tolist())[:, 0]
    assert block[0] == -1.0
    assert block[-1] == 1.0
    far_apart = np.diff(values) > 1e-9 * (number.high - number.low)
    assert np.all(np.diff(block)[far_apart] > 0.0)
    assert np.all(np.diff(block) >= 0.0)
    again = np.array([number.decode(row) for row in block[:, None]])
    span = number.high - number.low
    assert np.max(np.abs(again - values)) <= 1e-10 * (span + abs(number.low))
    assert np.all((number.low <= again) & (again <= number.high))


@given(fitted_numbers())
@settings(max_examples=100, deadline=None)
def test_schemas_with_scales_are_kept_to_the_bit(number: Number) -> None:
    """To JSON and back: the same schema, digest and contexts; contexts of norm <= 1 are decoded and explained."""
    schema = Schema([number, YesNo("member")])
    again = Schema.from_dict(json.loads(json.dumps(schema.to_dict())))
    assert again == schema
    assert again.digest == schema.digest
    rows = [{"x": number.low, "member": True}, {"x": (number.low + number.high) / 2.0, "member": False}]
    contexts = schema.encode(rows)
    assert np.array_equal(again.encode(rows), contexts)
    assert np.all(np.linalg.norm(contexts, axis=1) <= 1.0)
    assert len(schema.decode(contexts)) == 2
    assert len(schema.decode(contexts.astype(np.float32))) == 2
    assert schema.explain(np.eye(3)).sentences


def test_the_linear_scale_is_the_default_and_leaves_no_trace() -> None:
    """Encodings, digests and files of linear numbers are those of 0.1."""
    plain, named = Number("x", low=-1, high=3), Number("x", low=-1, high=3, scale="linear")
    assert plain == named
    assert "scale" not in str(Schema([plain]).to_dict())
    assert Schema([plain]).to_dict()["version"] == 1
    assert Schema([Number("x", low=-1, high=3, scale="log")]).to_dict()["version"] == 2
    assert Schema([plain]).digest != Schema([Number("x", low=-1, high=3, scale="log")]).digest


def test_a_log_scale_takes_negative_numbers() -> None:
    """Only what exceeds low counts: shifting the range shifts nothing else."""
    below, above = Number("x", low=-50, high=50, scale="log"), Number("x", low=0, high=100, scale="log")
    assert np.array_equal(below.encode([-50.0, -20.0, 50.0]), above.encode([0.0, 30.0, 100.0]))


@pytest.mark.parametrize("scale", SCALES)
def test_values_outside_are_refused_on_every_scale(scale: Any) -> None:
    """As on the linear scale, nothing is clipped."""
    schema = Schema([Number("x", low=0, high=10, scale=scale)]).fitted([[1.0], [2.0], [9.0]])
    for value in (-0.1, 10.1, float("inf"), None):
        with pytest.raises(DoesNotFit, match="x must be a number from 0 to 10"):
            schema.encode([[value]])


class TestFitting:
    """Scales from a table."""

    def test_auto_goes_by_skewness(self) -> None:
        """Even values stay linear, a long tail becomes a logarithm, what that does not even out becomes ranks."""
        rng, auto = np.random.default_rng(0), Number("x", low=0, high=1000, step=1, scale="auto")
        columns = {
            "linear": rng.uniform(0, 1000, 300),
            "log": np.clip(np.exp(rng.normal(3.0, 1.0, 300)), 0, 1000),
            "quantile": 1000.0 - np.clip(np.exp(rng.normal(3.0, 1.0, 300)), 0, 1000),
        }
        for scale, column in columns.items():
            fitted = auto.fitted(column.tolist())
            assert fitted.scale == scale
            assert abs(skewness(fitted.encode(column.tolist())[:, 0])) <= SKEWED

    def test_ranks_put_as_many_people_into_each_half(self) -> None:
        """On the quantile scale the median is near the middle, however long the tail."""
        column = np.clip(np.exp(3.0 * np.random.default_rng(1).standard_normal(1001)), 0, 1e6)
        number = Number("x", low=0, high=1e6, scale="quantile").fitted(column.tolist())
        assert number.knots is not None
        assert len(number.knots) <= MOST_KNOTS + 2
        assert abs(float(number.encode([float(np.median(column))])[0, 0])) < 0.05

    def test_nothing_known_is_linear(self) -> None:
        """No value at all, or always the same, chooses the linear scale; a quantile scale without values is linear."""
        auto, ranks = Number("x", low=0, high=10, scale="auto"), Number("x", low=0, high=10, scale="quantile")
        for column in ([], [None, float("nan")], [4.0], [4.0] * 50):
            assert auto.fitted(column).scale == "linear"
        assert np.allclose(ranks.fitted([None]).encode([2.5, 5.0]), [[-0.5], [0.0]])

    def test_problems_of_the_table_are_reported(self) -> None:
        """All at once, with their rows; holes are no problems."""
        schema = Schema([Number("x", low=0, high=10, scale="auto"), YesNo("y")])
        with pytest.raises(DoesNotFit) as caught:
            schema.fitted([{"x": 11}, {"x": None}, {"x": "many", "y": "perhaps"}, {"y": True}])
        assert [(problem.row, problem.feature) for problem in caught.value.problems] == [(0, "x"), (2, "x")]

    def test_what_is_fixed_stays(self) -> None:
        """Another table changes no scale that was fitted."""
        schema = Schema([Number("x", low=0, high=10, scale="quantile")]).fitted([[1.0], [2.0]])
        assert schema.fitted([[9.0]]) == schema
        assert not schema.is_open

    @pytest.mark.parametrize("scale", ["auto", "quantile"])
    def test_an_open_scale_encodes_nothing(self, scale: Any) -> None:
        """Rows, and desks, need a scale that is fitted; the draft itself can be saved."""
        schema = Schema([Number("x", low=0, high=10, scale=scale)])
        with pytest.raises(InvalidInput, match=r"x: scale must be fitted to a table .* got '(auto|quantile)'"):
            schema.encode([[1.0]])
        with pytest.raises(InvalidInput, match="schema must have scales that are fitted to a table"):
            Desk.open("memory:", "loans", schema=schema.to_dict())
        assert Schema.from_dict(schema.to_dict()) == schema

    @pytest.mark.parametrize("frame", ["pandas", "polars"])
    def test_frames_with_holes_are_tables(self, frame: str) -> None:
        """Of pandas and polars."""
        made = pytest.importorskip(frame).DataFrame({"x": [1.0, None, 2.0, 9.0], "y": [True, False, True, True]})
        schema = Schema([Number("x", low=0, high=10, scale="quantile"), YesNo("y")])
        assert schema.fitted(made) == schema.fitted([{"x": x} for x in (1.0, 2.0, 9.0)])


@pytest.mark.parametrize(
    "knots",
    [
        [],
        [[0, 0]],
        [[0, 0], [10, 0.5]],
        [[0, 0], [5, 0.5], [5, 0.6], [10, 1]],
        [[0, 0], [5, "half"], [10, 1]],
        7,
        [[0, 0, 0]],
    ],
)
def test_damaged_knots_are_refused(knots: Any) -> None:
    """In the constructor as InvalidInput, in a file as DamagedFile."""
    with pytest.raises(InvalidInput, match=r"x: knots must be pairs \(value, share\) from \(0, 0\) to \(10, 1\)"):
        Number("x", low=0, high=10, scale="quantile", knots=knots)
    entry = {"kind": "number", "name": "x", "low": 0, "high": 10, "scale": "quantile", "knots": knots}
    content = {**Schema([YesNo("y")]).to_dict(), "version": 2, "features": [entry]}
    with pytest.raises(DamagedFile, match="knots"):
        Schema.from_dict(content)


def test_other_scales_have_no_knots_and_no_other_names() -> None:
    """Knots belong to quantiles; unknown scales are listed."""
    with pytest.raises(InvalidInput, match="knots must be None unless scale is 'quantile', got scale 'log'"):
        Number("x", low=0, high=1, scale="log", knots=((0.0, 0.0), (1.0, 1.0)))
    with pytest.raises(InvalidInput, match=r"x: scale must be .*linear.*got 'square'"):
        Number("x", low=0, high=1, scale="square")  # type: ignore[arg-type]


def test_explanations_say_what_a_scale_means() -> None:
    """A step is worth more at the low end of a log scale, in original units; amounts are those of linear numbers."""
    schema = Schema([Number("debt", low=0, high=90_000, unit="EUR", scale="log"), Number("age", low=18, high=98)])
    sentences = schema.explain(np.diag([1.0, 0.2, 0.0])).sentences
    text = "\n".join(sentences)
    assert f"debt is on a log scale: {WORDS['log']}." in sentences
    assert "In debt, 0 EUR or 1,000 EUR makes a distance of 0.18" in text
    assert "In debt, 89,000 EUR or 90,000 EUR makes a distance of 0.0028" in text
    assert "in debt." not in text  # no amount of a number whose differences do not count the same


def test_bounds_are_in_proportion_on_the_scale() -> None:
    """The bounds of a step follow from those of the range by the scale, not by the amounts."""
    schema = Schema([Number("debt", low=0, high=90_000, scale="log")])

    def bounds(differences: Any) -> Any:
        lengths = np.linalg.norm(differences, axis=1)
        return 0.9 * lengths, np.where(lengths > 1.0, 1.1, 3.0) * lengths

    for comparison in schema.explain(np.eye(2), ends=bounds)["debt"].comparisons:
        assert comparison.distance.upper == pytest.approx(1.1 * comparison.distance.value)


def test_a_desk_keeps_its_scales(tmp_path: Path) -> None:
    """Settings, ledger and review show numbers in their own units, whatever the scale."""
    table = [[float(x)] for x in (0, 1, 2, 5, 9, 40, 400, 900)]
    schema = Schema([Number("debt", low=0, high=900, unit="EUR", scale="quantile")]).fitted(table)
    url = f"sqlite:///{tmp_path / 'ledger.db'}"
    with Desk.open(url, "loans", schema=json.loads(json.dumps(schema.to_dict()))) as desk:
        body = desk.decide(schema.encode([[5.0], [400.0]])).event.body
        assert features_of(body, body["candidates"], desk.settings) == [{"debt": 5.0}, {"debt": 400.0}]
        assert any(WORDS["quantile"] in sentence for sentence in desk.metric().sentences)
    with Desk.open(url, "loans") as desk:
        assert desk.settings.schema == schema
