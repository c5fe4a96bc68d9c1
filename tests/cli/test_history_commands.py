"""`evenhand history`: one command from a table to a report."""

from __future__ import annotations

import html
import json
from pathlib import Path

import numpy as np
import pytest

import evenhand as eh
from evenhand.cli.main import main

OPTIONS = ("--candidate", "who", "--chosen", "yes", "--outcome", "paid", "--every", "6")


def run(*arguments: str) -> int:
    """The exit status."""
    try:
        return main(["history", *arguments])
    except SystemExit as ended:
        return int(ended.code or 0)


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """Three hundred applicants, one of whom nobody decided on."""
    rng = np.random.default_rng(0)
    lines = ["who,age,job,yes,paid"]
    for n in range(300):
        age, chosen = rng.integers(20, 60), rng.random() < 0.4
        paid = int(rng.random() < 0.7) if chosen else ""
        lines.append(f"a{n},{age},{('nurse', 'clerk')[n % 2]},{int(chosen)},{paid}")
    lines[18] = "a17,30,clerk,?,1"
    path = tmp_path / "table.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def test_one_command_makes_a_report(table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The schema is proposed, the bad row is named, the table is printed, and the page is written."""
    page = tmp_path / "report.html"
    assert run("evaluate", str(table), *OPTIONS, "--output", str(page)) == 0
    printed = capsys.readouterr().out
    assert "refused: line 19 (a17): yes must be yes or no (True or False, 1 or 0), got '?'" in printed
    assert "50 rounds, 299 candidates" in printed
    assert "equal probabilities" in printed
    assert "line 19 (a17)" in page.read_text()
    assert "By 0.5 times the Euclidean distance, with a tolerance of 0.05" in page.read_text()


def test_columns_that_are_not_used_are_named(table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An amount written with separators is no feature: the command says so, and the page; not for a schema of yours."""
    header, *lines = table.read_text().splitlines()
    amounts = [f"{line};1,{n:03}.00".replace(",", ";", 4) for n, line in enumerate(lines)]
    table.write_text("\n".join([f"{header};amount".replace(",", ";"), *amounts]) + "\n")
    page, note = tmp_path / "report.html", "numbers written as text, such as '1,000.00'"
    assert run("evaluate", str(table), *OPTIONS, "--output", str(page)) == 0
    assert f"amount: {note}" in capsys.readouterr().out
    assert note in html.unescape(page.read_text())
    eh.Schema([eh.Number("age", low=0, high=99)]).save(tmp_path / "s.json")
    assert run("evaluate", str(table), *OPTIONS, "--schema", str(tmp_path / "s.json"), "--output", str(page)) == 0
    printed = capsys.readouterr().out
    assert note not in printed
    assert "kind" not in printed


def test_show_says_what_cannot_be_estimated(table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Counts, the schema, the chances, and the statement; refused rows go to a file."""
    refused = tmp_path / "refused.csv"
    assert run("show", str(table), *OPTIONS, "--refused", str(refused)) == 0
    assert refused.read_text().splitlines() == [
        "row,candidate,reasons",
        "line 19,a17,\"yes must be yes or no (True or False, 1 or 0), got '?'\"",
    ]
    printed = capsys.readouterr().out
    assert "job      category" in printed
    assert "Chances were not recorded; they are estimated by logistic regression" in printed


def test_a_bandit_and_a_desk_start_warm(table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Complaints and outcomes go into a saved bandit, which `evaluate` takes, and into lines that a desk imports."""
    complaints = tmp_path / "complaints.csv"
    complaints.write_text("first,second\na0,a1\na2,a9\na5,zz\n")
    given = ("--verdicts", str(complaints))
    saved = tmp_path / "warm.eh"
    assert run("warm-up", str(table), *OPTIONS, *given, "--output", str(saved)) == 0
    printed = capsys.readouterr().out
    assert "refused: verdicts, line 4: candidates must be in the log, got 'zz'" in printed
    bandit = eh.FairBandit.load(saved)
    assert f"learned from {bandit.reward.n_outcomes} outcomes and " in printed  # type: ignore[attr-defined]
    assert eh.Schema.load(tmp_path / "warm.schema.json").n_features == bandit.n_features
    page = str(tmp_path / "report.html")
    careful, d = str(tmp_path / "careful.eh"), bandit.n_features
    eh.FairBandit(d, capacity=2, metric=eh.metrics.KnownMetric(0.1 * np.eye(d)), seed=0).save(careful)
    desks = ("--desk", str(saved), "--desk", careful)
    assert run("evaluate", str(table), *OPTIONS, *given, *desks, "--output", page) == 0
    printed = capsys.readouterr().out
    assert "\nevenhand, warm.eh " in printed
    assert "By the metric of 'evenhand, warm.eh'" in html.unescape(Path(page).read_text())
    assert "\nevenhand, careful.eh " in printed
    assert "outcomes already; if later rounds are among them, it looks too good" in printed
    past, url = tmp_path / "past.jsonl", f"sqlite:///{tmp_path / 'l.db'}"
    assert run("export", str(table), *OPTIONS, *given, "--output", str(past)) == 0
    assert "job      category" in capsys.readouterr().out
    lines = [json.loads(line) for line in past.read_text().splitlines()]
    assert sum(len(line.get("rewards", ())) for line in lines) == bandit.reward.n_outcomes  # type: ignore[attr-defined]
    assert main(["ledger", "import", "loans", str(past), "--database", url]) == 0
    assert "0 lines refused" in capsys.readouterr().out


def test_wrong_usage_is_said(table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Status 2 and a sentence for a column that is not there, no rounds, or a file that is no bandit."""
    assert run("show", str(table), "--chosen", "nope", "--outcome", "paid", "--every", "6") == 2
    assert "there is no column 'nope'; the table has who, age, job, yes, paid" in capsys.readouterr().err
    assert run("show", str(table), "--chosen", "yes", "--outcome", "paid") == 2
    for output in (tmp_path, tmp_path / "none" / "report.html"):
        assert run("evaluate", str(table), *OPTIONS, "--output", str(output)) == 2
        assert "folder" in capsys.readouterr().err.splitlines()[-1]
    assert run("evaluate", str(table), *OPTIONS, "--desk", str(tmp_path / "none.eh")) == 2
    assert "cannot be read" in capsys.readouterr().err
