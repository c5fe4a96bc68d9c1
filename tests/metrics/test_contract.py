"""The contract of metric learners, run over all of ours."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from evenhand.metrics import BayesPoint, Ellipsoid, Guarded, MetricLearner, PerPair, ProjectedVolume
from evenhand.testing import CertainMetricLearnerContract, MetricLearnerContract
from evenhand.testing.metric_worlds import verdicts_at_the_guess


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

    def make(self, n_features: int, **settings: Any) -> MetricLearner:  # noqa: D102
        return BayesPoint(n_features, error_rate=None, **_with_auto(settings))

    @pytest.mark.parametrize("bound", [1e-3, 10.0])
    def test_the_first_bound_need_not_be_right(self, bound: float) -> None:
        """Not from 100 times too much: with error rates learned, a lone reviewer is then taken to mislead."""
        super().test_the_first_bound_need_not_be_right(bound)

    def test_an_inconsistent_reviewer_is_reported_and_harms_nothing(self) -> None:
        """Where reviewers are learned a wrong answer is no conflict; estimates stay where they were."""
        TestBayesPointOfSoftReviewers.test_an_inconsistent_reviewer_is_reported_and_harms_nothing(self)  # type: ignore[arg-type]


class TestBayesPointOfSoftReviewers(MetricLearnerContract):
    """Softness is learned."""

    def make(self, n_features: int, **settings: Any) -> MetricLearner:  # noqa: D102
        return BayesPoint(n_features, softness=None, **settings)

    def test_an_inconsistent_reviewer_is_reported_and_harms_nothing(self) -> None:
        """Where reviewers are learned a wrong answer is no conflict; estimates stay where they were."""
        learner = self.make(2, epsilon=0.05)
        contexts, A = np.array([[0.5, 0.0], [-0.5, 0.0]]), np.array([[0.5, 0.0]])
        for share in (1.0, 0.9) * 80:
            learner.learn(verdicts_at_the_guess(learner, contexts, A, share=share))
        before = learner.distances(contexts).estimate[0, 1]
        assert learner.learn_pair(*contexts, gap=0.95, unfair=False).conflicts == ()
        assert abs(learner.distances(contexts).estimate[0, 1] - before) < 0.02


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
