"""The contract of metric learners, run over all of ours."""

from __future__ import annotations

from typing import Any

import pytest

from evenhand.metrics import BayesPoint, Ellipsoid, Guarded, MetricLearner, PerPair, ProjectedVolume
from evenhand.testing import CertainMetricLearnerContract, MetricLearnerContract


def _with_auto(settings: dict[str, Any]) -> dict[str, Any]:
    """The settings with structure "auto" in place of another sound one."""
    structure = settings.get("structure", "full")
    return {**settings, "structure": "auto" if structure in ("full", "diagonal") else structure}


class TestBayesPoint(MetricLearnerContract):
    """The default."""

    def make(self, n_features: int, **settings: Any) -> MetricLearner:  # noqa: D102
        return BayesPoint(n_features, **settings)


class TestBayesPointOfFewInteractions(MetricLearnerContract):
    """The prior has a shape, whatever the truth."""

    def make(self, n_features: int, **settings: Any) -> MetricLearner:  # noqa: D102
        return BayesPoint(n_features, **_with_auto(settings))


class TestBayesPointOfFewInteractionsAndReviewersWhoErr(MetricLearnerContract):
    """The prior has a shape, and error rates are learned."""

    expects_errors = True

    def make(self, n_features: int, **settings: Any) -> MetricLearner:  # noqa: D102
        return BayesPoint(n_features, error_rate=None, **_with_auto(settings))

    @pytest.mark.parametrize("bound", [1e-3, 10.0])
    def test_the_first_bound_need_not_be_right(self, bound: float) -> None:
        """Not from 100 times too much: with error rates learned, a lone reviewer is then taken to mislead."""
        super().test_the_first_bound_need_not_be_right(bound)


class TestBayesPointOfSoftReviewers(MetricLearnerContract):
    """Softness is learned."""

    expects_errors = True

    def make(self, n_features: int, **settings: Any) -> MetricLearner:  # noqa: D102
        return BayesPoint(n_features, softness=None, **settings)


class TestBayesPointOfSoftReviewersWhoErr(TestBayesPointOfSoftReviewers):
    """Error rates and softness are learned."""

    def make(self, n_features: int, **settings: Any) -> MetricLearner:  # noqa: D102
        return BayesPoint(n_features, error_rate=None, softness=None, **settings)

    @pytest.mark.parametrize("bound", [1e-3, 10.0])
    def test_the_first_bound_need_not_be_right(self, bound: float) -> None:
        """Not from 100 times too much: with error rates learned, a lone reviewer is then taken to mislead."""
        super().test_the_first_bound_need_not_be_right(bound)


class TestEllipsoid(CertainMetricLearnerContract):
    """Certain, and slow to learn."""

    def make(self, n_features: int, **settings: Any) -> MetricLearner:  # noqa: D102
        return Ellipsoid(n_features, **settings)


class TestProjectedVolume(CertainMetricLearnerContract):
    """The paper's."""

    def make(self, n_features: int, **settings: Any) -> MetricLearner:  # noqa: D102
        return ProjectedVolume(n_features, seed=5, **settings)


class TestPerPair(CertainMetricLearnerContract):
    """A learner for each pair."""

    separates_pairs, patience = True, 3

    def make(self, n_features: int, **settings: Any) -> MetricLearner:  # noqa: D102
        return PerPair(Ellipsoid(n_features, **settings))


class TestGuarded(MetricLearnerContract):
    """Before the switch."""

    def make(self, n_features: int, **settings: Any) -> MetricLearner:  # noqa: D102
        return Guarded(BayesPoint(n_features, **settings))


class TestGuardedSwitching(MetricLearnerContract):
    """Across the switch."""

    def make(self, n_features: int, **settings: Any) -> MetricLearner:  # noqa: D102
        sure = ProjectedVolume(n_features, seed=5, **settings)
        return Guarded(BayesPoint(n_features, **settings), sure, limit=1)
