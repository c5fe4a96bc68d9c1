"""One seed, one world: whatever is chosen, in whatever process."""

from __future__ import annotations

import hashlib
import subprocess
import sys

import numpy as np
import pytest

import evenhand as eh
from evenhand.environments import FairEnvironment, make_world, names
from evenhand.lab import play


def history(world: FairEnvironment, *, rounds: int = 20, greedy: bool = True) -> str:
    """A digest of contexts and everybody's luck over some rounds, choosing everybody or nobody."""
    digest = hashlib.blake2b()
    contexts, _ = world.reset(seed=11)
    for _ in range(rounds):
        digest.update(contexts.tobytes())
        digest.update(np.array(list(world.settle(range(world.n_candidates)).values())).tobytes())
        contexts = world.step(range(world.n_candidates) if greedy else ())[0]
    return digest.hexdigest()


@pytest.mark.parametrize("name", names())
@pytest.mark.parametrize("reward", ["gaussian", "bounded", "bernoulli"])
def test_the_world_does_not_depend_on_who_is_chosen(name: str, reward: str) -> None:
    """Choosing everybody and choosing nobody meet the same candidates and the same luck."""
    eager, idle = (make_world(name, reward=reward, seed=2) for _ in range(2))
    assert history(eager, greedy=True) == history(idle, greedy=False)


@pytest.mark.process
def test_all_worlds_are_the_same_in_another_process() -> None:
    """Truth, contexts and luck of every world have the same digest in a fresh interpreter."""
    script = (
        "from evenhand.environments import make_world, names\n"
        "from tests.environments.test_same_world import history\n"
        "print(' '.join(history(make_world(name, seed=2)) for name in names()))"
    )
    done = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
    assert done.stdout.split() == [history(make_world(name, seed=2)) for name in names()]


def test_seeds_matter_and_generators_are_seeds() -> None:
    """Another seed gives other contexts; a Generator is a seed; without one the streams go on."""
    world = make_world("sphere", seed=2)
    first, second = world.reset(seed=1)[0], world.reset(seed=2)[0]
    assert not np.array_equal(first, second)
    assert np.array_equal(world.reset(seed=1)[0], first)
    assert not np.array_equal(world.reset()[0], first)
    one, two = (world.reset(seed=np.random.default_rng(5))[0] for _ in range(2))
    assert np.array_equal(one, two)
    assert np.array_equal(world.reset(seed=np.int64(1))[0], first)  # type: ignore[arg-type]


def test_a_restored_generator_is_as_good_as_the_first() -> None:
    """A Generator brought back from its state, without the seed it came from, gives the same world."""
    world, original = make_world("sphere"), np.random.default_rng(5)
    restored = np.random.default_rng()
    restored.bit_generator.state = original.bit_generator.state
    assert np.array_equal(world.reset(seed=original)[0], world.reset(seed=restored)[0])


def test_a_name_means_one_truth_and_a_seed_another() -> None:
    """Made twice without a seed, theta and A are equal; with another seed they differ; reset leaves them."""
    one, two, other = make_world("sphere"), make_world("sphere"), make_world("sphere", seed=1)
    theta = one.theta.copy()
    one.reset(seed=9)
    assert np.array_equal(one.theta, two.theta)
    assert np.array_equal(one.theta, theta)
    assert np.array_equal(one.A, two.A)
    assert not np.allclose(one.theta, other.theta)
    assert not np.allclose(one.A, other.A)


def test_contexts_do_not_depend_on_how_outcomes_scatter() -> None:
    """Contexts and luck come from separate streams: other rewards, the same candidates."""
    one, two = make_world("sphere", reward="gaussian"), make_world("sphere", reward="bernoulli")
    for world in (one, two):
        world.reset(seed=1)
    assert np.array_equal(one.step(())[0], two.step(())[0])


@pytest.mark.parametrize("name", ["violation-hunter", "regret-hunter", "direction-hider"])
def test_an_adversary_is_the_same_every_time(name: str) -> None:
    """Played twice by equal bandits with one seed, an adversary shows the same contexts."""
    runs = []
    for _ in range(2):
        world = make_world(name, n_features=3, seed=1)
        bandit = eh.FairBandit(3, epsilon=0.05, seed=0, reviewer_error=1e-3)
        account = play(bandit, world, eh.auditors.MahalanobisAuditor(world.A), rounds=15, epsilon=0.05, seed=3)
        runs.append((account.regret.tobytes(), world.advance().tobytes()))
    assert runs[0] == runs[1]


def test_an_observation_is_the_callers_own() -> None:
    """Writing into the contexts received changes neither the round's expected rewards nor its outcomes."""
    world = make_world("sphere", noise=0.0)
    contexts, _ = world.reset(seed=1)
    expected = world.expected_rewards(contexts)
    contexts[:] = 0.0
    info = world.step((0,))[4]
    assert info["rewards"][0] == pytest.approx(expected[0])
    assert np.array_equal(info["expected"], expected)
