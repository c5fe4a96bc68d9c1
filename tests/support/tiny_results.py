"""Real results of an experiment, small enough for a test, and what every analysis of them must give."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from evenhand.lab.experiment import Experiment
from evenhand.lab.store import Store


def tiny_results(experiment: Experiment, folder: Path, *, rounds: int, **wanted: Any) -> pl.DataFrame:
    """Real results: the quick sweep's cases with these settings, first two seeds, few rounds."""
    store = Store(folder)
    cases = [
        replace(case, settings={**case.settings, "rounds": rounds})
        for case in experiment.sweep(True)
        if case.settings["seed"] < 2 and all(case.settings.get(name) in kept for name, kept in wanted.items())
    ]
    for case in cases:
        store.put(case, experiment.run(**case.settings), 0.0)
    return store.gather(cases)


def check_analysis(experiment: Experiment, table: pl.DataFrame, folder: Path) -> None:
    """Assert that results give checks, a table, and a figure whose panels have titles and an x axis with a name."""
    findings = experiment.analyse(table)
    figure = experiment.draw(table, findings)
    figure.savefig(folder / "figure.png", dpi=40)
    assert findings.checks
    assert len(findings.table) > 0
    assert (folder / "figure.png").stat().st_size > 5_000
    assert all(panel.get_title() for panel in figure.axes)
    assert figure.axes[-1].get_xlabel()
