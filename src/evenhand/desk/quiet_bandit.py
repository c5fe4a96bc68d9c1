"""QuietBandit: a FairBandit that keeps as facts what others are warned of, since a fold has nobody to warn."""

from __future__ import annotations

import copy
from typing import Self

from evenhand.bandit import FairBandit
from evenhand.metrics import Learned


class QuietBandit(FairBandit):
    """Learns without a warning: how often reviews conflicted is in `conflicts`, who misleads in `found_out`."""

    def _warn(self, learned: Learned, found_out: frozenset[str | None]) -> None:
        """Both are counted already; the warnings module would be shared by all threads besides."""

    def published(self, previous: Self | None = None) -> Self:
        """A copy that decides as this one does now, and that nothing learned later reaches.

        previous: the copy made before, if no review was heard since: its metric is as good as a new copy.
        """
        if self.safeguards.is_capped:  # then proposals work out evidence, which copies must not share
            return type(self).from_state(self.state())
        twin = copy.copy(self)
        twin.metric = copy.deepcopy(self.metric) if previous is None else previous.metric
        twin.reward = copy.deepcopy(self.reward)
        twin.safeguards = self.safeguards.copied()
        return twin

    def with_capacity(self, capacity: int | None) -> Self:
        """This bandit with another capacity from now on, all else shared: for deciding, not for learning."""
        if capacity == self.capacity:
            return self
        twin = copy.copy(self)
        twin.capacity = capacity
        return twin
