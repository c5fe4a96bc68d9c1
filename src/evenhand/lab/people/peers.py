"""What evenhand's learners are compared with: other libraries' models of pairs, and trivial ones."""

from __future__ import annotations

import importlib
import importlib.util
import logging
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Protocol

import numpy as np

from evenhand._internal.arrays import Floats
from evenhand.lab.people.answers import PersonAnswers

log = logging.getLogger(__name__)

PIECES = 8
"""A gap enters as this many linear pieces, so that a model may follow steps in it."""
SHORTEST = 1e-9
"""metric-learn refuses pairs of the same context."""
EXTRA = "pip install 'evenhand[peers]'"


class AnswerPredictor(Protocol):
    """Predicts whether one person flags a pair."""

    def learn(self, answers: PersonAnswers) -> None:
        """Learn further answers."""
        ...

    def chance_flagged(self, answers: PersonAnswers) -> Floats:
        """The probability that the person flags each pair, (n,)."""
        ...


class BatchPredictor(ABC):
    """Collects answers and is fitted to all of them when asked; the share of flags where all are the same."""

    def __init__(self) -> None:
        self._parts: list[PersonAnswers] = []

    def learn(self, answers: PersonAnswers) -> None:
        """Keep further answers."""
        if len(answers):
            self._parts.append(answers)

    def chance_flagged(self, answers: PersonAnswers) -> Floats:
        """The prediction of a model fitted to all answers so far, (n,)."""
        if not self._parts:
            return np.full(len(answers), 0.5)
        known = PersonAnswers(
            *(
                np.concatenate([getattr(part, name) for part in self._parts])
                for name in ("rows", "differences", "gaps", "flagged")
            )
        )
        n_flagged = int(np.sum(known.flagged))
        if n_flagged in (0, len(known)):
            return np.full(len(answers), (n_flagged + 1) / (len(known) + 2))
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")  # what the libraries deprecate, and that a fit stopped early
            return self.fitted(known, answers)

    @abstractmethod
    def fitted(self, known: PersonAnswers, asked: PersonAnswers) -> Floats:
        """Fit to answers with flags and without, and predict others, (n,)."""


class Constant(BatchPredictor):
    """The share of flags among the answers, each kind counted once more."""

    def fitted(self, known: PersonAnswers, asked: PersonAnswers) -> Floats:
        """The same number for each."""
        return np.full(len(asked), (np.sum(known.flagged) + 1) / (len(known) + 2))


class Logistic(BatchPredictor):
    """Logistic regression on the pieces of the gap and on features of the difference, all its own."""

    def __init__(self, features: Callable[[Floats], Floats], C: float = 10.0) -> None:
        super().__init__()
        self.features, self.C = features, C

    def fitted(self, known: PersonAnswers, asked: PersonAnswers) -> Floats:
        """scikit-learn's."""
        model: Any = importlib.import_module("sklearn.linear_model").LogisticRegression(C=self.C, max_iter=500)
        model.fit(self._table(known), known.flagged)
        return np.asarray(model.predict_proba(self._table(asked))[:, 1])

    def _table(self, answers: PersonAnswers) -> Floats:
        return np.hstack([gap_pieces(answers.gaps), self.features(answers.differences)])


class Boosting(BatchPredictor):
    """Gradient boosting on the gap and the absolute differences."""

    def fitted(self, known: PersonAnswers, asked: PersonAnswers) -> Floats:
        """scikit-learn's, small trees for few answers."""
        ensemble: Any = importlib.import_module("sklearn.ensemble")
        small = {"max_iter": 80, "learning_rate": 0.08, "max_leaf_nodes": 8, "min_samples_leaf": 10}
        model = ensemble.HistGradientBoostingClassifier(**small, early_stopping=False, random_state=0)
        model.fit(self._table(known), known.flagged)
        return np.asarray(model.predict_proba(self._table(asked))[:, 1])

    def _table(self, answers: PersonAnswers) -> Floats:
        return np.hstack([answers.gaps[:, None], np.abs(answers.differences)])


class MetricLearn(BatchPredictor):
    """A metric of metric-learn, and a logistic regression on its distance and the gap.

    Pairs are shrunk by their gap, so that flagged ones should be nearer than 1, and others farther.
    """

    def __init__(self, learner: str, **settings: Any) -> None:
        super().__init__()
        self.learner, self.settings = learner, settings

    def fitted(self, known: PersonAnswers, asked: PersonAnswers) -> Floats:
        """The metric is fitted to pairs of different contexts; Euclidean distances stand in where a fit fails."""
        apart = np.linalg.norm(known.differences, axis=1) > SHORTEST
        usable = known.take(apart)
        A = np.eye(known.differences.shape[1])
        if 0 < np.sum(usable.flagged) < len(usable):
            try:
                A = np.asarray(self.components(usable), dtype=np.float64)
            except (ValueError, RuntimeError, FloatingPointError, np.linalg.LinAlgError) as error:
                log.warning(
                    "%s failed on %d answers, Euclidean distances stand in: %s", self.learner, len(usable), error
                )
        if not np.all(np.isfinite(A)):
            log.warning(
                "%s has no finite metric on %d answers, Euclidean distances stand in", self.learner, len(usable)
            )
            A = np.eye(A.shape[1])
        scale = np.mean(np.linalg.norm(known.differences @ A.T, axis=1)) or 1.0

        def distance(differences: Floats) -> Floats:
            return np.asarray(np.linalg.norm(differences @ A.T, axis=1)[:, None] / scale)

        return Logistic(distance).fitted(known, asked)

    def components(self, usable: PersonAnswers) -> Any:
        """A (r, d), fitted to answers of both kinds on pairs of different contexts."""
        model: Any = getattr(importlib.import_module("metric_learn"), self.learner)(random_state=0, **self.settings)
        ends = usable.differences / usable.gaps[:, None]
        model.fit(np.stack([ends, np.zeros_like(ends)], axis=1), np.where(usable.flagged, 1, -1))
        return model.components_


def gap_pieces(gaps: Floats) -> Floats:
    """Gaps as PIECES ramps of equal width, (n, PIECES): each runs from 0 to 1 while the gap crosses its piece.

    >>> gap_pieces(np.array([0.1875])).tolist()
    [[1.0, 0.5, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]]
    """
    return np.clip(gaps[:, None] * PIECES - np.arange(PIECES), 0.0, 1.0)


def _nothing(differences: Floats) -> Floats:
    return np.zeros((len(differences), 0))


PEERS: Mapping[str, tuple[str, Callable[[], AnswerPredictor]]] = MappingProxyType(
    {
        "constant": ("numpy", Constant),
        "gap alone": ("sklearn", lambda: Logistic(_nothing)),
        "logistic, squares": ("sklearn", lambda: Logistic(np.square)),
        "logistic, absolute": ("sklearn", lambda: Logistic(np.abs)),
        "boosting": ("sklearn", Boosting),
        "ITML": ("metric_learn", lambda: MetricLearn("ITML", max_iter=100)),
        "MMC": ("metric_learn", lambda: MetricLearn("MMC", diagonal=True)),
    }
)
"""By name: the module that a peer needs, and how it is made."""

QUICK = ("constant", "logistic, absolute")


def installed(name: str) -> bool:
    """Whether what a peer needs can be imported; metric-learn's learners are calibrated with scikit-learn."""
    modules = {PEERS[name][0]} | ({"sklearn"} if PEERS[name][0] == "metric_learn" else set())
    return all(importlib.util.find_spec(module) is not None for module in modules)
