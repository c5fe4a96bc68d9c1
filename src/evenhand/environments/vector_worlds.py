"""VectorWorlds: many worlds side by side in Gymnasium's vector form."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from evenhand._internal.arrays import Floats
from evenhand._internal.checks import check_whole, is_whole, refusal
from evenhand.environments.fair_environment import FairEnvironment
from evenhand.errors import InvalidInput

Actions = NDArray[np.int8]
"""A 0/1 mask of the chosen candidates of each world, (n, k)."""


class VectorWorlds(VectorEnv[Floats, Actions, NDArray[Any]]):
    """n worlds of one shape, stepped together: contexts (n, k, d), actions (n, k), rewards (n,).

    `gymnasium.make_vec("evenhand/Sphere-v0", num_envs=n)` makes one: copies of one world, with the same truth and
    other people. Pass your own list for worlds of different truths. `info["rewards"]` (n, k) has the outcome of every
    chosen candidate, NaN of the others; `info["expected"]` (n, k) every candidate's expected reward. A seed gives
    world i the seed plus i, as Gymnasium's SyncVectorEnv does, so both play the same rounds. Worlds never end.

    >>> from evenhand.environments import make_world
    >>> worlds = VectorWorlds([make_world("sphere", n_features=3, n_candidates=4) for _ in range(2)])
    >>> contexts, _ = worlds.reset(seed=0)
    >>> contexts, rewards, terminated, truncated, info = worlds.step(np.eye(2, 4, dtype=np.int8))
    >>> contexts.shape, rewards.shape, np.isnan(info["rewards"]).sum().item()
    ((2, 4, 3), (2,), 6)
    """

    def __init__(self, worlds: Sequence[FairEnvironment]) -> None:
        if not worlds or not all(isinstance(world, FairEnvironment) for world in worlds):
            raise refusal("worlds", "a list of at least 1 FairEnvironment", worlds)
        self.worlds = tuple(worlds)
        self.num_envs = len(self.worlds)
        self.single_observation_space = self.worlds[0].observation_space
        self.single_action_space = self.worlds[0].action_space
        for at, world in enumerate(self.worlds):
            if world.observation_space != self.single_observation_space:
                shapes = f"{world.observation_space.shape}, world 0 {self.single_observation_space.shape}"
                raise InvalidInput(f"worlds must have the same candidates and features, world {at} has {shapes}")
        if len(set(map(id, self.worlds))) < self.num_envs:
            raise InvalidInput("worlds must be different objects, got one of them twice")
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self.metadata = {"autoreset_mode": AutoresetMode.NEXT_STEP}

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Floats, dict[str, Any]]:
        """The first contexts of all worlds, (n, k, d).

        seed: a number, a list of one for each world, or None to go on with the streams. `options["reset_mask"]` (n,),
        as of SyncVectorEnv, resets these worlds only.
        """
        seeds = self._seeds(seed)
        mask = (options or {}).get("reset_mask", np.ones(self.num_envs, dtype=np.bool_))
        if not isinstance(mask, np.ndarray) or mask.shape != (self.num_envs,) or mask.dtype != np.bool_:
            raise refusal("reset_mask", f"an array of {self.num_envs} bools", mask)
        shown = [
            world.reset(seed=own)[0] if starts else world.contexts
            for world, own, starts in zip(self.worlds, seeds, mask, strict=True)
        ]
        return np.stack(shown), {}

    def _seeds(self, seed: int | Sequence[int | None] | None) -> list[int | None]:
        if seed is None:
            return [None] * self.num_envs
        if is_whole(seed):
            first = check_whole("seed", seed, least=0)
            return [first + at for at in range(self.num_envs)]
        if not isinstance(seed, Sequence) or isinstance(seed, str) or len(seed) != self.num_envs:
            raise refusal("seed", f"a whole number >= 0, a list of {self.num_envs} of them, or None", seed)
        return [None if own is None else check_whole("seed", own, least=0) for own in seed]

    def step(self, actions: Any) -> tuple[Floats, NDArray[Any], NDArray[Any], NDArray[Any], dict[str, Any]]:
        """Choose in every world, by a 0/1 mask (n, k); no world has moved after an error."""
        masks = np.asarray(actions)
        if masks.shape != self.action_space.shape:
            raise InvalidInput(f"actions must have shape {self.action_space.shape}, got {masks.shape}")
        settled = [world.settle(mask) for world, mask in zip(self.worlds, masks, strict=True)]
        expected = np.stack([world.expected_rewards(world.contexts) for world in self.worlds])
        outcomes = np.full(masks.shape, np.nan)
        for row, rewards in zip(outcomes, settled, strict=True):
            row[list(rewards)] = list(rewards.values())
        contexts = np.stack([world.advance() for world in self.worlds])
        totals = np.array([float(sum(rewards.values())) for rewards in settled])
        never = np.zeros(self.num_envs, dtype=np.bool_)
        return contexts, totals, never, never.copy(), {"rewards": outcomes, "expected": expected}
