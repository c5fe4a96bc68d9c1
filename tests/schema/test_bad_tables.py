"""Bad tables: each file gets one plain sentence, and nothing is lost.

Every table is written to a CSV file. REFUSED get no schema; NOTED get one that keeps every column, with a note;
MISFITS are people for a schema that is there already.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import pytest

from evenhand.errors import InvalidInput
from evenhand.interview.people import load_columns, load_people
from evenhand.schema import Category, Date, Number, Schema, YesNo

if TYPE_CHECKING:
    from pathlib import Path

REFUSED = {
    "empty": ("", "must have a header, got an empty file"),
    "header only": ("age,city\n", "must have at least two people, got 0"),
    "one person": ("age\n20\n", "must have at least two people, got 1"),
    "short line": ("age,city\n20,Bern\n31\n", "line 3 must have 2 values, got 1"),
    "long line": ("age,city\n20,Bern\n31,Rome,x\n", "line 3 must have 2 values, got 3"),
    "open quote": ('age,city\n20,"Bern\n31,Rome\n', "must be a CSV file in UTF-8: unexpected end of data"),
    "column without a name": ("age,\n20,1\n31,2\n", "the header must name every column, got no name for column 2"),
    "column twice": ("age,age\n20,1\n31,2\n", "the names of columns must be unique, got 'age' 2 times"),
    "no header": ("20,1.5\n31,2.5\n45,3\n", "the first line must have the names of columns, got the numbers 20, 1.5"),
    "a reserved name": (
        "intercept\n20\n31\n",
        "a feature must not be called 'intercept', as the constant coordinate is",
    ),
    "nobody differs": ("age,city\n20,Bern\n20,Bern\n", "a table must have a column that tells people apart, got none"),
    "all blank": ("age\n \n \n", "a table must have a column that tells people apart, got none: age: no values"),
    "ids only": (
        "id\n3\n1\n2\n",
        "a table must have a column that tells people apart, got none: id: a different",
    ),
}
NOTED = {
    "numbers as text": ('age,pay\n20,"1,5"\n31,"2,5"\n45,"3,7"\n', "pay", "numbers written as text, such as '1,5'"),
    "shares with a sign": ("age,pay\n20,10%\n31,20.5%\n45,30%\n", "pay", "numbers written as text, such as '10%'"),
    "amounts with a sign": (
        'age,pay\n20,"$ 1,200"\n31,"$ 900.50"\n45,$7\n',
        "pay",
        "numbers written as text, such as '$ 1,200'",
    ),
    "dates of another form": (
        "age,day\n20,31.12.2020\n31,1.2.2021\n45,2.2.2021\n",
        "day",
        "dates such as '31.12.2020'",
    ),
    "dates of two forms": ("age,day\n20,2020-12-31\n31,2/1/2021\n45,2021-02-02\n", "day", "dates such as '2/1/2021'"),
    "dates as whole numbers": (
        "day\n20201231\n20210201\n20210202\n",
        "day",
        "whole numbers such as 20201231 look",
    ),
    "numbers of people": (
        "no\n" + "".join(f"{n * n % 997}\n" for n in range(2, 20)),
        "no",
        "a different whole number in every row: if it is an id, carry it",
    ),
    "a word for missing": ("job\nnurse\nN/A\nclerk\nnurse\n", "job", "'N/A' in 1 row may stand for a missing value"),
    "n/a among numbers": (
        "age,pay\n20,10\n31,n/a\n45,12\n50,13\n",
        "pay",
        "values of several kinds, such as '10'",
    ),
    "a million": ("debt\n20\n3100\n45\n1000000\n", "debt", "1000000 in 1 row may stand for a missing value"),
    "a code for missing": ("age\n20\n31\n45\n999\n", "age", "999 in 1 row may stand for a missing value"),
    "a negative code": ("age\n20\n31\n45\n-99\n", "age", "-99 in 1 row may stand for a missing value"),
    "infinite": ("age\n20\n31\ninf\n", "age", "1 infinite values, which do not fit"),
    "free text": (
        "age,why\n" + "".join(f"{20 + n % 9},because {n}\n" for n in range(30)),
        "why",
        "30 different texts in 30 rows; carried, not used",
    ),
    "an empty column": ("age,x\n20,\n31,\n", "x", "no values; carried, not used"),
    "one value": ("age,x\n20,a\n31,a\n", "x", "one value only, 'a'; carried, not used"),
    "one number and gaps": ("age,x\n20,1\n31,\n", "x", "one value only, 1, and 1 missing; if a gap means no"),
    "case and blanks": ("age,job\n20,nurse\n31,Nurse\n45,clerk\n", "job", "some levels differ only in case or blanks"),
    "rare levels": (
        "job\n" + "nurse\n" * 300 + "clerk\n" * 300 + "spy\nmime\n",
        "job",
        "2 rare levels count as 'other': 'spy', 'mime'",
    ),
    "ids": ("case_id,age\n7,20\n3,31\n9,45\n", "case_id", "a different whole number in every row, as ids have"),
    "the same twice": ("age,months\n20,240\n31,372\n45,540\n", "months", "says the same as age; one of them is enough"),
}
SCHEMA = Schema(
    [
        Number("age", low=18, high=98),
        Category("city", ("Bern", "Rome")),
        YesNo("member"),
        Date("since", low="2020-01-01", high="2020-12-31"),
    ]
)
HEAD = "age,city,member,since\n"
AGE = "a number from 18 to 98"
FINE = "20,Bern,yes,2020-01-01\n"
MISFITS = {
    "column missing": ("age,city,member\n20,Bern,yes\n31,Rome,no\n", "got 0 for since in 'age, city, member'"),
    "too old": (
        f"{HEAD}{FINE}108,Bern,yes,2020-01-01\n",
        f"line 3, column age: it must be {AGE}, got 108",
    ),
    "no number": (
        f"{HEAD}{FINE}old,Bern,yes,2020-01-01\n",
        f"line 3, column age: it must be {AGE}, got 'old'",
    ),
    "not a number": (
        f"{HEAD}{FINE}nan,Bern,yes,2020-01-01\n",
        f"line 3, column age: it must be {AGE}, got no",
    ),
    "gap": (
        f"{HEAD}{FINE},Bern,yes,2020-01-01\n",
        f"line 3, column age: it must be {AGE}, got no value",
    ),
    "new level": (
        f"{HEAD}{FINE}20,Paris,yes,2020-01-01\n",
        "column city: it must be one of 'Bern', 'Rome', got 'Paris'",
    ),
    "perhaps": (f"{HEAD}{FINE}20,Bern,perhaps,2020-01-01\n", "line 3, column member: it must be yes or no"),
    "other date": (f"{HEAD}{FINE}20,Bern,yes,1.2.2020\n", "line 3, column since: it must be a date from 2020-01-01"),
    "no such day": (f"{HEAD}{FINE}20,Bern,yes,2020-02-31\n", "line 3, column since: it must be a date from 2020-01-01"),
    "cells moved": (
        f"{HEAD}{FINE}Bern,20,yes,2020-01-01\n",
        f"line 3, column age: it must be {AGE}, got 'Bern'",
    ),
}


def written(folder: Path, text: str) -> Path:
    """The table as a file."""
    path = folder / "table.csv"
    path.write_text(text, encoding="utf-8")
    return path


def rows_of(path: Path) -> list[dict[str, object]]:
    """The people of a file, as `evenhand schema propose` reads them."""
    columns = load_columns(path)
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


@pytest.mark.parametrize(("text", "sentence"), REFUSED.values(), ids=REFUSED.keys())
def test_a_table_without_a_schema_says_why(text: str, sentence: str, tmp_path: Path) -> None:
    """One sentence, that names the place where there is one."""
    with pytest.raises(InvalidInput) as caught:
        Schema.from_frame(rows_of(written(tmp_path, text)))
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("text", "column", "sentence"), NOTED.values(), ids=NOTED.keys())
def test_an_odd_column_is_noted_and_kept(text: str, column: str, sentence: str, tmp_path: Path) -> None:
    """The proposal has every column, used or carried, and one note on this one; all rows with finite numbers fit."""
    rows = rows_of(written(tmp_path, text))
    schema = Schema.from_frame(rows)
    assert sorted((*schema.names, *schema.carry)) == sorted(rows[0])
    (note,) = [note for note in schema.notes if note.column == column]
    assert note.text.startswith(sentence)
    assert schema.problems([row for row in rows if row.get("age") != float("inf")]) == ()


@pytest.mark.parametrize(("text", "sentence"), MISFITS.values(), ids=MISFITS.keys())
def test_people_who_do_not_fit_are_named_by_line(text: str, sentence: str, tmp_path: Path) -> None:
    """The line, the column, what it must be, and what it is; read by pandas, the others are kept.

    One bad cell makes pandas read a column of numbers as texts: the others' numerals are numbers all the same.
    """
    path = written(tmp_path, text)
    with pytest.raises(InvalidInput) as caught:
        load_people(path, SCHEMA)
    assert sentence in str(caught.value)
    if "since" in text:
        people = SCHEMA.read(pd.read_csv(path), on_invalid="skip")
        assert (people.ids, [one.id for one in people.left_out]) == (("0",), ["1"])


def test_a_day_far_off_may_stand_for_a_missing_one(tmp_path: Path) -> None:
    """The first or last day of a year, farther off than the others reach."""
    for code in ("9999-12-31", "1900-01-01"):
        schema = Schema.from_frame(rows_of(written(tmp_path, f"day\n2020-03-01\n2020-04-01\n{code}\n2020-05-01\n")))
        assert schema.notes[0].text.startswith(f"{code} in 1 row may stand for a missing value")


def test_bytes_that_are_no_text_are_refused(tmp_path: Path) -> None:
    """A file in another encoding says so, and so does one that is not there."""
    path = tmp_path / "latin.csv"
    path.write_bytes("age,city\n20,Zürich\n31,Rome\n".encode("latin-1"))
    with pytest.raises(InvalidInput, match=r"must be a CSV file in UTF-8, or end in \.parquet, .*: got other bytes$"):
        load_columns(path)
    with pytest.raises(InvalidInput, match="cannot be read: No such file or directory"):
        load_columns(tmp_path / "nowhere.csv")


def test_a_table_that_is_fine_has_no_notes(tmp_path: Path) -> None:
    """Semicolons, bars, a mark at the beginning, cells with line breaks and blank lines are no problem."""
    for mark in ";|":
        text = f'\ufeffage{mark}job\n20{mark}nurse\n\n31{mark}"clerk,\nhalf time"\n45{mark}nurse\n'
        schema = Schema.from_frame(rows_of(written(tmp_path, text)))
        assert (schema.names, schema.carry, schema.notes) == (("age", "job"), (), ())


def test_whole_numbers_with_gaps_come_back_from_a_file(tmp_path: Path) -> None:
    """pandas writes them as 1.0 and 3.0: yes, and the code 3."""
    frame = pd.DataFrame({"member": [1, None, 0], "code": [3, 1, None], "grade": [None, 2, 1], "age": [20, 31, 45]})
    schema = Schema.from_frame(frame, kinds={"code": "category", "grade": "ordinal"})
    people = load_people(written(tmp_path, frame.to_csv(index=False)), schema)
    assert people.rows[0] == {"member": True, "code": "3", "grade": None, "age": 20.0}
    assert (people.contexts == schema.encode(frame)).all()
