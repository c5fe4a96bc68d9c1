"""Errors in a file of people name the line, the column and what must be there."""

from __future__ import annotations

import pytest

from evenhand.desk.settings import DeskSettings
from evenhand.errors import InvalidInput
from evenhand.review._interview_people import people_in_csv
from evenhand.schema import Category, Number, Schema

WITH_SCHEMA = DeskSettings.create(
    schema=Schema([Number("income", low=0, high=200_000, unit="EUR"), Category("purpose", levels=("car", "home"))])
)
WITHOUT = DeskSettings.create(features=["score", "years"])


@pytest.mark.parametrize(
    ("settings", "text", "sentence"),
    [
        (WITH_SCHEMA, "income,purpose\n1,car\n2,boat\n", "line 3, column purpose: it must be one of 'car'"),
        (
            WITH_SCHEMA,
            "income;purpose\n1;car\n\n;home\n",
            "line 4, column income: it must be a number from 0 to 200000",
        ),
        (
            WITH_SCHEMA,
            '"income",purpose\n1,"car"\nmuch,home\n',
            "line 3, column income: it must be a number from 0 to",
        ),
        (
            WITH_SCHEMA,
            "income\n1\n2\n",
            "the file: the header must have one column for each of income, purpose, got 0 for purpose in 'income'",
        ),
        (
            WITHOUT,
            "score,years\n0.1,0.2\n0.3,many\n",
            "line 3, column years: it must be a number such as 0.25, got 'many'",
        ),
        (
            WITHOUT,
            "score;years\n0.1;0.2\n0.3;nan\n",
            "column years: it must be a number such as 0.25, got 'nan'",
        ),
        (
            WITHOUT,
            "score,years\n0.1,0.2\n,0.1\n",
            "column score: it must be a number such as 0.25, got nothing",
        ),
        (
            WITHOUT,
            "score,years\n0.1,0.2\n99,10\n",
            "line 3: it must have a sum of squares <= 1, as this desk has no",
        ),
        (
            WITHOUT,
            "score\n0.1\n0.2\n",
            "the file: the header must have one column for each of score, years, got 0 for years in 'score'",
        ),
        (WITHOUT, "score,years\n0.1,0.2\n0.3\n", "the file: line 3 must have 2 values, got 1"),
        (WITHOUT, "score,years\n", "the file must have at least two people, got 0"),
        (WITHOUT, "score,years\n0.1,0.2\n", "the file must have at least two people, got 1"),
    ],
)
def test_errors_name_the_line_and_the_column(settings: DeskSettings, text: str, sentence: str) -> None:
    """Lines are counted as an editor counts them, blank ones too, and nothing speaks of contexts or candidates."""
    with pytest.raises(InvalidInput) as refused:
        people_in_csv(text, settings)
    assert sentence in str(refused.value)
    assert not any(word in str(refused.value) for word in ("context", "candidate", "norm", "row", "evenhand."))


def test_a_value_of_several_lines_moves_those_below() -> None:
    """A quoted value with a line break in it: what follows is counted by the lines of the file."""
    text = 'note,score,years\n"one\ntwo",0.1,0.2\n"x",0.3,many\n'
    with pytest.raises(InvalidInput, match="line 4, column years"):
        people_in_csv(text, WITHOUT)


def test_what_fits_is_read() -> None:
    """With a schema and without, whatever stands between the values, in whatever order the columns are."""
    assert people_in_csv("purpose;income\ncar; 5\nhome;7\n", WITH_SCHEMA) == [
        {"income": 5.0, "purpose": "car"},
        {"income": 7.0, "purpose": "home"},
    ]
    assert people_in_csv("years\tscore\n0.1\t0.2\n0.3\t0.4\n", WITHOUT) == [
        {"score": 0.2, "years": 0.1},
        {"score": 0.4, "years": 0.3},
    ]
