"""Products of the small tables that a cloud of points needs, in one thread.

For tables of a few hundred rows a threaded library spends as much on waking and spinning its threads as on the work:
a round cost twice the processor time, and as much of the clock. Sums are in one order, on every processor.
"""

from __future__ import annotations

import numpy as np

from evenhand._internal.arrays import Floats, Mask
from evenhand._internal.jit import jit


@jit
def fill_products(rows: Floats, columns: Floats, table: Floats) -> None:
    """Fill `table` (N, n) with rows (N, m) times columns (m, n)."""
    for s in range(len(rows)):
        for f in range(table.shape[1]):
            table[s, f] = 0.0
        for i in range(len(columns)):
            for f in range(table.shape[1]):
                table[s, f] += rows[s, i] * columns[i, f]


def values_at(points: Floats, normals: Floats) -> Floats:
    """<alpha, u> for each point and each of `normals`: (N, m), (n, m) -> (N, n)."""
    table = np.empty((len(points), len(normals)))
    fill_products(points, np.ascontiguousarray(normals.T), table)
    return table


def weighted_sums(weights: Floats, table: Floats | Mask) -> Floats:
    """The weighted sum of each column: (N,), (N, n) -> (n,)."""
    sums: Floats = np.empty(table.shape[1])
    fill_products(weights[None, :], np.ascontiguousarray(table, dtype=np.float64), sums[None, :])
    return sums
