"""The summary: what happened, in a few sentences and one table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evenhand._internal.counted import counted
from evenhand.report.content import (
    NONE,
    Block,
    Bullets,
    ReportSection,
    interval,
    percent,
    section,
    table,
    whole,
)

if TYPE_CHECKING:
    from evenhand.report.audit import AuditReport

KINDS = {
    "opened": "the desk was opened",
    "decision": "decisions",
    "outcome": "outcomes",
    "review": "reviews",
    "withdrawal": "withdrawals",
    "settings": "changes of settings",
    "override": "overrides",
    "action": "actions of the system in force",
    "switch": "switches between live and shadow mode",
    "answer": "interview answers",
    "imported": "imported records",
    "erasure": "erasures of people",
}


def summary_section(report: AuditReport) -> ReportSection:
    """What happened."""
    figures = report.figures
    if figures.integrity.first is None:
        return section("summary", "Summary", ["The ledger has no event in this period."])
    blocks: list[Block | None] = [Bullets(_sentences(report))]
    rows = [[KINDS.get(kind, kind), whole(number)] for kind, number in figures.kinds.items()]
    blocks.append(table("Events of the period", ["kind", "events"], rows))
    return section("summary", "Summary", blocks)


def _sentences(report: AuditReport) -> tuple[str, ...]:
    figures = report.figures
    live, shadow, flags = figures.live, figures.shadow, figures.flags
    found = [
        f"{counted(figures.decisions, 'decision')}: {whole(live.decisions)} live and {whole(shadow.decisions)} in "
        "shadow mode, where another system decides."
    ]
    if live.decisions:
        found.append(
            f"{whole(live.chosen)} of {counted(live.candidates, 'candidate')} in live decisions were chosen "
            f"({percent(live.chosen / live.candidates if live.candidates else None)}). "
            f"{counted(live.overridden, 'decision')} overridden."
        )
    found.append(
        f"{counted(len(flags.flags), 'flag')} given: {whole(flags.became('stands'))} stand, "
        f"{whole(flags.became('withdrawn'))} withdrawn, {whole(flags.became('superseded'))} superseded, "
        f"{whole(flags.became('repeat'))} repeats. {whole(flags.flagged)} of "
        f"{counted(flags.reviewed, 'reviewed decision')} of the period stand flagged."
    )
    left = NONE if flags.last_left is None else whole(flags.last_left)
    found.append(
        f"Flags left at the last decision: {left}."
        if flags.last_left is not None
        else "Flags left: no proved number; the settings or the answers allow none."
    )
    if live.priced:
        found.append(f"Fairness cost {interval(live.price_optimistic)} of the optimistic reward per live decision.")
    found.append(
        f"The whole ledger was verified: {counted(figures.integrity.events, 'event')}, "
        f"{counted(figures.integrity.heads, 'signed head')}."
    )
    return tuple(found)
