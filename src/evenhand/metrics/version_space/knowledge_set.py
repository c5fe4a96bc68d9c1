"""KnowledgeSet: the set K of all alpha that fit the verdicts, and which of its faces still matter."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from evenhand import theory
from evenhand._internal.arrays import Floats, Mask
from evenhand._internal.factorisations import eigh
from evenhand.metrics.features import MetricSpace
from evenhand.metrics.verdicts import MAX_SQUARED, HalfSpaces
from evenhand.metrics.version_space.hit_and_run import Cloud
from evenhand.metrics.version_space.tuning import DEFAULT, ProjectedVolumeTuning
from evenhand.records.decision import PROBABILITY_TOLERANCE


@dataclass(frozen=True, eq=False)
class KnowledgeSet:
    """K = {alpha : ||alpha|| <= bound, all faces hold}, inside which the positive semidefinite cone is cut lazily."""

    space: MetricSpace
    faces: HalfSpaces
    bound: float
    tuning: ProjectedVolumeTuning = DEFAULT

    @classmethod
    def initial(cls, space: MetricSpace, bound: float, tuning: ProjectedVolumeTuning = DEFAULT) -> KnowledgeSet:
        """The metrics of norm <= bound, as far as z'Gz >= 0 for the unit vectors and their pairwise sums says it."""
        units = np.eye(space.n_features)
        directions = [units]
        if space.structure == "full":
            first, second = np.triu_indices(space.n_features, 1)
            directions += [(units[first] + units[second]) / math.sqrt(2), (units[first] - units[second]) / math.sqrt(2)]
        normals = space.features(np.concatenate(directions))
        return cls(space, at_least_zero(normals), bound, tuning)

    @property
    def n_unknowns(self) -> int:
        """The dimension m."""
        return self.space.n_unknowns

    @property
    def reach(self) -> float:
        """How many standard deviations K reaches at most from its centroid."""
        return self.tuning.reach * math.sqrt(self.n_unknowns * (self.n_unknowns + 2))

    def known_width(self, accuracy: float) -> float:
        """The width at which a squared distance counts as known: accuracy squared, or the finest there is.

        Half-spaces are set back by what probabilities may be off, so K stays a few times that wide; and widths are
        taken as 2 reach deviations. Below that verdicts would cut K for ever and teach nothing.
        """
        return max(accuracy**2, self.tuning.finest_square, 4.0 * self.reach * PROBABILITY_TOLERANCE)

    def thinness(self, accuracy: float) -> float:
        """delta: the width up to which a direction counts as thin, at this accuracy of distances.

        K is cut while 2 reach deviations exceed the known width, so it may be as narrow as known width / reach along a
        cut: this is the accuracy that the proof needs.
        """
        width = self.known_width(accuracy) / (self.reach * MAX_SQUARED * self.bound)
        return self.bound * theory.thinness(self.n_unknowns, width)

    @property
    def max_faces(self) -> int:
        """Up to this many faces, none is tested for redundancy."""
        return max(self.tuning.min_faces, self.tuning.faces_per_unknown * self.n_unknowns)

    def signed(self) -> tuple[Floats, Floats]:
        """The faces as A alpha >= b: (n, m) and (n,)."""
        return self.faces.sides[:, None] * self.faces.normals, self.faces.sides * self.faces.thresholds

    def joined(self, faces: HalfSpaces) -> KnowledgeSet:
        """K cut by more half-spaces."""
        return replace(self, faces=self.faces.joined(faces))

    def bounded_by(self, bound: float) -> KnowledgeSet:
        """The same faces in another ball."""
        return replace(self, bound=bound)

    def holds(self, cloud: Cloud) -> Mask:
        """Which points of the cloud lie in all faces, (N,)."""
        return holding(self.faces, cloud)

    def without_far(self, cloud: Cloud) -> KnowledgeSet:
        """Without the faces too far from the cloud to touch K."""
        return replace(self, faces=self.faces.take(face_distances(self.faces, cloud) <= self.reach))

    @property
    def is_crowded(self) -> bool:
        """Whether there are a quarter more faces than need no test: time to prune."""
        return len(self.faces) > 1.25 * self.max_faces

    def negative_faces(self, alpha: Floats) -> HalfSpaces:
        """Half-spaces that hold every metric and cut alpha off: one for each negative eigenvalue of its matrix."""
        return negative_faces(self.space, alpha, self.tuning.negative * self.bound)


def at_least_zero(normals: Floats) -> HalfSpaces:
    """The half-spaces <alpha, u> >= 0 of the normals u (n, m)."""
    return HalfSpaces(normals, np.zeros(len(normals)), np.ones(len(normals)))


def negative_faces(space: MetricSpace, alpha: Floats, tolerance: float) -> HalfSpaces:
    """One half-space for each eigenvalue of alpha's matrix below minus the tolerance."""
    if space.structure == "diagonal":
        return at_least_zero(np.eye(space.n_features)[alpha < -tolerance])
    values, vectors = eigh(space.unflatten(alpha))
    return at_least_zero(space.features(vectors[:, values < -tolerance].T))


def holding(faces: HalfSpaces, cloud: Cloud) -> Mask:
    """Which points of the cloud lie in all of these faces, (N,)."""
    return np.asarray(np.all(faces.sides * (cloud.values(faces.normals) - faces.thresholds) >= 0.0, axis=1))


def face_distances(faces: HalfSpaces, cloud: Cloud) -> Floats:
    """How many standard deviations the centroid lies inside each face, (n,)."""
    lengths = np.linalg.norm(faces.normals @ cloud.shape, axis=1)
    return np.asarray(faces.slacks(cloud.centroid) / np.maximum(lengths, np.finfo(np.float64).tiny))
