"""Chance, selection and outcome by group; individual fairness promises nothing about groups, so look at both."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evenhand.report.charts import means
from evenhand.report.content import Block, Drawing, ReportSection, decimal, interval, section, table, whole

if TYPE_CHECKING:
    from evenhand.report.audit import AuditReport
    from evenhand.report.figures import GroupFigures, GroupTable

HEAD = ("group", "candidates", "chance", "chosen", "share chosen", "impact ratio", "outcomes", "mean outcome")


def groups_section(report: AuditReport) -> ReportSection:
    """A table and a chart for each grouping."""
    tables = report.figures.groups
    blocks: list[Block | None] = [
        "The desk limits how differently similar candidates are treated. It does not equalise groups; this section "
        "shows what came out by group. Decisions, not candidates, count as independent in the 95% intervals.",
        "The impact ratio is the share chosen of a group divided by the highest share of a group. People whose group "
        "is not known, or who were erased, are counted and have no ratio.",
    ]
    if not tables:
        blocks.append("There are no groups to show. Name attributes with --group, such as a carried column.")
    for one in tables:
        blocks += _table(one)
    return section("groups", "Groups", blocks)


def _table(one: GroupTable) -> list[Block | None]:
    mode = "in shadow mode: the desk's chance, and whom the system in force chose" if one.shadow else "live"
    use = "a feature" if one.learned_from else "carried, never seen by the learner"
    caption = f"{one.attribute.replace('_', ' ')} ({use}), {mode}"
    chart = [(group.name, group.chance) for group in one.groups]
    return [
        table(caption, HEAD, [_group(group) for group in one.groups]),
        Drawing(
            means(chart, f"chance by {one.attribute}"),
            f"Mean chance by {one.attribute.replace('_', ' ')}, with 95% intervals.",
        ),
    ]


def _group(one: GroupFigures) -> list[str]:
    return [
        one.name,
        whole(one.candidates),
        interval(one.chance, is_share=True),
        whole(one.chosen),
        interval(one.rate, is_share=True),
        decimal(one.impact_ratio, 2),
        whole(one.outcomes),
        interval(one.reward),
    ]
