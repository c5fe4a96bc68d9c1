"""The sizes of the demo: five people for one loan, or fifty for ten with 24 features each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from evenhand._internal.arrays import Floats
from evenhand.environments import lending, mortgages
from evenhand.schema import Schema

Applicants = Callable[[int, np.random.Generator], list[dict[str, Any]]]


@dataclass(frozen=True)
class DemoSize:
    """A made-up world, the desk in it, and how its past is made."""

    schema: Schema
    applicants: Applicants
    pay_off: Floats
    """Theta: the expected reward of a context is its product with this."""
    metric: Floats
    """The reviewers' A: a difference z of contexts has distance ||A z||."""
    truth: dict[str, float]
    """The reviewers' distance across the whole range of each feature that counts for them."""
    candidates: int
    capacity: int
    decisions: int
    """Decisions that the desk has made when it opens."""
    together: int
    """Decisions between two rounds of answers."""
    answers: int
    """Answers in each round."""
    reviewers: dict[str, float]
    """Error rates."""
    settings: dict[str, Any]
    pause: float
    """Seconds between two decisions."""
    arrival: str
    """Who applies, in words."""
    preparation: str
    """How long making the past takes, in words."""


SMALL = DemoSize(
    schema=lending.SCHEMA,
    applicants=lending.Applicants().rows,
    pay_off=np.array([lending.PAY_OFF[name] for name in lending.SCHEMA.coordinates]),
    metric=lending.reviewer_metric(),
    truth=lending.DIFFERENCE,
    candidates=5,
    capacity=1,
    decisions=160,
    together=2,
    answers=1,
    reviewers={"Ana": 0.03, "Ben": 0.12},
    settings={
        "reviewer_error": None,
        "target_unfair_share": 0.05,
        "overlap": 0.3,
        "reviewing": {"repeats": 0.1, "repeat_after": 6, "controls": 0.05, "session": 10},
    },
    pause=1.0,
    arrival="Every second five people apply for one loan.",
    preparation="a quarter of a minute, the first time a minute",
)

LARGE = DemoSize(
    schema=mortgages.SCHEMA,
    applicants=mortgages.mortgage_applicants,
    pay_off=mortgages.pay_off(),
    metric=mortgages.reviewer_metric(),
    truth=mortgages.DIFFERENCE,
    candidates=50,
    capacity=10,
    decisions=120,
    together=1,
    answers=5,
    reviewers={"Ana": 0.0, "Ben": 0.02},
    settings={
        "structure": "diagonal",  # as the reviewers' metric is
        "reviewer_error": 0.01,
        # Five answers to each decision, some of them wrong: with a low target wrong flags alone would make all equal.
        "target_unfair_share": 0.2,
        "overlap": 0.1,
        "pairs_per_decision": 6,
        "reviewing": {
            "repeats": 0.1,
            "repeat_after": 6,
            "controls": 0.02,
            "session": 10,
            "mark_above": 0.15,
            "groups": mortgages.GROUPS,
            "far_apart": {"income": 100_000, "loan_amount": 300_000},
        },
    },
    pause=3.0,
    arrival="Every three seconds 50 people apply for ten mortgages.",
    preparation="half a minute, the first time a minute",
)

SIZES = {"small": SMALL, "large": LARGE}
