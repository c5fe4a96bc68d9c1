"""HeldFixed: a metric learner that has stopped learning."""

from __future__ import annotations

from typing import Any, Self

from evenhand.metrics import Learned, MetricLearner, Pairs, Verdicts
from evenhand.metrics.features import Floats


class HeldFixed(MetricLearner):
    """Plays what `learner` would have played when it was handed over; no verdict changes it.

    >>> from evenhand.metrics import BayesPoint
    >>> fixed = HeldFixed(BayesPoint(2))
    >>> before = fixed.matrix()
    >>> learned = fixed.learn_pair([1.0, 0.0], [0.0, 0.0], gap=0.1, unfair=True)
    >>> bool((fixed.matrix() == before).all())
    True
    """

    def __init__(self, learner: MetricLearner) -> None:
        super().__init__(learner.n_features, learner.space.structure)
        self.learner = learner

    def estimate(self, pairs: Pairs) -> Floats:
        """The learner's, (n,)."""
        return self.learner.estimate(pairs)

    def ends(self, pairs: Pairs) -> tuple[Floats, Floats]:
        """The learner's, each (n,)."""
        return self.learner.ends(pairs)

    def guess(self, pairs: Pairs) -> Floats:
        """The learner's, (n,)."""
        return self.learner.guess(pairs)

    def matrix(self) -> Floats:
        """The learner's, (d, d)."""
        return self.learner.matrix()

    def learn(self, verdicts: Verdicts) -> Learned:
        """Nothing more is learned."""
        return Learned()

    def learn_bit(self, verdicts: Verdicts, *, any_unfair: bool) -> Learned:
        """Nothing more is learned."""
        return Learned()

    def state(self) -> dict[str, Any]:
        """The learner's, with its name."""
        return {"learner": self.learner.saved()}

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """The same learner, still held fixed."""
        return cls(MetricLearner.restored(state["learner"]))
