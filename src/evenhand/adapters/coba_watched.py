"""WatchedLearner: how unfair any learner of Coba is, beside its rewards in the results."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from evenhand._internal.arrays import Floats
from evenhand._internal.checks import check_share
from evenhand.adapters.coba_features import FEATURES, CandidateFeatures
from evenhand.auditors.auditor import Truth
from evenhand.errors import InvalidInput
from evenhand.records.decision import PROBABILITY_TOLERANCE, Decision

from coba.context import CobaContext  # isort: skip  # coba_features has said so if Coba is missing
from coba.primitives import Learner  # isort: skip
from coba.safety import SafeLearner  # isort: skip


class WatchedLearner(Learner):  # type: ignore[misc]
    """Any learner of Coba that has `score`, and in the results how unfair it was in every interaction.

    Coba then records `unfair_pairs`, how many pairs of actions had probabilities further apart than their distance by
    more than epsilon, and `excess`, by how much the worst pair exceeded it. truth: an auditor that knows distances, or
    a function of the number of features that makes one. features, norm: as of `CobaLearner`. Nothing is told to the
    learner.

    >>> from coba import RandomLearner
    >>> from evenhand.auditors import MahalanobisAuditor
    >>> watched = WatchedLearner(RandomLearner(), MahalanobisAuditor([[1.0, 0.0]]), features=("a",))
    >>> _ = watched.predict(None, [(1.0, 0.0), (0.0, 1.0)])
    >>> CobaContext.learning_info
    {'unfair_pairs': 0, 'excess': 0.0}
    """

    def __init__(
        self,
        learner: Any,
        truth: Truth | Callable[[int], Truth],
        *,
        features: Sequence[str | int] = FEATURES,
        norm: float | None = None,
        epsilon: float = PROBABILITY_TOLERANCE,
    ) -> None:
        self._learner = SafeLearner(learner)
        if not callable(getattr(learner, "score", None)):  # not SafeLearner.has_score: it would start Vowpal Wabbit
            raise InvalidInput(f"the learner must have score(context, actions, action), got {learner!r}")
        self._truth, self._epsilon = truth, check_share("epsilon", epsilon)
        self._encode = CandidateFeatures(features, norm=norm)

    @property
    def params(self) -> Mapping[str, Any]:
        """Those of the learner."""
        watched: Mapping[str, Any] = self._learner.params
        return watched

    def score(self, context: Any, actions: Sequence[Any], action: Any) -> float:
        """That of the learner."""
        return float(self._learner.score(context, actions, action))

    def predict(self, context: Any, actions: Sequence[Any]) -> tuple[Any, float, dict[str, Any]]:
        """That of the learner; how unfair its probabilities are goes into Coba's results."""
        contexts = self._encode(context, actions)
        if not isinstance(self._truth, Truth):
            self._truth = self._truth(contexts.shape[1])
        probabilities = np.array(self._probabilities(context, actions), dtype=np.float64)
        excess = self._truth.excess(Decision("", 0, contexts, probabilities, (), 1, np.zeros(len(actions))))
        action, probability, info = self._learner.predict(context, actions)
        above = np.triu(excess, 1)
        CobaContext.learning_info["unfair_pairs"] = int(np.sum(above > self._epsilon))
        CobaContext.learning_info["excess"] = max(float(np.max(above)), 0.0)
        return action, probability, info

    def _probabilities(self, context: Any, actions: Sequence[Any]) -> Sequence[float] | Floats:
        own = getattr(self._learner.learner, "probabilities", None)
        if own is not None:
            return np.asarray(own(context, actions))
        return [self._learner.score(context, actions, action) for action in actions]

    def learn(self, context: Any, action: Any, reward: float, probability: float, **info: Any) -> None:
        """That of the learner."""
        self._learner.learn(context, action, reward, probability, **info)
