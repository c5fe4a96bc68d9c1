"""A knowledge set together with uniform points of it: what is left of both after a cut."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from evenhand._internal.arrays import Floats
from evenhand._internal.factorisations import singular_values
from evenhand.errors import SolverFailed
from evenhand.metrics.features import MetricSpace
from evenhand.metrics.verdicts import HalfSpaces
from evenhand.metrics.version_space.extents import deepest_point, pruned, widest_inside
from evenhand.metrics.version_space.hit_and_run import Cloud, grown, walked
from evenhand.metrics.version_space.knowledge_set import KnowledgeSet, holding
from evenhand.metrics.version_space.tuning import DEFAULT, ProjectedVolumeTuning


@dataclass(frozen=True, eq=False)
class SampledSet:
    """K and a cloud spread uniformly over it."""

    known: KnowledgeSet
    cloud: Cloud

    @classmethod
    def initial(
        cls,
        space: MetricSpace,
        bound: float,
        n_samples: int,
        rng: np.random.Generator,
        tuning: ProjectedVolumeTuning = DEFAULT,
    ) -> SampledSet:
        """All metrics of norm <= bound."""
        known = KnowledgeSet.initial(space, bound, tuning)
        # The identity of norm bound / 2: its ball of radius bound / (2 sqrt(d)) touches the faces of the unit vectors.
        scale = bound / (2.0 * math.sqrt(space.n_features))
        centre = space.flatten(np.eye(space.n_features)) * scale
        cloud = Cloud.in_ball(centre, np.eye(space.n_unknowns), scale, n_samples, rng)
        return cls(known, grown(cloud, *known.signed(), bound, rng, tuning)).walked(rng)

    def walked(self, rng: np.random.Generator) -> SampledSet:
        """The points moved on, and the faces that no longer matter left out."""
        cloud, (A, b), tuning = self.cloud, self.known.signed(), self.known.tuning
        for _ in range(tuning.sweeps if self.known.n_unknowns <= tuning.many_unknowns else tuning.sweeps_of_many):
            cloud, _ = walked(cloud, A, b, self.known.bound, rng, tuning)
        return SampledSet(pruned(self.known, cloud), cloud)

    def cut(self, faces: HalfSpaces, rng: np.random.Generator) -> SampledSet | None:
        """K with more faces, or None if nothing is left of it."""
        alive = holding(faces, self.cloud)
        if alive.all():
            known = self.known.joined(faces)
            return SampledSet(pruned(known, self.cloud) if known.is_crowded else known, self.cloud)
        if not alive.any() and not self.is_possible(faces, far=False):
            return None
        return self._approached(faces, rng)

    def _approached(self, faces: HalfSpaces, rng: np.random.Generator) -> SampledSet | None:
        """K with more faces, the faces moved in by steps that leave a good part of the points alive."""
        cloud, tuning = self.cloud, self.known.tuning
        for _ in range(tuning.max_stages):
            lengths = np.linalg.norm(faces.normals @ cloud.shape, axis=1)
            depths = np.min(faces.sides * (cloud.values(faces.normals) - faces.thresholds) / lengths, axis=1)
            if np.mean(depths >= 0.0) >= tuning.enough_survivors:
                return SampledSet(self.known.joined(faces), cloud.resampled(depths >= 0.0, rng)).walked(rng)
            level = float(np.quantile(depths, 1.0 - tuning.stage_survivors))
            A, b = self.known.joined(_loosened(faces, -level * lengths)).signed()
            cloud, _ = walked(cloud.resampled(depths >= level, rng), A, b, self.known.bound, rng, tuning)
        return SampledSet(self.known, cloud)._refilled(faces, rng)

    def _refilled(self, faces: HalfSpaces, rng: np.random.Generator) -> SampledSet | None:
        """K with more faces, its points grown again from a ball inside it; None if there is no such ball."""
        known, tuning = self.known.joined(faces), self.known.tuning
        inside = widest_inside(known, self.cloud)
        if inside is not None and -tuning.touching <= inside.radius < tuning.sliver:
            lengths = np.linalg.norm(faces.normals @ self.cloud.shape, axis=1)
            known = self.known.joined(_loosened(faces, (tuning.sliver - inside.radius) * lengths))
            inside = widest_inside(known, self.cloud)
        if inside is None or inside.radius <= tuning.touching:
            return None
        A, b = known.signed()
        radius, bound = inside.radius, known.bound
        reach = float(singular_values(self.cloud.shape)[0])
        radius = min(radius, (bound - float(np.linalg.norm(inside.centre))) / reach + tuning.touching * radius)
        cloud = Cloud.in_ball(inside.centre, self.cloud.shape, radius, len(self.cloud.points), rng)
        return SampledSet(known, grown(cloud, A, b, bound, rng, tuning)).walked(rng)

    def with_bound(self, bound: float, rng: np.random.Generator) -> SampledSet:
        """K in a larger ball."""
        known = self.known.bounded_by(bound)
        return SampledSet(known, grown(self.cloud, *known.signed(), bound, rng, known.tuning)).walked(rng)

    def is_possible(self, faces: HalfSpaces, *, far: bool = True) -> bool:
        """Whether some alpha lies in all faces of K and in these, whatever its norm; or near K, if not `far`."""
        known, tuning = self.known.joined(faces), self.known.tuning
        try:
            near = deepest_point(known, self.cloud, tuning.box)
        except SolverFailed:  # unknown: let the walk decide
            return not far
        if near is not None and near.radius >= -tuning.touching:
            return True
        if not far:
            return False
        try:
            anywhere = deepest_point(known, self.cloud, tuning.far_box)
        except SolverFailed:  # too far away for the solver's digits
            return False
        return anywhere is not None and anywhere.radius >= -tuning.touching

    def cut_or_enlarged(self, faces: HalfSpaces, most: float, rng: np.random.Generator) -> SampledSet | None:
        """K with more faces, in a larger ball (at most of radius `most`) if need be; None if there is none."""
        result = self.cut(faces, rng)
        if result is None and self.is_possible(faces):
            larger = self
            while result is None and 2.0 * larger.known.bound <= most:
                larger = SampledSet(larger.known.bounded_by(2.0 * larger.known.bound), self.cloud)
                result = larger._refilled(faces, rng)
        return None if result is None else result._settled(most, rng)

    def _settled(self, most: float, rng: np.random.Generator) -> SampledSet | None:
        """K with a centroid that is a metric and not near the bound; None if no metric is left in K."""
        result, tuning = self, self.known.tuning
        for _ in range(tuning.max_cone_cuts):
            centroid, bound = result.cloud.centroid, result.known.bound
            if np.linalg.norm(centroid) > tuning.near_bound * bound and 2.0 * bound <= most:
                result = result.with_bound(2.0 * bound, rng)
                continue
            negative = result.known.negative_faces(centroid)
            if not len(negative):
                break
            rest = result.cut(negative, rng)
            if rest is None:
                return None
            result = rest
        return result


def _loosened(faces: HalfSpaces, amounts: Floats) -> HalfSpaces:
    """The faces moved outwards by these amounts of <alpha, u>."""
    return HalfSpaces(faces.normals, faces.thresholds - faces.sides * amounts, faces.sides)
