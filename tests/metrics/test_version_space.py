"""VersionSpace: the contract of metric learners, and the promise."""

from __future__ import annotations

from typing import Any

import pytest

from evenhand.metrics import MetricLearner, VersionSpace
from evenhand.testing import MetricLearnerContract


class TestVersionSpace(MetricLearnerContract):
    """The contract with answers that are never wrong."""

    def make(self, n_features: int, **settings: Any) -> MetricLearner:
        """Hard cuts."""
        return VersionSpace(n_features, error_rate=0, seed=0, **settings)


class TestWeighedVersionSpace(MetricLearnerContract):
    """The contract with answers that are seldom wrong."""

    def make(self, n_features: int, **settings: Any) -> MetricLearner:
        """The default."""
        return VersionSpace(n_features, seed=0, **settings)
