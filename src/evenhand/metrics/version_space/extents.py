"""How far K reaches in a direction, and a point deep inside it: linear programs over an outer polyhedron of K.

The unknowns are the cloud's coordinates, in which K is round: HiGHS's tolerances are then relative to the size of
K, however small or flat K is. The ball and the positive semidefinite cone are cut lazily, where an optimum violates
them; stopping early leaves a larger set, so every extent is a true outer bound.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from evenhand._internal.arrays import Floats
from evenhand._internal.factorisations import singular_values
from evenhand._internal.linear_program import LinearProgram
from evenhand.errors import SolverFailed
from evenhand.metrics.version_space.hit_and_run import Cloud
from evenhand.metrics.version_space.knowledge_set import KnowledgeSet


@dataclass(frozen=True, eq=False)
class Inside:
    """A ball inside K in the cloud's coordinates; with a negative radius, K misses its centre by that much."""

    centre: Floats
    radius: float


class Outline:
    """An outer polyhedron of K that is refined lazily."""

    def __init__(self, known: KnowledgeSet, cloud: Cloud) -> None:
        self._known = known
        self._cloud = cloud = _frame(known, cloud)
        m = known.n_unknowns
        self._tuning = known.tuning
        self._reach = self._tuning.box * (m + 1)
        self._program = LinearProgram(np.full(m, -self._reach), np.full(m, self._reach))
        self._add(*known.signed())
        sides = np.concatenate([np.eye(m), -np.eye(m)])
        self._add(sides, np.full(2 * m, -known.bound))

    def extent(self, u: Floats) -> tuple[float, float]:
        """Between which ends <alpha, u> lies for alpha in K; never too narrow."""
        middle, reach = float(u @ self._cloud.centre), float(np.linalg.norm(u @ self._cloud.shape))
        limit = self._known.bound * float(np.linalg.norm(u))
        spare = self._tuning.widening * reach + self._tuning.rounding * limit
        direction = u @ self._cloud.shape / max(reach, np.finfo(np.float64).tiny)
        high, low = self._refined_top(direction), self._refined_top(-direction)
        return max(middle - low * reach - spare, -limit), min(middle + high * reach + spare, limit)

    def _refined_top(self, direction: Floats) -> float:
        """The largest value along a unit direction, tightened by cuts as long as they are worth it."""
        values = [math.inf]
        for _ in range(self._tuning.refinements):
            top, where = self._top(direction)
            values.append(min(top, values[-1]))
            # One cut may gain nothing because the optimum was not the only one; two in a row rarely do.
            stuck = len(values) > 3 and values[-3] - values[-1] < self._tuning.worthwhile * abs(values[-1])
            if where is None or stuck or not self._refine(where):
                break
        return values[-1]

    def _top(self, direction: Floats) -> tuple[float, Floats | None]:
        """The largest value along a unit direction of the cloud's coordinates, and where; infinity if not known."""
        try:
            best = self._program.maximise(direction)
        except SolverFailed:
            return math.inf, None
        if best is None or np.max(np.abs(best.x)) >= self._reach * (1 - self._tuning.outside):
            return math.inf, None
        return best.value, best.x

    def _refine(self, y: Floats) -> bool:
        """Cut off y if it lies outside the ball or is no metric; whether it did."""
        alpha, bound = self._cloud.centre + self._cloud.shape @ y, self._known.bound
        norm = float(np.linalg.norm(alpha))
        negative, is_outside = self._known.negative_faces(alpha), norm > bound * (1 + self._tuning.outside)
        if is_outside:
            self._add(-alpha[None, :] / norm, np.array([-bound]))
        if len(negative):
            self._add(negative.normals, negative.thresholds)
        return is_outside or len(negative) > 0

    def _add(self, A: Floats, b: Floats) -> None:
        """Add rows A alpha >= b, scaled to unit length in the cloud's coordinates, those in reach only."""
        rows, offsets = _scaled(A, b, self._cloud)
        near = offsets > -self._reach * math.sqrt(len(self._cloud.centre))
        if near.any():
            self._program.add_rows(rows[near], offsets[near], np.full(int(near.sum()), np.inf))


