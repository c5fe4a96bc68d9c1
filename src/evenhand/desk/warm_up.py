"""Warming up: have the kernels that desks use compiled, or read from the cache, while nobody waits for it.

On a new installation that takes half a minute, later half a second. Within a transaction it would keep every desk of
the database from writing for as long.
"""

from __future__ import annotations

import logging
import threading

import numpy as np

from evenhand.desk.settings import DeskSettings
from evenhand.records.decision import Review

SHAPES = ((2, 4, 1), (2, 4, 2), (2, 4, None), (22, 8, 1))
"""Features, candidates and capacity: where many numbers go into a decision, other kernels are used."""

PATIENCE_SECONDS = 5.0
SLOW = "numerical kernels are being compiled; this takes about half a minute, once after each installation"

log = logging.getLogger(__name__)
_lock = threading.Lock()
_done = False


def warm_up() -> None:
    """Decide and learn once with small bandits of the usual kinds; after the first call in a process nothing."""
    global _done
    if _done:
        return
    with _lock:
        if _done:
            return
        saying = threading.Timer(PATIENCE_SECONDS, log.warning, [SLOW])
        saying.daemon = True
        saying.start()
        try:
            for shape in SHAPES:
                _play(*shape)
            _done = True
        finally:
            saying.cancel()


def _play(d: int, k: int, capacity: int | None) -> None:
    bandit = DeskSettings.create(n_features=d, capacity=capacity, seed=0).first_bandit()
    rng = np.random.default_rng(0)
    contexts = rng.normal(size=(k, d))
    contexts /= np.linalg.norm(contexts, axis=1, keepdims=True)
    for number in range(3):
        decision = bandit.propose(contexts, number=number, rng=rng)
        bandit.count_decisions()
        pair = [(0, 1)]
        review = (Review.complete(unfair=pair), Review.partial(fair=pair), Review.one_bit(any_unfair=False))[number]
        bandit.learn(decision, rewards=dict.fromkeys(decision.chosen, 0.5), review=review)
        bandit.pairs_to_review(decision, 3)
    bandit.distances(contexts)
