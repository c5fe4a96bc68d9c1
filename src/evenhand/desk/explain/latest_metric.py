"""LatestMetric: what a desk has learned, computed once for all who ask until something else is learned.

With 46 features and hundreds of answers it takes seconds; requests for it must not take the processor from decisions.
"""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import TYPE_CHECKING

from evenhand.desk.explain.explanation import Metric, metric_of

if TYPE_CHECKING:
    from evenhand.desk.projection.projection import Projection
    from evenhand.desk.settings import DeskSettings


class LatestMetric:
    """Keeps the last metric of one desk. Threads may share it: one computes, the others wait."""

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._known: tuple[int, Metric] | None = None

    def of(self, projection: Projection, settings: DeskSettings) -> Metric:
        """The metric that a projection has learned; see `metric_of`."""
        news, bandit = projection.history.news, projection.bandit
        with self._turn:
            if self._known is None or self._known[0] != news:
                self._known = news, metric_of(projection, settings)
            metric = self._known[1]
        # These may change with every decision, and cost nothing.
        return replace(metric, state=projection.seq, flags_left=bandit.flags_left, promise=bandit.promise)
