"""What this report does not show."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evenhand._internal.counted import counted
from evenhand.report.content import Bullets, ReportSection, section, whole

if TYPE_CHECKING:
    from evenhand.report.audit import AuditReport


def limitations_section(report: AuditReport) -> ReportSection:
    """Limitations, those of this period first."""
    figures = report.figures
    found: list[str] = []
    if figures.decisions:
        unseen = figures.decisions - figures.flags.reviewed
        found.append(
            f"{whole(unseen)} of {counted(figures.decisions, 'decision')} have no review that stands: nobody said "
            "whether they were fair."
        )
    if figures.live.erased + figures.shadow.erased:
        found.append(
            f"{counted(figures.live.erased + figures.shadow.erased, 'decision')} had a candidate who was erased since; "
            "prices and attributes that need their data are left out."
        )
    if figures.shadow.untold:
        found.append(f"What the system in force did is not known for {counted(figures.shadow.untold, 'decision')}.")
    found += [
        "Outcomes are known only of candidates who were chosen. A group's mean outcome is that of its chosen members.",
        "Rewards are estimates of a model. The price of fairness and the reasons for a candidate follow it.",
        "A flag is a reviewer's judgement. Agreement and consistency show how far judgements can be relied on.",
        "Fairness here is between individuals. Equal treatment of similar people does not make groups equal.",
        "Group intervals treat decisions as independent, although the desk learns from one to the next.",
        "The ledger shows what was recorded. It cannot show whether features, attributes and outcomes were true.",
        "Interactions of more than the groups shown, and differences within a group, are not examined.",
    ]
    return section("limitations", "Limitations", [Bullets(tuple(found))])
