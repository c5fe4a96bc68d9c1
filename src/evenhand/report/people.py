"""CandidateTable: every candidate of a period's decisions in columns, and the groups that they make."""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand._internal.arrays import Floats
from evenhand._internal.checks import is_number
from evenhand._internal.intervals import MeanInterval, mean_of_clusters, wilson
from evenhand.desk.settings import DeskSettings, coordinates
from evenhand.errors import InvalidInput
from evenhand.report.figures import GroupFigures, GroupTable
from evenhand.review.display import features_of, in_words
from evenhand.schema.features import Category, Ordinal, YesNo
from evenhand.schema.rows import ID

MOST_LEVELS = 12
"""Groups of one attribute; rarer levels are one group."""
BINS = 4
"""Groups of a number with many values."""
OTHERS, UNKNOWN, ERASED = "others", "not known", "erased"
UNNAMED = (UNKNOWN, ERASED)
"""Groups that are no groups of people: they are counted, and no impact ratio is made of them."""

Mask = NDArray[np.bool_]


def default_groupings(settings: DeskSettings) -> list[str]:
    """The attributes that a report shows unless told: what is carried, and features with levels."""
    if settings.schema is None:
        return []
    levels = [feature.name for feature in settings.schema.features if isinstance(feature, Category | Ordinal | YesNo)]
    return [*(name for name in settings.schema.carry if name != ID), *levels]


def read_groupings(groups: Sequence[str] | None, settings: DeskSettings) -> list[tuple[str, ...]]:
    """The groupings to report: each by one attribute, or by several together, as in "sex,race"."""
    known = settings.attributes
    if groups is None:
        return [(name,) for name in default_groupings(settings)]
    found = [(one,) if one in known else tuple(name.strip() for name in one.split(",")) for one in groups]
    for name in (name for names in found for name in names):
        if name not in known:
            raise InvalidInput(f"unknown attribute {name!r}; there are {', '.join(known)}")
    return list(dict.fromkeys(found))


