"""A table of past applicants becomes a log, wherever it comes from; rows that do not fit are named."""

from __future__ import annotations

import dataclasses
import datetime
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sqlalchemy as sql

from evenhand.errors import InvalidInput
from evenhand.history import LogColumns, PastLog, VerdictColumns, read
from evenhand.schema import Category, Number, Schema, YesNo

SCHEMA = Schema([Number("income", low=0, high=100), Category("purpose", ("car", "home")), YesNo("member")])
COLUMNS = LogColumns(candidate="who", round="week", chosen="approved", outcome="repaid", probability="chance")


def _rows(n: int = 40) -> list[dict[str, Any]]:
    rng = np.random.default_rng(0)
    return [
        {
            "who": f"a{i}",
            "week": f"w{i // 5}",
            "income": float(rng.integers(0, 100)),
            "purpose": ("car", "home")[i % 2],
            "member": bool(i % 3),
            "approved": int(i % 5 < 2),
            "repaid": float(i % 4 != 0) if i % 5 < 2 else None,
            "chance": 0.4,
        }
        for i in range(n)
    ]


def _same(one: PastLog, other: PastLog) -> None:
    for name in ("contexts", "starts", "chosen", "outcomes", "probabilities", "capacities"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    assert (one.ids, one.names, one.schema) == (other.ids, other.names, other.schema)


def _write(rows: list[dict[str, Any]], folder: Path) -> dict[str, tuple[Any, str | None]]:
    """The same table in every form."""
    frame = pd.DataFrame(rows)
    frame.to_csv(folder / "t.csv", index=False)
    frame.to_csv(folder / "t.tsv", index=False, sep="\t")
    pl.DataFrame(rows).write_parquet(folder / "t.parquet")
    (folder / "t.jsonl").write_text("\n".join(map(json.dumps, rows)) + "\n\n")
    engine = sql.create_engine(f"sqlite:///{folder / 't.db'}")
    frame.to_sql("applications", engine, index=False)
    with engine.connect() as connection:
        pass
    return {
        "csv": (folder / "t.csv", None),
        "tsv": (str(folder / "t.tsv"), None),
        "parquet": (folder / "t.parquet", None),
        "jsonl": (folder / "t.jsonl", None),
        "pandas": (frame, None),
        "polars": (pl.DataFrame(rows), None),
        "arrow": (pa.Table.from_pylist(rows), None),
        "engine": (engine, "applications"),
        "url": (f"sqlite:///{folder / 't.db'}", "applications"),
        "connection": (connection.engine.connect(), "applications"),
    }


def test_every_source_gives_the_same_log(tmp_path: Path) -> None:
    """CSV, TSV, Parquet, JSON lines, pandas, polars, Arrow and a database lead to the same log, to the bit."""
    expected = read(_rows(), COLUMNS, SCHEMA)
    assert (len(expected), expected.n_candidates, expected.refused) == (8, 40, ())
    for source, table in _write(_rows(), tmp_path).values():
        _same(read(source, COLUMNS, SCHEMA, table=table), expected)
        if isinstance(source, sql.Connection):
            source.close()
            source.engine.dispose()


def test_refused_rows_are_named_one_by_one_and_the_rest_goes_on(tmp_path: Path) -> None:
    """Each bad row is named with its line, its id and every reason; the log has all other rows."""
    rows = _rows()
    rows[3] |= {"income": 900.0, "approved": "perhaps"}
    rows[7] |= {"purpose": "boat"}
    rows[11] |= {"repaid": "soon"}
    rows[12] |= {"chance": 1.5}
    rows[15] |= {"chance": 0.0}
    rows[20] |= {"week": None}
    rows[26] |= {"who": "a25"}
    path = tmp_path / "t.csv"
    pd.DataFrame(rows).to_csv(path, index=False)
    path.write_text(path.read_text() + "a99,w7,3\n")
    log = read(path, COLUMNS, SCHEMA)
    assert [str(row) for row in log.refused] == [
        "line 5 (a3): income must be a number from 0 to 100, got 900; "
        "approved must be yes or no (True or False, 1 or 0), got 'perhaps'",
        "line 9 (a7): purpose must be one of 'car', 'home', got 'boat'",
        "line 13 (a11): repaid must be a number, or yes or no, got 'soon'",
        "line 14 (a12): chance must be a number from 0 to 1, got 1.5",
        "line 17 (a15): chance must be a number above 0, to 1, got 0",
        "line 22 (a20): week must name a round, got no value",
        "line 28 (a25): candidate a25 must be in round w5 once, got a second row",
        "line 42: the line must have 8 values, got 3",
    ]
    good = [row for i, row in enumerate(_rows()) if i not in (3, 7, 11, 12, 15, 20, 26)]
    _same(log, read(good, COLUMNS, SCHEMA))
    assert "line 5 (a3)" in str(log)


def test_lines_that_are_no_json_are_refused(tmp_path: Path) -> None:
    """A broken line of a JSON lines file is named, and the others are read."""
    path = tmp_path / "t.jsonl"
    path.write_text("\n".join([json.dumps(_rows()[0]), "{", "[1]", *map(json.dumps, _rows()[1:])]))
    log = read(path, COLUMNS, SCHEMA)
    assert [row.place for row in log.refused] == ["line 2", "line 3"]
    assert log.n_candidates == 40


def test_one_strange_cell_does_not_make_a_text_of_a_column(tmp_path: Path) -> None:
    """Where nearly all cells are numerals, the proposed feature is a number; the row with another cell is refused."""
    rows = _rows()
    rows[6]["income"] = "low"
    path = tmp_path / "t.csv"
    pd.DataFrame(rows).to_csv(path, index=False)
    log = read(path, COLUMNS)
    assert log.schema is not None
    assert isinstance(log.schema.feature("income"), Number)
    assert [row.place for row in log.refused] == ["line 8"]
    assert log.n_candidates == 39


@pytest.mark.parametrize("as_text", [False, True])
def test_texts_for_missing_numbers(tmp_path: Path, as_text: bool) -> None:
    """However many cells say n/a, a column of numerals is one of numbers, in a file as in a frame of texts."""
    rows = _rows()
    for row in rows[::3]:
        row["income"] = "n/a"
    for row in rows[:2]:
        row["repaid"] = "NULL"
    frame = pd.DataFrame(rows)
    frame.to_csv(tmp_path / "t.csv", index=False)
    log = read(frame.astype({"income": str}) if as_text else tmp_path / "t.csv", COLUMNS)
    assert log.schema is not None
    assert isinstance(log.schema.feature("income"), Number)
    assert log.refused == ()
    unknown = log.schema.coordinates.index("income=unknown")
    assert (log.contexts[:, unknown] > 0).tolist() == [i % 3 == 0 for i in range(40)]
    assert int((log.chosen & ~log.is_observed).sum()) == 2


def test_columns_that_cannot_be_used_are_named() -> None:
    """An amount written as 1,250.00 is no feature, and the log says so."""
    rows = [{**row, "income": f"{1000 + row['income']:,.2f}"} for row in _rows()]
    log = read(rows, COLUMNS)
    assert log.schema is not None
    assert log.schema.names == ("purpose", "member")
    assert "column income: numbers written as text, such as '1,0" in str(log)


def test_other_words_for_yes_and_no() -> None:
    """Words and codes that the mapping names are read; without them no log is made of one kind of people alone."""
    words = [
        {**row, "approved": ("Declined", "APPROVED")[row["approved"]], "repaid": {0.0: "default"}.get(row["repaid"], 1)}
        for row in _rows()
    ]
    named = dataclasses.replace(COLUMNS, yes=("approved",), no=("declined", "default"))
    _same(read(words, named, SCHEMA), read(_rows(), COLUMNS, SCHEMA))
    codes = [{**row, "approved": 2 - row["approved"]} for row in _rows()]
    _same(read(codes, dataclasses.replace(COLUMNS, no=("2",)), SCHEMA), read(_rows(), COLUMNS, SCHEMA))
    message = "nobody who was not chosen is left, since 24 rows were refused: row 2 .a2.: approved must be yes or no"
    with pytest.raises(InvalidInput, match=message):
        read(codes, COLUMNS, SCHEMA)
    with pytest.raises(InvalidInput, match="nobody who was chosen is left, since 16 rows were refused"):
        read([{**row, "repaid": "soon"} for row in _rows()], COLUMNS, SCHEMA)


def test_values_with_line_breaks_and_frames_put_together(tmp_path: Path) -> None:
    """A quoted value may hold line breaks, and lines keep their numbers; repeated labels of a frame are no ids."""
    rows = _rows()
    rows[2]["who"], rows[4]["approved"] = "a\n2\u2028x", "?"
    path = tmp_path / "t.csv"
    pd.DataFrame(rows).to_csv(path, index=False)
    log = read(path, COLUMNS, SCHEMA)
    assert log.ids[2] == "a\n2\u2028x"
    assert [row.place for row in log.refused] == ["line 7"]
    frame = pd.DataFrame(_rows())
    twice = pd.concat([frame, frame.assign(week="x" + frame["week"])])
    anonymous = LogColumns(round="week", chosen="approved", outcome="repaid")
    assert read(twice, anonymous, SCHEMA).n_candidates == 80


def test_clipped_values_are_listed() -> None:
    """on_invalid="clip" counts a number beyond its range as the end, and says so with the row."""
    rows = _rows()
    rows[3] |= {"income": 900.0}
    log = read(rows, COLUMNS, SCHEMA, on_invalid="clip")
    assert log.refused == ()
    assert log.counted_as == ("row 3: income 900 counts as 100",)


@pytest.mark.parametrize(
    ("window", "names"),
    [
        ("month", ("2026-01", "2026-02", "2026-03")),
        ("quarter", ("2026-Q1",)),
        ("30d", ("2026-01-01T09:00", "2026-01-31T09:00", "2026-03-02T09:00")),
    ],
)
def test_rounds_by_time_windows(window: str, names: tuple[str, ...]) -> None:
    """Rounds follow the calendar, or windows of equal length from the first candidate on, in order of time."""
    start = datetime.datetime(2026, 1, 1, 9)
    days = [0, 20, 35, 40, 61, 10]
    rows = [
        {**_rows()[i], "at": (start + datetime.timedelta(days=day)).isoformat(), "week": None}
        for i, day in enumerate(days)
    ]
    rows[1]["at"] = "yesterday"
    columns = LogColumns(candidate="who", time="at", window=window, chosen="approved", outcome="repaid")
    log = read(rows, columns, SCHEMA)
    assert log.names == names
    assert log.ids[:2] == ("a0", "a5")
    assert "at must be a date or time" in log.refused[0].reasons[0]


def test_days_are_those_of_the_clock_in_the_table() -> None:
    """Half past midnight in Rome is a new day there, and rows are in order of time, whatever their zones."""
    at = ["2026-03-01T23:30+01:00", "2026-03-02T00:30+01:00", "2026-03-01T22:50+00:00", "2026-03-02T10:00"]
    rows = [{**row, "at": text} for row, text in zip(_rows(), at, strict=False)]
    columns = LogColumns(candidate="who", time="at", window="day", chosen="approved", outcome="repaid")
    log = read(rows, columns, SCHEMA)
    assert log.names == ("2026-03-01", "2026-03-02")
    assert log.ids == ("a0", "a2", "a1", "a3")
    zoned = pd.DataFrame(rows[:2]).assign(at=lambda frame: pd.to_datetime(frame["at"]))
    for frame in (zoned, pl.from_pandas(zoned), pa.Table.from_pandas(zoned)):
        assert read(frame, columns, SCHEMA).names == ("2026-03-01", "2026-03-02")


def test_rounds_of_so_many_rows_and_the_default_capacity() -> None:
    """`every` cuts the table; the capacity is the share chosen of each round's size, not the number chosen in it."""
    rows = _rows(38)
    rows[10] |= {"approved": 0}
    log = read(rows, LogColumns(candidate="who", every=10, chosen="approved", outcome="repaid"), SCHEMA)
    assert log.sizes.tolist() == [10, 10, 10, 8]
    assert log.places.tolist() == [4, 3, 4, 4]
    assert log.capacities.tolist() == [4, 4, 4, 3]


def test_capacity_from_a_column_or_a_number() -> None:
    """A row that says otherwise than the first of its round is refused; a policy may have fewer places."""
    rows = [{**row, "slots": 3} for row in _rows()]
    rows[2] |= {"slots": 4}
    columns = {"candidate": "who", "round": "week", "chosen": "approved", "outcome": "repaid"}
    log = read(rows, LogColumns(**columns, capacity="slots"), SCHEMA)  # type: ignore[arg-type]
    assert set(log.capacities.tolist()) == {3}
    assert [str(row) for row in log.refused] == [
        "row 2 (a2): the capacity of round w0 must be 3 as in its first row, got 4"
    ]
    log = read(rows, LogColumns(**columns, capacity=1), SCHEMA)  # type: ignore[arg-type]
    assert set(log.capacities.tolist()) == {1}
    with pytest.raises(InvalidInput, match="capacity must be a whole number >= 1 or None, got 0"):
        LogColumns(**columns, capacity=0)  # type: ignore[arg-type]


def test_a_schema_is_proposed_without_the_columns_of_decisions() -> None:
    """Features are the columns that are neither named nor ignored."""
    log = read(_rows(), COLUMNS, ignore=["member"])
    assert log.schema is not None
    assert log.schema.names == ("income", "purpose")


def test_who_applied_twice_is_told_apart() -> None:
    """Ids that come back in another round get its name in front."""
    rows = [{**row, "who": f"p{i % 5}"} for i, row in enumerate(_rows())]
    assert read(rows, COLUMNS, SCHEMA).ids[:6] == ("w0/p0", "w0/p1", "w0/p2", "w0/p3", "w0/p4", "w1/p0")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({}, "exactly one of round, window and every must be set, got none"),
        ({"round": "week", "every": 3}, "exactly one of round, window and every must be set, got round and every"),
        ({"window": "month"}, "window needs the column time, got None"),
        ({"time": "at", "window": "fortnight"}, "window must be day, week, month, quarter, year, or a number and"),
        ({"round": "approved"}, "columns must be different"),
        ({"every": 0}, "every must be a whole number >= 1"),
        ({"every": 5, "yes": "approved"}, "yes must be a tuple of words"),
        ({"every": 5, "yes": ("A",), "no": ("a",)}, "yes and no must be different words, got 'a' in both"),
        ({"every": 5, "outcome_unit": 0}, "outcome_unit must be a number > 0, got 0"),
    ],
)
def test_wrong_columns_are_refused(settings: dict[str, Any], message: str) -> None:
    """A mapping that cannot be meant is refused with a sentence."""
    with pytest.raises(InvalidInput, match=message):
        LogColumns(chosen="approved", outcome="repaid", **settings)


