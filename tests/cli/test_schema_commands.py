"""`evenhand schema`: from a table to a schema that a desk takes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evenhand.cli.main import main
from evenhand.desk import Desk
from evenhand.schema import Category, Number, Ordinal, Schema

TABLE = "id,age,job,code,grade,approved\n" + "".join(
    f"{n + 5},{20 + 7 * n % 31},{('nurse', 'clerk')[n % 2]},{n % 3},{n % 4},{n % 5 == 0:d}\n" for n in range(40)
)


def run(*arguments: str) -> int:
    """The exit status."""
    try:
        return main(["schema", *arguments])
    except SystemExit as ended:
        return int(ended.code or 0)


@pytest.fixture
def table(tmp_path: Path) -> str:
    """Forty people."""
    path = tmp_path / "table.csv"
    path.write_text(TABLE)
    return str(path)


def test_propose_writes_json_to_edit(table: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """JSON without a digest on standard output, notes on standard error; an edited file loads, shows and checks."""
    assert run("propose", table, "--carry", "approved", "--category", "code", "--ordinal", "grade") == 0
    written = capsys.readouterr()
    content = json.loads(written.out)
    assert "digest" not in content
    assert content["carry"] == ["approved", "id"]
    assert written.err == "id: a different whole number in every row, as ids have; carried, not used\n"
    schema = Schema.from_dict(content)
    assert isinstance(schema.feature("code"), Category)
    assert isinstance(schema.feature("grade"), Ordinal)
    content["features"][0]["high"] = 90
    path = tmp_path / "schema.json"
    path.write_text(json.dumps(content))
    age = Schema.load(path).feature("age")
    assert isinstance(age, Number)
    assert age.high == 90.0
    assert run("show", str(path)) == 0
    assert "20 to 90, whole" in capsys.readouterr().out
    assert run("check", str(path), table) == 0
    assert capsys.readouterr().out == "all 40 people fit\n"
    Schema.load(path).without("id").save(path)
    assert run("check", str(path), table) == 0
    assert capsys.readouterr().out == "all 40 people fit\nnot in the schema, and not used: id\n"


def test_a_note_on_several_columns_is_one_line(table: str, capsys: pytest.CaptureFixture[str]) -> None:
    """It says what to do on the command line as well as in Python."""
    assert run("propose", table, "--carry", "id") == 0
    codes, *rest = capsys.readouterr().err.splitlines()
    assert codes.startswith("code, grade: few different whole numbers")
    assert "--category" in codes
    assert not any("few different" in line for line in rest)


def test_propose_as_text_shows_the_notes(table: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The same as print(schema)."""
    assert run("propose", table, "--text") == 0
    shown = capsys.readouterr().out
    assert shown.startswith("feature")
    assert "look at:" in shown


def test_check_names_lines_and_a_bad_table_is_wrong_usage(
    table: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Status 2 and the sentence."""
    schema = tmp_path / "schema.json"
    Schema([Number("age", low=0, high=30)]).save(schema)
    assert run("check", str(schema), table) == 2
    assert "line 4, column age: it must be a number from 0 to 30, got 34" in capsys.readouterr().err
    assert run("propose", str(tmp_path / "nowhere.csv")) == 2
    assert "nowhere.csv cannot be read: No such file or directory" in capsys.readouterr().err


def test_fit_chooses_open_scales(table: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A scale left open while editing is taken from the table."""
    path = tmp_path / "schema.json"
    Schema([Number("age", low=0, high=90, scale="quantile")]).save(path)
    assert run("fit", str(path), table) == 0
    fitted = Schema.from_dict(json.loads(capsys.readouterr().out))
    assert not fitted.is_open


def test_a_desk_is_made_with_a_schema_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`ledger import --set schema=schema.json` reads the file; one that is not there is named."""
    schema = Schema([Number("age", low=0, high=90), Category("job", ("nurse", "clerk"))])
    path, past = tmp_path / "schema.json", tmp_path / "past.jsonl"
    schema.save(path)
    features = [{"age": 30, "job": "nurse"}, {"age": 40, "job": "clerk"}]
    people = [{"id": name, "features": row} for name, row in zip("ab", features, strict=True)]
    past.write_text(json.dumps({"candidates": people, "probabilities": [0.5, 0.5], "rewards": {"a": 1.0}}) + "\n")
    database = f"sqlite:///{tmp_path}/ledger.db"
    arguments = ["ledger", "import", "loans", str(past), "--database", database]
    assert main([*arguments, "--set", f"schema={path}", "--set", "capacity=2"]) == 0
    capsys.readouterr()
    with Desk.open(database, "loans") as desk:
        assert desk.settings.schema == schema
        assert desk.settings.capacity == 2
    with pytest.raises(SystemExit):
        main([*arguments, "--set", f"schema={tmp_path}/no.json"])
    assert "no.json cannot be read: No such file or directory" in capsys.readouterr().err
