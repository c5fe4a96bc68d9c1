"""Experiment: a name, a claim, a sweep, an analysis and a figure."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from evenhand.lab.store import Case, Columns

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from evenhand.schema.scales import Scale


@dataclass(frozen=True)
class Data:
    """Data that a user brings: a folder of files, the scale on which numbers become contexts, and how much to run."""

    folder: Path
    scale: Scale = "log"
    full: bool = False
    """Whether what no check is about is run, too: every learner, scale and kind of reviewer."""


@dataclass(frozen=True)
class Check:
    """One claim, what was measured, what was promised, and whether the claim holds."""

    claim: str
    measured: str
    promised: str
    holds: bool


@dataclass(frozen=True)
class Findings:
    """The result of an analysis: checks, and a table to print."""

    checks: tuple[Check, ...]
    table: pl.DataFrame
    numbers: Mapping[str, Any] = field(default_factory=dict)
    """What the figure needs besides the results."""


@dataclass(frozen=True)
class Experiment:
    """One experiment; register it in `lab.experiments`."""

    name: str
    claim: str
    """One sentence: what is tested."""
    sweep: Callable[[bool], Sequence[Case]]
    """The cases; True selects a quick version."""
    run: Callable[..., Columns]
    """One case: settings in, columns out. Must depend on its settings alone."""
    analyse: Callable[[pl.DataFrame], Findings]
    draw: Callable[[pl.DataFrame, Findings], Figure]
    on: Callable[[Data], Experiment] | None = None
    """For an experiment that needs a user's data: the same experiment on these; its own sweep asks for them."""
    needs: tuple[str, ...] = ()
    """Modules of optional packages; "all" leaves the experiment out where one is not installed."""

    def findings(self, table: pl.DataFrame) -> Findings:
        """The analysis, and whether in any run more rounds were flagged than `flags_left` said at any time."""
        found = self.analyse(table)
        return replace(found, checks=(*found.checks, *_promises_kept(table)))

    @property
    def is_installed(self) -> bool:
        """Whether every module that it needs can be imported."""
        return all(importlib.util.find_spec(module) is not None for module in self.needs)


def _promises_kept(table: pl.DataFrame) -> tuple[Check, ...]:
    """One check of all runs that promised something to an exact reviewer; none where no run did."""
    if "allowed" not in table.columns:
        return ()
    runs = table.group_by("case").agg(pl.col("flagged_rounds_by_reviewer", "allowed").max())
    promised = runs.filter(pl.col("allowed").is_not_nan())
    if not len(promised):
        return ()
    above = promised.filter(pl.col("flagged_rounds_by_reviewer") > pl.col("allowed"))
    claim = "flags_left was never exceeded, whenever it was read"
    return (Check(claim, f"exceeded in {len(above)} of {len(promised)} runs", "none", len(above) == 0),)
