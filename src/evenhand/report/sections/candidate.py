"""Why one candidate was not chosen, for the candidate."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evenhand.report.content import Block, Letter, ReportSection, decimal, section, table
from evenhand.report.notice import SMALLEST
from evenhand.report.period import minutes
from evenhand.schema.words import label

if TYPE_CHECKING:
    from evenhand.report.audit import AuditReport
    from evenhand.report.notice import CandidateNotice

TITLE = "Reasons for a candidate"


def candidate_section(report: AuditReport) -> ReportSection:
    """A notice for each decision in which the candidate was not chosen."""
    if report.candidate is None:
        text = "Pass --candidate ID for the reasons why a candidate was not chosen, in words that can be sent."
        return section("candidate", TITLE, [text])
    if not report.notices:
        text = f"Candidate {report.candidate} was chosen in every decision of the period whose result is known."
        return section("candidate", TITLE, [text])
    blocks: list[Block | None] = [
        f"The newest decisions in which candidate {report.candidate} was not chosen. The framed text is about this "
        "candidate alone and can be sent; the tables are for you.",
        "A contribution is what the candidate's estimated reward would lose if the feature took its average over the "
        "candidates of the same decision, by the model as it was then. What is not known is what the desk adds for "
        "people like the candidate, less the average. The last line is the sum.",
    ]
    for one in report.notices:
        blocks += _notice(one)
    return section("candidate", TITLE, blocks)


def _notice(one: CandidateNotice) -> list[Block | None]:
    words = Letter(f"Decision {one.number}, {minutes(one.time)}", one.sentences)
    if not one.contributions:
        return [words]
    rows = [[label(part.feature), part.words, decimal(part.amount)] for part in one.contributions]
    if abs(one.together) > SMALLEST:
        rows.append(["what features do together", "", decimal(one.together)])
    rows.append(["what is not known", "", decimal(one.unknown)])
    rows.append(["optimistic reward less the average", "", decimal(one.difference)])
    head = ["feature", "value", "contribution"]
    return [words, table(f"Contributions in decision {one.number}", head, rows)]