def test_wrong_sources_are_refused(tmp_path: Path) -> None:
    """Missing files, columns and tables, and tables of another kind, are named."""
    for source, table, message in (
        (tmp_path / "none.csv", None, "cannot be read"),
        (tmp_path / "t.xlsx", None, "a file must end in one of .csv"),
        (5, None, "the table must be a file, a data frame"),
        (pl.DataFrame(_rows()).lazy(), None, "got a lazy one; call its collect"),
        ("sqlite://", "applications", "there is no table 'applications'"),
        (_rows()[:0], None, "there is no column 'who'"),
        ([{"who": 1}], None, "there is no column 'week'; the table has who"),
    ):
        with pytest.raises(InvalidInput, match=message):
            read(source, COLUMNS, SCHEMA, table=table)
    with pytest.raises(InvalidInput, match="at least one row must fit, got none"):
        read([{**_rows()[0], "approved": None}], COLUMNS, SCHEMA)


def test_past_reviews_and_complaints() -> None:
    """Verdicts on pairs are read with their gaps; those that do not fit are refused one by one."""
    log = read(_rows(), LogColumns(candidate="who", round="week", chosen="approved", outcome="repaid"), SCHEMA)
    pairs = [
        {"one": "a0", "two": "a2", "bad": "yes", "by": "kim"},
        {"one": "a0", "two": "a1", "bad": 0, "by": None},
        {"one": "a0", "two": "zz", "bad": 1, "by": None},
        {"one": "a0", "two": "a0", "bad": 1, "by": None},
    ]
    log = log.with_verdicts(pairs, VerdictColumns("one", "two", unfair="bad", reviewer="by"))
    assert [(v.first, v.second, v.unfair, v.gap, v.reviewer) for v in log.verdicts] == [
        ("a0", "a2", True, 1.0, "kim"),
        ("a0", "a1", False, 0.0, None),
    ]
    assert [str(row) for row in log.refused] == [
        "verdicts, row 2: candidates must be in the log, got 'zz'",
        "verdicts, row 3: a verdict must be about two candidates, got 'a0' twice",
    ]
    assert log.take([0]).verdicts == log.verdicts
    assert log.take([1]).verdicts == ()


