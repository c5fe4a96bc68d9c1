"""People made up from a schema."""

from __future__ import annotations

import numpy as np

from evenhand.interview.made_up_people import made_up_people
from evenhand.schema import Category, Date, Number, Ordinal, Schema, YesNo

SCHEMA = Schema(
    [
        Number("age", low=18, high=90, integer=True),
        YesNo("member"),
        Category("purpose", levels=("car", "home", "study")),
        Ordinal("grade", levels=("low", "middle", "high")),
        Date("since", low="2020-01-01", high="2026-01-01"),
    ]
)


def test_they_are_contexts_that_the_schema_could_have_encoded() -> None:
    """Each has the intercept, a norm of at most 1, and a level that can be decoded; people differ."""
    contexts = made_up_people(SCHEMA, 200, np.random.default_rng(0))
    assert contexts.shape == (200, SCHEMA.n_features)
    assert np.all(np.linalg.norm(contexts, axis=1) <= 1.0)
    levels = SCHEMA.blocks["purpose"]
    known = SCHEMA.feature("purpose").encode(["car", "home", "study"]) * SCHEMA.scale
    assert {int(np.argmin(np.linalg.norm(known - row, axis=1))) for row in contexts[:, levels]} == {0, 1, 2}
    assert all(np.min(np.linalg.norm(known - row, axis=1)) < 1e-12 for row in contexts[:, levels])
    assert np.all(np.std(contexts[:, :-1], axis=0) > 0.0)
    assert np.allclose(contexts[:, -1], SCHEMA.scale)


def test_open_scales_need_no_table() -> None:
    """A schema with scale "auto" has not been fitted; people are made up all the same."""
    schema = Schema([Number("income", low=0, high=1e5, scale="auto")])
    assert schema.is_open
    assert made_up_people(schema, 5, np.random.default_rng(0)).shape == (5, 2)
