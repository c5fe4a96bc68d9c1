"""A frame of pandas, polars or Arrow means the same wherever a table goes."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import evenhand as eh
from evenhand._internal.client_requests import as_candidates
from evenhand._internal.frames import as_frame
from evenhand.cli.main import main
from evenhand.desk import Desk
from evenhand.errors import ExtraColumns, InvalidInput
from evenhand.interview.people import load_columns, load_people
from evenhand.schema import Category, Date, DoesNotFit, Number, YesNo

Make = Callable[[dict[str, list[Any]]], Any]


class Exporter:
    """A table of no known library, which only exports itself to Arrow."""

    def __init__(self, table: pa.Table) -> None:
        self._table = table

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._table.__arrow_c_stream__(requested_schema)


def batch(columns: dict[str, list[Any]]) -> Any:
    """A record batch."""
    return pa.RecordBatch.from_pydict(columns)


MAKERS: dict[str, Make] = {
    "pandas": pd.DataFrame,
    "pandas with Arrow types": lambda columns: pd.DataFrame(columns).convert_dtypes(dtype_backend="pyarrow"),
    "polars": lambda columns: pl.DataFrame(columns, strict=False),
    "Arrow": pa.table,
    "Arrow batch": batch,
    "Arrow stream": lambda columns: Exporter(pa.table(columns)),
    "Arrow reader": lambda columns: pa.table(columns).to_reader(),
}
every_library = pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)

NUMBERS = {"a": [0.1, 0.2, -0.3], "b": [0.5, 0.0, 0.1]}
ARRAY = np.column_stack(list(NUMBERS.values()))
PEOPLE: dict[str, list[Any]] = {
    "income": [10_000, 51_000, None],
    "purpose": ["car", "home", "car"],
    "member": [True, False, True],
    "since": [datetime.date(2020, 5, 1), datetime.date(2021, 1, 31), datetime.date(2024, 2, 29)],
}
ROWS = [dict(zip(PEOPLE, row, strict=True)) for row in zip(*PEOPLE.values(), strict=True)]
SCHEMA = eh.Schema(
    [
        Number("income", low=0, high=200_000, missing="unknown"),
        Category("purpose", levels=("car", "home")),
        YesNo("member"),
        Date("since", low="2020-01-01", high="2025-01-01"),
    ]
)


@every_library
def test_a_bandit_decides_on_a_frame(make: Make) -> None:
    """With the probabilities, contexts and distances of the same numbers in an array."""
    by_array, by_frame = (eh.FairBandit(2, seed=3) for _ in range(2))
    expected, decision = by_array.decide(ARRAY), by_frame.decide(make(NUMBERS))
    np.testing.assert_array_equal(decision.contexts, ARRAY)
    np.testing.assert_array_equal(decision.probabilities, expected.probabilities)
    np.testing.assert_array_equal(by_frame.distances(make(NUMBERS)).estimate, by_array.distances(ARRAY).estimate)


@every_library
def test_contexts_must_be_numbers(make: Make) -> None:
    """A text or a gap is named by candidate and feature, and the bandit has decided nothing."""
    bandit = eh.FairBandit(2, seed=3)
    with pytest.raises(InvalidInput, match="feature 1 of candidate 0 is 'x'"):
        bandit.decide(make({"a": [0.1, 0.2], "b": ["x", "y"]}))
    with pytest.raises(InvalidInput, match="feature 1 of candidate 1"):
        bandit.decide(make({"a": [0.1, 0.2], "b": [0.3, None]}))
    assert bandit.rounds == 0


@every_library
def test_a_schema_reads_a_frame(make: Make) -> None:
    """Encoded, fitted, checked and proposed as from dicts; unused columns are named in a warning."""
    np.testing.assert_array_equal(SCHEMA.encode(make(PEOPLE)), SCHEMA.encode(ROWS))
    assert SCHEMA.problems(make(PEOPLE)) == ()
    assert eh.Schema.from_frame(make(PEOPLE)) == eh.Schema.from_frame(ROWS)
    with pytest.warns(ExtraColumns, match="age"):
        SCHEMA.encode(make(PEOPLE | {"age": [1, 2, 3]}))
    with pytest.raises(DoesNotFit, match="row 1: purpose must be one of 'car', 'home', got 'boat'"):
        SCHEMA.encode(make(PEOPLE | {"purpose": ["car", "boat", "car"]}))
    with pytest.raises(DoesNotFit, match="member must be one column of the frame, got 0"):
        SCHEMA.encode(make({name: values for name, values in PEOPLE.items() if name != "member"}))


def test_ordered_levels_of_a_type_are_known() -> None:
    """pandas' ordered categories and Arrow's ordered dictionaries propose an ordinal in their own order."""
    grades = ["low", "high", "middle", "low"]
    order = ["low", "middle", "high"]
    by_pandas = pd.DataFrame({"grade": pd.Categorical(grades, categories=order, ordered=True)})
    codes = pa.array([order.index(grade) for grade in grades], pa.int8())
    by_arrow = pa.table({"grade": pa.DictionaryArray.from_arrays(codes, pa.array(order), ordered=True)})
    schemas = [eh.Schema.from_frame(frame) for frame in (by_pandas, by_arrow)]
    assert schemas[0] == schemas[1]
    assert schemas[0].features[0].kind == "ordinal"


@every_library
@pytest.mark.parametrize(
    "settings",
    [{"schema": SCHEMA}, {"features": list(NUMBERS)}, {"n_features": 2}],
    ids=lambda settings: next(iter(settings)),
)
def test_a_desk_decides_on_a_frame(make: Make, settings: dict[str, Any]) -> None:
    """With a schema, with names and with numbers alone, what is recorded is what dicts or an array give."""
    columns = PEOPLE if "schema" in settings else NUMBERS
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    entries: Any = [{"id": str(i), "features": row} for i, row in enumerate(rows)]
    with Desk.open("memory:", "loans", seed=1, **settings) as desk:
        expected = desk.decide(ARRAY if "n_features" in settings else entries).event.body
    with Desk.open("memory:", "loans", seed=1, **settings) as desk:
        recorded = desk.decide(make(columns)).event.body
    for name in ("candidates", "contexts", "probabilities"):
        assert recorded[name] == expected[name]
    assert recorded.get("features") == expected.get("features")


@every_library
def test_a_desk_leaves_out_rows_of_a_frame(make: Make) -> None:
    """`on_invalid="skip"` names the row that does not fit and decides among the others."""
    with Desk.open("memory:", "loans", seed=1, schema=SCHEMA) as desk:
        decision = desk.decide(make(PEOPLE | {"purpose": ["car", "boat", "car"]}), on_invalid="skip")
    assert list(decision.candidates) == ["0", "2"]
    assert [one["id"] for one in decision.event.body["left_out"]] == ["1"]


@every_library
def test_an_interview_asks_about_a_frame(make: Make) -> None:
    """The same questions as about an array."""
    bandits = [eh.FairBandit(2, seed=0) for _ in range(2)]
    by_array, by_frame = eh.Interview(bandits[0], ARRAY, seed=0), eh.Interview(bandits[1], make(NUMBERS), seed=0)
    assert next(iter(by_frame)).pair == next(iter(by_array)).pair


@every_library
def test_the_client_sends_a_frame(make: Make) -> None:
    """Every row is a candidate; the column "id" has the ids, gaps are None, dates are texts."""
    sent = as_candidates(make({"id": ["x", "y", "z"], **PEOPLE}), lambda: None)
    assert [one["id"] for one in sent] == ["x", "y", "z"]
    assert sent[2]["features"]["income"] is None
    assert sent[0]["features"]["since"] == "2020-05-01"


@every_library
def test_an_allocation_takes_frames(make: Make) -> None:
    """Distances as a frame, rewards as its column."""
    distances = {"x": [0.0, 0.1, 1.0], "y": [0.1, 0.0, 1.0], "z": [1.0, 1.0, 0.0]}
    expected = eh.fair_distribution([0.9, 0.5, -0.2], np.column_stack(list(distances.values())), capacity=1)
    found = eh.fair_distribution([0.9, 0.5, -0.2], make(distances), capacity=1)
    np.testing.assert_array_equal(found.probabilities, expected.probabilities)


def test_a_column_is_no_frame() -> None:
    """Series and Arrow arrays export themselves to Arrow as well; they stay what they are."""
    for column in (pd.Series([1.0]), pl.Series([1.0]), pa.array([1.0]), pa.chunked_array([[1.0]])):
        assert as_frame(column) is None


def test_a_lazy_frame_is_refused() -> None:
    """With the way to make it eager."""
    lazy = pl.DataFrame(NUMBERS).lazy()
    for refused in (lambda: eh.FairBandit(2).decide(lazy), lambda: SCHEMA.encode(lazy)):  # type: ignore[arg-type]
        with pytest.raises(InvalidInput, match=r"call its collect\(\) first"):
            refused()


@pytest.mark.parametrize(("ending", "write"), [("parquet", "write_parquet"), ("arrow", "write_ipc")])
def test_files_of_frames_are_read(ending: str, write: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Parquet and Arrow files mean the same as CSV: as columns, as people, and on the command line."""
    path, schema_path = tmp_path / f"people.{ending}", tmp_path / "schema.json"
    getattr(pl.DataFrame(PEOPLE), write)(path)
    SCHEMA.save(schema_path)
    assert load_columns(path) == PEOPLE
    np.testing.assert_array_equal(load_people(path, SCHEMA).contexts, SCHEMA.encode(ROWS))
    assert main(["schema", "check", str(schema_path), str(path)]) == 0
    assert "all 3 people fit" in capsys.readouterr().out
    path.write_bytes(b"no table")
    with pytest.raises(InvalidInput, match=f"cannot be read as {ending}"):
        load_columns(path)
    with pytest.raises(InvalidInput, match=f"cannot be read as {ending}: No such file"):
        load_columns(tmp_path / f"nowhere.{ending}")
