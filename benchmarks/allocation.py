"""The fair allocation against the same programme in HiGHS and in SciPy, every row in the model.

Prints a Markdown table: median milliseconds and how many times slower the peers are. All three solve the same
instances in the same run, one after the other, and must agree on the value.
"""

from __future__ import annotations

import argparse
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

PATIENCE = 1.0
"""Seconds after which a measurement is not repeated."""


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
    """HiGHS through highspy, built with arrays, as its documentation advises."""
    k = len(a)
    i, j = np.triu_indices(k, 1)
    n = len(i)
    new_solver: Any = highspy.Highs  # which has no types
    model = new_solver()
    model.silent()
    model.addVars(k, np.zeros(k), np.ones(k))
    model.changeColsCost(k, np.arange(k, dtype=np.int32), -a)
    columns = np.stack([i, j], axis=1).ravel().astype(np.int32)
    starts = np.arange(0, 2 * n, 2, dtype=np.int32)
    model.addRows(n, -c[i, j], c[i, j], 2 * n, starts, columns, np.tile([1.0, -1.0], n))
    if capacity is not None:
        model.addRow(-np.inf, capacity, k, np.arange(k, dtype=np.int32), np.ones(k))
    model.run()
    return -float(model.getInfo().objective_function_value)


def by_scipy(a: Floats, c: Floats, capacity: float | None) -> float:
    """SciPy's linprog with a sparse matrix of all rows."""
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
    answer = solve(-a, A_ub=vstack(blocks), b_ub=np.concatenate(limits), bounds=(0, 1), method="highs")
    return -float(answer.fun)


PEERS: dict[str, Solver] = {"HiGHS": by_highs, "SciPy": by_scipy}


def milliseconds(solve: Solver, case: tuple[Floats, Floats], capacity: float | None, most: int) -> float:
    """The median time of up to `most` calls, fewer when they are slow."""
    times: list[float] = []
    while len(times) < most and sum(times) < PATIENCE:
        start = time.perf_counter()
        solve(*case, capacity)
        times.append(time.perf_counter() - start)
    return 1000.0 * float(np.median(times))


def row(k: int, capacity: float | None, name: str, repeats: int) -> str:
    """One line of the table: the median over a few instances."""
    cases = [instance(k, SIZES[name], seed) for seed in range(5 if k < 300 else 1)]
    values = [by_evenhand(a, c, capacity) for a, c in cases]  # also compiles before anything is timed
    ours = float(np.median([milliseconds(by_evenhand, case, capacity, repeats) for case in cases]))
    cells = [f"{k}", "none" if capacity is None else f"{capacity}", name, f"{ours:.3g} ms"]
    for peer, solve in PEERS.items():
        for (a, c), value in zip(cases, values, strict=True):
            if k < 300:  # a peer takes half a minute for the largest
                assert abs(solve(a, c, capacity) - value) <= 1e-6 * max(1.0, abs(value)), f"{peer} disagrees"
        theirs = float(np.median([milliseconds(solve, case, capacity, max(1, repeats // 10)) for case in cases]))
        cells.append(f"{theirs:.3g} ms ({theirs / ours:.0f}x)")
    return "| " + " | ".join(cells) + " |"


def main(arguments: list[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="The fair allocation against full models in HiGHS and SciPy.")
    parser.add_argument("--quick", action="store_true", help="small sizes and few repeats: seconds, not minutes")
    quick = parser.parse_args(arguments).quick
    print("| candidates | capacity | metric | evenhand | HiGHS, every row | SciPy linprog |")
    print("|---|---|---|---|---|---|")
    for capacity in (1, None):
        for k in (5, 10, 30, 100) if quick else (5, 10, 30, 100, 300, 1000):
            for name in SIZES:
                print(row(k, capacity, name, repeats=10 if quick else 50), flush=True)


if __name__ == "__main__":
    main()
