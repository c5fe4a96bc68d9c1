"""Even-handed decisions when you only know unfairness when you see it."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from evenhand import certificates, errors, metrics, paper, rewards, theory
from evenhand.allocation import Allocation, fair_distribution
from evenhand.bandit import FairBandit
from evenhand.errors import EvenhandError
from evenhand.metrics import Distances, Learned
from evenhand.records.decision import Decision, Review
from evenhand.schema import Category, Date, Number, Ordinal, Schema, YesNo
from evenhand.version import __version__

if TYPE_CHECKING:
    from evenhand import auditors, baselines, datasets, environments, history
    from evenhand.desk import Desk
    from evenhand.interview import Interview

__all__ = [
    "Allocation",
    "Category",
    "Date",
    "Decision",
    "Desk",
    "Distances",
    "EvenhandError",
    "FairBandit",
    "Interview",
    "Learned",
    "Number",
    "Ordinal",
    "Review",
    "Schema",
    "YesNo",
    "__version__",
    "auditors",
    "baselines",
    "certificates",
    "datasets",
    "environments",
    "errors",
    "fair_distribution",
    "history",
    "metrics",
    "paper",
    "rewards",
    "theory",
]

LATER = ("auditors", "baselines", "datasets", "environments", "history")
"""Imported on first use: deciding needs neither them nor Gymnasium."""


def __getattr__(name: str) -> Any:
    if name in LATER:
        return import_module(f"evenhand.{name}")
    if name == "Interview":  # it needs scipy.optimize and scipy.spatial, which are slow to load
        return import_module("evenhand.interview").Interview
    if name == "Desk":  # needs SQLAlchemy, from the extra evenhand[desk]
        return import_module("evenhand.desk").Desk
    raise AttributeError(f"module 'evenhand' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
