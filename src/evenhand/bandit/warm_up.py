"""Warming up: compile every kernel that deciding and learning use, or load it from the cache, in advance.

On a new installation that takes about ten seconds, later half a second. Within a transaction it would keep every
desk of the database from writing for as long.
"""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

from evenhand.bandit.fair_bandit import FairBandit
from evenhand.metrics import ProjectedVolume, VersionSpace
from evenhand.records.decision import Decision, Review

SHAPES = ((2, 4, 1), (2, 4, 2), (2, 4, None), (22, 8, 1), (26, 8, 1))
"""Features, candidates and capacity: large rounds use other kernels, and many features a belief about pairs."""

_lock = threading.Lock()
_is_done = False


def warm_up() -> None:
    """Decide and learn with small default bandits, one of them capped; nothing after the first call in a process."""
    global _is_done
    if _is_done:
        return
    with _lock:
        if not _is_done:
            _play(*SHAPES[0], reviewer_error=1e-3)
            for shape in SHAPES:
                _play(*shape)
            _play_capped()
            _is_done = True


def warm_up_all() -> None:
    """The same, with the kernels of the other metric learners that have some of their own."""
    warm_up()
    # A direction counts as thin from the start, so that the walk in the shadow is compiled too.
    bandit, decision = _play(*SHAPES[0], metric=ProjectedVolume(2, epsilon=0.1, thinness=1.2, seed=0))
    bandit.certify(decision)
    _play(*SHAPES[0], metric=VersionSpace(2, epsilon=0.1, error_rate=0.0, seed=0))


def _play_capped() -> None:
    """A decision that needs proofs."""
    bandit = FairBandit(2, max_unfair_rounds=0, seed=0)
    people = np.array([[0.0, 0.0], [0.5, 0.0], [0.0, 0.5], [0.5, 0.5]])
    for other, gap, unfair in ((1, 0.3, False), (2, 0.3, False), (1, 0.6, True), (2, 0.6, True)):
        bandit.learn_pair(people[0], people[other], gap=gap, unfair=unfair)
    bandit.decide(people)


def _play(d: int, k: int, capacity: int | None, **settings: Any) -> tuple[FairBandit, Decision]:
    bandit = FairBandit(d, capacity=capacity, seed=0, **{"reviewer_error": None, **settings})
    rng = np.random.default_rng(0)
    contexts = rng.normal(size=(k, d))
    contexts /= np.linalg.norm(contexts, axis=1, keepdims=True)
    pair = [(0, 1)]
    reviews = [Review.complete(unfair=pair), Review.partial(fair=pair), Review.one_bit(any_unfair=False)]
    for review in reviews:
        decision = bandit.decide(contexts)
        bandit.learn(decision, rewards=dict.fromkeys(decision.chosen, 0.5), review=review)
        bandit.pairs_to_review(decision, 3)
    bandit.decide(contexts, lower=0.01)
    bandit.distances(contexts)
    return bandit, decision
