"""`evenhand datasets`: names, a data set as text, and as files that other commands read."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from evenhand import datasets
from evenhand.cli.main import main


def test_names_without_a_name(capsys: pytest.CaptureFixture[str]) -> None:
    """Without a name every data set is listed, and no package is needed for that."""
    assert main(["datasets"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == list(datasets.NAMES)


def test_files_that_other_commands_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The CSV holds the history in rounds of this size, and its people fit the schema that is written beside it."""
    table, schema = tmp_path / "cards.csv", tmp_path / "cards.json"
    assert main(["datasets", "credit_card", "--csv", str(table), "--schema", str(schema), "--round-size", "50"]) == 0
    assert capsys.readouterr().out == f"{datasets.load('credit_card')}\n"
    written, expected = pd.read_csv(table), datasets.load("credit_card").as_history(50).reset_index(drop=True)
    assert written["outcome"].isna().equals(expected["outcome"].isna())
    assert (written["round"] == expected["round"]).all()
    assert main(["schema", "check", str(schema), str(table)]) == 0


def test_an_unknown_name_is_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    """The message has the names that there are."""
    with pytest.raises(SystemExit, match="2"):
        main(["datasets", "iris"])
    assert "loanapp" in capsys.readouterr().err
