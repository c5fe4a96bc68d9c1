"""Experiment: a name, a claim, a sweep, an analysis and a figure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import polars as pl

from evenhand.lab.case import Case
from evenhand.lab.store import Columns

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Verdict:
    """One claim held against what was measured."""

    claim: str
    measured: str
    promised: str
    holds: bool


@dataclass(frozen=True)
class Findings:
    """What an analysis says: verdicts, and a table worth printing."""

    verdicts: tuple[Verdict, ...]
    table: pl.DataFrame
    numbers: Mapping[str, Any] = field(default_factory=dict)
    """What the figure needs beyond the results."""


@dataclass(frozen=True)
class Experiment:
    """All there is to know of one experiment; register it in `lab.experiments`."""

    name: str
    claim: str
    """One sentence: what is put to the test."""
    sweep: Callable[[bool], Sequence[Case]]
    """The cases; True asks for a quick version."""
    run: Callable[..., Columns]
    """One case: settings in, columns out. Must depend on its settings alone."""
    analyse: Callable[[pl.DataFrame], Findings]
    draw: Callable[[pl.DataFrame, Findings], Figure]
