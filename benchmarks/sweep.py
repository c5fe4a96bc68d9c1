"""How much faster two processes are than one on a sweep of eight runs: `python -m benchmarks.sweep`.

Eight standard runs that differ in their seed only, so that the work is alike. Both sweeps run their cases on one
thread each; starting the processes and loading the library in them is outside the measurement unless --cold is given.
The two are measured in turn, and the best of each counts: whatever else the machine does can only slow them down.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

from evenhand.lab.runs import standard_run
from evenhand.lab.store import Case, Store, grid
from evenhand.lab.sweep import default_jobs, sweep

RUNS = 8


def eight_runs(rounds: int) -> list[Case]:
    """Runs of equal length, one for each of eight seeds."""
    return grid("speed", policy=["evenhand"], d=[5], k=[5], epsilon=[0.01], rounds=[rounds], seed=range(RUNS))


def seconds(cases: list[Case], jobs: int) -> float:
    """How long a sweep of these cases takes, into an empty folder."""
    with tempfile.TemporaryDirectory() as folder:
        started = time.perf_counter()
        sweep(standard_run, cases, Store(Path(folder)), jobs=jobs)
        return time.perf_counter() - started


def main() -> None:
    """Print the two times and their ratio."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=1000, help="of each run (%(default)s)")
    parser.add_argument("--repeat", type=int, default=3, help="take the best of so many (%(default)s)")
    parser.add_argument("--cold", action="store_true", help="count the start of the processes too")
    options = parser.parse_args()
    seconds(eight_runs(5), jobs=1)  # compiled code is loaded once, before the clock starts
    if not options.cold:
        seconds(eight_runs(5), jobs=2)
    cases = eight_runs(options.rounds)
    times = [(seconds(cases, jobs=1), seconds(cases, jobs=2)) for _ in range(options.repeat)]
    one, two = (min(column) for column in zip(*times, strict=True))
    print(f"{RUNS} runs of {options.rounds} rounds on a machine with {default_jobs()} cores")
    print(f"one process {one:.2f} s, two processes {two:.2f} s: {one / two:.2f} times as fast")


if __name__ == "__main__":
    main()
