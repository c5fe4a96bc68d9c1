"""The report: one page that needs nothing else."""

from __future__ import annotations

import base64
import html
import io
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import polars as pl
import pytest
from rich.console import Console

from evenhand.errors import InvalidInput
from evenhand.lab.experiment import Check, Experiment, Findings
from evenhand.lab.report import as_table
from evenhand.lab.runner import report, run_experiment
from tests.support.small_experiments import DRIFT

EMPTY = {"meta", "img"}
"""Elements without an end."""

ODD = replace(DRIFT, name='a "quoted" <b> & name')


class Page(HTMLParser):
    """Reads a page, checks that every element is closed in its turn, and keeps attributes and text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note an element."""
        self.elements.append((tag, dict(attrs)))
        if tag not in EMPTY:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        """Close the innermost element, which must be this one."""
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        """Note the text that a reader sees."""
        self.words.append(data)

    def named(self, tag: str) -> list[dict[str, str | None]]:
        """Attributes of all elements of this kind."""
        return [attributes for name, attributes in self.elements if name == tag]


def _report(folder: Path, *experiments: Experiment) -> str:
    for experiment in experiments:
        run_experiment(experiment, folder / "results", quick=True, console=Console(file=io.StringIO()))
    page = folder / "report.html"
    report([folder / "results"], page, experiments={experiment.name: experiment for experiment in experiments})
    return page.read_text(encoding="utf-8")


def test_the_page_needs_nothing_else(tmp_path: Path) -> None:
    """Figures are in the page as PNG; no script, no link, no address of anything outside."""
    text = _report(tmp_path, DRIFT)
    page = Page(text)
    (image,) = page.named("img")
    source = image["src"] or ""
    assert base64.b64decode(source.removeprefix("data:image/png;base64,")).startswith(b"\x89PNG")
    assert image["alt"] == "Figure of drift"
    for foreign in ("http:", "https:", "url(", "@import", 'src="/', "<script", "<link"):
        assert foreign not in text.replace(source, "")


def test_the_page_says_measured_against_promised(tmp_path: Path) -> None:
    """Each verdict is a sentence with both numbers and whether it holds; one that fails says so."""
    wrong = replace(
        DRIFT,
        name="wrong",
        analyse=lambda table: Findings((Check("the walk falls", "0.49", "-1", False),), pl.DataFrame({"n": [1]})),
    )
    words = " ".join("".join(Page(_report(tmp_path, DRIFT, wrong)).words).split())
    found = DRIFT.analyse(pl.read_parquet(tmp_path / "results" / "drift" / "results.parquet")).checks[0].measured
    assert f"holds: the walk climbs by its drift: measured {found} against 0.5 in [0, 1] promised" in words
    assert "does not hold: the walk falls: measured 0.49 against -1 promised" in words


def test_the_page_has_tables_and_settings(tmp_path: Path) -> None:
    """The table of findings, and all that the record says: settings, seeds, versions, timings."""
    words = Page(_report(tmp_path, DRIFT)).words
    for expected in ("steps <all>", "common settings: steps", "seeds", "0, 1, 2, 3", "made with: libraries: numpy"):
        assert expected in words
    assert {"machine: cores", "seconds of work", "options: jobs"} <= set(words)


def test_names_are_text_and_never_markup(tmp_path: Path) -> None:
    """A name with quotes and angle brackets is shown as it is and adds no element."""
    text = _report(tmp_path, ODD)
    page = Page(text)
    assert page.named("b") == []
    assert page.named("section") == [{"id": ODD.name}]
    assert ODD.name in page.words
    assert html.escape(DRIFT.claim) in text


def test_cells_are_short_and_escaped() -> None:
    """Numbers to four digits, nothing for nothing, text as text."""
    table = as_table(pl.DataFrame({"a&b": [1 / 3, None], "c": ["<i>", "d"], "n": [123456, 7]}))
    assert "<th>a&amp;b</th>" in table
    assert "<tr><td>0.3333</td><td>&lt;i&gt;</td><td>123456</td></tr>" in table
    assert "<tr><td></td><td>d</td><td>7</td></tr>" in table


def test_folders_without_results_are_refused(tmp_path: Path) -> None:
    """No results, or those of an experiment that is not known: a sentence, and no page."""
    with pytest.raises(InvalidInput, match=r"no results in .*nowhere"):
        report([tmp_path / "nowhere"], tmp_path / "report.html")
    run_experiment(DRIFT, tmp_path, quick=True, console=Console(file=io.StringIO()))
    with pytest.raises(InvalidInput, match="results of an unknown experiment, 'drift'"):
        report([tmp_path], tmp_path / "report.html", experiments={})
    assert not (tmp_path / "report.html").exists()


def test_a_folder_named_twice_is_shown_once(tmp_path: Path) -> None:
    """The folder of one experiment and the folder above it overlap: one section."""
    run_experiment(DRIFT, tmp_path, quick=True, console=Console(file=io.StringIO()))
    report([tmp_path, tmp_path / "drift"], tmp_path / "report.html", experiments={"drift": DRIFT})
    assert len(Page((tmp_path / "report.html").read_text()).named("section")) == 1


def test_sections_come_in_the_order_of_the_register(tmp_path: Path) -> None:
    """Not in that of the alphabet: what belongs together stands together."""
    last, first = replace(DRIFT, name="a"), replace(DRIFT, name="z")
    for experiment in (last, first):
        run_experiment(experiment, tmp_path, quick=True, console=Console(file=io.StringIO()))
    report([tmp_path], tmp_path / "report.html", experiments={"z": first, "missing": DRIFT, "a": last})
    assert [each["id"] for each in Page((tmp_path / "report.html").read_text()).named("section")] == ["z", "a"]