def _frame(known: KnowledgeSet, cloud: Cloud) -> Cloud:
    """The cloud's coordinates, or alpha's own as long as K is wide enough in all directions for the solver's digits.

    In its own coordinates most faces have few entries, which makes large programs several times as fast.
    """
    deviations = singular_values(cloud.shape)
    if deviations[-1] < known.tuning.wide * known.bound:
        return cloud
    m = known.n_unknowns
    return Cloud(cloud.centre, float(np.median(deviations)) * np.eye(m), np.zeros((0, m)), np.zeros(m))


def widest_inside(known: KnowledgeSet, cloud: Cloud) -> Inside | None:
    """The largest ball inside the faces in the cloud's coordinates whose centre is in the ball ||alpha|| <= bound.

    None if there is no such, or none was found.
    """
    m, tuning = known.n_unknowns, known.tuning
    cuts, limits = np.concatenate([np.eye(m), -np.eye(m)]), np.full(2 * m, -known.bound)
    for _ in range(tuning.max_tangents):
        try:
            inside = deepest_point(known, cloud, tuning.box, cuts, limits)
        except SolverFailed:
            return None
        if inside is None or inside.radius < -tuning.touching:
            return inside
        norm = float(np.linalg.norm(inside.centre))
        if norm <= known.bound:
            return inside
        cuts = np.concatenate([cuts, -inside.centre[None, :] / norm])
        limits = np.append(limits, -known.bound)
    return None


def deepest_point(
    known: KnowledgeSet, cloud: Cloud, reach: float, cuts: Floats | None = None, limits: Floats | None = None
) -> Inside | None:
    """The largest ball inside the faces, and inside cuts @ alpha >= limits, in the cloud's coordinates.

    The ball ||alpha|| <= bound does not count. None if nothing within `reach` standard deviations per dimension is.
    """
    m = known.n_unknowns
    A, b = known.signed()
    if cuts is not None and limits is not None:
        A, b = np.concatenate([A, cuts]), np.concatenate([b, limits])
    rows, offsets = _scaled(A, b, cloud)
    near = offsets > -reach * (m + 1) * math.sqrt(m)
    box = np.append(np.full(m, reach * (m + 1)), known.tuning.deepest)
    program = LinearProgram(-box, box)
    table = np.column_stack([rows[near], -np.ones(int(near.sum()))])
    program.add_rows(table, offsets[near], np.full(len(table), np.inf))
    best = program.maximise(np.append(np.zeros(m), 1.0))
    if best is None:
        return None
    return Inside(cloud.centre + cloud.shape @ best.x[:-1], float(best.x[-1]))


def pruned(known: KnowledgeSet, cloud: Cloud) -> KnowledgeSet:
    """K without faces too far to touch it and, where there are many, without some that the others imply.

    The farthest are tested, by a linear program each. No face goes whose removal would let K grow: at the end of
    precision hundreds of faces lie along one side of K, and the few that hold the other are the farthest.
    """
    known = known.without_far(cloud)
    if not known.is_crowded:
        return known
    rows, offsets = _scaled(*known.signed(), cloud)
    kept, box = np.ones(len(rows), dtype=np.bool_), np.full(known.n_unknowns, known.tuning.box * (known.n_unknowns + 1))
    for face in np.argsort(offsets, kind="stable")[: known.tuning.redundancy_tests]:
        kept[face] = False
        program = LinearProgram(-box, box)
        program.add_rows(rows[kept], offsets[kept], np.full(int(kept.sum()), np.inf))
        try:
            best = program.maximise(-rows[face])
        except SolverFailed:
            best = None
        kept[face] = best is None or -best.value < offsets[face] - known.tuning.touching
    return replace(known, faces=known.faces.take(kept))


def _scaled(A: Floats, b: Floats, cloud: Cloud) -> tuple[Floats, Floats]:
    """A alpha >= b in the cloud's coordinates, rows of length one."""
    rows = A @ cloud.shape
    lengths = np.maximum(np.linalg.norm(rows, axis=1), np.finfo(np.float64).tiny)
    return rows / lengths[:, None], (b - A @ cloud.centre) / lengths
