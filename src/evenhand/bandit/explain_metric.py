"""A learned metric in words: what features make of a distance, and which of them count together."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from evenhand.metrics import MetricLearner
from evenhand.metrics.gaussian.interactions import CLEAR_SIGN, SOME_SIGN
from evenhand.schema import InteractionSigns, MetricExplanation, Schema


def explain_metric(learner: MetricLearner, schema: Schema) -> MetricExplanation:
    """What a learner knows, in terms of a schema's features, with bounds and the evidence for interactions."""
    signs = interaction_signs(learner, schema.block_labels, schema.names)
    return schema.explain(learner.get_mahalanobis_matrix(), ends=learner.ends_of, signs=signs)


def interaction_signs(
    learner: MetricLearner, blocks: Sequence[str], names: Sequence[str] | None = None
) -> InteractionSigns | None:
    """Which features count together; None if the learner cannot tell, as with structure "diagonal".

    blocks: the feature of each column. names: the features to look at, by default all. Of many pairs some look like an
    interaction by chance. So one of all pairs is expected to be one before any answer: the evidence for a pair must
    outweigh their number.
    """
    looked_at = set(blocks if names is None else names)
    found = [each for each in learner.interactions(blocks) if {each.first, each.second} <= looked_at]
    if not found:
        return None
    expected = math.log(len(found))
    signs = [(each, each.evidence - expected) for each in found]
    clear = tuple((each.first, each.second) for each, evidence in signs if evidence > CLEAR_SIGN)
    some = tuple((each.first, each.second) for each, evidence in signs if SOME_SIGN < evidence <= CLEAR_SIGN)
    others = [each.evidence for each, evidence in signs if evidence <= SOME_SIGN]
    speaks_against = bool(others) and float(np.median(others)) < -SOME_SIGN
    is_known = speaks_against or learner.evidence_of_few_interactions() > CLEAR_SIGN
    return InteractionSigns(clear, some, "none" if is_known else "unknown")
