"""The knowledge set, its extents, and what may be left out of it."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from evenhand.metrics.features import MetricSpace
from evenhand.metrics.verdicts import HalfSpaces
from evenhand.metrics.version_space.extents import Outline, deepest_point, pruned, widest_inside
from evenhand.metrics.version_space.hit_and_run import Cloud
from evenhand.metrics.version_space.knowledge_set import KnowledgeSet, face_distances
from evenhand.metrics.version_space.sampled_set import SampledSet
from evenhand.metrics.version_space.tuning import DEFAULT

Floats = NDArray[np.float64]


def random_metric(space: MetricSpace, rng: np.random.Generator, norm: float) -> Floats:
    """alpha of a random metric of the given norm."""
    A = rng.standard_normal((space.n_features, space.n_features))
    alpha = space.flatten(A @ A.T)
    return np.asarray(alpha * (norm / np.linalg.norm(alpha)))


def box_of(space: MetricSpace, low: Floats, high: Floats) -> HalfSpaces:
    """low <= alpha <= high."""
    m = space.n_unknowns
    normals = np.concatenate([np.eye(m), np.eye(m)])
    return HalfSpaces(normals, np.concatenate([low, high]), np.repeat([1.0, -1.0], m))


def any_cloud(m: int, scale: float = 0.3) -> Cloud:
    """A cloud for its coordinates only."""
    return Cloud(np.full(m, 0.2), scale * np.eye(m), np.zeros((1, m)), np.zeros(m))


@pytest.mark.parametrize("structure", ["full", "diagonal"])
def test_every_metric_is_in_the_initial_set(structure: str) -> None:
    """No metric is cut off before the first verdict, and no later cut for being negative cuts one off."""
    space = MetricSpace(4, structure)  # type: ignore[arg-type]
    known = KnowledgeSet.initial(space, 1.0)
    rng = np.random.default_rng(0)
    for _ in range(50):
        alpha = random_metric(space, rng, 0.9)
        assert known.faces.slacks(alpha).min() >= 0.0
        assert len(known.negative_faces(alpha)) == 0
        wild = rng.standard_normal(space.n_unknowns)
        cuts = known.negative_faces(wild)
        assert np.all(cuts.slacks(wild) < 0.0)
        assert np.all(cuts.slacks(alpha) >= 0.0)


def test_extents_of_a_box_are_its_sides() -> None:
    """In the diagonal structure a box inside the ball has extents |u| . sides, to the widening."""
    space = MetricSpace(3, "diagonal")
    known = KnowledgeSet(space, box_of(space, np.array([0.1, 0.2, 0.0]), np.array([0.3, 0.25, 0.5])), 1.0)
    low, high = Outline(known, any_cloud(3)).extent(np.array([1.0, 2.0, -1.0]))
    assert low == pytest.approx(0.1 + 0.4 - 0.5, abs=1e-5)
    assert high == pytest.approx(0.3 + 0.5 - 0.0, abs=1e-5)
    assert low < 0.0
    assert high > 0.8


def test_extents_of_the_initial_set_are_those_of_the_ball_and_the_cone() -> None:
    """Along a pair's u a metric of norm <= 2 reaches from 0 to 2 ||u||; along others no less than it does."""
    space = MetricSpace(3, "full")
    sampled = SampledSet.initial(space, 2.0, 100, np.random.default_rng(0))
    u = space.features(np.array([[0.6, -0.8, 0.3]]))[0]
    low, high = Outline(sampled.known, sampled.cloud).extent(u)
    assert -0.1 < low <= 0.0
    assert high == pytest.approx(2.0 * np.linalg.norm(u), rel=1e-6)
    off_diagonal = space.flatten(np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]])) / np.sqrt(2.0)
    low, high = Outline(sampled.known, sampled.cloud).extent(off_diagonal)
    # G = (1, +-1; +-1, 1) has norm 2 and off-diagonal part +-sqrt(2).
    assert high >= np.sqrt(2.0)
    assert low <= -np.sqrt(2.0)
    assert max(high, -low) <= 2.0


