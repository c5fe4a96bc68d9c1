"""A desk's metric: known from the start, begun from one learned elsewhere, more or less cautious."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import evenhand as eh
from evenhand.desk import Desk, DeskSettings
from evenhand.desk.replay import replay
from evenhand.errors import InvalidInput
from evenhand.metrics import BayesPoint, ByEvidence, KnownMetric, WithoutIntercept
from evenhand.testing.metric_worlds import random_contexts

G = [[0.5, 0.1, 0.0], [0.1, 0.3, 0.0], [0.0, 0.0, 0.2]]
SCHEMA = eh.Schema([eh.Number("income", low=0, high=100), eh.Number("age", low=18, high=80)])


def metric_of(**settings: Any) -> Any:
    """The first metric learner of a desk with these settings."""
    return DeskSettings.create(**{"n_features": 3, "seed": 0, **settings}).first_bandit().metric


def test_a_known_metric_is_played() -> None:
    """Probabilities of a desk differ by no more than the distances of the matrix, and replay holds."""
    with Desk.open("memory:", "loans", n_features=3, metric="KnownMetric", prior=G, seed=1) as desk:
        np.testing.assert_allclose(desk.metric().matrix, G, atol=1e-12)
        for seed in range(3):
            contexts = random_contexts(np.random.default_rng(seed), 5, 3)
            decision = desk.decide(contexts)
            p, z = np.array(list(decision.probabilities.values())), contexts[:, None] - contexts[None]
            assert np.all(np.abs(p[:, None] - p[None]) <= np.sqrt(np.einsum("abi,ij,abj->ab", z, G, z)) + 1e-9)
        assert replay(desk.ledger, "loans").is_same


@pytest.mark.parametrize("metric", ["auto", "BayesPoint", "Guarded"])
def test_a_prior_is_where_learning_starts(metric: str) -> None:
    """The first matrix is the one passed, and its weight reaches the learner."""
    learner = metric_of(metric=metric, prior=G, prior_weight=9.0)
    np.testing.assert_allclose(learner.matrix(), G, atol=1e-12)
    inner = learner.learners[0] if isinstance(learner, ByEvidence) else getattr(learner, "fast", learner)
    assert not isinstance(inner, BayesPoint) or inner.weight == 9.0


def test_the_intercept_has_no_row() -> None:
    """With a schema the matrix may have a row for the intercept, or not: it is the same metric."""
    with_it = np.diag([0.5, 0.2, 7.0]).tolist()
    for prior in (with_it, np.diag([0.5, 0.2]).tolist()):
        settings = DeskSettings.create(schema=SCHEMA, metric="KnownMetric", prior=prior)
        learner = settings.first_bandit().metric
        assert isinstance(learner, WithoutIntercept)
        assert isinstance(learner.learner, KnownMetric)
        np.testing.assert_allclose(learner.learner.matrix(), np.diag([0.5, 0.2]), atol=1e-12)
        assert DeskSettings.from_dict(settings.to_dict()) == settings


def test_caution_reaches_the_learner() -> None:
    """More cautious desks play smaller distances, whichever learner they have."""
    contexts = random_contexts(np.random.default_rng(0), 4, 3)
    for metric in ("auto", "BayesPoint", "Score", "VersionSpace"):
        timid, bold = (metric_of(metric=metric, caution=q, reviewer_error=0.01) for q in (0.02, 0.4))
        assert np.sum(timid.playable_distances(contexts)) < np.sum(bold.playable_distances(contexts))


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"metric": "KnownMetric"}, "needs prior"),
    ({"metric": "Score", "prior": G}, "prior must be left out with metric 'Score'"),
    ({"metric": "Ellipsoid", "caution": 0.2}, "caution must be left out with metric 'Ellipsoid'"),
    ({"metric": "BayesPoint", "play": "minimum"}, "play must be left out with metric 'BayesPoint'"),
    ({"reviewer_error": 0.1, "play": "minimum"}, "play must be left out with a reviewer_error"),
    ({"caution": 1.5}, "caution must be a number > 0 and < 1"),
    ({"prior": [[1.0]]}, r"prior must be a matrix .* shape \(r, 3\)"),
    ({"prior": "G"}, "prior must be a matrix"),
    ({"prior": (-np.eye(3)).tolist()}, "positive semidefinite"),
    ({"prior_weight": 2.0}, "prior_weight must be left out"),
    ({"prior": G, "prior_weight": -1}, "prior_weight must be a number > 0"),
]


@pytest.mark.parametrize(("settings", "sentence"), REFUSED)
def test_settings_are_checked(settings: dict[str, Any], sentence: str) -> None:
    """Each gets a sentence that says what was wrong."""
    with pytest.raises(InvalidInput, match=sentence):
        DeskSettings.create(n_features=3, **settings)
