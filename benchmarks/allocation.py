"""The fair allocation against the same programme in HiGHS and in SciPy, every row in the model.

Prints a Markdown table: the median time of a call, and the median of how many times as long the peers take. All solve
the same instances in the same process, in turn, a few calls of one and then a few calls of the next, so that each finds
its own code in the caches. The time is that of the processor, which all of them use one core of: on a busy machine the
clock on the wall is much kinder to a call that is over before anybody else gets the core. All must agree on the value.
"""

from __future__ import annotations

import argparse
import math
import time
from typing import TYPE_CHECKING, Any

import highspy
import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_array, vstack

from evenhand.allocation import fair_distribution

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Solver = Callable[[Floats, Floats, float | None], float]

SIZES = {"tight": 0.05, "loose": 0.5}
"""The size of the Mahalanobis matrix: how long the ropes are."""

CAPACITIES = ("1", "k/4", "none")

TURN = 9
"""Calls in a row, of which the median counts; a peer that is slow has one."""

SLOW = 0.1
"""Seconds."""

PATIENCE = 120.0
"""Seconds after which a peer is stopped; the table then says what it takes at least."""

MOST_FOR_SCIPY = 300
"""SciPy asks the same HiGHS through a slower door: with more candidates it says nothing new."""


def instance(k: int, size: float, seed: int) -> tuple[Floats, Floats]:
    """Contexts in the unit ball of R^5, linear rewards (k,), Mahalanobis distances (k, k)."""
    rng = np.random.default_rng(seed)
    contexts = rng.normal(size=(k, 5))
    contexts /= np.maximum(1.0, np.linalg.norm(contexts, axis=1, keepdims=True))
    seen = contexts @ (rng.normal(size=(5, 5)) * size)
    return contexts @ rng.normal(size=5) / np.sqrt(5), np.linalg.norm(seen[:, None] - seen[None], axis=2)


def by_evenhand(a: Floats, c: Floats, capacity: float | None) -> float:
    """Ours, checks and verification included."""
    return fair_distribution(a, c, capacity).value


def by_highs(a: Floats, c: Floats, capacity: float | None) -> float:
    """HiGHS through highspy, built with arrays, as its documentation advises; nan when it was stopped."""
    k = len(a)
    i, j = np.triu_indices(k, 1)
    n = len(i)
    new_solver: Any = highspy.Highs  # which has no types
    model = new_solver()
    model.silent()
    model.setOptionValue("time_limit", PATIENCE)
    model.setOptionValue("threads", 1)
    model.addVars(k, np.zeros(k), np.ones(k))
    model.changeColsCost(k, np.arange(k, dtype=np.int32), -a)
    columns = np.stack([i, j], axis=1).ravel().astype(np.int32)
    starts = np.arange(0, 2 * n, 2, dtype=np.int32)
    model.addRows(n, -c[i, j], c[i, j], 2 * n, starts, columns, np.tile([1.0, -1.0], n))
    if capacity is not None:
        model.addRow(-np.inf, capacity, k, np.arange(k, dtype=np.int32), np.ones(k))
    model.run()
    if model.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        return math.nan
    return -float(model.getInfo().objective_function_value)


def by_scipy(a: Floats, c: Floats, capacity: float | None) -> float:
    """SciPy's linprog with a sparse matrix of all rows; nan when it was stopped."""
    k = len(a)
    i, j = np.triu_indices(k, 1)
    n = len(i)
    columns = np.stack([i, j], axis=1).ravel()
    gaps = csr_array((np.tile([1.0, -1.0], n), columns, np.arange(0, 2 * n + 1, 2)), shape=(n, k))
    blocks, limits = [gaps, -gaps], [c[i, j], c[i, j]]
    if capacity is not None:
        blocks.append(csr_array(np.ones((1, k))))
        limits.append(np.array([capacity]))
    solve: Any = linprog  # whose types do not know that it takes sparse matrices
    answer = solve(
        -a,
        A_ub=vstack(blocks),
        b_ub=np.concatenate(limits),
        bounds=(0, 1),
        method="highs",
        options={"time_limit": PATIENCE},
    )
    return -float(answer.fun) if answer.status == 0 else math.nan


PEERS: dict[str, Solver] = {"HiGHS": by_highs, "SciPy": by_scipy}


def turn(solve: Solver, case: tuple[Floats, Floats], capacity: float | None) -> tuple[float, float]:
    """The median seconds of a few calls in a row, and the value found."""
    times: list[float] = []
    while len(times) < TURN and (not times or times[-1] < SLOW):
        start = time.process_time()
        value = solve(*case, capacity)
        times.append(time.process_time() - start)
    return float(np.median(times)), value


def against(peer: str, cases: list[tuple[Floats, Floats]], capacity: float | None, rounds: int) -> tuple[Floats, bool]:
    """Seconds of ours and of the peer's, (n, 2), each row one round of turns, and whether the peer was ever stopped."""
    seconds, stopped = [], False
    for case in cases:
        for _ in range(rounds):
            theirs, expected = turn(PEERS[peer], case, capacity)
            ours, value = turn(by_evenhand, case, capacity)
            seconds.append((ours, theirs))
            stopped |= math.isnan(expected)
            assert not abs(expected - value) > 1e-6 * max(1.0, abs(value)), f"{peer} disagrees"
            if theirs > SLOW:
                break
    return np.array(seconds), stopped


def row(k: int, capacity: str, metric: str, rounds: int) -> str:
    """One line of the table: medians over a few instances."""
    limit = {"1": 1, "k/4": k / 4, "none": None}[capacity]
    cases = [instance(k, SIZES[metric], seed) for seed in range(5 if k < 300 else 1)]
    by_evenhand(*cases[0], limit)  # compiles before anything is timed
    cells = [f"{k}", capacity, metric]
    for peer in PEERS:
        if peer == "SciPy" and k > MOST_FOR_SCIPY:
            cells.append("-")
            continue
        seconds, stopped = against(peer, cases, limit, rounds)
        ours, theirs = 1000.0 * np.median(seconds, axis=0)
        ratio = np.median(seconds[:, 1] / seconds[:, 0])
        if len(cells) == 3:
            cells.append(f"{ours:.3g} ms")
        cells.append(f"{'> ' if stopped else ''}{theirs:.3g} ms ({ratio:.0f}x)")
    return "| " + " | ".join(cells) + " |"


def main(arguments: list[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="The fair allocation against full models in HiGHS and SciPy.")
    parser.add_argument("--quick", action="store_true", help="small sizes and few rounds: seconds, not an hour")
    quick = parser.parse_args(arguments).quick
    print("| candidates | capacity | metric | evenhand | HiGHS, every row | SciPy linprog |")
    print("|---|---|---|---|---|---|")
    for capacity in CAPACITIES:
        for k in (2, 5, 10, 30, 100) if quick else (2, 5, 10, 30, 100, 300, 1000, 2000):
            for metric in SIZES:
                print(row(k, capacity, metric, rounds=2 if quick else 10), flush=True)


if __name__ == "__main__":
    main()
