"""The kernel of a shaped prior: covariances of the squared distances of pairs, without any unknown in sight.

With u = svec(zz') and the prior covariance P of `PriorUnits`, u(z)'P u(w) = ratio^2 ((z.w)^2 - s) + s + common |z|^2
|w|^2, where s adds up the squared inner products within each block of columns; within one column that is z_i^2 w_i^2.
"""

from __future__ import annotations

import numpy as np

from evenhand._internal.arrays import Floats, Indices
from evenhand._internal.jit import jit

CHUNK = 64  # Supports side by side: their columns stay in a near cache while all rows pass by.


@jit
def fill_lanes(supports: Floats, order: Indices, lanes: Floats) -> None:
    """Supports (n, d) side by side, CHUNK at a time, columns in this order, to `lanes` (chunks, d + 1, CHUNK).

    The last row of a chunk has their |w|^2. Zeros fill the last chunk.
    """
    n, d = supports.shape
    for chunk in range(len(lanes)):
        for i in range(d + 1):
            for j in range(CHUNK):
                lanes[chunk, i, j] = 0.0
        for j in range(min(CHUNK, n - chunk * CHUNK)):
            for i in range(d):
                value = supports[chunk * CHUNK + j, order[i]]
                lanes[chunk, i, j] = value
                lanes[chunk, d, j] += value * value


@jit
def fill_products(
    rows: Floats,
    lanes: Floats,
    order: Indices,
    ends: Indices,
    ratio: float,
    common: float,
    unit: float,
    table: Floats,
    across: Floats,
    within: Floats,
) -> None:
    """unit (ratio^2 ((z.w)^2 - s) + s + common |z|^2 |w|^2) of each row z (p, d) and support w, to `table` (p, n).

    Also (z.w)^2 - s and s, to `across` and `within` (p, n), unless these are empty. order: the columns, blocks of one
    column first, then block by block, (d,). ends: where each block ends in it, the first ones, of one column each, as
    one, (b,). O(p n d). Four columns at a time, since each sum is loaded and stored.
    """
    (p, d), n, keeps = rows.shape, table.shape[1], len(across) > 0
    whole, inside, block = np.empty(CHUNK), np.empty(CHUNK), np.empty(CHUNK)
    sorted_rows, own = np.empty((p, d)), np.zeros(p)
    for row in range(p):
        for i in range(d):
            sorted_rows[row, i] = rows[row, order[i]]
            own[row] += rows[row, order[i]] ** 2
    for chunk in range(len(lanes)):
        w, start = lanes[chunk], chunk * CHUNK
        for row in range(p):
            z = sorted_rows[row]
            for j in range(CHUNK):
                whole[j], inside[j] = 0.0, 0.0
            i = 0
            while i + 4 <= ends[0]:
                z0, z1, z2, z3 = z[i], z[i + 1], z[i + 2], z[i + 3]
                for j in range(CHUNK):
                    p0, p1, p2, p3 = z0 * w[i, j], z1 * w[i + 1, j], z2 * w[i + 2, j], z3 * w[i + 3, j]
                    whole[j] += (p0 + p1) + (p2 + p3)
                    inside[j] += (p0 * p0 + p1 * p1) + (p2 * p2 + p3 * p3)
                i += 4
            while i < ends[0]:
                for j in range(CHUNK):
                    product = z[i] * w[i, j]
                    whole[j] += product
                    inside[j] += product * product
                i += 1
            for end in ends[1:]:
                block[:] = 0.0
                while i < end:
                    for j in range(CHUNK):
                        block[j] += z[i] * w[i, j]
                    i += 1
                for j in range(CHUNK):
                    whole[j] += block[j]
                    inside[j] += block[j] * block[j]
            along = common * own[row]
            for j in range(min(CHUNK, n - start)):
                rest = whole[j] * whole[j] - inside[j]
                table[row, start + j] = unit * (ratio * ratio * rest + inside[j] + along * w[d, j])
                if keeps:
                    across[row, start + j], within[row, start + j] = rest, inside[j]


@jit
def fill_own_products(
    rows: Floats, order: Indices, ends: Indices, ratio: float, common: float, unit: float, values: Floats
) -> None:
    """The first of these, of each row with itself, to `values` (p,)."""
    p = len(rows)
    for row in range(p):
        whole, inside = 0.0, 0.0
        for i in range(ends[0]):
            square = rows[row, order[i]] ** 2
            whole += square
            inside += square * square
        for b in range(1, len(ends)):
            block = 0.0
            for i in range(ends[b - 1], ends[b]):
                block += rows[row, order[i]] ** 2
            whole += block
            inside += block * block
        rest = whole * whole - inside
        values[row] = unit * (ratio * ratio * rest + inside + common * whole * whole)
