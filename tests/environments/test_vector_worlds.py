"""Worlds in Gymnasium's vector form."""

from __future__ import annotations

from typing import Any, cast

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import data_equivalence
from gymnasium.utils.env_match import check_environments_match
from gymnasium.wrappers.vector import DictInfoToList, NormalizeObservation, RecordEpisodeStatistics

from evenhand.environments import VectorWorlds, make_world, make_worlds, names, world_id
from evenhand.errors import InvalidInput


@pytest.mark.parametrize("name", names())
def test_a_vector_of_one_matches_gymnasiums_own(name: str) -> None:
    """Gymnasium's check that two environments match finds no difference from its SyncVectorEnv of the same world."""
    own: Any = gymnasium.make_vec(world_id(name))
    sync: Any = gymnasium.make_vec(world_id(name), vectorization_mode="sync")
    assert type(own) is VectorWorlds
    check_environments_match(cast("Any", own), sync, num_steps=5, seed=3, info_comparison="skip")


def test_many_worlds_play_what_gymnasiums_own_plays() -> None:
    """Contexts, rewards, ends and expected rewards of three worlds, by a seed and by a list of seeds."""
    own = gymnasium.make_vec("evenhand/Groups-v0", num_envs=3, n_candidates=4)
    sync = gymnasium.make_vec("evenhand/Groups-v0", num_envs=3, n_candidates=4, vectorization_mode="sync")
    assert own.observation_space == sync.observation_space
    assert own.action_space == sync.action_space
    own.action_space.seed(0)
    for seed in (5, [7, 7, 2]):
        assert data_equivalence(own.reset(seed=cast("Any", seed))[0], sync.reset(seed=cast("Any", seed))[0])
        for _ in range(4):
            action = own.action_space.sample()
            *mine, my_info = own.step(action)
            *theirs, their_info = sync.step(action)
            for mine_one, theirs_one in zip(mine, theirs, strict=True):
                assert data_equivalence(mine_one, theirs_one)
            np.testing.assert_array_equal(my_info["expected"], their_info["expected"])
            np.testing.assert_array_equal(np.isnan(my_info["rewards"]), action == 0)
            np.testing.assert_allclose(np.nansum(my_info["rewards"], axis=1), mine[1])


def test_gymnasiums_vector_wrappers_go_around_it() -> None:
    """Episode statistics, normalisation and lists of infos work on top, without a warning."""
    worlds = DictInfoToList(RecordEpisodeStatistics(make_worlds("lending", num_envs=2)))
    worlds.reset(seed=0)
    *_, infos = worlds.step(np.ones((2, 5), dtype=np.int8))
    assert len(infos) == 2
    normal = NormalizeObservation(make_worlds("sphere", num_envs=2))
    contexts, _ = normal.reset(seed=0)
    assert contexts.shape == (2, 5, 5)


def test_copies_have_one_truth_and_other_people() -> None:
    """Also before a reset with a seed; the same settings give the same worlds again."""
    worlds, again = (make_worlds("sphere", num_envs=3, seed=4) for _ in range(2))
    assert all(np.array_equal(world.theta, worlds.worlds[0].theta) for world in worlds.worlds)
    contexts, _ = worlds.reset()
    assert len({row.tobytes() for row in contexts}) == 3
    np.testing.assert_array_equal(contexts, again.reset()[0])


def test_some_worlds_can_start_again() -> None:
    """With a mask the others stay in their round."""
    worlds = make_worlds("sphere", num_envs=2)
    first, _ = worlds.reset(seed=0)
    second, *_ = worlds.step(np.zeros((2, 5), dtype=np.int8))
    mixed, _ = worlds.reset(seed=0, options={"reset_mask": np.array([True, False])})
    np.testing.assert_array_equal(mixed, np.stack([first[0], second[1]]))


def test_a_refused_action_moves_no_world() -> None:
    """Not even the first one, whose own action was fine."""
    worlds = make_worlds("sphere", num_envs=2)
    contexts, _ = worlds.reset(seed=0)
    with pytest.raises(InvalidInput, match="0/1 mask"):
        worlds.step(np.array([[1, 0, 0, 0, 0], [2, 0, 0, 0, 0]]))
    with pytest.raises(InvalidInput, match=r"shape \(2, 5\), got \(2,\)"):
        worlds.step(np.array([1, 0]))
    np.testing.assert_array_equal(np.stack([world.contexts for world in worlds.worlds]), contexts)


def test_worlds_that_do_not_go_together_are_refused() -> None:
    """Other shapes, one world twice, none at all, wrong seeds."""
    world = make_world("sphere")
    for worlds in ([], [world, make_world("sphere", n_candidates=3)], [world, world]):
        with pytest.raises(InvalidInput, match="worlds must"):
            VectorWorlds(worlds)
    with pytest.raises(InvalidInput, match="num_envs must be"):
        make_worlds("sphere", num_envs=0)
    for seed in (-1, [1], "x"):
        with pytest.raises(InvalidInput, match="seed must be"):
            make_worlds("sphere", num_envs=2).reset(seed=cast("Any", seed))
