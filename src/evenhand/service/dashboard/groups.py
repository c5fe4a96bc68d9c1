"""Chance and outcome by group: any attribute of candidates, also one that is only carried and never learned from."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand._internal import intervals
from evenhand._internal.arrays import Floats
from evenhand._internal.checks import is_number
from evenhand.desk.event_records import decisions_with_events
from evenhand.errors import InvalidInput
from evenhand.review.display import features_of, in_words

if TYPE_CHECKING:
    from evenhand.desk.desk import Desk
    from evenhand.desk.settings import DeskSettings
    from evenhand.ledger.event import Row

MOST_CANDIDATES = 5_000
"""Candidates that are looked at, of the newest decisions: to read one takes up to a third of a millisecond."""
KEPT_SECONDS = 5.0
"""How long candidates that were read are kept: long enough to look at several attributes."""
MOST_LEVELS = 8
"""Groups of one attribute; rarer levels are one group."""
BINS = 4
"""Groups of a number."""
OTHERS, UNKNOWN = "others", "not known"


@dataclass(frozen=True)
class Applicant:
    """What is known of a candidate: attributes, the chance of being chosen, whether chosen, and the reward."""

    decision: int
    values: Mapping[str, Any]
    chance: float
    chosen: bool
    reward: float | None


class GroupView:
    """The groups of one desk. Methods block, and may be called from any thread."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._lock = threading.Lock()
        self._read: list[Applicant] = []
        self._read_at = float("-inf")

    def by(self, attribute: str | None) -> dict[str, Any]:
        """Candidates, chance and reward of each group; by default of a carried attribute, or of a feature with levels.

        chance, reward: mean and 95% confidence interval. Candidates of one decision share its places, so decisions, not
        candidates, count as independent.
        """
        settings = self._desk.settings
        names = settings.attributes
        if attribute is not None and attribute not in names:
            raise InvalidInput(f"unknown attribute {attribute!r}; there are {', '.join(names)}")
        with self._lock:
            if time.monotonic() - self._read_at > KEPT_SECONDS:
                self._read, self._read_at = read_applicants(self._desk), time.monotonic()
            people = self._read
        chosen = attribute or _default(settings)
        labels = _labels([one.values.get(chosen) for one in people], settings, chosen)
        order = sorted(set(labels.names), key=labels.place)
        return {
            "attribute": chosen,
            "attributes": names,
            "seen": settings.features is None or chosen in settings.features,
            "decisions": len({one.decision for one in people}),
            "candidates": len(people),
            "groups": [_group(name, labels.members(name, people)) for name in order],
        }


def _default(settings: DeskSettings) -> str:
    names, schema = settings.attributes, settings.schema
    if schema is None:
        return names[0]
    with_levels = (f.name for f in schema.features if not hasattr(f, "low"))
    return next((name for name in names if name in schema.carry), next(with_levels, names[0]))


def read_applicants(desk: Desk) -> list[Applicant]:
    """The candidates of the newest decisions, without people who were erased."""
    found: list[Applicant] = []
    end = desk.head.decisions
    while end > 0 and len(found) < MOST_CANDIDATES:
        start = max(0, end - 50)
        for row, about in reversed([*decisions_with_events(desk.ledger, desk.name, range(start, end))]):
            if len(found) < MOST_CANDIDATES:
                found += _applicants(row, about, desk.settings)
        end = start
    return found


def _applicants(row: Row, about: Sequence[Row], settings: DeskSettings) -> list[Applicant]:
    body = row.event.body
    rewards: dict[str, float] = {}
    for other in about:
        if other.kind == "outcome":
            rewards |= other.event.body["rewards"]
    carried = body.get("carried") or [{}] * len(body["candidates"])
    features = features_of(body, body["candidates"], settings)
    known = zip(body["candidates"], features, carried, body["probabilities"], strict=True)
    return [
        Applicant(body["number"], {**values, **(more or {})}, chance, name in body["chosen"], rewards.get(name))
        for name, values, more, chance in known
        if values
    ]


@dataclass(frozen=True)
class Labels:
    """The group of each candidate, and the order of groups."""

    names: list[str]
    order: list[str]

    def members(self, name: str, people: Sequence[Applicant]) -> list[Applicant]:
        """The candidates of a group."""
        return [one for one, group in zip(people, self.names, strict=True) if group == name]

    def place(self, name: str) -> int:
        """Where a group comes in the table."""
        return self.order.index(name)


def _labels(values: Sequence[Any], settings: DeskSettings, attribute: str) -> Labels:
    numbers = [float(value) for value in values if is_number(value) and not isinstance(value, bool)]
    if len(set(numbers)) > MOST_LEVELS:
        return _bins(values, np.array(numbers), settings, attribute)
    words = [UNKNOWN if value is None else in_words(value, settings.schema, attribute) for value in values]
    common = [name for name, _ in Counter(words).most_common(MOST_LEVELS)]
    names = [word if word in common else OTHERS for word in words]
    if numbers:  # few different numbers, in their order
        by_number = {in_words(v, settings.schema, attribute): float(v) for v in values if is_number(v)}
        common.sort(key=lambda name: by_number.get(name, float("inf")))
    return Labels(names, [*common, OTHERS])


def _bins(values: Sequence[Any], numbers: Floats, settings: DeskSettings, attribute: str) -> Labels:
    """Quarters of the candidates by a number."""
    cuts = np.unique(np.quantile(numbers, np.arange(1, BINS) / BINS, method="nearest"))
    ends = [in_words(cut.item(), settings.schema, attribute) for cut in cuts]
    names = [f"up to {ends[0]}", *(f"over {a}, up to {b}" for a, b in pairwise(ends))]
    names.append(f"over {ends[-1]}")
    found = [names[int(np.searchsorted(cuts, float(v)))] if is_number(v) else UNKNOWN for v in values]
    return Labels(found, [*names, UNKNOWN])


def _group(name: str, people: Sequence[Applicant]) -> dict[str, Any]:
    rewarded = [(one.decision, one.reward) for one in people if one.reward is not None]
    return {
        "name": name,
        "candidates": len(people),
        "chosen": sum(one.chosen for one in people),
        "outcomes": len(rewarded),
        "chance": mean_of_clusters([(one.decision, one.chance) for one in people], low=0.0, high=1.0),
        "reward": mean_of_clusters(rewarded),
    }


def mean_of_clusters(
    values: Sequence[tuple[int, float]], *, low: float = -np.inf, high: float = np.inf
) -> dict[str, float | None]:
    """The mean of values with its 95% confidence interval; those with the same first entry depend on each other.

    The interval is that of a ratio of sums over clusters, with Student's t. It is None for fewer than two clusters.

    >>> mean_of_clusters([(0, 0.25), (0, 0.75), (1, 0.5), (2, 0.5)])
    {'value': 0.5, 'lower': 0.5, 'upper': 0.5}
    """
    clusters, numbers = [cluster for cluster, _ in values], [value for _, value in values]
    found = intervals.mean_of_clusters(clusters, numbers, low=low, high=high)
    return {name: None if end is None else round(end, 6) for name, end in asdict(found).items()}
