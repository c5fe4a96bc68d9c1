"""The report: one page that needs nothing else, from the raw table in 25 lines."""

from __future__ import annotations

import base64
import io
import runpy
import stat
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import evenhand as eh
from evenhand.history import PastLog, RefusedRow, evaluate
from tests.lab.test_report import Page
from tests.support.simulated_log import simulated_log

EXAMPLE = Path(__file__).parents[2] / "examples" / "past_decisions.py"


def _log(n: int = 40) -> PastLog:
    log = simulated_log(n, 2, np.random.default_rng(0))
    ids = tuple(f'<b>"{name}"</b> & co' for name in log.ids)
    return replace(log, ids=ids, refused=(RefusedRow("line 3", "x", ("age must be <5>",)),), counted_as=("row 1: a",))


def test_the_page_stands_alone(tmp_path: Path) -> None:
    """Every element is closed, figures are inside, text of the table is escaped; its owner alone may read it."""
    path = tmp_path / "report.html"
    policies = {"equal <all>": eh.history.equal_probabilities(), "nobody": lambda x, c: np.zeros(len(x))}
    metric = eh.metrics.KnownMetric(0.2 * np.eye(4))
    evaluate(_log(), policies, metric=metric).save_report(path, title="A & B")
    page = Page(path.read_text())
    words = " ".join(page.words)
    for text in ("A & B", "equal <all>", "line 3 (x): age must be <5>", '"</b> & co', "it chooses nobody"):
        assert text in words
    sources = [str(image["src"]) for image in page.named("img")]
    assert len(sources) == 3
    for source in sources:
        assert Image.open(io.BytesIO(base64.b64decode(source.partition(",")[2]))).size[0] > 500
    assert "http" not in path.read_text()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_without_a_metric_there_are_no_pairs(tmp_path: Path) -> None:
    """The page then has two figures and no section on pairs."""
    evaluate(_log(), {"equal": eh.history.equal_probabilities()}).save_report(tmp_path / "r.html")
    page = Page((tmp_path / "r.html").read_text())
    assert len(page.named("img")) == 2
    assert "worst pairs" not in " ".join(page.words)


def test_from_the_raw_table_to_a_report_in_25_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The example has at most 25 lines of code; the rows it refuses are named, all others are in the log."""
    code = EXAMPLE.read_text().partition('"""\n\n')[2]
    lines = [line for line in code.splitlines() if line.strip() and not line.startswith("#")]
    assert len(lines) <= 25
    monkeypatch.chdir(tmp_path)
    used = runpy.run_path(str(EXAMPLE))
    log, printed = used["log"], capsys.readouterr().out
    assert len(log.refused) + log.n_candidates == 1989
    places = [row.place for row in log.refused]
    assert len(set(places)) == len(places) > 10
    table = used["table"]
    for row in log.refused:
        assert row.reasons
        at = int(row.place.removeprefix("row "))
        person = table.iloc[at]
        assert person.term > 480 or person.lines > 55 or person.liq > 9000 or person.gdlin > 1 or person.isna().any()
    assert str(log.refused[0]) in printed
    assert "doubly robust" in printed
    assert Page((tmp_path / "past_decisions.html").read_text()).named("img")
