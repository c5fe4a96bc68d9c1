"""ProjectedVolume: the truth is never cut off, mistakes stop, thin directions or not."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from evenhand.metrics.learner_settings import accuracy
from evenhand.metrics.projected_volume import ProjectedVolume
from evenhand.metrics.verdicts import Pairs
from evenhand.metrics.version_space.tuning import DEFAULT
from tests.support.played_rounds import World, full, rank_one, zero

Floats = NDArray[np.float64]


@pytest.mark.parametrize(
    ("metric", "d", "choices", "most"),
    [(full, 3, 1, 40), (rank_one, 3, 1, 60), (zero, 3, 1, 120), (full, 3, 20, 60), (full, 5, 1, 100)],
)
def test_the_truth_stays_inside_and_mistakes_stop(
    metric: Callable[[int], Floats], d: int, choices: int, most: int
) -> None:
    """In every round the ends contain the truth; mistakes are few, and none falls in the last third."""
    learner, world = ProjectedVolume(d, seed=1), World(metric(d), choices=choices)
    world.play(learner, 90, check_every=1 if d == 3 else 6)
    assert world.conflicts == 0
    assert sum(world.mistakes) <= most
    assert sum(world.mistakes[60:]) == 0
    assert learner.bound == 1.0


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("metric", [full, rank_one, zero])
def test_the_truth_stays_inside_under_an_adversary(metric: Callable[[int], Floats], seed: int) -> None:
    """As above, out of 30 rounds the hardest, five features, ten seeds; none in the last quarter of 200."""
    learner, world = ProjectedVolume(5, seed=seed), World(metric(5), seed=seed, choices=30)
    world.play(learner, 200)
    assert world.conflicts == 0
    assert sum(world.mistakes[150:]) == 0


def test_one_tight_pair_a_round_takes_few_mistakes() -> None:
    """At d = 5 one learner that learns one pair a round errs by more than 0.01 some 60 times, in either direction."""
    learner, world = ProjectedVolume(5, seed=0), World(full(5), n_pairs=1)
    world.play(learner, 150, check_every=50)
    assert sum(world.mistakes) <= 80
    assert sum(world.mistakes[120:]) == 0


def test_the_diagonal_structure_learns_a_diagonal_metric() -> None:
    """With d unknowns only, mistakes are fewer."""
    learner, world = ProjectedVolume(5, structure="diagonal", seed=0), World(np.diag([0.5, 0.3, 0.0, 0.2, 0.1]))
    world.play(learner, 60, check_every=5)
    assert sum(world.mistakes) <= 40
    assert sum(world.mistakes[40:]) == 0
    np.testing.assert_allclose(learner.matrix(), world.G, atol=0.01)


def test_one_feature_is_a_search_on_an_interval() -> None:
    """d = 1: halving, about log2(1 / accuracy) steps."""
    learner, world = ProjectedVolume(1, seed=0), World(np.array([[0.3]]), radius=0.9, n_candidates=8)
    world.play(learner, 40)
    assert learner.matrix()[0, 0] == pytest.approx(0.3, abs=2e-4)


def test_a_bound_that_is_too_small_is_doubled() -> None:
    """A metric of norm 20 is learned by a learner whose first bound was 1, without a conflict."""
    learner, world = ProjectedVolume(3, bound=1.0, seed=0), World(full(3, norm=20.0), radius=0.1)
    for _ in range(80):
        world.conflicts += len(learner.learn(world.verdicts(learner, world.hardest(learner))).conflicts)
    assert world.conflicts == 0
    assert 20.0 < learner.bound <= 64.0
    world.check(learner, Pairs.of(world.contexts()))
    assert np.linalg.norm(learner.matrix() - world.G) < 0.1


def test_accuracy_sharpens_when_no_epsilon_is_given() -> None:
    """epsilon=None: the learner keeps cutting, and ends far more exact than it began."""
    learner, world = ProjectedVolume(2, epsilon=None, seed=0), World(full(2))
    world.play(learner, 100, check_every=10)
    low, high = learner.ends(Pairs.of(world.contexts()))
    assert np.max(high - low) < 1e-3


def test_the_number_of_faces_and_the_cost_are_flat() -> None:
    """After hundreds of rounds of all pairs no more faces are kept than allowed, and the truth is still inside."""
    learner, world = ProjectedVolume(3, epsilon=1e-5, seed=0), World(full(3), n_pairs=10)
    world.play(learner, 200, check_every=20)
    assert learner.n_faces <= 1.25 * max(DEFAULT.min_faces, DEFAULT.faces_per_unknown * 6)


def test_a_pair_that_is_known_teaches_nothing() -> None:
    """Verdicts on one pair stop changing K once the pair is known to within epsilon."""
    learner, world = ProjectedVolume(2, epsilon=0.1, seed=0), World(full(2))
    pair = Pairs.of(world.contexts()).take(np.array([0]))
    for _ in range(20):
        learner.learn(world.verdicts(learner, pair))
    low, high = learner.ends(pair)
    assert high[0] - low[0] <= 0.1**2
    faces, before = learner.n_faces, learner.matrix()
    assert learner.learn(world.verdicts(learner, pair)).used == 1
    assert learner.n_faces == faces
    np.testing.assert_array_equal(learner.matrix(), before)


@pytest.mark.parametrize(("thinness", "seed"), [(0.02, 0), (0.2, 1)])
def test_with_thin_directions_the_truth_stays_inside_and_mistakes_stop(thinness: float, seed: int) -> None:
    """Rounds that ask about one plane only make K thin there; the cylinder's centroid then goes on to learn the rest.

    Mistakes after thin directions were found are at most 40, and none comes after 60 rounds (in sixteen runs the last
    one came after 46); a guess errs by no more than K's extent along u.
    """
    learner, world = ProjectedVolume(3, thinness=thinness, n_samples=100, seed=seed), World(full(3), seed=seed)
    flat = np.array([1.0, 1.0, 0.0])
    for _ in range(15):
        pairs = Pairs.of(world.contexts() * flat).take(np.arange(3))
        learner.learn(world.verdicts(learner, pairs))
        world.check(learner, pairs)
    thin = learner.thin_directions
    assert 0 < thin.shape[1] < 6
    np.testing.assert_allclose(thin.T @ thin, np.eye(thin.shape[1]), atol=1e-12)
    world.choices, world.mistakes = 10, []
    world.play(learner, 90)
    assert learner.thin_directions.shape[1] > thin.shape[1]
    pairs = Pairs.of(world.contexts())
    low, high = learner.ends(pairs)
    assert np.all(np.abs(learner.estimate(pairs) - world.squared(pairs)) <= high - low + 1e-9)
    assert sum(world.mistakes) <= 40
    assert sum(world.mistakes[60:]) == 0


def test_a_deep_cut_makes_a_direction_thin_by_default() -> None:
    """A flag at a gap of 2e-6 leaves a width of 4e-12, below the proof's delta; the rest is learned in the shadow."""
    learner, truth = ProjectedVolume(3, epsilon=0.01, seed=0), np.diag([0.0, 0.25, 0.16])
    x, y = np.array([0.5, 0.0, 0.0]), np.array([-0.5, 0.0, 0.0])
    learner.learn_pair(x, y, gap=2e-6, unfair=True)
    thin = learner.thin_directions
    assert thin.shape == (6, 1)
    assert abs(thin[0, 0]) == pytest.approx(1.0, abs=1e-3)
    for z in (np.array([0.0, 1.0, 0.0]), np.array([0.0, 0.0, 1.0])):
        for _ in range(25):
            gap = float(np.sqrt(max(learner.guess(Pairs.between(z, 0 * z))[0], 0.0)))
            learner.learn_pair(z, 0 * z, gap=gap, unfair=gap**2 > z @ truth @ z)
        assert learner.get_metric()(z, 0 * z) == pytest.approx(np.sqrt(z @ truth @ z), abs=0.01)


def test_a_finer_accuracy_makes_thin_directions_wide_again() -> None:
    """When epsilon=None steps down, delta falls with it and S is found anew; between steps S is kept."""
    learner, world = ProjectedVolume(2, epsilon=None, seed=0), World(full(2), n_candidates=2)
    step = next(t for t in range(3, 100) if accuracy(None, t) < accuracy(None, t - 1) == accuracy(None, t - 2))
    as_if_thin = {**learner.state(), "rounds": step - 2, "thin": np.eye(3)[:, :1]}
    learner = ProjectedVolume.from_state(as_if_thin)
    world.play(learner, 1)
    assert learner.thin_directions.shape == (3, 1)
    world.play(learner, 1)
    assert learner.thin_directions.shape == (3, 0)
