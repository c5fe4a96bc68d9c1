"""The command: `python -m benchmarks [--quick] [--only NAME ...] [--output FOLDER]`."""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType

from threadpoolctl import threadpool_limits

from benchmarks.measurement import Case, Size
from benchmarks.report import Report
from benchmarks.run import run

PARTS = {
    "allocation": ("benchmarks.allocation", "cases"),
    "allocation-sweep": ("benchmarks.allocation", "sweep_cases"),
    "rounds": ("benchmarks.rounds", "cases"),
    "long-run": ("benchmarks.long_run", "cases"),
    "metrics": ("benchmarks.metrics", "cases"),
    "start": ("benchmarks.start", "cases"),
}
"""What is measured against peers, in this order: the module and its function that lists the cases."""

PROGRAMS = {"learners": "benchmarks.learners", "sweep": "benchmarks.sweep", "service": "benchmarks.service"}
"""Programs of their own, which print a table and write nothing; run by name, and in a full run:"""

LAST = ("service",)
"""These, after everything else."""

FOLDER = Path("build/benchmarks")


def main(arguments: list[str] | None = None) -> int:
    """Measure, and write table, JSON and figure; 0 if all went through, 130 if it was interrupted."""
    options = _parse(arguments)
    size = Size(options.size)
    chosen = options.only or [*PARTS, *(LAST if size is Size.FULL else ())]
    programs = [name for name in chosen if name in PROGRAMS]
    parts = [name for name in PARTS if name in chosen]
    if parts and not _measured(parts, size, options.output):
        return 130
    for name in programs:
        _run_program(PROGRAMS[name])
    return 0


def _measured(parts: list[str], size: Size, output: Path) -> bool:
    """Measure parts against peers, print and write what came of it; False if that was interrupted."""
    report = Report.begun(output, size)
    cases = [case for name in parts for case in _cases(name, size)]
    before = signal.signal(signal.SIGTERM, _as_interrupt)
    try:
        with threadpool_limits(limits=1):
            finished = run(cases, report)
    finally:
        signal.signal(signal.SIGTERM, before)
    print(report.markdown())
    print(f"written to {output}: {', '.join(report.write())}")
    return finished


def _parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Ratios against peers, in one run.")
    parser.add_argument(
        "--quick",
        dest="size",
        action="store_const",
        const="quick",
        default="full",
        help="few sizes and repetitions: minutes",
    )
    parser.add_argument(
        "--size", choices=[size.value for size in Size], default="full", help="tiny only shows that everything runs"
    )
    parser.add_argument(
        "--only", nargs="+", metavar="NAME", choices=[*PARTS, *_programs()], help=", ".join([*PARTS, *_programs()])
    )
    parser.add_argument("--output", type=Path, default=FOLDER, metavar="FOLDER", help="(%(default)s)")
    return parser.parse_args(arguments)


def _programs() -> list[str]:
    """The programs that are there."""
    return [name for name, module in PROGRAMS.items() if importlib.util.find_spec(module)]


def _cases(name: str, size: Size) -> list[Case]:
    module, function = PARTS[name]
    list_cases: Callable[[Size], list[Case]] = getattr(importlib.import_module(module), function)
    return list_cases(size)


def _run_program(module: str) -> None:
    """Its main(), which reads the command line itself: an empty one."""
    arguments, sys.argv = sys.argv, [module]
    try:
        importlib.import_module(module).main()
    finally:
        sys.argv = arguments


def _as_interrupt(number: int, frame: FrameType | None) -> None:
    """A request to end is an interrupt too: what was measured gets written."""
    raise KeyboardInterrupt


if __name__ == "__main__":
    sys.exit(main())
