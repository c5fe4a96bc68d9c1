"""The data sets by name."""

from __future__ import annotations

from evenhand._internal.checks import check_one_of
from evenhand.datasets import credit_card, credit_data, loanapp, resume
from evenhand.datasets.dataset import Dataset, Recipe

RECIPES: dict[str, Recipe] = {
    module.RECIPE.name: module.RECIPE for module in (loanapp, credit_card, credit_data, resume)
}

NAMES = tuple(RECIPES)
"""What `load` takes."""


def load(name: str) -> Dataset:
    """The data set of this name, read anew; needs pip install 'evenhand[datasets]'.

    >>> load("loanapp").frame.shape
    (1984, 59)
    """
    check_one_of("name", name, NAMES)
    return RECIPES[name].load()
