"""Contract suites to run with pytest on your own metric learner, reward model or ledger; see docs/extend.md.

Needs pytest.
"""

import pytest

pytest.register_assert_rewrite(
    "evenhand.testing.ledger", "evenhand.testing.metric_learner", "evenhand.testing.reward_model"
)

from evenhand.testing.metric_learner import CertainMetricLearnerContract, MetricLearnerContract  # noqa: E402
from evenhand.testing.reward_model import LinearRewardModelContract, RewardModelContract  # noqa: E402

__all__ = [
    "CertainMetricLearnerContract",
    "LinearRewardModelContract",
    "MetricLearnerContract",
    "RewardModelContract",
]
