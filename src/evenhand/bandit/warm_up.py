"""Warming up: compile every kernel that deciding and learning use, or load it from the cache, in advance.

On a new installation that takes some twenty seconds, later half a second. Within a transaction it would keep every
desk of the database from writing for as long.
"""

from __future__ import annotations

import threading

import numpy as np

from evenhand.bandit.fair_bandit import FairBandit
from evenhand.metrics import MetricLearner, ProjectedVolume
from evenhand.records.decision import Review

SHAPES = ((2, 4, 1), (2, 4, 2), (2, 4, None), (22, 8, 1))
"""Features, candidates and capacity: large rounds use other kernels."""

_lock = threading.Lock()
_is_done = False


def warm_up() -> None:
    """Decide and learn with small default bandits; nothing after the first call in a process."""
    global _is_done
    if _is_done:
        return
    with _lock:
        if not _is_done:
            for d, k, capacity in SHAPES:
                _play(d, k, capacity)
            _is_done = True


def warm_up_all() -> None:
    """The same, and for every other metric learner with kernels of its own: ProjectedVolume."""
    warm_up()
    # A direction counts as thin from the start, so that the walk in the shadow is compiled too.
    _play(2, 4, 1, ProjectedVolume(2, epsilon=0.1, thinness=1.2, seed=0))


def _play(d: int, k: int, capacity: int | None, metric: MetricLearner | None = None) -> None:
    bandit = FairBandit(d, capacity=capacity, reviewer_error=None, seed=0, metric=metric)
    rng = np.random.default_rng(0)
    contexts = rng.normal(size=(k, d))
    contexts /= np.linalg.norm(contexts, axis=1, keepdims=True)
    pair = [(0, 1)]
    reviews = [Review.complete(unfair=pair), Review.partial(fair=pair), Review.one_bit(any_unfair=False)]
    for review in reviews:
        decision = bandit.decide(contexts)
        bandit.learn(decision, rewards=dict.fromkeys(decision.chosen, 0.5), review=review)
        bandit.pairs_to_review(decision, 3)
    bandit.distances(contexts)
