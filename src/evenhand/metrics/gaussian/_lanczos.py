"""Directions in which the mean of a kernel belief is negative, without its matrix: a few steps of Lanczos."""

from __future__ import annotations

import numpy as np

from evenhand._internal.arrays import Floats, Indices
from evenhand._internal.factorisations import eigh
from evenhand.metrics.gaussian.kernel_belief import KernelBelief


def lowest_directions(belief: KernelBelief, steps: int, most: int) -> tuple[Floats, Floats]:
    """The lowest z'Gz found in a Krylov space of the mean G, ascending, and the unit vectors z. O(steps n d).

    The space starts from a fixed vector, so that the same belief gives the same direction.
    """
    prior, supports = belief.prior, belief.supports
    shape, Z, a = prior.shape, supports.rows, supports.weights
    same = _Blocks(shape.blocks, Z, a)
    first = prior.first
    own = (prior.centre if first is None else 0.0) + prior.unit * shape.common * float(a @ np.einsum("ij,ij->i", Z, Z))

    def times(x: Floats) -> Floats:
        across = Z.T @ (a * (Z @ x))
        within = same.times(x)
        learned = own * x + prior.unit * (shape.ratio**2 * (across - within) + within)
        return np.asarray(learned if first is None else learned + first.matrix @ x)

    basis = np.zeros((steps, Z.shape[1]))
    images = np.zeros_like(basis)
    x: Floats = np.asarray(np.random.default_rng(0).standard_normal(Z.shape[1]), dtype=np.float64)
    for step in range(steps):
        for _ in range(2):  # twice is enough (Kahan and Parlett)
            x = x - basis[:step].T @ (basis[:step] @ x)
        length = float(np.linalg.norm(x))
        if length < 1e-12:
            basis, images = basis[:step], images[:step]
            break
        basis[step] = x / length
        images[step] = x = times(basis[step])
    values, vectors = eigh(0.5 * (basis @ images.T + images @ basis.T))
    return values[:most], vectors[:, :most].T @ basis


class _Blocks:
    """The part of sum_n a_n z_n z_n' that lies within blocks."""

    def __init__(self, blocks: Indices, Z: Floats, a: Floats) -> None:
        self._diagonal = a @ Z**2
        sizes = np.bincount(blocks)
        self._parts = []
        for block in np.flatnonzero(sizes > 1):
            columns = np.flatnonzero(blocks == block)
            part = Z[:, columns]
            self._parts.append((columns, part.T @ (a[:, None] * part)))

    def times(self, x: Floats) -> Floats:
        product = self._diagonal * x
        for columns, matrix in self._parts:
            product[columns] = matrix @ x[columns]
        return np.asarray(product)
