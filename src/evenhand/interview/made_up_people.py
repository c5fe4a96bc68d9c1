"""People made up from a schema alone, for forecasts before there is a table of real ones."""

from __future__ import annotations

import numpy as np

from evenhand._internal.arrays import Floats
from evenhand.schema import Category, Feature, Schema, YesNo

DEVIATION = 0.4  # Of a number on its scale from -1 to 1: most people are in the middle half of a range.


def made_up_people(schema: Schema, n: int, rng: np.random.Generator) -> Floats:
    """Contexts of n people whose features are independent, (n, n_features); scales may be open.

    Numbers, dates and grades are bell-shaped on their scale, answers and levels have random frequencies. Real people
    have features that depend on one another, and are more alike.

    >>> made_up_people(Schema([YesNo("member")]), 3, np.random.default_rng(0)).shape
    (3, 2)
    """
    blocks = [_block(feature, n, rng) for feature in schema.features]
    blocks += [np.ones((n, 1))] * schema.intercept
    return np.asarray(np.hstack(blocks) * schema.scale)


def _block(feature: Feature, n: int, rng: np.random.Generator) -> Floats:
    """The unscaled coordinates of one feature, (n, its number); nobody's value is missing."""
    if isinstance(feature, Category):
        levels = feature.all_levels
        chosen = rng.choice(len(levels), n, p=rng.dirichlet(np.ones(len(levels))))
        return feature.encode([levels[row] for row in chosen.tolist()])
    block = np.zeros((n, len(feature.coordinates)))
    if isinstance(feature, YesNo):
        block[:, 0] = np.where(rng.random(n) < rng.uniform(0.1, 0.9), 1.0, -1.0)
    else:
        block[:, 0] = np.clip(DEVIATION * rng.normal(size=n), -1.0, 1.0)
    return block
