"""From rewards and distances to odds: the fair linear programme."""

from evenhand.allocation.allocation import Allocation
from evenhand.allocation.certificate import Certificate, verify_certificate
from evenhand.allocation.draw import draw, draw_from
from evenhand.allocation.fair_distribution import fair_distribution
from evenhand.allocation.lazy_distances import BoundedDistances, fair_distribution_within

__all__ = [
    "Allocation",
    "BoundedDistances",
    "Certificate",
    "draw",
    "draw_from",
    "fair_distribution",
    "fair_distribution_within",
    "verify_certificate",
]
