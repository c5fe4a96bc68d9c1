"""ViolationHunter: shows the candidates whom the policy would treat most unfairly, and lulls it when there are none."""

from __future__ import annotations

import numpy as np

from evenhand.environments.adversaries.hunter import Hunter, true_distances
from evenhand.environments.adversaries.next_odds import NextOdds
from evenhand.environments.checks import number
from evenhand.environments.contexts.source import ContextSource, Floats


class ViolationHunter(Hunter):
    """Harm: by how much gaps exceed true distances, over all pairs, as soon as one does by more than `epsilon`.

    Where none does, the set furthest from a violation hurts most: its verdicts tell the policy that people are more
    different than it thought, which brings the next violation. A hunter who showed the nearest instead would teach
    caution, and would see fewer violations than random contexts make.

    >>> from evenhand.environments.contexts import Sphere
    >>> alike, odds = np.zeros((1, 2)), NextOdds(np.array([0.75, 0.25]), 1)
    >>> ViolationHunter(Sphere(2)).harm(np.eye(2), odds, np.zeros(2), alike)
    0.5
    """

    def __init__(self, source: ContextSource, *, n_proposals: int = 16, epsilon: float = 0.01) -> None:
        super().__init__(source, n_proposals=n_proposals)
        self.epsilon = number("epsilon", epsilon, least=0)

    def harm(self, contexts: Floats, odds: NextOdds, theta: Floats, A: Floats) -> float:
        """The sum of all excesses if there is a violation; otherwise below zero, the closer to it the safer."""
        p, upper = odds.probabilities, np.triu_indices(len(contexts), 1)
        excess = (np.abs(p[:, None] - p[None, :]) - true_distances(contexts, A))[upper]
        worst = float(np.max(excess, initial=0.0 if len(excess) == 0 else -np.inf))
        if worst > self.epsilon:
            return float(np.sum(np.maximum(excess, 0.0)))
        return -1.0 / (1.0 + self.epsilon - worst)