def test_verdicts_on_people_who_applied_twice() -> None:
    """They are named as in the table if it is clear which application is meant, and with the round otherwise."""
    rows = _rows()
    rows[7]["who"], rows[12]["who"], rows[13]["who"] = "a2", "a2", "a6"
    log = read(rows, LogColumns(candidate="who", round="week", chosen="approved", outcome="repaid"), SCHEMA)
    pairs = [("a5", "a9"), ("a0", "a2"), ("a2", "a6"), ("w2/a2", "a6"), ("a0", "a33"), ("a2", "a39"), ("a2", "w0/a2")]
    log = log.with_verdicts([{"one": one, "two": two} for one, two in pairs], VerdictColumns("one", "two"))
    assert [(verdict.first, verdict.second) for verdict in log.verdicts] == [
        ("w1/a5", "w1/a9"),
        ("w0/a0", "w0/a2"),
        ("w2/a2", "w2/a6"),
        ("w0/a0", "w6/a33"),
    ]
    assert [row.place for row in log.refused] == ["verdicts, row 2", "verdicts, row 5", "verdicts, row 6"]
    assert "'a2' and 'a6' must have been in one round together" in str(log.refused[0])
    assert "got 2 rounds; put the round in front" in str(log.refused[0])
    *rounds, apart = log.records()
    assert [one["id"] for one in rounds[1]["candidates"]] == ["a5", "a6", "a2", "a8", "a9"]
    assert set(rounds[0]["rewards"]) == {"a0", "a1"}
    assert apart["probabilities"] == {"a0": 1.0, "a33": 0.0}


