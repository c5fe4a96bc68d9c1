"""WorldSimulation: worlds of evenhand as environments of Coba."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from evenhand._internal.checks import check_whole
from evenhand.environments import make_world
from evenhand.environments.worlds import AMONG
from evenhand.errors import InvalidInput, MissingExtra

try:
    from coba.primitives import Environment
except ModuleNotFoundError as error:
    raise MissingExtra("this adapter needs coba; pip install 'evenhand[coba]'") from error


class WorldSimulation(Environment):  # type: ignore[misc]  # Coba has no types
    """The world of this name for so many interactions: every candidate is an action, its context the action's vector.

    seed: of the candidates and outcomes. settings: those of `environments.make_world`, its seed as `truth_seed`. There
    is no context beside the actions. Every `read` brings the same interactions. Adversaries are refused, since Coba's
    environments do not see the learner.

    >>> (interaction,) = WorldSimulation(1, "lending", n_candidates=3).read()
    >>> len(interaction["actions"]), len(interaction["actions"][0]), len(interaction["rewards"])
    (3, 5, 3)
    """

    def __init__(
        self, n_interactions: int, world: str = "sphere", *, seed: int = 1, truth_seed: int = 0, **settings: Any
    ) -> None:
        self.n_interactions = check_whole("n_interactions", n_interactions, least=0)
        if world in AMONG:
            raise InvalidInput(f"world must not depend on the policy, which Coba does not show, got {world!r}")
        self.world, self.settings = world, settings
        self.seed, self.truth_seed = check_whole("seed", seed, least=0), check_whole("truth_seed", truth_seed, least=0)
        self.make()

    def make(self) -> Any:
        """The world itself, with its `theta` and its `A`, for an auditor."""
        return make_world(self.world, seed=self.truth_seed, **self.settings)

    @property
    def params(self) -> Mapping[str, Any]:
        """What Coba records of the environment."""
        settings = {name: str(value) for name, value in self.settings.items()}
        return {"env_type": f"evenhand {self.world}", "seed": self.seed, "truth_seed": self.truth_seed, **settings}

    def read(self) -> Iterator[dict[str, Any]]:
        """The interactions, the same every time."""
        world = self.make()
        world.reset(seed=self.seed)
        for _ in range(self.n_interactions):
            contexts = world.contexts
            outcomes = world.settle(range(len(contexts)))
            rewards = [outcomes[i] for i in range(len(contexts))]
            yield {"context": None, "actions": [tuple(row) for row in contexts.tolist()], "rewards": rewards}
            world.advance()