@pytest.mark.parametrize("scale", [1e-9, 1e-4, 1.0])
def test_extents_keep_their_digits_in_small_sets(scale: float) -> None:
    """A set a billionth wide is measured to a millionth of its width, for the solver sees it round."""
    space = MetricSpace(2, "diagonal")
    centre = np.array([0.4, 0.5])
    half = np.array([0.1, 0.05]) * scale
    known = KnowledgeSet(space, box_of(space, centre - half, centre + half), 1.0)
    cloud = Cloud(centre, np.diag(half / np.sqrt(3)), np.zeros((1, 2)), np.zeros(2))
    low, high = Outline(known, cloud).extent(np.array([1.0, 1.0]))
    assert low == pytest.approx(0.9 - 0.15 * scale, abs=1e-5 * scale + 1e-12)
    assert high == pytest.approx(0.9 + 0.15 * scale, abs=1e-5 * scale + 1e-12)


def test_extents_contain_every_member() -> None:
    """After random cuts that a metric satisfies, the extents along random pairs contain it."""
    space = MetricSpace(3, "full")
    rng = np.random.default_rng(1)
    sampled = SampledSet.initial(space, 1.0, 100, rng)
    truth = random_metric(space, rng, 0.7)
    for _ in range(10):
        u = space.features(rng.standard_normal((1, 3)))
        value = float(u[0] @ sampled.cloud.centroid)
        side = 1.0 if u[0] @ truth >= value else -1.0
        rest = sampled.cut(HalfSpaces(u, np.array([value]), np.array([side])), rng)
        assert rest is not None
        sampled = rest
        assert sampled.known.holds(sampled.cloud).all()
        probe = space.features(rng.standard_normal((1, 3)))[0]
        low, high = Outline(sampled.known, sampled.cloud).extent(probe)
        assert low <= probe @ truth <= high


def test_the_widest_ball_is_found() -> None:
    """The largest ball of a box has half its smallest side as radius, in the cloud's coordinates."""
    space = MetricSpace(2, "diagonal")
    known = KnowledgeSet(space, box_of(space, np.array([0.1, 0.1]), np.array([0.3, 0.9])), 2.0)
    inside = widest_inside(known, any_cloud(2, scale=0.5))
    assert inside is not None
    assert inside.radius == pytest.approx(0.1 / 0.5, rel=1e-6)
    assert inside.centre[0] == pytest.approx(0.2, rel=1e-6)


def test_a_ball_that_cuts_the_faces_is_respected() -> None:
    """The point found lies within the bound, and faces wholly outside the bound leave no point."""
    space = MetricSpace(2, "diagonal")
    faces = box_of(space, np.array([0.5, 0.5]), np.array([5.0, 5.0]))
    inside = widest_inside(KnowledgeSet(space, faces, 1.0), any_cloud(2))
    assert inside is not None
    assert np.linalg.norm(inside.centre) <= 1.0
    assert inside.radius > 0.0
    outside = widest_inside(KnowledgeSet(space, faces, 0.6), any_cloud(2))
    assert outside is None or outside.radius < 0.0


def test_faces_that_do_not_meet_have_no_point() -> None:
    """A depth below zero, or no answer, says that the faces contradict each other."""
    space = MetricSpace(2, "diagonal")
    faces = HalfSpaces(np.array([[1.0, 0.0], [1.0, 0.0]]), np.array([0.5, 0.4]), np.array([1.0, -1.0]))
    point = deepest_point(KnowledgeSet(space, faces, 1.0), any_cloud(2), 100.0)
    assert point is None or point.radius < 0.0


def test_far_faces_are_left_out_and_near_ones_stay() -> None:
    """A face farther than K can reach goes; the faces of K stay."""
    space = MetricSpace(2, "diagonal")
    sampled = SampledSet.initial(space, 1.0, 100, np.random.default_rng(0))
    far = HalfSpaces(np.array([[1.0, 0.0]]), np.array([50.0]), np.array([-1.0]))
    known = pruned(sampled.known.joined(far), sampled.cloud)
    assert len(known.faces) == len(sampled.known.faces)
    assert (face_distances(known.faces, sampled.cloud) > 0.0).all()


