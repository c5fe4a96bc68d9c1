"""Ellipsoid: the smallest ellipsoid around all metrics that fit; cheap, certain, and slow to learn."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from evenhand._internal.arrays import Floats
from evenhand._internal.linear_program import LinearProgram
from evenhand.errors import SolverFailed
from evenhand.metrics.features import MetricSpace, Structure
from evenhand.metrics.learner import Learned, MetricLearner
from evenhand.metrics.learner_settings import accuracy, check_epsilon, first_bound
from evenhand.metrics.verdicts import HalfSpaces, MemoryTuning, Pairs, Verdicts
from evenhand.records.decision import Pair


@dataclass(frozen=True)
class EllipsoidTuning(MemoryTuning):
    """The tuning constants of Ellipsoid. A subclass may set another record as its `tuning`."""

    rounding: float = 1e-10
    """Each cut leaves the axes longer by this share, so that rounding never pushes the truth out."""
    empty_depth: float = 1.0 + 1e-9
    """A cut this many half-widths deep leaves nothing."""
    near_bound: float = 0.85
    """With a centre beyond this share of the bound the truth may lie outside, and the bound is doubled."""
    psd_tolerance: float = 1e-9
    """An eigenvalue of the centre counts as negative below minus this times the bound."""
    recycled_per_unknown: int = 4
    """Maximum free cuts after a review, per unknown."""


@dataclass(frozen=True, eq=False)
class Shape:
    """{centre + root v : ||v|| <= 1}, by the root and not its square, which would round thin axes to zero."""

    centre: Floats
    root: Floats
    rounding: float = EllipsoidTuning.rounding

    def half_widths(self, normals: Floats) -> Floats:
        """How far the shape reaches from its centre along each row of `normals` (n, m), (n,)."""
        return np.asarray(np.linalg.norm(normals @ self.root, axis=1))

    def depth(self, u: Floats, threshold: float, side: float) -> float:
        """How deep side * (<alpha, u> - threshold) >= 0 cuts, in half-widths: 0 is the centre, 1 leaves nothing."""
        width = float(np.linalg.norm(u @ self.root))
        outside = side * (threshold - float(u @ self.centre))
        if width > 0:
            return outside / width
        return math.copysign(math.inf, outside) if outside else 0.0

    def cut(self, u: Floats, side: float, depth: float) -> Shape:
        """The smallest ellipsoid around the part of this one that the cut leaves; -1/m < depth < 1. O(m^2)."""
        m = len(self.centre)
        reach = (self.root.T @ u) * side
        reach = reach / np.linalg.norm(reach)
        if m == 1:  # an interval: the general formula divides by m - 1
            centre = self.centre + self.root @ reach * ((1.0 + depth) / 2.0)
            return replace(self, centre=centre, root=self.root * ((1.0 - depth) / 2.0 * (1.0 + self.rounding)))
        centre = self.centre + self.root @ reach * ((1.0 + m * depth) / (m + 1.0))
        along = math.sqrt((m - 1.0) * (1.0 - depth) / ((m + 1.0) * (1.0 + depth)))
        scale = m / math.sqrt(m * m - 1.0) * math.sqrt(1.0 - depth * depth) * (1.0 + self.rounding)
        root = (self.root - np.outer(self.root @ reach, reach) * (1.0 - along)) * scale
        return replace(self, centre=centre, root=root)


class Ellipsoid(MetricLearner):
    """Deep and central cuts of an ellipsoid that holds every metric with ||G||_F <= bound fitting the verdicts.

    Cohen, Lobel, Paes Leme: a pair whose half-width is at most epsilon^2 is known and cuts nothing more. Ours beyond
    that: cuts are as deep as the verdict allows, and after a review the centre is cut, for free, by every remembered
    verdict and every direction of negative length that it violates (recycling).

    Guarantee: with a consistent reviewer and ||G||_F <= bound the ends hold the truth, always. The bound on mistakes,
    O(m^2 log(m B / epsilon)), is proved for central cuts alone; with the deeper ones we measure about a seventh of
    the mistakes, without a proof. A pair known to within epsilon is played at its lower end, unless `play_known_low`
    is False: it cannot be flagged again. If the centre comes near the bound, or a verdict leaves nothing that a larger
    bound would not, the bound is doubled and the remembered verdicts cut again. Cost: O(m^2) a verdict, O(m^3) a
    recycled cut, flat in the number of rounds.

    >>> learner = Ellipsoid(2, epsilon=0.1)
    >>> x, y = [1.0, 0.0], [0.0, 0.0]
    >>> learned = learner.learn_pair(x, y, gap=0.5, unfair=True)
    >>> learned = learner.learn_pair(x, y, gap=0.3, unfair=False)
    >>> ends = learner.distances([x, y])
    >>> bool(ends.lower[0, 1] <= 0.4 <= ends.upper[0, 1])
    True
    """

    tuning: ClassVar[EllipsoidTuning] = EllipsoidTuning()
    _settings = ("n_features", "structure", "bound", "epsilon", "play_known_low")

    def __init__(
        self,
        n_features: int,
        *,
        structure: Structure = "full",
        bound: float = 1.0,
        epsilon: float | None = None,
        play_known_low: bool = True,
    ) -> None:
        super().__init__(n_features, structure)
        self.play_known_low = bool(play_known_low)
        self.epsilon = check_epsilon(epsilon)
        self.bound = first_bound(bound, self.epsilon)
        self.rounds = 0
        self._memory = HalfSpaces.none(self.space.n_unknowns)
        self._shape = self._ball(self.bound)

    def _ball(self, bound: float) -> Shape:
        """The half of the ball in which the trace is not negative: around 0 itself every guess would be 0."""
        m = self.space.n_unknowns
        ball = Shape(np.zeros(m), np.eye(m) * bound, self.tuning.rounding)
        return ball.cut(self.space.flatten(np.eye(self.n_features)), 1.0, 0.0)

    # Distances.

    def estimate(self, pairs: Pairs) -> Floats:
        """The squared distance under the centre, (n,); below zero counts as zero."""
        return np.maximum(self.space.features(pairs.differences) @ self._shape.centre, 0.0)

    def ends(self, pairs: Pairs) -> tuple[Floats, Floats]:
        """The extent of the ellipsoid along each pair, within what the bound and positivity allow, each (n,)."""
        normals = self.space.features(pairs.differences)
        middle, width = normals @ self._shape.centre, self._shape.half_widths(normals)
        most = self.bound * np.linalg.norm(normals, axis=1)
        return np.maximum(middle - width, 0.0), np.maximum(np.minimum(middle + width, most), 0.0)

    def guess(self, pairs: Pairs) -> Floats:
        """The squared distance under the centre; for a pair known to within epsilon its lower end, which is fair."""
        if not self.play_known_low:
            return self.estimate(pairs)
        lower, upper = self.ends(pairs)
        known = np.sqrt(upper) - np.sqrt(lower) <= accuracy(self.epsilon, self.rounds)
        return np.where(known, lower, self.estimate(pairs))

    def matrix(self) -> Floats:
        """The centre, (d, d)."""
        return self.space.unflatten(self._shape.centre)

    # Learning.

    def learn(self, verdicts: Verdicts) -> Learned:
        """Cut with each verdict in turn, then recycle; verdicts that leave nothing are reported as conflicts."""
        bound, shape, memory = self.bound, self._shape, self._memory
        conflicts: list[Pair] = []
        half_spaces = HalfSpaces.of(self.space, verdicts)
        for row, name in enumerate(verdicts.pairs.names()):
            verdict = half_spaces.take(slice(row, row + 1))
            depth = shape.depth(verdict.normals[0], float(verdict.thresholds[0]), float(verdict.sides[0]))
            if depth <= -1.0:
                continue  # all of the ellipsoid fits it
            with_it = memory.joined(verdict).take(slice(-self.tuning.max_rows(self.space.n_unknowns), None))
            if depth >= self.tuning.empty_depth:
                if fits(self.space, with_it, bound) or not fits(self.space, with_it, math.inf):
                    conflicts.append(name)
                    continue
                bound, shape = self._grown(bound, with_it)
            else:
                shape = self._cut_all(shape, verdict)
            memory = with_it
        shape = self._recycle(shape, memory, bound)
        if float(np.linalg.norm(shape.centre)) > self.tuning.near_bound * bound:
            bound, shape = self._grown(bound, memory)
        self.bound, self._shape, self._memory = bound, shape, memory
        self.rounds += 1
        return Learned(len(verdicts) - len(conflicts), tuple(conflicts))

    def _least(self) -> float:
        """The half-width at which a pair is known: epsilon squared."""
        return accuracy(self.epsilon, self.rounds) ** 2

    def _cut_all(self, shape: Shape, half_spaces: HalfSpaces) -> Shape:
        """Cut with each half-space that is not yet known and would make the ellipsoid smaller."""
        shallowest = -1.0 / self.space.n_unknowns
        for u, threshold, side in half_spaces:
            depth = shape.depth(u, threshold, side)
            if shallowest < depth < 1.0 and np.linalg.norm(u @ shape.root) > self._least():
                shape = shape.cut(u, side, depth)
        return shape

    def _recycle(self, shape: Shape, memory: HalfSpaces, bound: float) -> Shape:
        """Cut by positivity and by the worst violated of all remembered half-spaces, until the centre fits."""
        for _ in range(self.tuning.recycled_per_unknown * self.space.n_unknowns):
            smaller = self._cut_all(shape, self._negative(shape, bound))
            if smaller is shape:
                smaller = self._cut_all(shape, self._worst(shape, memory))
            if smaller is shape:
                break
            shape = smaller
        return shape

    def _negative(self, shape: Shape, bound: float) -> HalfSpaces:
        """The direction in which the centre's squared length is the most negative, if any is."""
        lowest, u = self.space.most_negative_direction(shape.centre)
        negative = slice(None) if lowest < -self.tuning.psd_tolerance * bound else slice(0)
        return HalfSpaces(u[None, :], np.zeros(1), np.ones(1)).take(negative)

    def _worst(self, shape: Shape, memory: HalfSpaces) -> HalfSpaces:
        """The remembered half-space that cuts deepest, of those not yet known, if any does: at most one."""
        widths = shape.half_widths(memory.normals)
        depths = -memory.slacks(shape.centre) / np.maximum(widths, np.finfo(np.float64).tiny)
        depths[widths <= self._least()] = 0.0
        deepest = np.argsort(depths)[-1:]
        return memory.take(deepest[depths[deepest] > 0])

    def _grown(self, bound: float, memory: HalfSpaces) -> tuple[float, Shape]:
        """Twice the bound, and the ellipsoid that the remembered half-spaces leave of it."""
        bound *= 2.0
        return bound, self._recycle(self._cut_all(self._ball(bound), memory), memory, bound)

    # Saving. The keys of the state are those of version 0.1.

    def state(self) -> dict[str, Any]:
        """Settings, ellipsoid and memory."""
        return {
            **self.settings(),
            "rounds": self.rounds,
            "centre": self._shape.centre,
            "root": self._shape.root,
            "memory": self._memory.state(),
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """The learner with this `state`, to the bit."""
        learner = cls.with_settings(state)
        learner.rounds = int(state["rounds"])
        learner._shape = Shape(state["centre"].copy(), state["root"].copy(), cls.tuning.rounding)
        learner._memory = HalfSpaces(**state["memory"])
        return learner


def fits(space: MetricSpace, half_spaces: HalfSpaces, bound: float) -> bool:
    """Whether some alpha in the box |alpha_i| <= bound, with no negative diagonal, lies in all half-spaces: one LP.

    When nothing is left, this tells a bound that is too small from contradictory verdicts. The bound may be infinite.
    False if the solver cannot decide: the verdict is then skipped and reported, which is always safe.
    """
    box = np.full(space.n_unknowns, bound)
    program = LinearProgram(-box, box)
    diagonal = space.features(np.eye(space.n_features))
    program.add_rows(diagonal, np.zeros(len(diagonal)), np.full(len(diagonal), np.inf))
    above = half_spaces.sides > 0
    program.add_rows(
        half_spaces.normals,
        np.where(above, half_spaces.thresholds, -np.inf),
        np.where(above, np.inf, half_spaces.thresholds),
    )
    try:
        return program.maximise(-space.flatten(np.eye(space.n_features))) is not None
    except SolverFailed:
        return False
