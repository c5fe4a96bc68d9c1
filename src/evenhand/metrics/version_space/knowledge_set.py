"""What is known of alpha: the set K of all metrics that fit the verdicts, and which of its faces still matter."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evenhand.metrics.features import MetricSpace
from evenhand.metrics.half_spaces import HalfSpaces
from evenhand.metrics.version_space.hit_and_run import Cloud

Floats = NDArray[np.float64]

NEGATIVE = 1e-9
"""An eigenvalue counts as negative below minus this, relative to the bound."""

FAR = 1.5
"""K is taken to lie within this times sqrt(m(m+2)) standard deviations of its centroid: a convex body of unit
covariance lies within sqrt(m(m+2)). The factor allows for a sampled covariance, not for its very worst direction, which
with 3 m points may be a quarter of the true one; but only the tip of a cone reaches as far as sqrt(m(m+2))."""

FEWEST_FACES = 150
FACES_PER_UNKNOWN = 4
"""The most faces kept: the larger of the first and the second times m. The farthest go first."""


@dataclass(frozen=True, eq=False)
class KnowledgeSet:
    """K = {alpha : ||alpha|| <= bound, all faces hold}, inside which the positive semidefinite cone is cut lazily."""

    space: MetricSpace
    faces: HalfSpaces
    bound: float

    @classmethod
    def initial(cls, space: MetricSpace, bound: float) -> KnowledgeSet:
        """The metrics of norm <= bound, as far as z'Gz >= 0 for the unit vectors and their pairwise sums says it."""
        units = np.eye(space.n_features)
        directions = [units]
        if space.structure == "full":
            first, second = np.triu_indices(space.n_features, 1)
            directions += [(units[first] + units[second]) / math.sqrt(2), (units[first] - units[second]) / math.sqrt(2)]
        normals = space.features(np.concatenate(directions))
        return cls(space, at_least_zero(normals), bound)

    @property
    def n_unknowns(self) -> int:
        """The dimension m."""
        return self.space.n_unknowns

    @property
    def reach(self) -> float:
        """How many standard deviations K reaches at most from its centroid."""
        return FAR * math.sqrt(self.n_unknowns * (self.n_unknowns + 2))

    @property
    def most_faces(self) -> int:
        """How many faces are kept."""
        return max(FEWEST_FACES, FACES_PER_UNKNOWN * self.n_unknowns)

    def signed(self) -> tuple[Floats, Floats]:
        """The faces as A alpha >= b: (n, m) and (n,)."""
        return self.faces.sides[:, None] * self.faces.normals, self.faces.sides * self.faces.thresholds

    def joined(self, faces: HalfSpaces) -> KnowledgeSet:
        """K cut by more half-spaces."""
        return KnowledgeSet(self.space, self.faces.joined(faces), self.bound)

    def bounded_by(self, bound: float) -> KnowledgeSet:
        """The same faces in another ball."""
        return KnowledgeSet(self.space, self.faces, bound)

    def holds(self, cloud: Cloud) -> NDArray[np.bool_]:
        """Which points of the cloud lie in all faces, (N,)."""
        return holding(self.faces, cloud)

    def pruned(self, cloud: Cloud) -> KnowledgeSet:
        """Without the faces too far from the cloud to touch K, and without the farthest beyond the most kept.

        Leaving a face out only enlarges K, so the truth stays inside.
        """
        distances = face_distances(self.faces, cloud)
        near = np.flatnonzero(distances <= self.reach)
        if len(near) > self.most_faces:
            near = np.sort(near[np.argsort(distances[near], kind="stable")[: self.most_faces]])
        return KnowledgeSet(self.space, self.faces.take(near), self.bound)

    @property
    def is_crowded(self) -> bool:
        """Whether there are a quarter more faces than are kept: time to prune."""
        return len(self.faces) > 1.25 * self.most_faces

    def negative_faces(self, alpha: Floats) -> HalfSpaces:
        """Half-spaces that hold every metric and cut alpha off: one for each negative eigenvalue of its matrix."""
        return negative_faces(self.space, alpha, NEGATIVE * self.bound)


def at_least_zero(normals: Floats) -> HalfSpaces:
    """The half-spaces <alpha, u> >= 0 of the normals u (n, m)."""
    return HalfSpaces(normals, np.zeros(len(normals)), np.ones(len(normals)))


def negative_faces(space: MetricSpace, alpha: Floats, tolerance: float) -> HalfSpaces:
    """One half-space for each eigenvalue of alpha's matrix below minus the tolerance."""
    if space.structure == "diagonal":
        return at_least_zero(np.eye(space.n_features)[alpha < -tolerance])
    values, vectors = np.linalg.eigh(space.unflatten(alpha))
    return at_least_zero(space.features(vectors[:, values < -tolerance].T))


def holding(faces: HalfSpaces, cloud: Cloud) -> NDArray[np.bool_]:
    """Which points of the cloud lie in all of these faces, (N,)."""
    return np.asarray(np.all(faces.sides * (cloud.values(faces.normals) - faces.thresholds) >= 0.0, axis=1))


def face_distances(faces: HalfSpaces, cloud: Cloud) -> Floats:
    """How many standard deviations the centroid lies inside each face, (n,)."""
    lengths = np.linalg.norm(faces.normals @ cloud.shape, axis=1)
    return np.asarray(faces.slacks(cloud.centroid) / np.maximum(lengths, np.finfo(np.float64).tiny))
