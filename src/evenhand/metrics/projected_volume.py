"""ProjectedVolume: multidimensional binary search by centroids, the paper's DistanceEstimator."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np

from evenhand._internal.arrays import Floats, Indices
from evenhand._internal.checks import check_number_or_none, check_whole
from evenhand._internal.randomness import Seed, as_generator, generator_from
from evenhand.metrics.features import MetricSpace, Structure
from evenhand.metrics.learner import Learned, MetricLearner
from evenhand.metrics.learner_settings import accuracy, check_epsilon, first_bound
from evenhand.metrics.verdicts import HalfSpaces, Pairs, Verdicts
from evenhand.metrics.version_space.cylinder import cylinder_centroid, thinned
from evenhand.metrics.version_space.extents import Outline
from evenhand.metrics.version_space.hit_and_run import Cloud
from evenhand.metrics.version_space.knowledge_set import KnowledgeSet, at_least_zero
from evenhand.metrics.version_space.sampled_set import SampledSet
from evenhand.metrics.version_space.tuning import DEFAULT, ProjectedVolumeTuning


class ProjectedVolume(MetricLearner):
    """Guess the centroid of all metrics that fit the verdicts, cylindrified where they are thin.

    The knowledge set K of alpha = svec(G) is cut by every verdict on a pair that is not yet known to within
    `epsilon`; <u, z> is guessed, z being the centroid of the cylinder over K along its thin directions. At most
    O(m log(m / epsilon)) guesses are wrong by more than epsilon. A review that cuts K costs O(N m (m + faces)) for N
    points, whatever came before; `ends` costs a few linear programs a pair, and is computed on demand.

    n_features: d. structure: "full" or "diagonal" G. bound: on ||G||_F, doubled when it proves too small.
    epsilon: accuracy of distances, None to sharpen as reviews come; squared distances are known to 2e-8 at best, to
    1e-7 with 5 features, so the finest honest epsilon is some 2e-4 to 3e-4. A finer one is no less fair, but pairs are
    played lower than it says. thinness: the width delta below which a
    direction counts as thin, None for the proof's. n_samples: points that represent K. seed: of the walk.
    play_known_low: play a pair that is known to within epsilon at its lower end, so that it is not flagged again.

    Guarantee: with a consistent reviewer and ||G||_F <= bound, `ends` hold the truth, always, and the bound on wrong
    guesses holds for exact centroids; ours are sampled, and off by about a tenth of a standard deviation.

    >>> learner = ProjectedVolume(1, epsilon=0.1, seed=0)
    >>> for _ in range(12):
    ...     gap = float(min(1.0, learner.guess(Pairs.between([1.0], [0.0]))[0]) ** 0.5)
    ...     _ = learner.learn_pair([1.0], [0.0], gap=gap, unfair=gap > 0.7)
    >>> bool(abs(learner.matrix()[0, 0] - 0.49) < 0.01)
    True
    """

    tuning: ClassVar[ProjectedVolumeTuning] = DEFAULT

    def __init__(
        self,
        n_features: int,
        *,
        structure: Structure = "full",
        bound: float = 1.0,
        epsilon: float | None = None,
        thinness: float | None = None,
        n_samples: int | None = None,
        play_known_low: bool = True,
        seed: Seed = None,
    ) -> None:
        super().__init__(n_features, structure)
        self.play_known_low = bool(play_known_low)
        m = self.space.n_unknowns
        self.epsilon = check_epsilon(epsilon)
        self._thinness = check_number_or_none("thinness", thinness, above=0)
        bound = first_bound(bound, self.epsilon)
        self._max_bound = bound * 2.0**self.tuning.max_doublings
        if n_samples is None:
            n_samples = max(self.tuning.min_samples, self.tuning.samples_per_unknown * m)
        n_samples = check_whole("n_samples", n_samples, least=2 * m + 10, also="None")
        self._rng = as_generator(seed)
        self._rounds = 0
        self._set = SampledSet.initial(self.space, bound, n_samples, self._rng, self.tuning)
        self._thin = thinned(self._set, np.zeros((m, 0)), self._thinness_of(self._set, 0))
        self._z = cylinder_centroid(self._set, self._thin, self._rng)

    @property
    def thin_directions(self) -> Floats:
        """S: the orthonormal directions in which K counts as thin, (m, s)."""
        return self._thin.copy()

    @property
    def bound(self) -> float:
        """The bound on ||G||_F now in force."""
        return self._set.known.bound

    @property
    def n_faces(self) -> int:
        """How many half-spaces are kept."""
        return len(self._set.known.faces)

    # Distances.

    def estimate(self, pairs: Pairs) -> Floats:
        """<u, z>, (n,)."""
        return np.asarray(self.space.features(pairs.differences) @ self._z)

    def ends(self, pairs: Pairs) -> tuple[Floats, Floats]:
        """How far K reaches along each u, each (n,); a few linear programs a pair."""
        normals = self.space.features(pairs.differences)
        # No squared distance is negative: the cuts of the cone that matter most for these pairs, in advance.
        outline = Outline(self._set.known.joined(at_least_zero(normals)), self._set.cloud)
        extents = [outline.extent(u) for u in normals]
        lower, upper = np.array(extents).reshape(-1, 2).T
        return np.maximum(lower, 0.0), np.maximum(upper, 0.0)

    def guess(self, pairs: Pairs) -> Floats:
        """<u, z>; for a pair known to within epsilon the lower end of its extent, estimated by the cloud, (n,)."""
        guesses = self.estimate(pairs)
        if not self.play_known_low:
            return guesses
        reach = self._half_widths(self.space.features(pairs.differences))
        known = 2.0 * reach <= self._set.known.known_width(accuracy(self.epsilon, self._rounds))
        return np.where(known, np.maximum(guesses - reach, 0.0), guesses)

    def _half_widths(self, normals: Floats) -> Floats:
        """How far K reaches along each u at most, to either side of its centroid, going by the cloud, (n,)."""
        return np.asarray(self._set.known.reach * np.linalg.norm(normals @ self._set.cloud.shape, axis=1))

    def matrix(self) -> Floats:
        """z as a matrix, (d, d)."""
        return self.space.unflatten(self._z)

    # Learning.

    def learn(self, verdicts: Verdicts) -> Learned:
        """Cut K by the verdicts on pairs not yet known; those that leave nothing of it are conflicts."""
        before = self._rng.bit_generator.state
        try:
            return self._learn(verdicts)
        except BaseException:
            self._rng.bit_generator.state = before
            raise

    def _learn(self, verdicts: Verdicts) -> Learned:
        faces = HalfSpaces.of(self.space, verdicts)
        rounds = self._rounds + 1
        new, refused = self._sorted(faces, self._set.known.known_width(accuracy(self.epsilon, rounds)))
        result = self._set
        if len(new):
            cut = result.cut_or_enlarged(faces.take(new), self._max_bound, self._rng)
            if cut is None:
                cut, more = self._cut_by_possible(faces, new)
                refused += more
            result = cut
        z, thin = self._cylinder(result, rounds)
        self._set, self._z, self._thin, self._rounds = result, z, thin, rounds
        names = verdicts.pairs.names()
        return Learned(len(verdicts) - len(refused), tuple(names[row] for row in sorted(refused)))

    def _cylinder(self, result: SampledSet, rounds: int) -> tuple[Floats, Floats]:
        """The centroid of the cylinder over a new K, and its thin directions."""
        thinness, before = self._thinness_of(result, rounds), self._thinness_of(self._set, self._rounds)
        thin = self._thin if thinness == before and result.known.bound == self.bound else self._thin[:, :0]
        if result.cloud is self._set.cloud and thin is self._thin:
            return self._z, thin
        thin = thinned(result, thin, thinness)
        return cylinder_centroid(result, thin, self._rng), thin

    def _thinness_of(self, result: SampledSet, rounds: int) -> float:
        """delta: the setting, or what the proof needs at the accuracy in force."""
        if self._thinness is not None:
            return self._thinness
        return result.known.thinness(accuracy(self.epsilon, rounds))

    def _sorted(self, faces: HalfSpaces, width: float) -> tuple[Indices, list[int]]:
        """The rows that may teach something, and the rows that contradict an interval narrower than `width`.

        The width of K along u is estimated by the cloud: a body is at most 2 sqrt(m(m+2)) standard deviations wide.
        Mostly it is narrower, so some verdicts cut K that need not; exact widths would cost linear programs.
        """
        known, cloud = self._set.known, self._set.cloud
        narrow = 2.0 * self._half_widths(faces.normals) <= width
        dead = np.all(faces.sides * (cloud.values(faces.normals) - faces.thresholds) < 0.0, axis=0)
        refused: list[int] = []
        for row in np.flatnonzero(narrow & dead):
            low, high = Outline(known, cloud).extent(faces.normals[row])
            side, threshold = faces.sides[row], faces.thresholds[row]
            if max(side * low, side * high) < side * threshold:
                refused.append(int(row))
        new = np.flatnonzero(~narrow | dead)
        return new[~np.isin(new, refused)], refused

    def _cut_by_possible(self, faces: HalfSpaces, rows: Indices) -> tuple[SampledSet, list[int]]:
        """K cut by as many of these rows, the first ones first, as go together; and the rows that do not."""
        kept: list[int] = []
        for row in rows:
            if self._set.is_possible(faces.take(np.array([*kept, row]))):
                kept.append(int(row))
        while kept:
            result = self._set.cut_or_enlarged(faces.take(np.array(kept)), self._max_bound, self._rng)
            if result is not None:
                return result, [int(row) for row in rows if row not in kept]
            kept.pop()
        return self._set, [int(row) for row in rows]

    # Saving. The keys of the state are those of version 0.1.

    def state(self) -> dict[str, Any]:
        """The whole learner."""
        cloud, known = self._set.cloud, self._set.known
        return {
            "n_features": self.n_features,
            "structure": self.space.structure,
            "epsilon": self.epsilon,
            "play_known_low": self.play_known_low,
            "thinness": self._thinness,
            "most_bound": self._max_bound,
            "rounds": self._rounds,
            "bound": known.bound,
            "faces": {name: value.copy() for name, value in known.faces.state().items()},
            "cloud": {name: getattr(cloud, name).copy() for name in ("centre", "shape", "points", "middle")},
            "thin": self._thin.copy(),
            "z": self._z.copy(),
            "rng": self._rng.bit_generator.state,
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """The learner with this `state`, to the bit."""
        learner = cls.__new__(cls)
        learner.space = MetricSpace(state["n_features"], state["structure"])
        learner.epsilon = check_epsilon(state["epsilon"])
        learner.play_known_low = bool(state["play_known_low"])
        learner._thinness = check_number_or_none("thinness", state["thinness"], above=0)
        learner._max_bound = float(state["most_bound"])
        learner._rounds = int(state["rounds"])
        faces = HalfSpaces(**{name: _floats(value) for name, value in state["faces"].items()})
        cloud = Cloud(**{name: _floats(value) for name, value in state["cloud"].items()})
        learner._set = SampledSet(KnowledgeSet(learner.space, faces, float(state["bound"]), cls.tuning), cloud)
        learner._thin = _floats(state["thin"])
        learner._z = _floats(state["z"])
        learner._rng = generator_from(state["rng"])
        return learner


def _floats(value: Any) -> Floats:
    """A copy as a C-ordered float array: the order of sums, and so the last bit, depends on the layout."""
    return np.array(value, dtype=np.float64, order="C")
