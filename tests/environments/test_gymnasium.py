"""Worlds as Gymnasium sees them."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import evenhand as eh
from evenhand.environments import FairEnvironment, make_world, names, world_id
from evenhand.errors import InvalidInput


@pytest.mark.parametrize("name", names())
def test_every_world_passes_gymnasiums_own_checker(name: str) -> None:
    """check_env finds nothing to complain of; any warning of its would fail the test."""
    check_env(gymnasium.make(world_id(name)).unwrapped)


@pytest.mark.parametrize("name", names())
def test_a_made_world_steps_through_gymnasiums_wrappers(name: str) -> None:
    """With the passive checker around it, a world resets and steps within its spaces and never ends."""
    world = gymnasium.make(world_id(name), n_candidates=3, reward="bernoulli", seed=4)
    world.action_space.seed(0)
    world.reset(seed=1)
    for _ in range(5):
        action = world.action_space.sample()
        contexts, reward, terminated, truncated, info = world.step(action)
        assert contexts in world.observation_space
        assert sorted(info["rewards"]) == np.flatnonzero(action).tolist()
        assert reward == sum(info["rewards"].values())
        assert not terminated
        assert not truncated


def test_settings_reach_the_world_through_make() -> None:
    """gymnasium.make builds what make_world builds of the same settings."""
    settings: dict[str, Any] = {
        "n_candidates": 3,
        "n_features": 4,
        "metric": "rank-one",
        "reward": "bernoulli",
        "seed": 5,
    }
    made = gymnasium.make("evenhand/Groups-v0", n_groups=2, **settings).unwrapped
    built = make_world("groups", n_groups=2, **settings)
    assert isinstance(made, FairEnvironment)
    assert np.array_equal(made.theta, built.theta)
    assert np.array_equal(made.A, built.A)
    assert np.array_equal(made.reset(seed=1)[0], built.reset(seed=1)[0])
    assert made.observation_space.shape == (3, 4)


def test_a_choice_may_be_indices_or_a_mask() -> None:
    """A tuple of indices and the 0/1 array that means the same have the same outcomes; () is nobody."""
    world, twin = make_world("sphere"), make_world("sphere")
    world.reset(seed=1)
    twin.reset(seed=1)
    by_index = world.step((3, 0))
    by_mask = twin.step(np.array([1, 0, 0, 1, 0], dtype=np.int8))
    assert by_index[4]["rewards"] == by_mask[4]["rewards"]
    assert by_index[1] == by_mask[1]
    assert world.step(())[4]["rewards"] == {}


@pytest.mark.parametrize(
    "action", [(5,), (-1,), (0, 0), (True,), (0.5,), 2, np.array([0, 1]), np.array([0, 0, 0, 0, 2])], ids=repr
)
def test_a_choice_that_cannot_be_is_refused(action: object) -> None:
    """Somebody who is not there, somebody twice, an array that is no mask: a sentence, and the round is as it was."""
    world = make_world("sphere", seed=3)
    world.reset(seed=1)
    before = world.settle(range(5))
    with pytest.raises(InvalidInput, match=r"candidate|action"):
        world.step(action)  # type: ignore[arg-type]
    assert world.settle(range(5)) == before
    assert world.round == 0


def test_a_world_must_be_reset_before_it_is_played() -> None:
    """Stepping, settling and advancing before the first reset raise a sentence."""
    world = make_world("sphere")
    with pytest.raises(InvalidInput, match="reset"):
        world.step((0,))
    with pytest.raises(InvalidInput, match="reset"):
        world.advance()


@pytest.mark.process
def test_deciding_does_not_load_gymnasium() -> None:
    """`import evenhand` and a decision leave gymnasium alone; `eh.environments` brings it."""
    script = (
        "import sys, evenhand as eh; eh.FairBandit(2, seed=0).decide([[1.0, 0.0], [0.0, 1.0]]);"
        "eh.auditors.MahalanobisAuditor([[1.0]]); eh.baselines.EqualProbabilities();"
        "assert 'gymnasium' not in sys.modules; assert 'environments' in dir(eh);"
        "eh.environments.make_world('sphere'); assert 'gymnasium' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


@pytest.mark.process
def test_without_gymnasium_the_message_says_what_to_install() -> None:
    """Where gymnasium is missing evenhand still decides, and its worlds name the extra to install."""
    script = (
        "import sys; sys.modules['gymnasium'] = None\n"
        "import evenhand as eh\n"
        "eh.FairBandit(2, seed=0).decide([[1.0, 0.0]])\n"
        "try:\n    eh.environments\n"
        "except eh.errors.MissingExtra as error:\n    print(isinstance(error, ImportError), error)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
    assert done.stdout.startswith("True")
    assert "pip install 'evenhand[lab]'" in done.stdout


def test_evenhand_has_no_other_names() -> None:
    """A name that does not exist is an AttributeError, as of any module."""
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        eh.nonsense  # noqa: B018
