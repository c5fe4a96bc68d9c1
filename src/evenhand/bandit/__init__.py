"""FairBandit: decide and learn, round by round. Read `fair_bandit` first."""

from evenhand.bandit.fair_bandit import FairBandit
from evenhand.bandit.fit_report import FitReport

__all__ = ["FairBandit", "FitReport"]
