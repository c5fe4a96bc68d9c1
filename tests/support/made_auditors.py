"""Decisions made up for the reviewers under test: any probabilities, any contexts, nobody who decided."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from hypothesis import strategies as st

from evenhand.records.decision import Decision, Pair


def made(
    probabilities: Any,
    contexts: Any = None,
    *,
    round: int = 0,
    rewards: Any = None,
    tight_pairs: tuple[Pair, ...] = (),
) -> Decision:
    """A decision with these probabilities (k,); contexts are unit vectors and rewards zeros unless given."""
    p = np.asarray(probabilities, dtype=np.float64)
    x = np.eye(len(p)) if contexts is None else np.asarray(contexts, dtype=np.float64)
    r = np.zeros(len(p)) if rewards is None else np.asarray(rewards, dtype=np.float64)
    return Decision(f"made-{round}", round, x, p, (), 1, r, tight_pairs)


def some(n: int, *, d: int = 3, k: int = 5, seed: int = 0) -> Iterator[Decision]:
    """So many rounds of random contexts inside the ball, random probabilities and random rewards."""
    rng = np.random.default_rng(seed)
    for t in range(n):
        contexts = rng.normal(size=(k, d))
        contexts /= np.maximum(1.0, np.linalg.norm(contexts, axis=1, keepdims=True))
        probabilities = rng.dirichlet(np.full(k, 0.5))
        yield made(probabilities, contexts, round=t, rewards=rng.uniform(-1, 1, size=k))


def pairs_of(decision: Decision) -> list[Pair]:
    """All pairs of a decision."""
    return [(i, j) for i in range(decision.n_candidates) for j in range(i + 1, decision.n_candidates)]


@st.composite
def any_decision(draw: st.DrawFn, *, d: int = 2) -> Decision:
    """Two to six candidates, some alike, some with equal probabilities."""
    coordinates = st.sampled_from([-0.7, -0.2, 0.0, 0.2, 0.7])
    k = draw(st.integers(2, 6))
    contexts = draw(st.lists(st.lists(coordinates, min_size=d, max_size=d), min_size=k, max_size=k))
    probabilities = draw(st.lists(st.sampled_from([0.0, 0.1, 0.1 + 1e-10, 0.4, 0.9, 1.0]), min_size=k, max_size=k))
    return made(probabilities, contexts, round=draw(st.integers(0, 1000)))
