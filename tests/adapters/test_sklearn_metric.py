"""Metrics of metric-learn in, and ours out as a scikit-learn transformer."""

from __future__ import annotations

import warnings

import metric_learn
import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import check_estimator

import evenhand as eh
from evenhand.adapters.sklearn_metric import MetricTransformer
from evenhand.errors import InvalidInput

RNG = np.random.default_rng
A = np.array([[1.0, 0.5, 0.0], [0.0, 1.0, 0.2]])


def test_scikit_learns_own_checks() -> None:
    """Every check of `check_estimator` passes; none is expected to fail."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some checks warn on purpose, and count what they see themselves
        results = check_estimator(MetricTransformer(), on_skip=None, on_fail=None)
    assert [result["check_name"] for result in results if result["status"] not in ("passed", "skipped")] == []
    assert sum(result["status"] == "passed" for result in results) > 30


def test_distances_are_those_of_the_metric() -> None:
    """Between transformed people, and as metric-learn's estimators say it."""
    people = RNG(0).normal(size=(10, 3))
    learner = eh.metrics.KnownMetric(A)
    transformer = MetricTransformer(learner).fit(people)
    rows = transformer.transform(people)
    apart = np.linalg.norm(rows[:, None] - rows[None], axis=2)
    np.testing.assert_allclose(apart, learner.distances(people / 10).estimate * 10, atol=1e-7)
    np.testing.assert_allclose(transformer.get_mahalanobis_matrix(), A.T @ A, atol=1e-12)
    np.testing.assert_allclose(transformer.pair_distance([[people[0], people[1]]]), apart[0, 1])
    assert list(transformer.get_feature_names_out()) == [f"metrictransformer{i}" for i in range(3)]


def test_the_directions_that_count_are_kept() -> None:
    """With two components a metric of rank two is whole."""
    people = RNG(0).normal(size=(10, 3))
    narrow = MetricTransformer(A.T @ A, n_components=2).fit(people)
    assert narrow.transform(people).shape == (10, 2)
    np.testing.assert_allclose(narrow.get_mahalanobis_matrix(), A.T @ A, atol=1e-12)


def test_it_works_in_a_pipeline() -> None:
    """Neighbours under a learned metric: the feature that does not count does not disturb."""
    rng = RNG(1)
    people = np.column_stack([rng.normal(size=300), 100 * rng.normal(size=300)])
    labels = (people[:, 0] > 0).astype(int)
    pipeline = make_pipeline(MetricTransformer(np.diag([1.0, 0.0])), KNeighborsClassifier())
    assert pipeline.fit(people[:200], labels[:200]).score(people[200:], labels[200:]) > 0.95


@pytest.mark.parametrize(
    ("metric", "n_components", "sentence"),
    [(np.eye(2), None, r"\(r, 3\)"), (-np.eye(3), None, "positive semidefinite"), (None, 4, "from 1 to 3")],
)
def test_it_checks_its_arguments(metric: object, n_components: int | None, sentence: str) -> None:
    """When it is fitted, as scikit-learn has it."""
    with pytest.raises(InvalidInput, match=sentence):
        MetricTransformer(metric, n_components=n_components).fit(np.zeros((4, 3)))


def fitted_peer() -> metric_learn.MMC:
    """metric-learn's learner of similar and dissimilar pairs, where only the first feature tells them apart."""
    rng = RNG(2)
    first, second = rng.normal(size=(2, 60, 3))
    alike = np.abs(first[:, 0] - second[:, 0]) < 0.8
    return metric_learn.MMC(random_state=0).fit(np.stack([first, second], axis=1), np.where(alike, 1, -1))


@pytest.mark.filterwarnings("ignore:.force_all_finite:FutureWarning")
def test_a_metric_of_metric_learn_comes_in() -> None:
    """As a known metric, as the start of a learner, and as the prior of a desk: the same distances."""
    peer = fitted_peer()
    G = peer.get_mahalanobis_matrix()
    rounding = 1e-9 * float(np.linalg.norm(G))
    people = RNG(3).normal(size=(6, 3)) / 10
    known = eh.metrics.from_metric_learn(peer)
    np.testing.assert_allclose(known.matrix(), G, atol=rounding)
    pairs = np.stack([people[:3], people[3:]], axis=1)
    np.testing.assert_allclose(known.pair_distance(pairs), peer.pair_distance(pairs), rtol=1e-6)
    np.testing.assert_allclose(eh.metrics.BayesPoint(3, prior=peer).matrix(), G, atol=rounding)
    with eh.Desk.open("memory:", "loans", n_features=3, metric="KnownMetric", prior=peer) as desk:
        np.testing.assert_allclose(desk.metric().matrix, G, atol=rounding)


def test_one_that_is_not_fitted_is_refused() -> None:
    """With a sentence, wherever it is passed."""
    for take in (eh.metrics.from_metric_learn, lambda peer: eh.metrics.BayesPoint(3, prior=peer)):
        with pytest.raises(InvalidInput, match="must be fitted"):
            take(metric_learn.MMC())
    with pytest.raises(InvalidInput, match="get_mahalanobis_matrix"):
        eh.metrics.from_metric_learn(np.eye(3))


def test_ours_goes_around() -> None:
    """A learner's metric through the transformer and back is the same metric."""
    learner = eh.metrics.BayesPoint(3)
    learner.learn_pair([0.5, 0.0, 0.0], [0.0, 0.0, 0.0], gap=0.2, unfair=True)
    transformer = MetricTransformer(learner).fit(np.zeros((2, 3)))
    np.testing.assert_allclose(eh.metrics.from_metric_learn(transformer).matrix(), learner.matrix(), atol=1e-9)
