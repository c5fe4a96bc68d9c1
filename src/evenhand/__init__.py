"""Even-handed decisions when you only know unfairness when you see it."""

from evenhand import auditors, baselines, environments, errors, metrics, paper, rewards, theory
from evenhand.allocation import Allocation, fair_distribution
from evenhand.bandit import FairBandit
from evenhand.decision import Decision, Review
from evenhand.errors import EvenhandError
from evenhand.metrics import Distances, Learned
from evenhand.schema import Category, Number, Schema, YesNo

__version__ = "0.1.0"

__all__ = [
    "Allocation",
    "Category",
    "Decision",
    "Distances",
    "EvenhandError",
    "FairBandit",
    "Learned",
    "Number",
    "Review",
    "Schema",
    "YesNo",
    "__version__",
    "auditors",
    "baselines",
    "environments",
    "errors",
    "fair_distribution",
    "metrics",
    "paper",
    "rewards",
    "theory",
]
