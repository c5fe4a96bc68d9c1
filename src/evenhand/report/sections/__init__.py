"""The sections of a report, in order; one module each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evenhand.report.sections.ai_act import ai_act_section
from evenhand.report.sections.by_group import groups_section
from evenhand.report.sections.candidate import candidate_section
from evenhand.report.sections.decided import decided_section
from evenhand.report.sections.flagged import flags_section
from evenhand.report.sections.integrity import integrity_section
from evenhand.report.sections.limitations import limitations_section
from evenhand.report.sections.local_law_144 import local_law_section
from evenhand.report.sections.model_card import model_section
from evenhand.report.sections.regulation_b import regulation_b_section
from evenhand.report.sections.reviewers import reviewers_section
from evenhand.report.sections.settings import settings_section
from evenhand.report.sections.summary import summary_section

if TYPE_CHECKING:
    from evenhand.report.audit import AuditReport
    from evenhand.report.content import ReportSection

SECTIONS = (
    summary_section,
    integrity_section,
    settings_section,
    decided_section,
    flags_section,
    reviewers_section,
    groups_section,
    candidate_section,
    model_section,
    limitations_section,
    regulation_b_section,
    local_law_section,
    ai_act_section,
)


def all_sections(report: AuditReport) -> list[ReportSection]:
    """Every section."""
    return [make(report) for make in SECTIONS]
