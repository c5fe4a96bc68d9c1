"""Mortgage applicants: 24 made-up features, 46 context columns; what a loan earns, and what reviewers find alike.

The size of a bank's table. Nobody in it exists: every value is drawn from formulas below.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from evenhand._internal.arrays import Floats
from evenhand.schema import Category, Number, Schema, YesNo

SCHEMA = Schema(
    [
        Number("income", low=10_000, high=400_000, unit="EUR", step=10_000, scale="log", clip=True),
        Number("savings", low=0, high=400_000, unit="EUR", step=5_000, scale="log", clip=True),
        Number("monthly_debts", low=0, high=6_000, unit="EUR", clip=True),
        Number("years_in_job", low=0, high=40, unit="years", clip=True),
        Number("loan_amount", low=20_000, high=900_000, unit="EUR", step=10_000, scale="log", clip=True),
        Number("property_value", low=40_000, high=1_200_000, unit="EUR", step=10_000, scale="log", clip=True),
        Number("loan_to_value", low=10, high=100, unit="%", clip=True),
        Number("term", low=5, high=40, unit="years", integer=True, clip=True),
        Number("payment_share_of_income", low=0, high=80, unit="%", clip=True),
        Number("age", low=18, high=90, unit="years", integer=True, clip=True),
        Number("years_at_address", low=0, high=50, unit="years", clip=True),
        Number("dependants", low=0, high=8, integer=True, clip=True),
        Number("credit_lines", low=0, high=20, integer=True, clip=True),
        Number("late_payments", low=0, high=12, integer=True, clip=True),
        YesNo("co_applicant"),
        YesNo("first_home"),
        YesNo("insured"),
        Category("purpose", levels=("purchase", "refinancing", "renovation", "other")),
        Category("property_type", levels=("house", "flat", "two homes", "other")),
        Category("occupancy", levels=("own home", "second home", "to let", "empty")),
        Category("employment", levels=("employee", "civil servant", "self-employed", "retired")),
        Category("rate_type", levels=("fixed", "fixed for ten years", "variable", "interest only")),
        Category("channel", levels=("branch", "broker", "online", "telephone")),
        Category("district", levels=("north", "east", "south", "west")),
    ],
    carry=("gender",),
)
"""Gender is carried: the learner and the reviewers never see it, and the group view can still look at it."""

GROUPS = {
    "Money": ["income", "savings", "monthly_debts", "payment_share_of_income"],
    "Credit history": ["late_payments", "credit_lines"],
    "Work": ["employment", "years_in_job"],
    "Loan": ["loan_amount", "term", "rate_type", "purpose", "insured", "channel"],
    "Property": ["property_value", "loan_to_value", "property_type", "occupancy", "first_home", "district"],
    "Household": ["age", "dependants", "co_applicant", "years_at_address"],
}

PAY_OFF = {
    "income": 0.35,
    "savings": 0.25,
    "payment_share_of_income": -0.45,
    "late_payments": -0.6,
    "loan_to_value": -0.25,
    "years_in_job": 0.15,
    "district=north": 0.12,
    "district=west": -0.12,
    "employment=civil servant": 0.08,
    "age": 0.1,
}
"""What a loan earns across the whole range of a feature, or at a level. District and age predict it."""
BASE = 0.2

DIFFERENCE = {
    "income": 0.8,
    "savings": 0.5,
    "payment_share_of_income": 0.8,
    "late_payments": 0.9,
    "loan_to_value": 0.5,
    "years_in_job": 0.3,
}
"""The reviewers' distance across the whole range of a feature. All others, district and age among them: 0."""


def pay_off() -> Floats:
    """Theta, (46,): the reward of a context is its product with this.

    >>> pay_off().shape
    (46,)
    """
    theta = np.zeros(SCHEMA.n_features)
    for place, name in enumerate(SCHEMA.coordinates):
        theta[place] = PAY_OFF.get(name, 0.0) / (2.0 * SCHEMA.scale)
    theta[-1] = BASE / SCHEMA.scale
    return theta


