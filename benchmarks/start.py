"""How long until the first decision: imports and first calls, each in a fresh process, by the clock on the wall.

Compiled code is on disk already, as after the first start of an installation; everybody starts in turn.
"""

from __future__ import annotations

import functools
import json
import subprocess
import sys
from dataclasses import dataclass

import numpy as np

from benchmarks.measurement import Case, Floats, Measurement, Size, compared
from benchmarks.peers import missing

PART = "start"
REPETITIONS = {Size.TINY: 1, Size.QUICK: 5, Size.FULL: 15}

IMPORT_BUDGET = 0.5
"""Seconds for `import evenhand`."""
DECISION_BUDGET = 0.2
"""Seconds for the first decision after that."""
PATIENCE = 120.0

CONTEXTS = "[[0.1 * ((i + j) % 4) for i in range(10)] for j in range(10)]"


@dataclass(frozen=True)
class Program:
    """What a fresh process does: it imports, and then uses what it imported, if `use` says how."""

    name: str
    imports: str
    use: str = ""
    without: str = ""
    """A module that this environment has for a peer's sake alone, and that an installation of this one has not."""

    def source(self) -> str:
        """Times both and prints them; the process ends with 3 if the import fails."""
        return (
            f"import json, sys, time\nif {self.without!r}:\n    sys.modules[{self.without!r}] = None\n"
            "busy, start = time.process_time(), time.perf_counter()\n"
            f"try:\n    import {self.imports}\nexcept ImportError:\n    sys.exit(3)\n"
            f"imported = time.perf_counter()\nmiddle = time.process_time()\n{self.use}\nused = time.perf_counter()\n"
            "print(json.dumps([imported - start, used - imported, middle - busy, time.process_time() - middle]))"
        )


OURS = Program(
    "evenhand",
    "evenhand",
    f"contexts = {CONTEXTS}\nevenhand.FairBandit(10, seed=0).decide(contexts)",
    without="cffi",  # numba takes it in wherever it finds it; cvxpy brings it along
)
VOWPAL = Program(
    "vowpalwabbit",
    "vowpalwabbit",
    f"contexts = {CONTEXTS}\n"
    "workspace = vowpalwabbit.Workspace('--cb_explore_adf --quiet')\n"
    "workspace.predict(['| ' + ' '.join(f'{i}:{x}' for i, x in enumerate(row)) for row in contexts])",
)
PEERS = (
    VOWPAL,
    Program("sklearn", "sklearn"),
    Program("sklearn.linear_model", "sklearn.linear_model"),
    Program("cvxpy", "cvxpy"),
    Program("mabwiser.mab", "mabwiser.mab"),
    Program("river.bandit", "river.bandit"),
)


def cases(size: Size) -> list[Case]:
    """All in one case, since everybody starts in turn."""
    return [Case(PART, "fresh processes", functools.partial(starts, size))]


def starts(size: Size) -> list[Measurement]:
    """Our import and first decision against what they may last, and against the peers' imports."""
    started(OURS)  # which leaves compiled code on disk
    candidates = PEERS[:2] if size is Size.TINY else PEERS
    peers = [peer for peer in candidates if started(peer) is not None]
    seconds = np.array([[started(program) for program in (OURS, *peers)] for _ in range(REPETITIONS[size])])
    ours = seconds[:, 0]
    lines = [
        _within("import", "at most 0.5 s", IMPORT_BUDGET, ours[:, 0], ours[:, 2]),
        _within("first decision", "at most 0.2 s", DECISION_BUDGET, ours[:, 1], ours[:, 3]),
    ]
    for place, peer in enumerate(peers, start=1):
        theirs = seconds[:, place]
        lines.append(_line("import", f"import {peer.name}", ours[:, 0], theirs[:, 0]))
        if peer.use:
            work = "import and first decision"
            lines.append(
                _line(work, f"{peer.name}, and first prediction", ours[:, :2].sum(axis=1), theirs[:, :2].sum(axis=1))
            )
    return lines + [missing(PART, "import", f"import {peer.name}") for peer in candidates if peer not in peers]


def _within(work: str, peer: str, budget: float, wall: Floats, busy: Floats) -> Measurement:
    """Against its limit; the note has the processor time, which other load does not change."""
    seconds = np.stack([wall, np.full(len(wall), budget)], axis=1)
    note = f"{np.median(busy):.2f} s of the processor's time, {wall.min():.2f} s at best"
    return compared(PART, work, peer, seconds, goal=1.0, note=note, details={"processor": float(np.median(busy))})


def _line(work: str, peer: str, ours: Floats, theirs: Floats) -> Measurement:
    return compared(PART, work, peer, np.stack([ours, theirs], axis=1))


def started(program: Program) -> list[float] | None:
    """Seconds of the import and of the use in a fresh process, on the wall and of the processor: four numbers.

    None if there is nothing to import.
    """
    command = [sys.executable, "-W", "ignore", "-c", program.source()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    if done.returncode == 3:
        return None
    done.check_returncode()
    return [float(value) for value in json.loads(done.stdout.splitlines()[-1])]
