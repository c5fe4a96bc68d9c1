"""FairEnvironment: a world as a Gymnasium environment, made of a truth, a source of contexts and outcomes.

LinearEnvironment and ProxyWorld are two such worlds.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import ArrayLike, NDArray

from evenhand._internal.arrays import Floats
from evenhand._internal.checks import check_share, check_whole, is_whole, refusal
from evenhand._internal.randomness import Seed, as_generator, separate_streams
from evenhand.environments.contexts import ContextSource, Decider, ProxyGroups, Scene, Sphere
from evenhand.environments.outcomes import GaussianOutcomes, OutcomeModel
from evenhand.environments.truths import MetricKind, as_metric, as_theta, metric_from, random_direction
from evenhand.errors import InvalidInput
from evenhand.records.contexts import as_contexts

Action = Iterable[int] | NDArray[np.int8]
"""A Decision's `chosen`, or a point of Gymnasium's MultiBinary space."""


class FairEnvironment(gymnasium.Env[Floats, Action]):
    """k candidates a round from `source`, expected rewards <theta, x>, outcomes around them; it never ends.

    theta: (d,), norm <= 1. A: (r, d), the reviewer's metric, for auditors and adversaries. seed: for the first `reset`
    without a seed.

    An observation is the contexts (k, d), an action the chosen candidates (a Decision's `chosen`, or a 0/1 array of
    length k), the reward the sum of their outcomes. `info["rewards"]` has the outcome of each chosen candidate,
    `info["expected"]` every candidate's expected reward, (k,). Regret and unfairness are counted in the lab, not here.

    Contexts and outcomes come from two separate streams, and all outcomes are drawn before anybody is chosen, so all
    policies with the same seed meet the same candidates and the same outcomes.

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
            raise InvalidInput(f"source must draw the {len(self.theta)} features of theta, got {source.n_features}")
        self.source = source
        self.outcomes = outcomes if outcomes is not None else GaussianOutcomes()
        self.n_candidates = check_whole("n_candidates", n_candidates, least=1)
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

    @property
    def contexts(self) -> Floats:
        """The contexts of the current round, (k, d)."""
        return self._shown().copy()

    # Gymnasium's interface.

    def reset(self, *, seed: Seed = None, options: dict[str, Any] | None = None) -> tuple[Floats, dict[str, Any]]:
        """Start again: the first contexts, (k, d). A seed fixes all that follows; without one the streams continue.

        `seed` may be a Generator too. `options` are ignored. Theta, A, the source and the watched policy stay.
        """
        self._seed(seed)
        self._context_rng, self._outcome_rng = separate_streams(self.np_random, 2)
        self.round = 0
        return self._show(), {}

    def step(self, action: Action) -> tuple[Floats, float, bool, bool, dict[str, Any]]:
        """Choose these candidates: the next contexts, the sum of outcomes, and each outcome in `info`.

        The next contexts are drawn before a policy can learn from this round, so an adversary sees it one round late;
        call `settle`, let the policy learn, then `advance` for an adversary that is up to date.
        """
        rewards = self.settle(action)
        expected = self.expected_rewards(self._shown())
        contexts = self.advance()
        return contexts, float(sum(rewards.values())), False, False, {"rewards": rewards, "expected": expected}

    # The two halves of a step.

    def settle(self, action: Action) -> dict[int, float]:
        """The outcomes of choosing these candidates of the current round. Changes nothing."""
        chosen = chosen_of(action, len(self._shown()))
        assert self._outcomes is not None
        return {i: float(self._outcomes[i]) for i in chosen}

    def advance(self) -> Floats:
        """Move to the next round and return its contexts, (k, d)."""
        self._shown()
        self.round += 1
        return self._show()

    # What the lab and adversaries use.

    def watch(self, policy: Decider) -> None:
        """Show the playing policy to the source of contexts. Populations ignore it; adversaries do not."""
        if not callable(getattr(policy, "decide", None)):
            raise refusal("policy", "an object with decide(contexts)", policy)
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
        self._contexts = np.clip(contexts, -1.0, 1.0)  # rounding may leave a coordinate above 1, outside the space
        expected = np.clip(self.expected_rewards(self._contexts), -1.0, 1.0)
        self._outcomes = self.outcomes.draw(expected, self._outcome_rng)
        return self._contexts.copy()

    def _shown(self) -> Floats:
        if self._contexts is None:
            raise InvalidInput("call reset() first: there are no candidates yet")
        return self._contexts

    def _seed(self, seed: Seed) -> None:
        generator = as_generator(seed)  # which also refuses what is no seed
        if isinstance(seed, np.random.Generator):
            self.np_random = generator
        else:
            super().reset(seed=None if seed is None else int(seed))


