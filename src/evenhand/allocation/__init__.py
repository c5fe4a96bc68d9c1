"""From rewards and distances to probabilities: the fair linear program."""

from evenhand.allocation.allocation import Allocation, OptimalityCertificate, verify_certificate
from evenhand.allocation.collisions import Choice, Collision, Collisions
from evenhand.allocation.draw import draw, draw_from
from evenhand.allocation.fair_distribution import fair_distribution
from evenhand.allocation.lazy_distances import BoundedDistances, fair_distribution_within

__all__ = [
    "Allocation",
    "BoundedDistances",
    "Choice",
    "Collision",
    "Collisions",
    "OptimalityCertificate",
    "draw",
    "draw_from",
    "fair_distribution",
    "fair_distribution_within",
    "verify_certificate",
]