BANK = """Nr;Datum;Einkommen;Konto;Entscheid;Bezahlt
1;02.01.2026;1.250,50;-9;ja;ja
2;2026-01-03;12 500;140;nein;
3;04.01.2026;980;-9;JA;nein
3;04.01.2026;980;-9;JA;nein
4;05/01/2026;2.000,00;7;nein;
5;06.01.2026;0,125;99,5;nein;
6;06.01.2026;1.25.00;7;nein;
7;06.01.2026;-9;7;Ja;-9
"""


def test_a_table_as_a_bank_exports_it(tmp_path: Path) -> None:
    """Another encoding, dates, decimal commas, codes for missing values; what still does not fit is named."""
    path = tmp_path / "bank.csv"
    path.write_bytes(BANK.replace("Konto", "Kontogebühr").encode("cp1252"))
    columns = LogColumns(
        chosen="Entscheid",
        outcome="Bezahlt",
        candidate="Nr",
        time="Datum",
        window="month",
        time_format="%d.%m.%Y",
        yes=("ja",),
        no=("nein",),
        missing=("-9",),
        decimal=",",
    )
    schema = Schema(
        [
            Number("Einkommen", low=0, high=20_000, missing="unknown"),
            Number("Kontogebühr", low=0, high=1000, missing="unknown"),
        ]
    )
    with pytest.raises(InvalidInput, match=r"must be in utf-8: .*; pass its encoding, such as cp1252"):
        read(path, columns, schema)
    with pytest.raises(InvalidInput, match="encoding must be one that Python knows, such as cp1252, got 'klingon'"):
        read(path, columns, schema, encoding="klingon")
    log = read(path, columns, schema, encoding="cp1252")
    assert (log.ids, log.chosen.tolist()) == (("1", "2", "3", "5", "7"), [True, False, True, False, True])
    assert log.outcomes.tolist() == pytest.approx([1.0, np.nan, 0.0, np.nan, np.nan], nan_ok=True)
    assert schema.decode(log.contexts)[0]["Einkommen"] == pytest.approx(1250.5)
    found = [(row["Einkommen"], row["Kontogebühr"]) for row in schema.decode(log.contexts)]
    assert [(income, fee) for income, fee in found if None not in (income, fee)] == [
        (pytest.approx(12_500), pytest.approx(140)),
        (pytest.approx(0.125), pytest.approx(99.5)),
    ]
    assert [str(row).partition(": ")[2] for row in log.refused] == [
        "candidate 3 must be in round 2026-01 once, got a second row",
        "Datum must be a date or time, such as 2026-03-31 or 2026-03-31T10:00, or as %d.%m.%Y, got '05/01/2026'",
        "Einkommen must be a number from 0 to 20000, got '1.25.00'",
    ]


