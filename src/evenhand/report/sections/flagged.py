"""Flags and what became of them, flags left, and pairs proved fair."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evenhand._internal.counted import counted
from evenhand.report.charts import step_line
from evenhand.report.content import Block, Drawing, ReportSection, section, table, whole
from evenhand.report.period import minutes

if TYPE_CHECKING:
    from evenhand.report.audit import AuditReport
    from evenhand.report.figures import FlagFigures, FlagRecord

SHOWN = 50
"""Maximum flags listed; the JSON output has all."""
BECAME = ("stands", "withdrawn", "superseded", "repeat")


def flags_section(report: AuditReport) -> ReportSection:
    """Flags, and what the answers prove."""
    flags = report.figures.flags
    rows = [[name, *(whole(flags.became(name, subject)) for subject in ("desk", "system"))] for name in BECAME]
    listed = flags.flags[-SHOWN:]
    more = "" if len(listed) == len(flags.flags) else f": the newest {SHOWN} of {whole(len(flags.flags))}"
    blocks: list[Block | None] = [
        f"{counted(flags.reviews, 'review')} were given in the period, {whole(len(flags.flags))} of which called "
        "something unfair. Flags that stand are learned from. A repeat shows a pair again to measure consistency; it "
        "is recorded and not learned from.",
        table("What became of the period's flags", ["", "of the desk", "of the system in force"], rows),
        f"Of {counted(report.figures.decisions, 'decision')} made in the period, {whole(flags.reviewed)} have a review "
        f"of the desk's own probabilities that stands, and {whole(flags.flagged)} of these a flag that stands.",
        _interview(flags),
        _chart(flags),
        *_left(report),
        *_proved(report),
        table(
            f"Flags{more}",
            ["event", "time", "reviewer", "decision", "of", "pairs", "became"],
            [*map(_flag, listed)],
            is_text=True,
        ),
    ]
    return section("flags", "Flags, proofs and flags left", blocks)


def _interview(flags: FlagFigures) -> str | None:
    if not flags.answers:
        return None
    return f"{counted(flags.answers, 'interview answer')} stand, {whole(flags.answers_unfair)} of them unfair."


def _chart(flags: FlagFigures) -> Drawing | None:
    if len(flags.by_decision) < 2 or not flags.flagged:
        return None
    return Drawing(
        step_line(flags.by_decision, "number of the decision", "flagged decisions"),
        f"Flagged decisions by the number of the decision: {whole(flags.flagged)} by decision "
        f"{whole(flags.by_decision[-1][0])}.",
    )


def _left(report: AuditReport) -> list[str]:
    flags, model = report.figures.flags, report.model
    if flags.first_left is None or flags.last_left is None:
        found = ["No decision of the period has a proved number of flags left."]
    else:
        found = [
            f"Flags left, the proved number of decisions that could still be flagged: {whole(flags.first_left)} at the "
            f"first decision of the period that has it, {whole(flags.last_left)} at the last."
        ]
    if model is not None and model.metric.promise is not None:
        found.append(f"The promise at the end of the period: {model.metric.promise}")
    return found


def _proved(report: AuditReport) -> list[Block | None]:
    model = report.model
    if model is None:
        return [f"What was proved of pairs is not in this report: {report.model_missing}."]
    rows = [[status, whole(number)] for status, number in model.pairs.items()]
    compared: str | None = None
    if model.compared_flags:
        compared = (
            f"The metric at the end of the period was compared with {counted(model.compared_flags, 'flagged pair')} of "
            f"the newest standing flags. It puts {whole(model.settled_flags)} of them nearer to each other than the "
            "gap that was flagged: by its best estimate, such a gap is too large."
        )
    return [
        compared,
        f"Pairs of the newest {counted(model.certified, 'decision')} were examined for proofs from the reviews up to "
        f"event {whole(model.state)}. Proved: every metric that fits the quoted reviews allows the gap. Likely: not "
        "proved, but fair with a probability of at least 95%. Not attempted: the time for proofs was over.",
        table("Pairs by what the reviews prove of them", ["status", "pairs"], rows) if model.certified else None,
    ]


def _flag(one: FlagRecord) -> list[str]:
    pairs = "; ".join(f"{first} and {second}" for first, second in one.pairs[:3]) or "something in the decision"
    more = f" and {len(one.pairs) - 3} more" if len(one.pairs) > 3 else ""
    about = [whole(one.seq), minutes(one.time), one.reviewer or "not named", whole(one.number), one.subject]
    return [*about, pairs + more, one.became]
