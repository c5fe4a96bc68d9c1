"""ProjectedVolume's state: asking leaves it, errors leave it, and saved and restored it goes on to the bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from evenhand.metrics import projected_volume as module
from evenhand.metrics.learner import MetricLearner
from evenhand.metrics.projected_volume import ProjectedVolume
from evenhand.metrics.verdicts import Pairs
from tests.support.played_rounds import World, full


def same(first: Any, second: Any) -> bool:
    """Whether two states are equal to the bit."""
    if isinstance(first, dict):
        return first.keys() == second.keys() and all(same(first[key], second[key]) for key in first)
    if isinstance(first, np.ndarray):
        return bool(np.array_equal(first, second)) and first.dtype == second.dtype
    return bool(first == second)


def test_asking_changes_nothing() -> None:
    """guess, estimate, ends and distances are pure: same state, same answers."""
    learner, world = ProjectedVolume(3, seed=0), World(full(3))
    world.play(learner, 10, check_every=20)
    state, pairs = learner.state(), Pairs.of(world.contexts())
    first = learner.guess(pairs), *learner.ends(pairs)
    learner.distances(world.contexts())
    second = learner.guess(pairs), *learner.ends(pairs)
    assert same(learner.state(), state)
    assert all(np.array_equal(a, b) for a, b in zip(first, second, strict=True))


@pytest.mark.parametrize("settings", [{}, {"thinness": 0.1}, {"epsilon": None, "structure": "diagonal"}])
def test_saved_and_restored_it_goes_on_as_if_never_stopped(settings: dict[str, Any]) -> None:
    """Learning after `restored` is bit-identical, random numbers included."""
    learner, world = ProjectedVolume(3, seed=0, **settings), World(full(3))
    world.play(learner, 8, check_every=20)
    other = MetricLearner.restored(learner.saved())
    assert isinstance(other, ProjectedVolume)
    assert same(other.state(), learner.state())
    for _ in range(12):
        verdicts = world.verdicts(learner, world.hardest(learner))
        assert learner.learn(verdicts) == other.learn(verdicts)
        assert same(other.state(), learner.state())


def test_a_state_is_not_touched_by_later_learning() -> None:
    """What `state` gave belongs to the caller."""
    learner, world = ProjectedVolume(2, seed=0), World(full(2))
    state = learner.state()
    kept = {"z": state["z"].copy(), "points": state["cloud"]["points"].copy()}
    other = ProjectedVolume.from_state(state)
    world.play(other, 5)
    np.testing.assert_array_equal(state["z"], kept["z"])
    np.testing.assert_array_equal(state["cloud"]["points"], kept["points"])
    assert same(learner.state(), state)


def test_after_an_error_the_learner_is_as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """If anything fails while learning, nothing has been learned and no random number is lost."""
    learner, world = ProjectedVolume(3, seed=0), World(full(3))
    world.play(learner, 5, check_every=20)
    state, verdicts = learner.state(), world.verdicts(learner, world.hardest(learner))

    def fails(*_: object) -> None:
        raise ArithmeticError("no")

    with monkeypatch.context() as patch:
        patch.setattr(module, "cylinder_centroid", fails)
        with pytest.raises(ArithmeticError):
            learner.learn(verdicts)
    assert same(learner.state(), state)


def test_same_seed_same_learner() -> None:
    """Two learners with one seed agree to the bit; another seed differs."""
    learners = [ProjectedVolume(3, seed=seed) for seed in (5, 5, 6)]
    assert same(learners[0].state(), learners[1].state())
    assert not same(learners[0].state(), learners[2].state())
    assert same(ProjectedVolume(3, seed=np.random.default_rng(5)).state(), learners[0].state())
