"""How far apart two values of a feature are, as a share of its range: what is shown first, and what is marked.

The feature's own range, not the learned metric: reviewers must not see what the desk has learned from them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from evenhand._internal.arrays import Floats
from evenhand._internal.checks import is_number
from evenhand.errors import EvenhandError
from evenhand.schema import Category, Number, Schema, YesNo
from evenhand.schema.features import Feature

UNORDERED = 0.5
"""Two levels of a category, or yes and no, differ by half a range: there is no telling how far apart they are."""


def share_of_range(name: str, left: Any, right: Any, schema: Schema | None) -> float:
    """From 0, the same, to 1: as far apart as can be. Levels without an order differ by half.

    Numbers count on the feature's scale, or as they are if that makes more of them: two values beyond the range differ,
    even if the schema clips both. Where there is no range, it is taken to be 1.

    >>> schema = Schema([Number("age", low=20, high=70), Number("income", low=0, high=100_000, scale="log")])
    >>> share_of_range("age", 28, 27, schema), share_of_range("age", 80, 90, schema)
    (0.02, 0.2)
    >>> round(share_of_range("income", 10_000, 20_000, schema), 2), share_of_range("purpose", "car", "home", schema)
    (0.17, 0.5)
    """
    if left == right:
        return 0.0
    feature = schema.feature(name) if schema is not None and name in schema.names else None
    if isinstance(feature, Category | YesNo) or (isinstance(left, str | bool) and feature is None):
        return UNORDERED
    shares = [_encoded_share(feature, left, right) if feature is not None else None]
    if is_number(left) and is_number(right):
        width = feature.high - feature.low if isinstance(feature, Number) else 1.0
        shares.append(abs(float(left) - float(right)) / width)
    known = [share for share in shares if share is not None]
    return round(min(1.0, max(known)), 6) if known else 1.0


def _encoded_share(feature: Feature, left: Any, right: Any) -> float | None:
    """The distance of the encoded values relative to that of the farthest two; None if they cannot be encoded."""
    try:
        one, other = feature.encode([feature.read(value, clip=True) for value in (left, right)])
        farthest = max(float(np.linalg.norm(np.subtract(*feature.encode(list(ends))))) for ends in feature.contrasts())
    except EvenhandError:
        return None
    return float(np.linalg.norm(one - other)) / farthest if farthest > 0 else None


def learned_sizes(
    left: Mapping[str, Any], right: Mapping[str, Any], schema: Schema, matrix: Floats
) -> dict[str, float]:
    """The learned distance of two people who differ in one feature only, for each feature that can be encoded.

    >>> schema = Schema([Number("age", low=20, high=70), YesNo("member")], intercept=False)
    >>> learned_sizes({"age": 20, "member": True}, {"age": 70, "member": True}, schema, np.diag([0.04, 0.0]))
    {'age': 0.282843, 'member': 0.0}
    """
    sizes = {}
    for feature in schema.features:
        try:
            values = [feature.read(row.get(feature.name), clip=True) for row in (left, right)]
        except EvenhandError:
            continue
        one, other = feature.encode(values) * schema.scale
        block, difference = schema.blocks[feature.name], one - other
        sizes[feature.name] = round(float(max(difference @ matrix[block, block] @ difference, 0.0) ** 0.5), 6)
    return sizes


def learned_ranks(names: Sequence[str], sizes: Mapping[str, float]) -> dict[str, float]:
    """The order of visible features by size, as numbers up to 1 for the largest.

    No more than the order is for reviewers: sizes would show the metric, and sizes relative to the largest of all
    whether a hidden attribute has it.

    >>> learned_ranks(["age", "member"], {"age": 0.3, "member": 0.1, "origin": 0.9})
    {'age': 1.0, 'member': 0.5}
    """
    order = sorted(names, key=lambda name: -sizes.get(name, 0.0))
    return {name: round(1 - place / len(order), 3) for place, name in enumerate(order)}
