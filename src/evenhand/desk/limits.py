"""Limits of what a desk accepts. The service's request models use the same."""

from __future__ import annotations

MOST_EVENTS = 10_000
"""Events in one request."""

MOST_QUEUED = 10_000
"""Pairs of the review queue in one request."""

MOST_CAPACITY = 1_000_000

MOST_ROUNDS = 2**53

MOST_PAIRS_PER_DECISION = 1000

MOST_FEATURES = 200

MOST_FULL = 100
"""Features with structure "full": a learner of d features holds d^4 / 4 numbers, at 100 it takes 200 MB and a second or
two to make, at 200 sixteen times as much. Desks opened before with more keep what they have."""
