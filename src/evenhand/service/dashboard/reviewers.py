"""Reviewers on the dashboard: what each has done, their consistency and agreement, and estimated error rates."""

from __future__ import annotations

import statistics
from collections import Counter
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from evenhand.desk.event_records import ReviewAnswer
from evenhand.records.review_metadata import ANSWERS
from evenhand.review.agreement import agreement, consistency

if TYPE_CHECKING:
    from evenhand.desk.projection.projection import Projection
    from evenhand.desk.settings import DeskSettings
    from evenhand.review.review_book import ReviewBook


def reviewers_part(book: ReviewBook, projection: Projection, settings: DeskSettings) -> dict[str, Any]:
    """Everybody who has answered, on the page or over HTTP, and their agreement. O(answers)."""
    book.refresh()
    by_name: dict[str | None, list[ReviewAnswer]] = {name: [] for name in book.reviewers()}
    standing, whole = sorted(book.standing(), key=lambda answer: answer.seq), book.whole()
    for answer in sorted([*standing, *whole], key=lambda answer: answer.seq):
        by_name[answer.reviewer].append(answer)
    compared: dict[str | None, list[ReviewAnswer]] = {}
    for answer in book.compared():
        compared.setdefault(answer.reviewer, []).append(answer)
    errors = projection.bandit.reviewers()
    people = [
        _person(name, answers, book.withdrawn(name), errors.get(name))
        | {"consistency": asdict(consistency(compared.get(name, ())))}
        for name, answers in by_name.items()
    ]
    return {
        "people": sorted(people, key=lambda person: (-person["answers"], person["name"] or "")),
        "agreement": asdict(agreement(standing, whole)),
        "consistency": asdict(consistency(book.compared())),
        "errors_are_learned": settings.reviewer_error is None and settings.metric in ("BayesPoint", "Guarded"),
    }


def _person(name: str | None, answers: list[ReviewAnswer], withdrawn: int, report: Any) -> dict[str, Any]:
    # Of a complete review that found something unfair, the pairs it named are counted.
    counts = Counter(one.answer for one in answers if one.whole != "complete" or one.answer == "acceptable")
    seconds = [one.seconds for one in answers if one.seconds is not None]
    error = None
    if report is not None:
        error = {"rate": report.error_rate, "lower": report.lower, "upper": report.upper, "misleads": report.misleads}
    return {
        "name": name,
        "answers": len({one.review for one in answers}),
        **{answer: counts[answer] for answer in ANSWERS},
        "withdrawn": withdrawn,
        "last": answers[-1].time if answers else None,
        "median_seconds": statistics.median(seconds) if seconds else None,
        "error": error,
    }
