"""Reports of odd ledgers: empty periods, desks without a schema, erased people, shadow decisions, damage."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from evenhand.cli.main import main
from evenhand.desk import Desk
from evenhand.errors import DamagedLedger, InvalidInput, UnknownRecord
from evenhand.report import Period, audit_report
from tests.support.desk_play import QUICK, play
from tests.support.report_play import DESK, SETTINGS, play_for_report
from tests.support.shadow_play import SHADOW, one_day

OLD = Path(__file__).parents[1] / "data" / "v0_1" / "ledger.db"


def test_ledgers_of_0_1_have_reports(tmp_path: Path) -> None:
    """A ledger written by version 0.1 is reported, with its events as its export has them."""
    shutil.copy(OLD, tmp_path / "ledger.db")
    lines = (OLD.parent / "loans.jsonl").read_text().splitlines()
    report = audit_report(f"sqlite:///{tmp_path / 'ledger.db'}", "loans")
    kinds = [json.loads(line)["kind"] for line in lines]
    assert sum(report.figures.kinds.values()) == len(lines)
    assert report.figures.live.decisions == kinds.count("decision")
    assert report.model is not None


def test_an_empty_period_has_a_report() -> None:
    """Before the first event nothing happened, and the report says so; the ledger is verified all the same."""
    with Desk.open("memory:", "bare", **QUICK) as desk:
        play(desk, 1)
        report = audit_report(desk.ledger, "bare", period=Period.create(until="2020-01-01"))
        events = desk.head.seq
    assert (report.figures.decisions, report.figures.kinds, report.figures.integrity.first) == (0, {}, None)
    assert report.figures.integrity.events == events
    assert (report.model, report.model_missing) == (None, "the period has no events")
    assert "The ledger has no event in this period." in report.html


def test_a_desk_without_a_schema_is_grouped_by_coordinates() -> None:
    """Without a schema nothing is grouped unless asked; coordinates are then cut into four."""
    with Desk.open("memory:", "bare", **QUICK) as desk:
        play(desk, 3)
        assert audit_report(desk.ledger, "bare", model=False).figures.groups == ()
        report = audit_report(desk.ledger, "bare", groups=["feature 2"], model=False)
        with pytest.raises(InvalidInput, match="unknown attribute 'sex'; there are feature 1, feature 2, feature 3"):
            audit_report(desk.ledger, "bare", groups=["sex"])
    (table,) = report.figures.groups
    assert (len(table.groups), table.learned_from) == (4, True)
    assert sum(group.candidates for group in table.groups) == report.figures.live.candidates


def test_groups_can_be_joined() -> None:
    """The groups by two attributes together have all candidates, each once."""
    with Desk.open("memory:", DESK, **SETTINGS) as desk:
        play_for_report(desk, days=9)
        report = audit_report(desk.ledger, DESK, groups=["sex,region"], model=False)
    live = next(table for table in report.figures.groups if not table.shadow)
    assert live.attribute == "sex and region"
    assert {"f, r0", "not known", "erased"} <= {group.name for group in live.groups}
    assert sum(group.candidates for group in live.groups) == report.figures.live.candidates


def test_an_erased_candidate_has_no_reasons() -> None:
    """The chance stays in the record; features are gone, and the notice says so."""
    with Desk.open("memory:", DESK, **SETTINGS) as desk:
        play_for_report(desk, days=9)
        report = audit_report(desk.ledger, DESK, candidate="8-1", model=False)
        left_out = audit_report(desk.ledger, DESK, candidate="odd", model=False)
        made = [event.body for event in desk.events(kinds=("decision",)) if "8-1" in event.body["candidates"]]
    drawn = "8-1" in made[0]["chosen"]  # draws differ from run to run
    assert [one.kind for one in report.notices] == ([] if drawn else ["erased"])
    assert [one.kind for one in left_out.notices] == ["left out"]
    assert "income" in left_out.notices[0].sentences[0]


def test_shadow_decisions_are_told_apart() -> None:
    """What the system in force chose is counted in shadow mode, never live; its reasons are not in the ledger."""
    with Desk.open("memory:", "beside", **SHADOW) as desk:
        for day in range(3):
            one_day(desk, day)
        report = audit_report(desk.ledger, "beside", candidate="person 1")
    live, shadow = report.figures.live, report.figures.shadow
    assert (live.decisions, live.chosen, live.outcomes) == (0, 0, 0)
    assert (shadow.decisions, shadow.chosen, shadow.outcomes) == (3, 3, 3)
    assert {flag.subject for flag in report.figures.flags.flags} == {"system"}
    assert report.figures.flags.flagged == 0
    assert {one.kind for one in report.notices} == {"shadow"}


def test_a_damaged_ledger_has_no_report(tmp_path: Path) -> None:
    """Figures of a ledger that does not verify are no evidence."""
    url = f"sqlite:///{tmp_path / 'ledger.db'}"
    with Desk.open(url, "bare", **QUICK) as desk:
        play(desk, 1)
        with desk.ledger.transaction(writes=True) as connection:
            for (trigger,) in connection.exec_driver_sql(
                "SELECT name FROM sqlite_master WHERE type = 'trigger' AND tbl_name = 'events'"
            ).fetchall():
                connection.exec_driver_sql(f"DROP TRIGGER {trigger}")
            connection.exec_driver_sql("UPDATE events SET text = replace(text, 'Kim', 'Tim') WHERE kind = 'review'")
    with pytest.raises(DamagedLedger, match="was changed"):
        audit_report(url, "bare")


def test_periods_are_checked() -> None:
    """A period must end after it begins, and its ends must be dates."""
    with pytest.raises(InvalidInput, match="until must be after since"):
        Period.create("2026-02-01", "2026-01-01")
    with pytest.raises(InvalidInput, match="since must be a date or a time"):
        Period.create("yesterday")
    assert Period.create("2026-01-01T02:00+02:00").since == "2026-01-01T00:00:00.000000+00:00"


def test_text_of_people_cannot_become_markup() -> None:
    """Reviewers' names, reasons and ids are escaped; the page loads nothing."""
    evil = '<script>alert("x")</script>'
    with Desk.open("memory:", "bare", **QUICK) as desk:
        decision = desk.decide([{"id": evil, "context": [0.1, 0, 0]}, {"id": "b", "context": [0, 0.1, 0]}])
        desk.review(decision.id, "partial", unfair=[(evil, "b")], reviewer=evil)
        desk.override(decision.id, [], reason=evil)
        page = audit_report(desk.ledger, "bare").html
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    assert "default-src 'none'" in page