class CandidateTable:
    """A row for each candidate of each decision, with attributes as far as they are asked for."""

    def __init__(self, settings: DeskSettings, groups: Sequence[str] | None) -> None:
        self._settings, self._groupings = settings, read_groupings(groups, settings)
        self._names = list(dict.fromkeys(name for names in self._groupings for name in names))
        self._is_asked = groups is not None
        self._values: dict[str, list[Any]] = {name: [] for name in self._names}
        self._decision, self._chance = array("q"), array("d")
        self._shadow, self._chosen, self._reward = array("b"), array("b"), array("d")

    def add(self, body: Mapping[str, Any]) -> int:
        """Add the candidates of a decision; returns the row of the first."""
        start, k, erased = len(self._chance), len(body["candidates"]), set(body.get("erased", ()))
        self._decision.extend([body["number"]] * k)
        self._chance.extend(body["probabilities"])
        self._shadow.extend([bool(body.get("shadow"))] * k)
        self._chosen.extend([False] * k)
        self._reward.extend([math.nan] * k)
        if self._names:
            features, carried = self._features(body), body.get("carried") or [None] * k
            for name, own, more in zip(body["candidates"], features, carried, strict=True):
                known = {**(own or {}), **(more or {})}
                for attribute in self._names:
                    self._values[attribute].append(ERASED if name in erased else _plain(known.get(attribute)))
        return start

    def _features(self, body: Mapping[str, Any]) -> Sequence[Mapping[str, Any] | None]:
        """As they were sent; decoded from contexts, which takes long, only if somebody asked for an attribute."""
        if body.get("features") is not None:
            found: list[Mapping[str, Any] | None] = body["features"]
            return found
        if not self._is_asked:
            return [None] * len(body["candidates"])
        return features_of(body, body["candidates"], self._settings)

    def choose(self, start: int, k: int, places: Sequence[int]) -> None:
        """Only these of a decision's candidates were chosen; the last word counts."""
        for row in range(start, start + k):
            self._chosen[row] = False
        for place in places:
            self._chosen[start + place] = True

    def reward(self, row: int, reward: float) -> None:
        """The outcome of a candidate."""
        self._reward[row] = reward

    # Figures.

    def column(self, name: str, *, shadow: bool) -> Floats:
        """A column of the decisions in one mode: decision, chance, chosen or reward, (n,)."""
        columns = {"decision": self._decision, "chance": self._chance, "chosen": self._chosen, "reward": self._reward}
        return np.array(columns[name], dtype=np.float64)[self._mode(shadow)]

    def _mode(self, shadow: bool) -> Mask:
        mask: Mask = np.array(self._shadow, dtype=np.bool_) == shadow
        return mask

    def tables(self, *, shadow: bool) -> list[GroupTable]:
        """The groups of each grouping, in one mode; none without candidates."""
        if not self._mode(shadow).any():
            return []
        return [self._table(names, shadow=shadow) for names in self._groupings]

    def _table(self, names: tuple[str, ...], *, shadow: bool) -> GroupTable:
        labels = [self._labels(name) for name in names]
        joined = labels[0] if len(names) == 1 else [_joined(parts) for parts in zip(*labels, strict=True)]
        order = self._order(names[0]) if len(names) == 1 else sorted(set(joined), key=lambda one: (one in UNNAMED, one))
        mode, group_of = self._mode(shadow), np.array(joined, dtype=object)
        masks = [(name, mode & (group_of == name)) for name in order]
        masks = [(name, mask) for name, mask in masks if mask.any()]
        chosen = np.array(self._chosen, dtype=np.float64)
        highest = max((chosen[mask].mean() for name, mask in masks if name not in UNNAMED), default=0.0)
        groups = tuple(self._group(name, mask, chosen, float(highest)) for name, mask in masks)
        features = self._settings.features or coordinates(self._settings.n_features)
        return GroupTable(" and ".join(names), shadow, all(name in features for name in names), groups)

    def _group(self, name: str, mask: Mask, chosen: Floats, highest: float) -> GroupFigures:
        decision, reward = np.array(self._decision)[mask], np.array(self._reward)[mask]
        rate = _share(decision, chosen[mask])
        known = ~np.isnan(reward)
        ratio = None if name in UNNAMED or highest == 0.0 or rate.value is None else rate.value / highest
        return GroupFigures(
            name,
            int(mask.sum()),
            int(chosen[mask].sum()),
            int(known.sum()),
            mean_of_clusters(decision, np.array(self._chance)[mask], low=0.0, high=1.0),
            rate,
            ratio,
            mean_of_clusters(decision[known], reward[known]),
        )

    def _labels(self, attribute: str) -> list[str]:
        values, cuts = self._values[attribute], self._cuts(attribute)
        if cuts is not None:
            names = self._bin_names(attribute, cuts)
            return [names[int(np.searchsorted(cuts, v))] if is_number(v) else _unnamed(v) for v in values]
        words = [self._words(attribute, value) for value in values]
        common = {name for name, _ in Counter(words).most_common(MOST_LEVELS)} | set(UNNAMED)
        return [word if word in common else OTHERS for word in words]

    def _order(self, attribute: str) -> list[str]:
        """The groups of one attribute in the order of a table."""
        cuts = self._cuts(attribute)
        if cuts is not None:
            return [*self._bin_names(attribute, cuts), *UNNAMED]
        schema, found = self._settings.schema, set(self._labels(attribute))
        feature = schema.feature(attribute) if schema is not None and attribute in schema.names else None
        if isinstance(feature, Category | Ordinal):
            first = [str(level) for level in feature.levels if str(level) in found]
        else:
            number_of = {self._words(attribute, v): v for v in self._values[attribute] if is_number(v)}
            first = sorted(found, key=lambda name: (number_of.get(name, math.inf), name))
        others = sorted(found - set(first) - {OTHERS, *UNNAMED})
        return [*(name for name in first if name not in (OTHERS, *UNNAMED)), *others, OTHERS, *UNNAMED]

    def _cuts(self, attribute: str) -> Floats | None:
        """Where the groups of a number with many values end; None for one with few, or for levels."""
        numbers = [float(value) for value in self._values[attribute] if is_number(value)]
        if len(set(numbers)) <= MOST_LEVELS:
            return None
        return np.unique(np.quantile(numbers, np.arange(1, BINS) / BINS, method="nearest"))

    def _bin_names(self, attribute: str, cuts: Floats) -> list[str]:
        ends = [self._words(attribute, cut.item()) for cut in cuts]
        between = [f"over {a}, up to {b}" for a, b in pairwise(ends)]
        return [f"up to {ends[0]}", *between, f"over {ends[-1]}"]

    def _words(self, attribute: str, value: Any) -> str:
        return _unnamed(value) if value in (None, ERASED) else in_words(value, self._settings.schema, attribute)


def _share(decision: NDArray[np.int64], chosen: Floats) -> MeanInterval:
    """The share chosen; where it is 0 or 1 nothing varies, and the interval is Wilson's, of as many as decisions."""
    share = mean_of_clusters(decision, chosen, low=0.0, high=1.0)
    if share.value not in (0.0, 1.0):
        return share
    n = len(np.unique(decision))
    return MeanInterval(share.value, *wilson(int(share.value) * n, n))


def _plain(value: Any) -> Any:
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


def _unnamed(value: Any) -> str:
    return ERASED if value == ERASED else UNKNOWN if value is None else str(value)


def _joined(parts: Sequence[str]) -> str:
    """The name of a group by several attributes."""
    gone = next((part for part in (ERASED, UNKNOWN) if part in parts), None)
    return ", ".join(parts) if gone is None else gone
