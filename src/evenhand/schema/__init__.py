"""Features with names and kinds: rows encoded as contexts, and a learned matrix explained in words.

>>> schema = Schema([Number("income", low=0, high=200_000, unit="EUR"), YesNo("has_guarantor")])
>>> schema.encode([{"income": 50_000, "has_guarantor": True}]).round(3).tolist()
[[-0.289, 0.577, 0.577]]
"""

from evenhand.schema._proposal import Note
from evenhand.schema.effects import (
    Comparison,
    Distance,
    Equivalence,
    FeatureEffect,
    Interaction,
    InteractionSigns,
    MetricExplanation,
)
from evenhand.schema.encoded_rows import CountedAs, EncodedRows, LeftOut
from evenhand.schema.features import Category, Date, Feature, Number, Ordinal, YesNo
from evenhand.schema.rows import DoesNotFit, RowProblem
from evenhand.schema.schema import Schema

__all__ = [
    "Category",
    "Comparison",
    "CountedAs",
    "Date",
    "Distance",
    "DoesNotFit",
    "EncodedRows",
    "Equivalence",
    "Feature",
    "FeatureEffect",
    "Interaction",
    "InteractionSigns",
    "LeftOut",
    "MetricExplanation",
    "Note",
    "Number",
    "Ordinal",
    "RowProblem",
    "Schema",
    "YesNo",
]
