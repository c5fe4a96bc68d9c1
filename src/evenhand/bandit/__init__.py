"""FairBandit: decide and learn, round by round. Read `fair_bandit` first."""

from evenhand.bandit.fair_bandit import FairBandit

__all__ = ["FairBandit"]
