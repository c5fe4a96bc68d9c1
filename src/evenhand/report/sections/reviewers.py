"""Who reviewed, how consistent they were, and how far they agreed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evenhand._internal.counted import counted
from evenhand.report.content import NONE, Block, ReportSection, decimal, percent, section, table, whole

if TYPE_CHECKING:
    from evenhand.report.audit import AuditReport
    from evenhand.report.figures import ReviewerFigures
    from evenhand.review.agreement import Agreement, Consistency


def reviewers_section(report: AuditReport) -> ReportSection:
    """Reviewers and their agreement."""
    figures = report.figures
    head = [
        "reviewer",
        "reviews",
        "unfair",
        "acceptable",
        "passed",
        "withdrawn",
        "median seconds",
        "same answer to a repeat",
    ]
    between = [
        [" and ".join(one.reviewers), whole(one.pairs), whole(one.same), percent(one.share), decimal(one.kappa, 2)]
        for one in figures.agreement.between
    ]
    blocks: list[Block | None] = [
        "Answers given in the period that stood at its end. Of a complete review, the pairs that it called unfair are "
        "counted, or the review if it called none so.",
        table("Reviewers", head, [_reviewer(one) for one in figures.reviewers]) or "Nobody answered in the period.",
        _agreement(figures.agreement),
        table("Agreement of two reviewers", ["reviewers", "pairs", "same", "share", "Cohen's kappa"], between),
        _consistency(figures.consistency),
        _errors(report),
    ]
    return section("reviewers", "Reviewers and their agreement", blocks)


def _reviewer(one: ReviewerFigures) -> list[str]:
    counts = (one.reviews, one.unfair, one.acceptable, one.passed, one.withdrawn)
    seconds = NONE if one.median_seconds is None else decimal(one.median_seconds, 1)
    return [one.name or "not named", *map(whole, counts), seconds, _same(one.consistency)]


def _same(one: Consistency) -> str:
    return NONE if one.share is None else f"{whole(one.same)} of {whole(one.repeats)}"


def _agreement(found: Agreement) -> str:
    if found.share is None:
        return "No pair was judged by two reviewers: their agreement is not known."
    kappa = "kappa is not defined" if found.kappa is None else f"Fleiss' kappa is {decimal(found.kappa, 2)}"
    return (
        f"{counted(found.pairs, 'pair')} were judged by two or more reviewers. Two of their judgements of one pair "
        f"agree with a probability of {percent(found.share)}; {kappa} (1 is full agreement, 0 is chance)."
    )


def _consistency(found: Consistency) -> str:
    if found.share is None:
        return "No pair was shown twice to one reviewer: their consistency is not known."
    return (
        f"Reviewers gave the same answer to {whole(found.same)} of {counted(found.repeats, 'repeated pair')}: "
        f"{percent(found.share)}, 95% interval {percent(found.low)} to {percent(found.high)}."
    )


def _errors(report: AuditReport) -> Block | None:
    model = report.model
    if model is None or not model.reviewers:
        return None
    rows = [
        [
            one.name or "not named",
            whole(one.answers),
            percent(one.rate),
            f"{percent(one.lower)} to {percent(one.upper)}",
            "yes" if one.misleads else "no",
        ]
        for one in model.reviewers
    ]
    head = ["reviewer", "answers", "error rate", "95% interval", "misleading"]
    return table("Error rates, as learned from all answers so far", head, rows)
