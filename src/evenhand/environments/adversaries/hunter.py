"""Hunter: looks at many rounds that could be, and makes the worst of them come true."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np

from evenhand.environments.adversaries.next_odds import NextOdds, next_odds
from evenhand.environments.checks import whole
from evenhand.environments.contexts.source import ContextSource, Floats, Scene
from evenhand.errors import InvalidInput
from evenhand.records.contexts import as_contexts


class Hunter(ContextSource):
    """Draws `n_proposals` context sets from `source` and shows the one with the greatest `harm` to the watched policy.

    Before anybody is watched it shows the first: `source` itself. As many numbers are taken from the stream
    whatever the policy does, so the proposals of a round depend on the seed alone, and policies differ only in which of
    them they deserve.
    """

    def __init__(self, source: ContextSource, *, n_proposals: int = 16) -> None:
        super().__init__(source.n_features)
        self.source = source
        self.n_proposals = whole("n_proposals", n_proposals, least=1)

    @abstractmethod
    def harm(self, contexts: Floats, odds: NextOdds, theta: Floats, A: Floats) -> float:
        """How much it hurts that the policy would play these odds on contexts (k, d), given the truth."""

    def draw(self, scene: Scene, rng: np.random.Generator) -> Floats:
        """Contexts (k, d): of all proposals the most harmful; of equally harmful ones the first."""
        proposals = [as_contexts(self.source.draw(scene, rng), self.n_features) for _ in range(self.n_proposals)]
        if scene.policy is None:
            return proposals[0]
        if scene.theta is None or scene.A is None:
            raise InvalidInput("a hunter needs the truth: theta and A of the scene are missing")
        harms = [self.harm(x, next_odds(scene.policy, x), scene.theta, scene.A) for x in proposals]
        return proposals[int(np.argmax(harms))]


def true_distances(contexts: Floats, A: Floats) -> Floats:
    """||A (x_i - x_j)|| between the rows of `contexts` (k, d), (k, k)."""
    images = contexts @ A.T
    return np.asarray(np.linalg.norm(images[:, None, :] - images[None, :, :], axis=2))
