"""Who plays rounds: evenhand, and LinUCB in bare numpy. Others are in bandit_peers.py.

Everybody is given the same arrays and has to choose, draw and learn; what the world does in between, outcomes and
reviews, is nobody's time.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

import evenhand as eh
from benchmarks.measurement import Floats
from benchmarks.timing import clock

NOISE = 0.1
"""The standard deviation of an outcome."""


class Player(Protocol):
    """Chooses a candidate, and learns from the outcome."""

    def choose(self, contexts: Floats) -> int | None:
        """One of the candidates with these contexts (k, d), or nobody."""

    def look_back(self, reviewer: eh.auditors.Auditor, contexts: Floats, chosen: int | None) -> None:
        """What somebody else does between the choice and the learning; not timed."""

    def learn(self, reward: float | None) -> None:
        """Learn from the outcome of the last choice; None if nobody was chosen."""


class World:
    """Contexts on the unit sphere and linear outcomes: what is true depends on d alone, who comes on `stream` too."""

    def __init__(self, k: int, d: int, *, stream: int = 0) -> None:
        self.shape = (k, d)
        self.theta = eh.environments.random_direction(d, seed=1)
        self.reviewer = eh.auditors.MahalanobisAuditor(eh.environments.random_metric(d, seed=2))
        self._rng = np.random.default_rng([3, stream])

    def rounds(self, n: int) -> tuple[Floats, Floats]:
        """The contexts (n, k, d) and everybody's outcomes (n, k) of the next n rounds."""
        contexts = self._rng.normal(size=(n, *self.shape))
        contexts /= np.linalg.norm(contexts, axis=2, keepdims=True)
        return contexts, contexts @ self.theta + NOISE * self._rng.normal(size=contexts.shape[:2])


class Match:
    """One player in a world of its own."""

    def __init__(self, player: Player, world: World) -> None:
        self.player, self.world = player, world

    def play(self, n: int) -> float:
        """Seconds of choosing and learning in each of the next n rounds, on average."""
        player, seconds = self.player, 0.0
        for contexts, outcomes in zip(*self.world.rounds(n), strict=True):
            start = clock()
            chosen = player.choose(contexts)
            seconds += clock() - start
            player.look_back(self.world.reviewer, contexts, chosen)
            reward = None if chosen is None else float(outcomes[chosen])
            start = clock()
            player.learn(reward)
            seconds += clock() - start
        return seconds / n


class Evenhand:
    """FairBandit as it comes, with an exact reviewer who looks at every pair of every round."""

    def __init__(self, world: World) -> None:
        self.bandit = eh.FairBandit(world.shape[1], seed=0)

    def choose(self, contexts: Floats) -> int | None:
        """Decide."""
        self._decision = self.bandit.decide(contexts)
        return self._decision.chosen[0] if self._decision.chosen else None

    def look_back(self, reviewer: eh.auditors.Auditor, contexts: Floats, chosen: int | None) -> None:
        """The reviewer looks at the decision."""
        self._review = reviewer.review(self._decision)

    def learn(self, reward: float | None) -> None:
        """Learn from one outcome and a complete review."""
        rewards = {} if reward is None else {self._decision.chosen[0]: reward}
        self.bandit.learn(self._decision, rewards=rewards, review=self._review)


class Alone:
    """A player who does not listen to reviewers."""

    def look_back(self, reviewer: eh.auditors.Auditor, contexts: Floats, chosen: int | None) -> None:
        """The reviewer looks all the same: so everybody comes to learning with the processor's caches in one state."""
        probabilities = np.zeros(len(contexts))
        probabilities[chosen] = 1.0
        reviewer.review(eh.Decision("", 0, contexts, probabilities, (), 1, probabilities))


class NumpyLinUCB(Alone):
    """LinUCB in bare numpy, one model for all candidates; `features` of a candidate, the context's own by default.

    With n features: O(k n^2) for the widths, O(n^2) for the rank-one update of the inverse.
    """

    def __init__(self, n_features: int, *, alpha: float = 1.0) -> None:
        self.inverse, self.answers, self.alpha = np.eye(n_features), np.zeros(n_features), alpha

    def choose(self, contexts: Floats) -> int | None:
        """The candidate with the highest upper end."""
        theta = self.inverse @ self.answers
        widths = np.sqrt(np.einsum("ij,ij->i", contexts @ self.inverse, contexts))
        chosen = int(np.argmax(contexts @ theta + self.alpha * widths))
        self._context = contexts[chosen]
        return chosen

    def learn(self, reward: float | None) -> None:
        """Sherman and Morrison's update."""
        x = self._context
        w = self.inverse @ x
        self.inverse -= np.outer(w, w / (1.0 + x @ w))
        self.answers += (reward or 0.0) * x


class Widened(NumpyLinUCB):
    """LinUCB over all d(d+1)/2 products of a context's features: as many unknowns as a Mahalanobis matrix has."""

    def __init__(self, d: int) -> None:
        super().__init__(d * (d + 1) // 2)
        self._first, self._second = np.triu_indices(d)

    def choose(self, contexts: Floats) -> int | None:
        """The candidate with the highest upper end."""
        return super().choose(contexts[:, self._first] * contexts[:, self._second])
