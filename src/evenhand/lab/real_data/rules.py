"""What simulated reviewers of each data set go by, in the units of its table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache

import numpy as np

from evenhand.auditors import (
    Branch,
    Criterion,
    DistanceAuditor,
    LexicographicAuditor,
    NormAuditor,
    ThresholdAuditor,
    TreeAuditor,
)
from evenhand.datasets import load
from evenhand.schema import Schema

loaded = cache(load)
"""The data sets, read once a process; experiments do not change them."""

ALIKE = 0.05
"""How far apart two are whom a rule does not tell apart: chances may differ by this."""

LEXICOGRAPHIC, THRESHOLDS, TREE, CITY_BLOCK = "lexicographic", "thresholds", "tree", "city block"


@dataclass(frozen=True)
class Place:
    """A feature, or a level of a category as "name=level", as a coordinate of a schema's contexts."""

    schema: Schema
    name: str

    @property
    def feature(self) -> int:
        """The coordinate."""
        return self.schema.coordinates.index(self.name)

    def at(self, value: object | None = None) -> float:
        """The coordinate of a value of the feature; None: the middle between yes and no, a level and the others."""
        if value is None:
            return 0.0
        feature = self.schema.feature(self.name)
        return float(feature.encode([feature.read(value)])[0, 0]) * self.schema.scale

    def share(self, share: float) -> float:
        """The length of a share of the whole range."""
        return 2.0 * share * self.schema.scale


def lexicographic(schema: Schema, *steps: tuple[str, float, float]) -> LexicographicAuditor:
    """steps: feature, the share of its range within which two count as equal, and the distance beyond."""
    criteria = [Criterion(Place(schema, name).feature, Place(schema, name).share(s), size) for name, s, size in steps]
    return LexicographicAuditor(criteria, alike=ALIKE)


def thresholds(schema: Schema, *steps: tuple[str, float | None, float]) -> ThresholdAuditor:
    """steps: feature, threshold in its unit (None for yes/no and levels), and the distance across it."""
    criteria = [
        Criterion(Place(schema, name).feature, Place(schema, name).at(value), size) for name, value, size in steps
    ]
    return ThresholdAuditor(criteria, alike=ALIKE)


def branch(
    schema: Schema, step: tuple[str, float | None, float], *, no: Branch | None = None, yes: Branch | None = None
) -> Branch:
    """A question of a tree; step: as for `thresholds`."""
    name, value, size = step
    return Branch(Place(schema, name).feature, Place(schema, name).at(value), size, no=no, yes=yes)


def city_block(schema: Schema, **ranges: float) -> NormAuditor:
    """The sum of absolute differences; ranges: the distance across the whole range of each feature."""
    A = np.zeros((len(ranges), schema.n_features))
    for row, (name, size) in enumerate(ranges.items()):
        A[row, Place(schema, name).feature] = size / Place(schema, name).share(1.0)
    return NormAuditor(A, 1)


Make = Callable[[Schema], DistanceAuditor]

RULES: Mapping[str, Mapping[str, Make]] = {
    "loanapp": {
        LEXICOGRAPHIC: lambda s: lexicographic(s, ("pubrec", 0, 0.6), ("obrat", 0.06, 0.4), ("hrat", 0.06, 0.2)),
        THRESHOLDS: lambda s: thresholds(
            s, ("obrat", 36, 0.3), ("hrat", 28, 0.2), ("pubrec", None, 0.3), ("unver", None, 0.2), ("cons=1", None, 0.2)
        ),
        TREE: lambda s: TreeAuditor(
            branch(
                s,
                ("pubrec", None, 0.7),
                no=branch(
                    s, ("obrat", 36, 0.5), no=branch(s, ("cons=1", None, 0.25)), yes=branch(s, ("liq", 50, 0.25))
                ),
            ),
            alike=ALIKE,
        ),
        CITY_BLOCK: lambda s: city_block(s, obrat=0.9, hrat=0.5, liq=0.4, pubrec=0.3, loanamt=0.2),
    },
    "credit_data": {
        LEXICOGRAPHIC: lambda s: lexicographic(
            s, ("Records", 0, 0.6), ("Job=partime", 0, 0.4), ("Seniority", 0.15, 0.3), ("Income", 0.1, 0.15)
        ),
        THRESHOLDS: lambda s: thresholds(
            s,
            ("Records", None, 0.3),
            ("Seniority", 2, 0.2),
            ("Seniority", 10, 0.1),
            ("Income", 100, 0.2),
            ("Debt", 0, 0.1),
        ),
        TREE: lambda s: TreeAuditor(
            branch(
                s,
                ("Records", None, 0.7),
                no=branch(
                    s,
                    ("Job=partime", None, 0.5),
                    no=branch(s, ("Seniority", 2, 0.3), yes=branch(s, ("Income", 120, 0.15))),
                ),
            ),
            alike=ALIKE,
        ),
        CITY_BLOCK: lambda s: city_block(s, Records=0.4, Seniority=0.5, Income=0.5, Debt=0.3, Amount=0.3),
    },
    "resume": {
        LEXICOGRAPHIC: lambda s: lexicographic(
            s, ("honors", 0, 0.6), ("years_experience", 0.15, 0.3), ("special_skills", 0, 0.2)
        ),
        THRESHOLDS: lambda s: thresholds(
            s,
            ("years_experience", 5, 0.2),
            ("years_experience", 10, 0.2),
            ("special_skills", None, 0.2),
            ("honors", None, 0.2),
            ("college_degree", None, 0.1),
        ),
        TREE: lambda s: TreeAuditor(
            branch(
                s,
                ("college_degree", None, 0.5),
                no=branch(s, ("years_experience", 10, 0.3)),
                yes=branch(s, ("years_experience", 5, 0.3), yes=branch(s, ("special_skills", None, 0.2))),
            ),
            alike=ALIKE,
        ),
        CITY_BLOCK: lambda s: city_block(
            s, years_experience=0.8, special_skills=0.2, honors=0.2, college_degree=0.2, employment_holes=0.1
        ),
    },
}
"""By data set and reviewer. Written down before anything was played."""
