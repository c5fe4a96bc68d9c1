"""Real people: tables that an installable package carries, each with a schema, rounds and an outcome."""

from evenhand.datasets.dataset import Dataset
from evenhand.datasets.registry import NAMES, load

__all__ = ["NAMES", "Dataset", "load"]
