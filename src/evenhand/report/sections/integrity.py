"""Whether the record can be trusted: what was verified, and the signed heads."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evenhand.report.content import NONE, Block, ReportSection, section, table, whole
from evenhand.report.period import minutes

if TYPE_CHECKING:
    from evenhand.report.audit import AuditReport


def integrity_section(report: AuditReport) -> ReportSection:
    """What was verified."""
    found = report.figures.integrity
    rows = [
        ["events in the whole ledger, each verified", whole(found.events)],
        ["hash of the last event", found.last_hash],
        ["events of the period", NONE if found.first is None else f"{whole(found.first)} to {whole(found.last or 0)}"],
        ["hash of the period's last event", found.last_hash_of_period or NONE],
        ["signed heads that fit", whole(found.heads)],
        ["signed in the period", whole(found.heads_in_period)],
        ["events covered by a signed head", whole(found.covered)],
        ["newest signed head", NONE if found.covered_at is None else minutes(found.covered_at)],
        ["signing keys", ", ".join(found.keys) or NONE],
        ["contents gone because people were erased", whole(found.erased)],
        ["events of actors without a recorded token", whole(sum(found.without_token.values()))],
    ]
    blocks: list[Block | None] = [
        "Every event's hash, its link to the event before, its commitments to what it says about people, and every "
        "signed head were checked before this report was made. An error would have prevented the report.",
        table("What was verified", ["", ""], rows, is_text=True),
        _heads(found.heads, found.covered, found.last or 0),
        "Check it again with `evenhand ledger verify`. Compare the hashes with those you noted elsewhere: a ledger "
        "that was rewritten from its first event, with its heads, verifies too.",
    ]
    return section("integrity", "Integrity of the record", blocks)


def _heads(heads: int, covered: int, last: int) -> str:
    if heads == 0:
        return "No head was signed: whoever can write to the database could have rewritten the whole ledger."
    if covered < last:
        return f"Events after {whole(covered)} are covered by no signed head yet."
    return "Signed heads cover all events of the period."