def reviewer_metric() -> Floats:
    """The reviewers' A, (6, 46): a difference z of contexts has distance ||A z||.

    >>> reviewer_metric().shape
    (6, 46)
    """
    rows = np.zeros((len(DIFFERENCE), SCHEMA.n_features))
    for row, (name, size) in zip(rows, DIFFERENCE.items(), strict=True):
        row[SCHEMA.blocks[name]] = size / (2.0 * SCHEMA.scale)
    return rows


def mortgage_applicants(k: int, rng: np.random.Generator) -> list[dict[str, Any]]:
    """The files of k applicants with their gender, in the units of the schema.

    >>> len(mortgage_applicants(1, np.random.default_rng(0))[0])
    25
    """
    return [_applicant(rng) for _ in range(k)]


def _applicant(rng: np.random.Generator) -> dict[str, Any]:
    """One applicant: income depends on age, gender and district; the loan on income; arrears on the burden."""
    woman, age = bool(rng.random() < 0.5), int(np.clip(rng.normal(42, 12), 19, 85))
    district = str(rng.choice(["north", "east", "south", "west"], p=[0.3, 0.25, 0.25, 0.2]))
    level = 10.7 + 0.008 * (age - 42) - 0.1 * woman + {"north": 0.15, "west": -0.2}.get(district, 0.0)
    income = float(np.clip(np.exp(level + 0.4 * rng.normal()), 14_000, 390_000))
    value = float(np.clip(income * np.exp(1.6 + 0.35 * rng.normal()), 60_000, 1_150_000))
    share = float(np.clip(rng.beta(5, 2), 0.15, 0.99))
    term, debts = int(rng.choice([10, 15, 20, 25, 30, 35])), float(np.clip(rng.gamma(1.2, 350), 0, 5_500))
    burden = (value * share / term * 1.4 / 12 + debts) / (income / 12)
    work = (
        "retired" if age > 66 else str(rng.choice(["employee", "civil servant", "self-employed"], p=[0.7, 0.12, 0.18]))
    )
    in_job = 0.0 if work == "retired" else float(np.clip(rng.gamma(1.5, 5), 0, max(age - 18, 1)))
    return {
        "income": round(income, -2),
        "savings": round(float(np.clip(income * rng.gamma(0.9, 0.7), 0, 390_000)), -2),
        "monthly_debts": round(debts, -1),
        "years_in_job": round(in_job, 1),
        "loan_amount": round(value * share, -3),
        "property_value": round(value, -3),
        "loan_to_value": round(100 * share, 1),
        "term": term,
        "payment_share_of_income": round(float(np.clip(100 * burden, 2, 79)), 1),
        "age": age,
        "years_at_address": round(float(np.clip(rng.gamma(1.2, 6), 0, min(age, 48))), 1),
        "dependants": int(min(rng.poisson(1.0), 7)),
        "credit_lines": int(min(1 + rng.poisson(3.0), 18)),
        "late_payments": int(min(rng.poisson(0.3 + 1.5 * max(burden - 0.3, 0)), 12)),
        "co_applicant": bool(rng.random() < 0.45),
        "first_home": bool(rng.random() < 0.55 - 0.006 * (age - 42)),
        "insured": bool(rng.random() < 0.3),
        "purpose": str(rng.choice(["purchase", "refinancing", "renovation", "other"], p=[0.6, 0.25, 0.1, 0.05])),
        "property_type": str(rng.choice(["house", "flat", "two homes", "other"], p=[0.5, 0.4, 0.07, 0.03])),
        "occupancy": str(rng.choice(["own home", "second home", "to let", "empty"], p=[0.8, 0.06, 0.12, 0.02])),
        "employment": work,
        "rate_type": str(
            rng.choice(["fixed", "fixed for ten years", "variable", "interest only"], p=[0.4, 0.35, 0.2, 0.05])
        ),
        "channel": str(rng.choice(["branch", "broker", "online", "telephone"], p=[0.4, 0.3, 0.25, 0.05])),
        "district": district,
        "gender": "woman" if woman else "man",
    }
