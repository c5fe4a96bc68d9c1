"""Run the cases one after the other, with a progress bar; an interrupt ends it, and what was measured is kept."""

from __future__ import annotations

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from benchmarks.measurement import Case
from benchmarks.report import Report


def run(cases: list[Case], report: Report) -> bool:
    """Measure each case into the report, which is written after each; False if it was interrupted."""
    console = Console(stderr=True)
    columns = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=console) as progress:
        task = progress.add_task("", total=len(cases))
        try:
            for case in cases:
                progress.update(task, description=f"{case.part}: {case.title}")
                report.add(case.measure())
                progress.advance(task)
        except KeyboardInterrupt:
            console.print("interrupted: what was measured so far is kept")
            report.interrupted = True
            return False
    return True
