"""What every source of contexts does, and what it may look at."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from evenhand.environments.checks import whole
from evenhand.records.decision import Decision

Floats = NDArray[np.float64]


class Decider(Protocol):
    """As much of a policy as an adversary needs."""

    def decide(self, contexts: Any) -> Decision:
        """Choose among the candidates with these contexts (k, d)."""
        ...


@dataclass(frozen=True, eq=False)
class Scene:
    """All there is to see when the contexts of a round are drawn. A population reads little of it, an adversary all."""

    n_candidates: int
    round: int = 0
    """Counted from 0 at every reset."""
    theta: Floats | None = None
    """(d,), the truth; a world always gives it."""
    A: Floats | None = None
    """(r, d), the truth; a world always gives it."""
    policy: Decider | None = None
    """Who is being watched, as it is now; None if nobody is."""


class ContextSource(ABC):
    """Draws the contexts of a round. It keeps nothing between rounds, so one source may serve many worlds.

    What it is made of (centres, directions) is settled when it is made; what changes with time follows from
    `scene.round`; all luck comes from the Generator it is handed.
    """

    def __init__(self, n_features: int) -> None:
        self.n_features = whole("n_features", n_features, least=1)

    @abstractmethod
    def draw(self, scene: Scene, rng: np.random.Generator) -> Floats:
        """Contexts of `scene.n_candidates` candidates, (k, d), every row of norm <= 1."""
