"""What New York City's Local Law 144 of 2021 asks for, and where the report answers it or does not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evenhand.report.content import ReportSection, section, table
from evenhand.report.sections.regulation_b import HEAD, NO_ADVICE

if TYPE_CHECKING:
    from evenhand.report.audit import AuditReport


def local_law_section(report: AuditReport) -> ReportSection:
    """NYC Administrative Code 20-870 to 20-874, and 6 RCNY 5-300 to 5-304."""
    rows = [
        (
            "A bias audit of an automated employment decision tool by an independent auditor, no more than one year "
            "before the tool is used",
            "Administrative Code 20-870, 20-871(a)(1); 6 RCNY 5-301(a)",
            "No. You made this report yourself, with the tool: it is no bias audit. An auditor can compute it again "
            "from the ledger.",
        ),
        (
            "Selection rate and impact ratio of each sex category and each race and ethnicity category, and of their "
            "intersections",
            "6 RCNY 5-301(b)",
            "In part, if candidates carry these attributes: Groups has both, and --group sex,race their intersections.",
        ),
        (
            "For tools that score: the share of each category with a score above the sample's median, and its ratio",
            "6 RCNY 5-301(c)",
            "No. Groups has the mean chance of each group instead.",
        ),
        (
            "The number of people assessed who are not in a known category",
            "6 RCNY 5-301(b), (c)",
            "In part, if the attribute is carried: the group not known. People without a decision in the period are "
            "missing.",
        ),
        (
            "The auditor may leave a category with less than 2% of the data out of the ratio, with a justification and "
            "its figures",
            "6 RCNY 5-301(d)",
            "No. Every group has its ratio; rare levels may be joined as others.",
        ),
        (
            "Historical data of the tool's use, or test data if there are not enough",
            "6 RCNY 5-302",
            "In part: the ledger is historical data of this desk. Whether there are enough is for the auditor.",
        ),
        (
            "A public summary of the results and the tool's distribution date, before its use",
            "Administrative Code 20-871(a)(2); 6 RCNY 5-303",
            "No. Figures can be taken from Groups; publishing is up to you.",
        ),
        (
            "Notice to candidates at least 10 business days before use",
            "Administrative Code 20-871(b); 6 RCNY 5-304",
            "No.",
        ),
    ]
    sources = (
        "Sources: https://www.nyc.gov/site/dca/about/automated-employment-decision-tools.page (law, rules and "
        "questions), https://codelibrary.amlegal.com/codes/newyorkcity/latest/overview (code and rules)."
    )
    scope = (
        "It concerns automated tools for employment decisions, hiring and promotion, in New York City. Sections 20-872 "
        "to 20-874 are about penalties and enforcement, and are not summed up."
    )
    made = table("Local Law 144", HEAD, rows, is_text=True)
    return section("local-law-144", "New York City Local Law 144", [NO_ADVICE, scope, made, sources])
