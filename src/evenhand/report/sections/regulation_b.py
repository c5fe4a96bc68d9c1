"""What Regulation B, under the Equal Credit Opportunity Act, asks for, and where the report answers it or does not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evenhand.report.content import ReportSection, section, table

if TYPE_CHECKING:
    from evenhand.report.audit import AuditReport

NO_ADVICE = (
    "This section sums up parts of a law in our own words, and says where this report has something to do with them. "
    "It is no legal advice and no statement that anybody complies. It is not complete, and no lawyer checked it; laws "
    "change, so read the current official text."
)
HEAD = ("what is asked", "source", "in this report")


def regulation_b_section(report: AuditReport) -> ReportSection:
    """12 CFR part 1002."""
    rows = [
        (
            "Notice of action taken within 30 days of receiving a completed application",
            "12 CFR 1002.9(a)(1)(i)",
            "No. The ledger has the time of each decision, not of the application, and no notice.",
        ),
        (
            "A notice of adverse action has a statement of the action, the creditor's name and address, the notice of "
            "section 1002.9(b)(1), the agency's name and address, and the specific reasons or how to get them",
            "12 CFR 1002.9(a)(2)",
            "In part: the reasons, under Reasons for a candidate. The rest you have to add.",
        ),
        (
            "Reasons are specific and name the principal reasons; internal standards or a failed score are not enough",
            "12 CFR 1002.9(b)(2)",
            "In part: features in the schema's words, ordered by their contribution to the estimated reward. A draw "
            "decided as well; whether the text suffices is for your counsel.",
        ),
        (
            "More than four reasons are not likely to help. For a scoring system, two methods are described: the "
            "factors furthest below the average of applicants at or slightly above the minimum passing score, or of "
            "all applicants; others may do if their results are substantially similar",
            "Official interpretation of 1002.9(b)(2), 1 and 5",
            "In part: up to four features. They are compared with the average of the same decision's candidates, which "
            "is neither of these two averages.",
        ),
        (
            "No prohibited basis may be taken into account in evaluating creditworthiness, except as the regulation "
            "allows",
            "12 CFR 1002.6(b), 1002.2(z)",
            "In part: Settings lists every feature. Whether a feature stands in for a prohibited basis it cannot say.",
        ),
        (
            "Limits on asking for race, color, religion, national origin and sex, with exceptions",
            "12 CFR 1002.5(b), 1002.13",
            "No. Whether you may hold a carried column is not in the ledger; Groups shows those that you hold.",
        ),
        (
            "Applications, information used and notices kept for 25 months after the notice (12 months for business "
            "credit, with exceptions)",
            "12 CFR 1002.12(b)",
            "In part: the ledger keeps decisions and what was used, unless a person was erased. It keeps no "
            "application forms and no notices.",
        ),
    ]
    source = "Source: https://www.ecfr.gov/current/title-12/chapter-X/part-1002 (with its supplement I)."
    scope = "It concerns creditors and credit. Whether a desk's decisions are credit decisions is for your counsel."
    made = table("Regulation B", HEAD, rows, is_text=True)
    return section("regulation-b", "Regulation B (Equal Credit Opportunity Act)", [NO_ADVICE, scope, made, source])
