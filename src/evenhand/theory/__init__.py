"""The paper's bounds as numbers, with every constant explicit.

>>> from evenhand import theory
>>> round(theory.fairness_rounds(5, 5, epsilon=0.01, norm=1.0, shared=True))  # whatever T and the contexts
1249
"""

from evenhand.theory.fairness import fairness_loss, fairness_rounds, loss_of_wrong_distances, n_pairs
from evenhand.theory.mistakes import (
    distance_estimator_mistakes,
    ellipsoid_mistakes,
    inscribed_radius,
    n_unknowns,
    projection_growth,
    removed_fraction,
    thinness,
)
from evenhand.theory.regret import (
    RegretTerms,
    best_epsilon,
    confidence_radius,
    martingale_term,
    regret_full,
    regret_known_reward,
    regret_many,
    regret_terms,
    sum_of_widths,
)

__all__ = [
    "RegretTerms",
    "best_epsilon",
    "confidence_radius",
    "distance_estimator_mistakes",
    "ellipsoid_mistakes",
    "fairness_loss",
    "fairness_rounds",
    "inscribed_radius",
    "loss_of_wrong_distances",
    "martingale_term",
    "n_pairs",
    "n_unknowns",
    "projection_growth",
    "regret_full",
    "regret_known_reward",
    "regret_many",
    "regret_terms",
    "removed_fraction",
    "sum_of_widths",
    "thinness",
]
