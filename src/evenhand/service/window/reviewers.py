"""What reviewers have done, how steady and how much at one they are, and how often each is thought to err."""

from __future__ import annotations

import statistics
from collections import Counter
from typing import TYPE_CHECKING, Any

from evenhand.desk.review_book import Given
from evenhand.records.review_metadata import ANSWERS
from evenhand.review.agreement import agreement, consistency

if TYPE_CHECKING:
    from evenhand.desk.projection.projection import Projection
    from evenhand.desk.review_book import ReviewBook
    from evenhand.desk.settings import DeskSettings


def reviewers_told(book: ReviewBook, state: Projection, settings: DeskSettings) -> dict[str, Any]:
    """Everybody who has answered, on the page or over HTTP, and what is known of them together. O(answers)."""
    book.refresh()
    by_name: dict[str | None, list[Given]] = {name: [] for name in book.reviewers()}
    standing, whole = sorted(book.standing(), key=lambda given: given.seq), book.whole()
    for given in sorted([*standing, *whole], key=lambda given: given.seq):
        by_name[given.reviewer].append(given)
    compared: dict[str | None, list[Given]] = {}
    for given in book.compared():
        compared.setdefault(given.reviewer, []).append(given)
    errors = state.bandit.reviewers()
    people = [
        _person(name, given, book.withdrawn(name), errors.get(name))
        | {"consistency": consistency(compared.get(name, ())).to_dict()}
        for name, given in by_name.items()
    ]
    return {
        "people": sorted(people, key=lambda person: (-person["answers"], person["name"] or "")),
        "agreement": agreement(standing, whole).to_dict(),
        "consistency": consistency(book.compared()).to_dict(),
        "errors_are_learned": settings.reviewer_error is None and settings.metric in ("BayesPoint", "Guarded"),
    }


def _person(name: str | None, given: list[Given], withdrawn: int, report: Any) -> dict[str, Any]:
    # Of a complete review that found something unfair, the pairs it named are counted.
    counts = Counter(answer.answer for answer in given if answer.whole != "complete" or answer.answer == "acceptable")
    seconds = [answer.seconds for answer in given if answer.seconds is not None]
    error = None
    if report is not None:
        error = {"rate": report.error_rate, "lower": report.lower, "upper": report.upper, "misleads": report.misleads}
    return {
        "name": name,
        "answers": len({answer.review for answer in given}),
        **{answer: counts[answer] for answer in ANSWERS},
        "withdrawn": withdrawn,
        "last": given[-1].time if given else None,
        "median_seconds": statistics.median(seconds) if seconds else None,
        "error": error,
    }
