"""Run experiments by name: sweep, gather, analyse, draw, and print where the results are."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from evenhand.errors import InvalidInput
from evenhand.lab.experiment import Data, Experiment, Findings
from evenhand.lab.experiments import EXPERIMENTS
from evenhand.lab.report import section, write_report
from evenhand.lab.store import Store, run_record
from evenhand.lab.sweep import sweep

ALL = "all"


def named(names: Sequence[str], *, data: bool = False) -> list[Experiment]:
    """The experiments of these names, each once; "all" is every one whose data and packages are there."""
    for name in names:
        if name != ALL and name not in EXPERIMENTS:
            raise InvalidInput(f"unknown experiment {name!r}; there are {', '.join([*EXPERIMENTS, ALL])}")
    every = [name for name, one in EXPERIMENTS.items() if (data or one.on is None) and one.is_installed]
    wanted = list(dict.fromkeys([*every, *names] if ALL in names else names))
    return [EXPERIMENTS[name] for name in wanted if name != ALL]


def run_experiments(
    names: Sequence[str], results: Path, *, data: Data | None = None, **options: Any
) -> dict[str, Findings]:
    """Run the experiments of these names, one after the other; options: those of `run_experiment`."""
    wanted = named(names, data=data is not None)
    return {one.name: run_experiment(one, results, data=data, **options) for one in wanted}


def run_experiment(
    experiment: Experiment,
    results: Path,
    *,
    quick: bool,
    jobs: int = 1,
    cluster: str | None = None,
    console: Console | None = None,
    data: Data | None = None,
) -> Findings:
    """Run one experiment into `results/NAME`, with a progress bar; finished cases are not run again.

    data: for experiments that need some; others do not read it.
    """
    console = console or Console()
    if experiment.on is not None and data is not None:
        experiment = experiment.on(data)
    started = time.perf_counter()
    store = Store(results / experiment.name)
    cases = experiment.sweep(quick)
    with _progress(console) as progress:
        advance = partial(progress.advance, progress.add_task(experiment.name, total=len(cases)))
        sweep(experiment.run, cases, store, jobs=jobs, cluster=cluster, done=advance)
    table = store.gather(cases)
    findings = experiment.findings(table)
    experiment.draw(table, findings).savefig(store.folder / "figure.png", dpi=130)
    record = run_record(store, cases, {"quick": quick, "jobs": jobs, "cluster": cluster})
    spent = {"seconds": round(time.perf_counter() - started, 3), "finished": f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC"}
    store.note("run", {"experiment": experiment.name, "claim": experiment.claim} | record | spent)
    _print_checks(console, experiment, findings, store.folder)
    return findings


def report(folders: Sequence[Path], output: Path, *, experiments: Mapping[str, Experiment] = EXPERIMENTS) -> None:
    """Write one page of the results in these folders (each of one experiment, or of several).

    Experiments appear in the order in which they are registered.
    """
    found = []
    for folder in sorted({run.parent for root in folders for run in root.rglob("run.json")}):
        record = json.loads((folder / "run.json").read_text())
        if record["experiment"] not in experiments:
            raise InvalidInput(f"{folder} has results of an unknown experiment, {record['experiment']!r}")
        found.append((folder, record))
    order = list(experiments)
    sections = []
    for folder, record in sorted(found, key=lambda each: order.index(each[1]["experiment"])):
        experiment = experiments[record["experiment"]]
        table = pl.read_parquet(folder / "results.parquet")
        sections.append(section(experiment, table, experiment.findings(table), record))
    if not sections:
        raise InvalidInput(f"no results in {', '.join(map(str, folders))}; run `evenhand lab run NAME` first")
    write_report(output, sections)


def list_experiments() -> None:
    """Print every experiment's name and claim."""
    table = Table(show_header=False, box=None)
    for name, experiment in EXPERIMENTS.items():
        table.add_row(Text(name, "bold"), Text(experiment.claim))
    Console().print(table)


def _progress(console: Console) -> Progress:
    counts = (TextColumn("{task.description:34}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    return Progress(*counts, TextColumn("left"), TimeRemainingColumn(), console=console)


def _print_checks(console: Console, experiment: Experiment, findings: Findings, folder: Path) -> None:
    """Print the checks. Claims are plain text: "[0, 1]" in one is an interval, not rich's markup."""
    table = Table(title=Text(experiment.claim, "bold"), title_justify="left")
    for heading in ("claim", "measured", "promised", ""):
        table.add_column(heading)
    for check in findings.checks:
        mark = Text("holds", "green") if check.holds else Text("does not hold", "red")
        table.add_row(Text(check.claim), Text(check.measured), Text(check.promised), mark)
    console.print(table, Text(f"{folder}/figure.png, results.parquet, run.json\n", "dim"))
