"""One self-contained HTML page of results: checks, figures, tables, settings."""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from evenhand._internal.html_page import embedded, html_page
from evenhand.lab.experiment import Check, Experiment, Findings


def write_report(path: Path, sections: Sequence[str]) -> None:
    """Write the page; it needs no other file and no network."""
    path.write_text(html_page("evenhand: findings", sections), encoding="utf-8")


def section(experiment: Experiment, results: pl.DataFrame, findings: Findings, record: Mapping[str, Any]) -> str:
    """One experiment as a section of the page."""
    name = html.escape(experiment.name)
    checks = "\n".join(map(_check, findings.checks))
    figure = embedded(experiment.draw(results, findings))
    return (
        f'<section id="{name}"><h2>{name}</h2>\n<p>{html.escape(experiment.claim)}</p>\n<ul>{checks}</ul>\n'
        f'<img alt="Figure of {name}" src="data:image/png;base64,{figure}">\n{as_table(findings.table)}\n'
        f"<details><summary>Settings, seeds, versions and timings</summary>{_record(record)}</details></section>"
    )


def _check(check: Check) -> str:
    kind, word = ("holds", "holds") if check.holds else ("fails", "does not hold")
    text = f"{check.claim}: measured {check.measured} against {check.promised} promised"
    return f'<li><span class="{kind}">{word}</span>: {html.escape(text)}</li>'


def _record(record: Mapping[str, Any]) -> str:
    """The content of `run.json`, one line an entry; nested entries are named by both."""
    rows = "".join(f"<tr><td>{html.escape(name)}</td><td>{html.escape(text)}</td></tr>" for name, text in _flat(record))
    return f'<table class="record"><tbody>{rows}</tbody></table>'


def _flat(record: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    for name, value in record.items():
        label = f"{prefix}{name}".replace("_", " ")
        if isinstance(value, Mapping):
            yield from _flat(value, f"{label}: ")
        elif isinstance(value, list) and value and isinstance(value[0], Mapping):
            for entry in value:
                yield from _flat(entry, f"{label}: ")
        elif isinstance(value, list):
            yield label, ", ".join(map(str, value))
        else:
            yield label, str(value)


def as_table(table: pl.DataFrame) -> str:
    """A data frame as an HTML table, numbers to four digits."""
    head = "".join(f"<th>{html.escape(name)}</th>" for name in table.columns)
    rows = "\n".join(
        "<tr>" + "".join(f"<td>{_cell(value)}</td>" for value in row) + "</tr>" for row in table.iter_rows()
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.4g}" if isinstance(value, float) else html.escape(str(value))