def test_a_face_that_holds_the_set_stays() -> None:
    """With hundreds of faces along one side of K the one that holds the other side is the farthest; it is not dropped.

    K's extent there is the same before and after, however often it is pruned.
    """
    space, n = MetricSpace(2, "diagonal"), 400
    sampled = SampledSet.initial(space, 1.0, 200, np.random.default_rng(0))
    side, opposite = np.array([1.0, 0.0]), np.array([0.0, 1.0])
    crowd = HalfSpaces(np.tile(side, (n, 1)), np.linspace(0.0, 1e-3, n), np.ones(n))
    holds = HalfSpaces(opposite[None, :], np.array([0.97]), -np.ones(1))
    known = sampled.known.joined(holds).joined(crowd)
    assert np.argmax(face_distances(known.faces, sampled.cloud)) == len(sampled.known.faces)
    before = Outline(known, sampled.cloud).extent(opposite)
    for _ in range(30):
        known = pruned(known, sampled.cloud)
    np.testing.assert_allclose(Outline(known, sampled.cloud).extent(opposite), before, atol=1e-6)
    assert len(known.faces) <= 1.25 * known.max_faces


def test_faces_that_others_imply_are_dropped() -> None:
    """However many redundant faces there are, pruning again and again leaves no crowd, and K as it was."""
    space = MetricSpace(3, "full")
    rng = np.random.default_rng(0)
    sampled = SampledSet.initial(space, 1.0, 100, rng)
    normals = space.features(rng.standard_normal((1000, 3)))
    many = HalfSpaces(normals, np.full(1000, 3.0) * np.linalg.norm(normals, axis=1), np.full(1000, -1.0))
    known = sampled.known.joined(many)
    assert known.is_crowded
    kept = known
    for _ in range(1000 // DEFAULT.redundancy_tests):
        kept = pruned(kept, sampled.cloud)
    assert not kept.is_crowded
    for u in space.features(rng.standard_normal((5, 3))):
        before, after = (Outline(each, sampled.cloud).extent(u) for each in (known, kept))
        np.testing.assert_allclose(after, before, rtol=0.02)


def test_a_deep_cut_is_reached_by_stages() -> None:
    """A cut that leaves a thousandth of the width, and no point alive, leaves points in what is left of K."""
    space = MetricSpace(3, "full")
    rng = np.random.default_rng(2)
    sampled = SampledSet.initial(space, 1.0, 200, rng)
    u = space.features(np.array([[1.0, 1.0, 0.0]]))
    deep = HalfSpaces(u, np.array([1e-3]), np.array([-1.0]))
    rest = sampled.cut(deep, rng)
    assert rest is not None
    assert rest.known.holds(rest.cloud).all()
    assert 0.0 <= (u @ rest.cloud.centroid)[0] <= 1e-3


def test_a_cut_that_only_touches_is_loosened() -> None:
    """A face through the tip of the cone leaves a sliver, not nothing."""
    space = MetricSpace(2, "diagonal")
    rng = np.random.default_rng(3)
    sampled = SampledSet.initial(space, 1.0, 100, rng)
    rest = sampled.cut(HalfSpaces(np.array([[1.0, 1.0]]), np.array([0.0]), np.array([-1.0])), rng)
    assert rest is not None
    assert np.linalg.norm(rest.cloud.centroid) < 1e-5


def test_a_cut_that_leaves_nothing_says_so() -> None:
    """No metric has a negative distance."""
    space = MetricSpace(2, "full")
    rng = np.random.default_rng(4)
    sampled = SampledSet.initial(space, 1.0, 100, rng)
    assert sampled.cut(HalfSpaces(np.array([[1.0, 0.0, 0.0]]), np.array([-0.1]), np.array([-1.0])), rng) is None
