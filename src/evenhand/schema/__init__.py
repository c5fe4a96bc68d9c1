"""Names and kinds of the features of a candidate: from rows to contexts, and from a learned matrix to words.

>>> schema = Schema([Number("income", low=0, high=200_000, unit="EUR"), YesNo("has_guarantor")])
>>> schema.encode([{"income": 50_000, "has_guarantor": True}]).round(3).tolist()
[[-0.289, 0.577, 0.577]]
"""

from evenhand.schema.effects import Comparison, Distance, Equivalence, Explanation, FeatureEffect, Interaction
from evenhand.schema.features import Category, Feature, Number, YesNo
from evenhand.schema.fit import DoesNotFit, Problem
from evenhand.schema.schema import Schema

__all__ = [
    "Category",
    "Comparison",
    "Distance",
    "DoesNotFit",
    "Equivalence",
    "Explanation",
    "Feature",
    "FeatureEffect",
    "Interaction",
    "Number",
    "Problem",
    "Schema",
    "YesNo",
]
