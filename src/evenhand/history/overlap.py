"""Overlap: whether past decisions gave everybody a chance, and of whom nothing can be estimated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from evenhand._internal.arrays import Floats, Mask
from evenhand.history.past_log import PastLog
from evenhand.history.propensities import Propensities

BINS = 10
CLEAR_CUT = 0.98
"""Above this share of pairs ranked as they were decided, decisions are as good as determined by the features."""

FEWEST_IN_GROUP = 10
MOST_GROUPS = 10
LEVELS = 12  # A coordinate with more different values is no level of a feature.


class Bin(NamedTuple):
    """Candidates with similar chances, and the share of them who were chosen."""

    mean: float
    share: float
    candidates: int


@dataclass(frozen=True)
class Overlap:
    """Diagnostics of propensities, and what follows, in sentences."""

    lowest: float
    highest: float
    """The lowest and the highest chance."""
    without_chance: int
    """Candidates whose chance counts as none."""
    ranked: float
    """The share of pairs of a chosen and another candidate in which the chosen one had the higher chance (AUC)."""
    calibration: tuple[Bin, ...]
    never: tuple[str, ...]
    """Groups of whom nobody was ever chosen, by coordinate."""
    statements: tuple[str, ...]


def overlap_of(log: PastLog, propensities: Propensities) -> Overlap:
    """Diagnostics of a log's propensities."""
    p, chosen = propensities.values, log.chosen
    without = int((~propensities.is_supported).sum())
    ranked, never = _ranked(p, chosen), _never_chosen(log)
    statements = _statements(log, propensities, without, ranked, never)
    return Overlap(float(p.min()), float(p.max()), without, ranked, _calibration(p, chosen), never, statements)


def _ranked(p: Floats, chosen: Mask) -> float:
    from scipy.stats import rankdata

    yes, no = int(chosen.sum()), int((~chosen).sum())
    if not yes or not no:
        return 0.5
    ranks = rankdata(p)
    return float((ranks[chosen].sum() - yes * (yes + 1) / 2) / (yes * no))


def _calibration(p: Floats, chosen: Mask) -> tuple[Bin, ...]:
    """Tenths of the candidates by their chances."""
    order = np.argsort(p, kind="stable")
    parts = [part for part in np.array_split(order, BINS) if len(part)]
    return tuple(Bin(float(p[part].mean()), float(chosen[part].mean()), len(part)) for part in parts)


def _never_chosen(log: PastLog) -> tuple[str, ...]:
    """Values of coordinates with which nobody was chosen, as words if there is a schema."""
    names = log.schema.coordinates if log.schema else tuple(f"feature {i}" for i in range(log.n_features))
    found = []
    for column, name in enumerate(names):
        values, group = np.unique(log.contexts[:, column], return_inverse=True)
        if not 1 < len(values) <= LEVELS:
            continue
        counts = np.bincount(group)
        taken = np.bincount(group, weights=log.chosen.astype(np.float64))
        for level in np.flatnonzero((counts >= FEWEST_IN_GROUP) & (taken == 0.0)):
            found.append(f"{_words(name, float(values[level]), values)} ({counts[level]} candidates)")
    return tuple(found[:MOST_GROUPS])


def _words(name: str, value: float, values: Floats) -> str:
    if len(values) == 2:
        return name if value == values[-1] else f"not {name}"
    return f"{name} at {value:.3g}"


def _statements(
    log: PastLog, propensities: Propensities, without: int, ranked: float, never: tuple[str, ...]
) -> tuple[str, ...]:
    """What can and what cannot be estimated, plainly."""
    said = []
    if without:
        share = without / log.n_candidates
        said.append(
            f"Of {without} of {log.n_candidates} candidates ({share:.1%}) nothing can be estimated: past decisions "
            "gave them hardly any chance, so there is nobody like them with an outcome."
        )
    if never:
        said.append(f"Never chosen: {'; '.join(never)}. Of these groups nothing can be estimated.")
    if log.chosen.all() and np.all(propensities.values == 1.0):
        return (*said, "Everybody was chosen, so the outcomes of all candidates are known.")
    if propensities.is_recorded:
        return (*said, "Chances are as recorded. Estimates are unbiased if these are the real ones.")
    if ranked > CLEAR_CUT:
        said.append(
            f"The features nearly determine past decisions (they rank {ranked:.1%} of pairs as decided): where a rule "
            "decided, there are no comparable people on the other side of it."
        )
    said.append(
        f"Chances were not recorded; they are {propensities.model}. Estimates are right if nothing else that past "
        "decisions looked at is related to outcomes; the table cannot show whether that is so."
    )
    return tuple(said)
