"""What the story page of the demo tells beside the ledger: what is known only because this world is made up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand._internal.arrays import Floats

if TYPE_CHECKING:
    from evenhand.service.demo.sizes import DemoSize

SLACK = 1e-6
BLOCKS = 8
"""Into so many blocks the past is divided."""


@dataclass
class Story:
    """Of each past decision: unfair pairs and expected reward, as decided and with the highest scores first."""

    unfair: list[int] = field(default_factory=list)
    unfair_before: list[int] = field(default_factory=list)
    reward: list[float] = field(default_factory=list)
    reward_before: list[float] = field(default_factory=list)
    reward_by_lot: list[float] = field(default_factory=list)

    def add(self, body: Mapping[str, Any], size: DemoSize) -> None:
        """Judge a decision by the reviewers' true metric and the true rewards."""
        contexts, played = np.array(body["contexts"]), np.array(body["probabilities"])
        worth = contexts @ size.pay_off
        best = np.zeros(len(worth))
        best[np.argsort(-worth)[: size.capacity]] = 1.0
        distances = _distances(contexts, size.metric)
        self.unfair.append(_count_unfair(played, distances))
        self.unfair_before.append(_count_unfair(best, distances))
        self.reward.append(float(played @ worth) / size.capacity)
        self.reward_before.append(float(best @ worth) / size.capacity)
        self.reward_by_lot.append(float(np.mean(worth)))

    def to_dict(self, size: DemoSize) -> dict[str, Any]:
        """The numbers of the page."""
        blocks = [block for block in np.array_split(np.arange(len(self.unfair)), BLOCKS) if len(block)]
        half = len(self.unfair) // 2
        return {
            "candidates": size.candidates,
            "capacity": size.capacity,
            "decisions": len(self.unfair),
            "pairs": size.candidates * (size.candidates - 1) // 2,
            "unfair_before": _mean(self.unfair_before),
            "unfair_by_block": [_mean([self.unfair[place] for place in block]) for block in blocks],
            "ends": [int(block[-1]) + 1 for block in blocks],
            "reward": {
                "before": _mean(self.reward_before[half:]),
                "evenhand": _mean(self.reward[half:]),
                "by_lot": _mean(self.reward_by_lot[half:]),
            },
            "truth": size.truth,
        }


def _distances(contexts: Floats, metric: Floats) -> Floats:
    seen = contexts @ metric.T
    return np.asarray(np.linalg.norm(seen[:, None] - seen[None], axis=2))


def _count_unfair(probabilities: Floats, distances: Floats) -> int:
    gaps = np.abs(probabilities[:, None] - probabilities[None])
    return int(np.sum(np.triu(gaps > distances + SLACK, 1)))


def _mean(values: list[Any]) -> float | None:
    return round(float(np.mean(values)), 4) if values else None
