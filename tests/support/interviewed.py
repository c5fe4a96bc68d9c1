"""People to ask about and exact reviewers to ask."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

import evenhand as eh
from evenhand.auditors import MahalanobisAuditor
from evenhand.environments import LinearEnvironment
from evenhand.interview import Question
from evenhand.interview.question import Judgement
from evenhand.lab import Account, play
from tests.support.simulation import standard_world

Floats = NDArray[np.float64]
Reviewer = Callable[[Question], Judgement]


def people(n: int, d: int, seed: int = 0) -> Floats:
    """Contexts uniform on the sphere, (n, d)."""
    contexts = np.random.default_rng([seed, 5]).normal(size=(n, d))
    return np.asarray(contexts / np.linalg.norm(contexts, axis=1, keepdims=True))


def exact(candidates: Floats, A: Floats) -> Reviewer:
    """Somebody who finds a gap unfair when it exceeds ||A(x - y)||."""

    def answer(question: Question) -> Judgement:
        i, j = question.pair
        return "unfair" if question.gap > np.linalg.norm(A @ (candidates[i] - candidates[j])) else "acceptable"

    return answer


def interviewed(interview: eh.Interview, reviewer: Reviewer) -> eh.Interview:
    """The interview, held to its end."""
    for question in interview:
        interview.answer(reviewer(question))
    return interview


def standard(
    d: int, *, seed: int, max_unfair_rounds: int | None = None, **settings: object
) -> tuple[eh.Interview, Reviewer]:
    """An interview of the default bandit in the standard world of a seed, not yet begun, and its reviewer."""
    _, A = standard_world(d, seed=seed)
    candidates = people(300, d, seed)
    bandit = eh.FairBandit(d, epsilon=0.01, seed=seed, max_unfair_rounds=max_unfair_rounds, reviewer_error=1e-3)
    return eh.Interview(bandit, candidates, seed=seed, **settings), exact(candidates, A)  # type: ignore[arg-type]


def live(bandit: eh.FairBandit, *, d: int, k: int, rounds: int, seed: int) -> Account:
    """What the bandit does live in the standard world of a seed."""
    theta, A = standard_world(d, seed=seed)
    world, luck = LinearEnvironment(theta, n_candidates=k), np.random.default_rng([seed, 99])
    return play(bandit, world, MahalanobisAuditor(A), rounds=rounds, epsilon=0.01, seed=luck)
