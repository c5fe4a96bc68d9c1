"""FairEnvironment: a world of candidates in Gymnasium's form, put together from a truth, a source and outcomes."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from numpy.typing import ArrayLike, NDArray

from evenhand._internal.randomness import Seed, as_generator
from evenhand.environments.action import Action, chosen_of
from evenhand.environments.checks import whole
from evenhand.environments.contexts.source import ContextSource, Decider, Scene
from evenhand.environments.outcomes import GaussianOutcomes, OutcomeModel
from evenhand.environments.streams import separate_streams
from evenhand.environments.truths import as_metric, as_theta
from evenhand.errors import InvalidInput
from evenhand.records.contexts import as_contexts

Floats = NDArray[np.float64]


class FairEnvironment(gymnasium.Env[Floats, Action]):
    """k candidates a round from `source`, expected rewards <theta, x>, outcomes around them; it never ends.

    theta: (d,), norm <= 1. A: (r, d), the metric in the reviewer's head, for whoever makes the reviewer and for
    adversaries. seed: of the first `reset` that is given none.

    An observation is the contexts (k, d), an action the chosen candidates (a Decision's `chosen`, or a 0/1 array of
    length k), the reward the sum of their outcomes. `info["rewards"]` has each chosen one's outcome, `info["expected"]`
    the expected reward of every candidate, (k,). The world keeps no score: regret and unfairness belong to the lab.

    Contexts and luck come from two separate streams, and everybody's outcome is settled before anybody is chosen, so
    all policies that meet a world with one seed meet the same candidates and the same luck.

    >>> from evenhand.environments.contexts import Sphere
    >>> world = FairEnvironment([1.0, 0.0], [[0.0, 0.5]], source=Sphere(2), n_candidates=3)
    >>> contexts, info = world.reset(seed=0)
    >>> contexts.shape
    (3, 2)
    >>> contexts, reward, terminated, truncated, info = world.step((1,))
    >>> sorted(info["rewards"])
    [1]
    """

    def __init__(
        self,
        theta: ArrayLike,
        A: ArrayLike,
        *,
        source: ContextSource,
        n_candidates: int,
        outcomes: OutcomeModel | None = None,
        seed: Seed = None,
    ) -> None:
        self.theta = as_theta(theta)
        self.A = as_metric(A, len(self.theta))
        if source.n_features != len(self.theta):
            raise InvalidInput(f"the source draws {source.n_features} features, theta has {len(self.theta)}")
        self.source = source
        self.outcomes = outcomes if outcomes is not None else GaussianOutcomes()
        self.n_candidates = whole("n_candidates", n_candidates, least=1)
        shape = (self.n_candidates, len(self.theta))
        self.observation_space = gymnasium.spaces.Box(-1.0, 1.0, shape=shape, dtype=np.float64)
        self.action_space = gymnasium.spaces.MultiBinary(self.n_candidates)
        self.round = 0
        self._policy: Decider | None = None
        self._contexts: Floats | None = None
        self._outcomes: Floats | None = None
        self._seed(seed)

    @property
    def n_features(self) -> int:
        """The length d of a context."""
        return len(self.theta)

    @property
    def noise(self) -> float:
        """The sub-Gaussian scale of the outcomes."""
        return self.outcomes.noise

    # Gymnasium's form.

    def reset(self, *, seed: Seed = None, options: dict[str, Any] | None = None) -> tuple[Floats, dict[str, Any]]:
        """Begin anew: the first contexts, (k, d). A seed fixes all that follows; without one the streams go on.

        `seed` may be a Generator too. `options` are not read. Theta, A, the source and who is watched stay.
        """
        self._seed(seed)
        self._context_rng, self._luck_rng = separate_streams(self.np_random, 2)
        self.round = 0
        return self._show(), {}

    def step(self, action: Action) -> tuple[Floats, float, bool, bool, dict[str, Any]]:
        """Choose these candidates: the next contexts, the sum of outcomes, and each one's outcome in `info`.

        The next contexts are drawn before a policy can learn from this round, so an adversary sees it one round late;
        `settle`, then learning, then `advance` is the same with an adversary that is up to date.
        """
        rewards = self.settle(action)
        expected = self.expected_rewards(self._shown())
        contexts = self.advance()
        return contexts, float(sum(rewards.values())), False, False, {"rewards": rewards, "expected": expected}

    # The two halves of a step.

    def settle(self, action: Action) -> dict[int, float]:
        """What came of choosing these candidates of the contexts shown last: each one's outcome. Changes nothing."""
        chosen = chosen_of(action, len(self._shown()))
        assert self._outcomes is not None
        return {i: float(self._outcomes[i]) for i in chosen}

    def advance(self) -> Floats:
        """Go to the next round: its contexts, (k, d)."""
        self._shown()
        self.round += 1
        return self._show()

    # What the lab and adversaries use.

    def watch(self, policy: Decider) -> None:
        """Show the policy that plays to whoever draws the contexts. Populations do not look; adversaries do."""
        if not callable(getattr(policy, "decide", None)):
            raise InvalidInput(f"the policy is {policy!r}; allowed is anything with decide(contexts)")
        self._policy = policy

    def expected_rewards(self, contexts: Floats) -> Floats:
        """<theta, x> of each row, (k,)."""
        return np.asarray(contexts @ self.theta)

    def _draw(self, scene: Scene, rng: np.random.Generator) -> Floats:
        """Contexts (k, d) of a round; a subclass may draw its own."""
        return self.source.draw(scene, rng)

    def _show(self) -> Floats:
        scene = Scene(self.n_candidates, self.round, self.theta, self.A, self._policy)
        contexts = as_contexts(self._draw(scene, self._context_rng), self.n_features)
        self._contexts = np.clip(contexts, -1.0, 1.0)  # a coordinate may be above 1 by rounding, and outside the space
        expected = np.clip(self.expected_rewards(self._contexts), -1.0, 1.0)
        self._outcomes = self.outcomes.draw(expected, self._luck_rng)
        return self._contexts.copy()

    def _shown(self) -> Floats:
        if self._contexts is None:
            raise InvalidInput("no candidates have been shown yet; call reset() first")
        return self._contexts

    def _seed(self, seed: Seed) -> None:
        generator = as_generator(seed)  # which also refuses what is no seed
        if isinstance(seed, np.random.Generator):
            self.np_random = generator
        else:
            super().reset(seed=None if seed is None else int(seed))
