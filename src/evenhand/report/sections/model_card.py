"""The model card: what decides, what it was learned from, and what it says."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evenhand.report.content import Block, Bullets, ReportSection, decimal, section, table, whole

if TYPE_CHECKING:
    from evenhand.report.audit import AuditReport

SENTENCES = 24
"""Maximum sentences about the metric."""


def model_section(report: AuditReport) -> ReportSection:
    """What decides, what it was learned from, and what it says."""
    settings, model = report.figures.settings, report.model
    blocks: list[Block | None] = [
        "Purpose: to choose among candidates, up to a capacity, by a lottery whose probabilities maximise expected "
        "reward, while similar candidates get similar probabilities.",
        "Rewards: a model of the candidates' features with confidence widths; a candidate's optimistic reward is the "
        "estimate plus the width. Similarity: a metric learned from reviewers' verdicts on pairs. The "
        "difference of two probabilities may not exceed the distance of the two candidates, as far as it is known.",
        "Learned from: outcomes of chosen candidates, reviews, interview answers, and imported records of the past.",
    ]
    if model is None:
        blocks.append(f"What the model had learned is not in this report: {report.model_missing}.")
        return section("model", "Model card", blocks)
    rows = [
        ["learned from events up to", whole(model.state)],
        ["metric learner", f"{settings.get('metric')} ({model.learner})"],
        ["reward model", model.reward_model],
        ["features", whole(int(settings.get("n_features", 0)))],
        ["outcome events", whole(model.outcomes)],
        ["reviews and answers learned from", whole(model.reviews)],
        ["events that could not be learned from", whole(model.skipped)],
        ["reviews in conflict with each other", whole(model.metric.reviews_in_conflict)],
        ["reviewers found misleading", ", ".join(model.metric.misleading_reviewers) or "none"],
        ["the answers follow no metric", "yes" if model.metric.no_metric_fits else "not shown"],
    ]
    lines = model.metric.sentences
    known = zip(model.metric.coordinates, model.metric.distance, model.metric.lower, model.metric.upper, strict=True)
    weights = [[name, *(_end(value) for value in values)] for name, *values in known]
    blocks += [
        table("The model at the end of the period", ["", ""], rows, is_text=True),
        table("Distance of a difference of 1 in one coordinate", ["coordinate", "estimate", "lower", "upper"], weights),
        "The metric in words:" if lines else None,
        Bullets(tuple(lines[:SENTENCES])) if lines else None,
        "How well a metric explains the answers:" if model.metric.fit else None,
        Bullets(tuple(model.metric.fit)) if model.metric.fit else None,
    ]
    return section("model", "Model card", blocks)


def _end(value: float) -> str:
    return "no end" if value == float("inf") else decimal(value)