def test_the_command_writes_page_and_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`evenhand report` writes private files, names them, and says how much is in them."""
    url = f"sqlite:///{tmp_path / 'ledger.db'}"
    with Desk.open(url, "bare", **QUICK) as desk:
        play(desk, 2)
    page, figures = tmp_path / "report.html", tmp_path / "report.json"
    options = ["--database", url, "--output", str(page), "--json", str(figures), "--no-model"]
    assert main(["report", "bare", *options]) == 0
    assert "4 decisions in " in capsys.readouterr().out
    assert json.loads(figures.read_bytes())["live"]["decisions"] == 4
    assert page.read_text().startswith("<!doctype html>")
    assert page.stat().st_mode & 0o077 == 0
    with pytest.raises(SystemExit):
        main(["report", "other", *options])
    assert "there is no desk 'other'" in capsys.readouterr().err


def test_an_unknown_desk_is_refused() -> None:
    """A report is of a desk that exists."""
    with Desk.open("memory:", "bare", **QUICK) as desk, pytest.raises(UnknownRecord, match="there is no desk 'other'"):
        audit_report(desk.ledger, "other")


@pytest.mark.process
def test_the_report_is_written_as_pdf(tmp_path: Path) -> None:
    """The same page as PDF."""
    pytest.importorskip("weasyprint")
    with Desk.open("memory:", "bare", **QUICK) as desk:
        play(desk, 1)
        audit_report(desk.ledger, "bare", model=False).write_pdf(tmp_path / "report.pdf")
    made = (tmp_path / "report.pdf").read_bytes()
    assert made.startswith(b"%PDF-")
    assert len(made) > 10_000


def test_shares_are_not_called_a_draw() -> None:
    """Of a desk that gives shares, everybody with a share counts as chosen, and the report says so."""
    with Desk.open("memory:", "bare", **QUICK, mode="shares") as desk:
        decision = desk.decide([[0.9, 0, 0], [0, 0.9, 0], [-0.9, 0, 0]])
        report = audit_report(desk.ledger, "bare", model=False)
    assert report.figures.live.chosen == len(decision.chosen)
    assert "gives shares and draws nobody" in report.html
