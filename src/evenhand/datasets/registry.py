"""The data sets by name."""

from __future__ import annotations

from functools import cache

from evenhand._internal.checks import check_one_of
from evenhand.datasets import credit_card, credit_data, loanapp, resume
from evenhand.datasets.dataset import Dataset, Recipe

RECIPES: dict[str, Recipe] = {
    module.RECIPE.name: module.RECIPE for module in (loanapp, credit_card, credit_data, resume)
}

NAMES = tuple(RECIPES)
"""What `load` takes."""


def load(name: str) -> Dataset:
    """The data set of this name; needs pip install 'evenhand[datasets]'. It is read once; do not change its tables.

    >>> load("loanapp").frame.shape
    (1984, 59)
    """
    check_one_of("name", name, NAMES)
    return _loaded(name)


@cache
def _loaded(name: str) -> Dataset:
    return RECIPES[name].load()
