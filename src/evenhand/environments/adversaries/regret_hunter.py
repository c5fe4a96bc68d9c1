"""RegretHunter: shows the candidates on whom the policy would lose most against the best fair odds."""

from __future__ import annotations

import numpy as np

from evenhand.allocation import fair_distribution
from evenhand.environments.adversaries.hunter import Hunter, true_distances
from evenhand.environments.adversaries.next_odds import NextOdds
from evenhand.environments.contexts.source import Floats


class RegretHunter(Hunter):
    """Harm: the regret of the round, <r-bar, p*> - <r-bar, p>.

    >>> from evenhand.environments.contexts import Sphere
    >>> equal = NextOdds(np.array([0.5, 0.5]), 1)
    >>> RegretHunter(Sphere(2)).harm(np.eye(2), equal, np.array([1.0, 0.0]), np.eye(2))
    0.5
    """

    def harm(self, contexts: Floats, odds: NextOdds, theta: Floats, A: Floats) -> float:
        """The best fair odds' expected reward minus these odds'."""
        rewards = contexts @ theta
        best = fair_distribution(rewards, true_distances(contexts, A), odds.capacity)
        return float(best.value - np.sum(rewards * odds.probabilities))