class LinearEnvironment(FairEnvironment):
    """k candidates a round with contexts uniform on the unit sphere, rewards <theta, x> plus Gaussian noise.

    `A` is only used by auditors and adversaries that ask the world for it; the default is the Euclidean metric.

    >>> world = LinearEnvironment(theta=[1.0, 0.0], n_candidates=3)
    >>> contexts, info = world.reset(seed=0)
    >>> contexts.shape
    (3, 2)
    """

    def __init__(
        self, theta: ArrayLike, *, n_candidates: int, noise: float = 0.1, A: ArrayLike | None = None, seed: Seed = None
    ) -> None:
        d = len(as_theta(theta))
        super().__init__(
            theta,
            np.eye(d) if A is None else A,
            source=Sphere(d),
            n_candidates=n_candidates,
            outcomes=GaussianOutcomes(noise=noise),
            seed=seed,
        )


class ProxyWorld(FairEnvironment):
    """Two groups with equal merits; the proxy that separates them predicts reward, and the metric ignores it.

    The paper's motivating case: maximising reward favours one group, but candidates that differ only in the proxy must
    be treated alike. theta has norm 1, with `proxy_weight` on the proxy (the last feature) and the rest on the merits
    in a random direction. metric: a kind, or a matrix (r, d - 1), on the merits; A has a column of zeros for the proxy.

    >>> world = ProxyWorld(n_features=3, n_candidates=4, seed=0)
    >>> contexts, _ = world.reset(seed=1)
    >>> float(np.linalg.norm(world.A[:, -1])), round(float(world.theta[-1]), 2)
    (0.0, 0.7)
    >>> world.groups(contexts).shape
    (4,)
    """

    def __init__(
        self,
        *,
        n_features: int = 5,
        n_candidates: int = 5,
        metric: MetricKind | ArrayLike = "full",
        norm: float = 0.7,
        proxy_weight: float = 0.7,
        share: float = 0.5,
        outcomes: OutcomeModel | None = None,
        seed: Seed = None,
    ) -> None:
        source = ProxyGroups(n_features, share=share)
        weight = check_share("proxy_weight", proxy_weight)
        theta_rng, metric_rng, own = separate_streams(seed, 3)
        merits = random_direction(n_features - 1, seed=theta_rng) * np.sqrt(1.0 - weight**2)
        A = metric_from(metric, n_features - 1, norm=norm, seed=metric_rng)
        super().__init__(
            np.append(merits, weight),
            np.hstack([A, np.zeros((len(A), 1))]),
            source=source,
            n_candidates=n_candidates,
            outcomes=outcomes,
            seed=own,
        )

    def groups(self, contexts: Floats) -> NDArray[np.bool_]:
        """Which of these candidates (k, d) belong to the group that the proxy favours, (k,)."""
        return np.asarray(contexts[:, -1] > 0)


def chosen_of(action: Action, n_candidates: int) -> tuple[int, ...]:
    """The chosen candidates, sorted. A numpy array is a 0/1 mask of length k; anything else a sequence of indices.

    >>> chosen_of((2, 0), 3), chosen_of(np.array([1, 0, 1]), 3), chosen_of((), 3)
    ((0, 2), (0, 2), ())
    """
    if isinstance(action, np.ndarray):
        if action.shape != (n_candidates,) or not np.all((action == 0) | (action == 1)):
            raise refusal(
                "an action array", f"a 0/1 mask of {n_candidates} candidates (pass indices as a tuple)", action
            )
        return tuple(np.flatnonzero(action).tolist())
    try:
        indices = list(action)
    except TypeError:
        raise refusal("action", "a tuple of indices or a 0/1 array", action) from None
    for i in indices:
        if not is_whole(i) or not 0 <= i < n_candidates:
            raise InvalidInput(f"a chosen candidate must be from 0 to {n_candidates - 1}, got {i!r}")
    if len(set(indices)) < len(indices):
        raise InvalidInput(f"a candidate can be chosen only once, got {tuple(indices)}")
    return tuple(sorted(int(i) for i in indices))
