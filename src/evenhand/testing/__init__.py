"""Contract suites to run with pytest on your own metric learner, reward model or ledger; see docs/extend.md.

Needs pytest.
"""

import pytest

pytest.register_assert_rewrite("evenhand.testing.metric_learner", "evenhand.testing.ledger")

from evenhand.testing.metric_learner import CertainMetricLearnerContract, MetricLearnerContract  # noqa: E402

__all__ = ["CertainMetricLearnerContract", "MetricLearnerContract"]