@pytest.mark.parametrize("about", [{"decimal": ";"}, {"missing": "-9"}, {"time_format": 3}])
def test_how_cells_are_written_is_checked(about: dict[str, Any]) -> None:
    """A decimal sign that is none, codes that are no tuple of texts and a format that is no text are refused."""
    with pytest.raises(InvalidInput, match=next(iter(about))):
        LogColumns(chosen="yes", outcome="paid", every=2, **about)


def test_a_table_as_excel_saves_it(tmp_path: Path) -> None:
    """A first line that names the separator, UTF-16, and amounts with currencies; lines keep their numbers."""
    path = tmp_path / "excel.csv"
    lines = ["sep=;", "day;income;rate;yes;paid"]
    lines += [f"{n // 4};$1,{n:03}.50;{n} %;{n % 2};{n % 3 % 2}" for n in range(40)]
    path.write_text("\r\n".join([*lines, "9;$1,000;5 %;perhaps;1", ""]), encoding="utf-16")
    columns = LogColumns(round="day", chosen="yes", outcome="paid")
    with pytest.raises(InvalidInput, match="pass its encoding, such as utf-16"):
        read(path, columns)
    with pytest.raises(InvalidInput, match=r"income: numbers in a form that decimal='\.' reads"):
        read(path, columns, encoding="utf-16", ignore=["rate"])
    log = read(path, dataclasses.replace(columns, decimal="."), encoding="utf-16")
    assert log.schema is not None
    assert [(row["income"], row["rate"]) for row in log.schema.decode(log.contexts[:3])] == [
        (pytest.approx(1000.5 + n), pytest.approx(n, abs=1e-9)) for n in range(3)
    ]
    assert [str(row) for row in log.refused] == [
        "line 43: yes must be yes or no (True or False, 1 or 0), got 'perhaps'"
    ]


def test_a_table_as_a_database_holds_it() -> None:
    """Texts padded with blanks, exact decimals and times with a zone are what they mean; no row is lost."""
    start = datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)
    rows = [
        {
            "at": start + datetime.timedelta(hours=n),
            "amount": Decimal(f"{1000 + 7 * n}.{n:02}"),
            "region": ("N   ", "S   ")[n % 2],
            "yes": n % 3 == 0,
            "paid": Decimal(n % 2),
        }
        for n in range(96)
    ]
    log = read(rows, LogColumns(time="at", window="day", chosen="yes", outcome="paid"))
    assert (len(log), log.n_candidates, log.refused, log.notes) == (4, 96, (), ())
    assert log.schema is not None
    assert log.schema.decode(log.contexts[:2])[1]["region"] == "S"


def test_a_table_without_a_row_that_fits_names_the_first(tmp_path: Path) -> None:
    """Where features of no row fit, the message says where the first one stands."""
    path = tmp_path / "table.csv"
    pd.DataFrame(_rows()).assign(purpose="boat").to_csv(path, index=False)
    with pytest.raises(InvalidInput, match="got none of 40: line 2: purpose must be one of 'car', 'home', got 'boat'"):
        read(path, COLUMNS, SCHEMA)
