"""From rewards and distances to odds: the fair linear programme."""

from evenhand.allocation.allocation import Allocation
from evenhand.allocation.certificate import Certificate, verify_certificate
from evenhand.allocation.draw import draw
from evenhand.allocation.fair_distribution import fair_distribution

__all__ = ["Allocation", "Certificate", "draw", "fair_distribution", "verify_certificate"]
