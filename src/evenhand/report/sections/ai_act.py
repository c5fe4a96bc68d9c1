"""What the record-keeping of the EU AI Act asks for, and where the report answers it or does not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evenhand.report.content import ReportSection, section, table
from evenhand.report.sections.regulation_b import HEAD, NO_ADVICE

if TYPE_CHECKING:
    from evenhand.report.audit import AuditReport


def ai_act_section(report: AuditReport) -> ReportSection:
    """Regulation (EU) 2024/1689, Articles 12, 13, 19, 26 and 86, and Annex III."""
    rows = [
        (
            "A high-risk system technically allows events to be recorded automatically over its lifetime",
            "Article 12(1)",
            "In part: every decision, outcome, review, change and override that reached this desk is an event; see "
            "Integrity. What happened outside it is not.",
        ),
        (
            "Logs enable the recording of events relevant to identify risks (Article 79(1)) and substantial "
            "modifications",
            "Article 12(2)(a)",
            "In part: Flags, Groups and Settings show what the ledger has. What is a risk is for you to define.",
        ),
        (
            "... and to facilitate post-market monitoring (Article 72), and the monitoring of operation by deployers "
            "(Article 26(5))",
            "Article 12(2)(b), (c)",
            "In part: the report is made for any period. A monitoring plan is not in it.",
        ),
        (
            "Minimum content of logs of remote biometric identification",
            "Article 12(3)",
            "Does not concern a desk's features and decisions as such.",
        ),
        (
            "Instructions for use say, where relevant, how deployers collect, store and interpret the logs",
            "Article 13(3)(f)",
            "No. The Model card and Limitations can be part of instructions; they are not such.",
        ),
        (
            "Providers keep automatically generated logs under their control for a period appropriate to the purpose, "
            "at least six months, unless other law says otherwise, in particular on personal data",
            "Article 19(1)",
            "In part: events are never removed; contents of a person are, when that person is erased. How long you "
            "keep the database is up to you.",
        ),
        (
            "Deployers keep the logs under their control for as long, at least six months",
            "Article 26(6)",
            "The same.",
        ),
        (
            "Deployers monitor the operation and inform providers and authorities of risks and serious incidents",
            "Article 26(5)",
            "In part: this report can be part of monitoring. It informs nobody.",
        ),
        (
            "Deployers assign human oversight to competent persons",
            "Article 26(2)",
            "In part: Reviewers and Overrides show what people did; not their competence.",
        ),
        (
            "Deployers of systems listed in Annex III that decide about people, or help to, inform them that they are "
            "subject to their use",
            "Article 26(11)",
            "No.",
        ),
        (
            "A person may ask the deployer to explain the system's role in the procedure and the main elements of a "
            "decision based on a system of Annex III (but point 2), if it has legal or similarly significant effects "
            "that the person considers adverse",
            "Article 86(1)",
            "In part: Reasons for a candidate has the chance and the features that counted. The role of the system in "
            "your procedure is yours to explain.",
        ),
    ]
    source = "Source: https://eur-lex.europa.eu/eli/reg/2024/1689/oj, with which systems are high-risk, and from when."
    scope = (
        "It concerns high-risk systems. Annex III lists, among others, systems for access to education (point 3(a)), "
        "recruitment (4(a)), public benefits (5(a)) and the creditworthiness of natural persons (5(b)); Article 6(3) "
        "has exceptions. Whether a desk is part of one is for your counsel, and so is the date from which the articles "
        "apply, which has been under revision."
    )
    made = table("EU AI Act, record-keeping", HEAD, rows, is_text=True)
    return section("ai-act", "EU AI Act: record-keeping and explanation", [NO_ADVICE, scope, made, source])
