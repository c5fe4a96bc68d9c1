"""Contract suites to run with pytest on your own metric learner; see docs/extend.md. Needs pytest."""

import pytest

pytest.register_assert_rewrite("evenhand.testing.metric_learner")

from evenhand.testing.metric_learner import CertainMetricLearnerContract, MetricLearnerContract  # noqa: E402

__all__ = ["CertainMetricLearnerContract", "MetricLearnerContract"]
