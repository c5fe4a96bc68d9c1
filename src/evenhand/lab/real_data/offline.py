"""Verdicts of a rule predicted from n answers: evenhand's learners and offline peers, on people they have not seen."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np

from evenhand._internal.arrays import Floats, Indices
from evenhand.auditors import DistanceAuditor
from evenhand.lab.people.answers import GAPS, PersonAnswers
from evenhand.lab.people.learners import LearnerPredictor
from evenhand.lab.people.peers import PEERS, AnswerPredictor, MetricLearn
from evenhand.lab.people.scores import area_under_curve, log_loss
from evenhand.lab.real_data.comparison_queries import STEP, Arbiter, ComparisonSubmetric
from evenhand.lab.real_data.rules import RULES, loaded
from evenhand.lab.store import Columns
from evenhand.metrics import BayesPoint, default_learner
from evenhand.schema import Schema

TEST_PAIRS = 2000
EVENHAND, BAYES_POINT, QUERIES = "evenhand", "BayesPoint", "comparison queries"


class RelativeMetricLearn(MetricLearn):
    """LSML of metric-learn, from quadruples: a flagged pair, shrunk by its gap, is nearer than one that was fine."""

    def components(self, usable: PersonAnswers) -> Any:
        """A (r, d); every answer of the rarer kind is used, with partners drawn from the other."""
        ends, rng = usable.differences / usable.gaps[:, None], np.random.default_rng(0)
        near, far = (np.flatnonzero(usable.flagged == flagged) for flagged in (True, False))
        n = max(len(near), len(far))
        pairs = np.stack([ends[np.resize(rng.permutation(kind), n)] for kind in (near, far)], axis=1)
        quadruples = np.stack(
            [pairs[:, 0], np.zeros_like(pairs[:, 0]), pairs[:, 1], np.zeros_like(pairs[:, 1])], axis=1
        )
        model: Any = getattr(importlib.import_module("metric_learn"), self.learner)(random_state=0, **self.settings)
        return model.fit(quadruples).components_


def _default(schema: Schema, seed: int) -> AnswerPredictor:
    return LearnerPredictor(default_learner(schema.n_features - 1, blocks=schema.block_labels[:-1], seed=seed), "rule")


def _bayes_point(schema: Schema, seed: int) -> AnswerPredictor:
    d, blocks = schema.n_features - 1, schema.block_labels[:-1]
    return LearnerPredictor(BayesPoint(d, structure="auto", blocks=blocks, error_rate=None), "rule")


def _peer(make: Callable[[], AnswerPredictor]) -> Callable[[Schema, int], AnswerPredictor]:
    """A peer, which needs neither schema nor seed."""
    return lambda schema, seed: make()


CONTENDERS: Mapping[str, Callable[[Schema, int], AnswerPredictor]] = MappingProxyType(
    {
        EVENHAND: _default,
        BAYES_POINT: _bayes_point,
        **{name: _peer(make) for name, (_, make) in PEERS.items()},
        "LSML": _peer(partial(RelativeMetricLearn, "LSML")),
    }
)
"""By name; comparison queries ask their own questions, and are no predictor of given answers."""

METRIC_LEARN = ("ITML", "MMC", "LSML")
"""Not SDML: metric-learn 0.7 passes scikit-learn an argument that 1.5 removed, and it fails on any data."""


def answered(rule: DistanceAuditor, contexts: Floats, pairs: Indices, gaps: Floats) -> PersonAnswers:
    """What somebody with a rule says of pairs (n, 2) of people (m, d), at these gaps (n,)."""
    distances = np.array([rule.distances(contexts[pair])[0, 1] for pair in pairs])
    differences = contexts[pairs[:, 0]] - contexts[pairs[:, 1]]
    return PersonAnswers(pairs, differences[:, :-1], gaps, gaps > distances)  # all have the same intercept


def drawn_pairs(people: Indices, n: int, rng: np.random.Generator) -> tuple[Indices, Floats]:
    """n pairs of two different people, and a gap for each."""
    pairs = np.array([rng.choice(people, 2, replace=False) for _ in range(n)])
    return pairs, rng.uniform(*GAPS, n)


def predict_rule(*, dataset: str, reviewer: str, contender: str, answers: int, seed: int) -> Columns:
    """The scores of one contender after so many answers, on pairs of people that no answer was about; one row.

    queries: how many questions were asked; comparison queries use up to `answers`, others exactly these.
    """
    table = loaded(dataset)
    rule, contexts = RULES[dataset][reviewer](table.schema), table.contexts
    of_people, of_test, of_training = np.random.default_rng([seed, 11]).spawn(3)
    order = of_people.permutation(len(contexts))
    seen, unseen = order[: len(order) // 2], order[len(order) // 2 :]
    test = answered(rule, contexts, *drawn_pairs(unseen, TEST_PAIRS, of_test))
    if contender == QUERIES:
        arbiter = Arbiter(rule, contexts[seen])
        submetric = ComparisonSubmetric(arbiter, answers, of_training)
        distances = submetric.distances(contexts[test.rows[:, 0]], contexts[test.rows[:, 1]])
        chance, queries = 1.0 / (1.0 + np.exp(-(test.gaps - distances) / STEP)), arbiter.queries
    else:
        predictor = CONTENDERS[contender](table.schema, seed)
        predictor.learn(answered(rule, contexts, *drawn_pairs(seen, answers, of_training)))
        chance, queries = predictor.chance_flagged(test), answers
    return {
        "area": [area_under_curve(test.flagged, chance)],
        "log_loss": [log_loss(test.flagged, chance)],
        "agreement": [float(np.mean((chance > 0.5) == test.flagged))],
        "flagged": [float(np.mean(test.flagged))],
        "queries": [queries],
    }
