"""Dataset: a table of real people, who competed with whom, who was chosen and what came of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand._internal.arrays import Floats, Indices, Mask
from evenhand._internal.checks import check_whole
from evenhand._internal.randomness import Seed, as_generator
from evenhand.datasets.package_table import PackageTable
from evenhand.errors import InvalidInput
from evenhand.schema import Schema
from evenhand.schema.encoded_rows import EncodedRows, LeftOut

if TYPE_CHECKING:
    from pandas import DataFrame, Series

ROUND_SIZE = 10
"""Candidates of a round where the table does not say who competed with whom."""

ROUND, CHOSEN, OUTCOME = "round", "chosen", "outcome"
"""The columns that `as_history` adds."""


@dataclass(frozen=True)
class Recipe:
    """How a table of a package becomes a data set; one for each module of this room."""

    name: str
    title: str
    table: PackageTable
    schema: Schema
    """Quantile scales may be open: they are fitted to the table."""
    outcome: str
    """The column of the outcome."""
    outcome_means: str
    reward: Callable[[Series[Any]], Series[Any]]
    """The outcome column as rewards between -1 and 1, NaN where there is none."""
    chosen: str | None = None
    """The column of who was chosen, read as yes or no; None: everybody was."""
    round: str | None = None
    """The column that those who compete have in common; None: the table does not say."""
    of_chosen_only: bool = False
    """Whether the table has outcomes of those who were chosen, and of nobody else."""
    codes: Mapping[str, float] = field(default_factory=dict)
    """Numbers that stand for a missing value, by column."""

    def load(self) -> Dataset:
        """Read the table, make codes missing, and leave out whoever does not fit the schema."""
        raw = self.table.read()
        frame = raw.copy()
        for column, code in self.codes.items():
            frame[column] = frame[column].where(frame[column] != code)
        schema = self.schema.fitted(frame, extra="ignore")
        people = schema.read(frame, on_invalid="skip", extra="ignore")
        return Dataset(self, raw, frame.iloc[list(people.places)], schema, people)


@dataclass(frozen=True, eq=False)
class Dataset:
    """A table of real people with a schema, rounds, past decisions and outcomes; `load` makes it, `print` shows it.

    >>> from evenhand.datasets import load
    >>> loans = load("loanapp")
    >>> loans.contexts.shape, len(loans.left_out), loans.schema.n_features
    ((1984, 46), 5, 46)
    >>> print(loans.left_out[0])
    39: term must be a number from 0 to 480 months, got no value
    """

    recipe: Recipe
    raw: DataFrame
    """The table as the package has it."""
    frame: DataFrame
    """The people who fit the schema, with all columns of the table; codes for missing values are missing values."""
    schema: Schema
    people: EncodedRows

    @property
    def name(self) -> str:
        """The name that `load` takes."""
        return self.recipe.name

    @property
    def contexts(self) -> Floats:
        """The people as contexts (n, d) of norm <= 1."""
        return self.people.contexts

    @property
    def left_out(self) -> tuple[LeftOut, ...]:
        """Rows of the table that do not fit the schema, and why; named by their label in `raw`."""
        return self.people.left_out

    def __len__(self) -> int:
        return len(self.frame)

    @cached_property
    def rewards(self) -> Floats:
        """The outcome of each person as a reward between -1 and 1, (n,); NaN where the table has none."""
        rewards = np.asarray(self.recipe.reward(self.frame[self.recipe.outcome]), dtype=np.float64)
        return np.where(self.chosen, rewards, np.nan) if self.recipe.of_chosen_only else rewards

    @cached_property
    def chosen(self) -> Mask:
        """Who was chosen at the time, (n,)."""
        if self.recipe.chosen is None:
            return np.ones(len(self), dtype=np.bool_)
        return np.asarray(self.frame[self.recipe.chosen].isin([1, "yes"]), dtype=np.bool_)

    def rounds(self, size: int | None = None, *, seed: Seed = None) -> list[Indices]:
        """Who competes with whom: the places, from 0, of the people of each round, in `frame` and `contexts`.

        Where the table says it, a round is those who applied for the same place, and `size` must be None. Elsewhere a
        round is `size` people, by default ROUND_SIZE, in the order of the table; the last round may be smaller. seed:
        shuffles the rounds, or the people where the table does not say who competed.

        >>> from evenhand.datasets import load
        >>> [len(members) for members in load("loanapp").rounds(900)]
        [900, 900, 184]
        """
        column = self.recipe.round
        if column is not None:
            if size is not None:
                raise InvalidInput(f"size must be None, since {column} says who competed in {self.name}, got {size!r}")
            _, numbers = np.unique(self.frame[column].to_numpy(), return_inverse=True)
            order = np.argsort(numbers, kind="stable")
            found = np.split(order, np.flatnonzero(np.diff(numbers[order])) + 1)
            return found if seed is None else [found[i] for i in as_generator(seed).permutation(len(found))]
        size = check_whole("size", ROUND_SIZE if size is None else size, least=1)
        order = np.arange(len(self)) if seed is None else as_generator(seed).permutation(len(self))
        return [order[start : start + size] for start in range(0, len(order), size)]

    def as_history(self, size: int | None = None, *, seed: Seed = None) -> DataFrame:
        """`frame` with three columns more: the round, who was chosen, and the reward; NaN for those not chosen.

        >>> from evenhand.datasets import load
        >>> load("loanapp").as_history(20)[["round", "chosen", "outcome"]].tail(2)
              round  chosen  outcome
        1987     99    True      1.0
        1988     99   False      NaN
        """
        table, number = self.frame.copy(), np.zeros(len(self), dtype=np.int64)
        for at, members in enumerate(self.rounds(size, seed=seed)):
            number[members] = at
        table[ROUND], table[CHOSEN] = number, self.chosen
        table[OUTCOME] = np.where(self.chosen, self.rewards, np.nan)
        return table

    def __str__(self) -> str:
        recipe, table = self.recipe, self.recipe.table
        competed = f"those with the same {recipe.round}" if recipe.round else "the table does not say"
        chosen = "everybody" if recipe.chosen is None else f"{self.chosen.mean():.1%}, by {recipe.chosen}"
        rows = {
            "people": f"{len(self):,}; {len(self.left_out)} rows left out",
            "features": f"{len(self.schema.features)}, {self.schema.n_features} coordinates",
            "rounds": competed,
            "chosen": chosen,
            "outcome": f"{recipe.outcome}: {recipe.outcome_means}; mean reward {np.nanmean(self.rewards):.3f}",
            "package": f"{table.package} {table.version}, {table.package_licence}; {'/'.join(table.path)} in it",
            "data licence": table.data_licence,
            "source": table.source,
        }
        return "\n".join([recipe.title, *(f"  {name:<14}{text}" for name, text in rows.items())])
