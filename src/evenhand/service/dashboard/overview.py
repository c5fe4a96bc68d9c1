"""Overview: what the dashboard shows of one desk, in parts, each computed again only when it may have changed."""

from __future__ import annotations

import math
import statistics
import threading
import time
from collections import Counter
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from evenhand.desk.event_records import ReviewAnswer
from evenhand.desk.explain.explanation import metric_of
from evenhand.records.review_metadata import ANSWERS
from evenhand.review.agreement import agreement, consistency
from evenhand.review.review_book import ReviewBook
from evenhand.schema.features import Number
from evenhand.schema.words import value_words
from evenhand.service.dashboard._rounds import rounds_part
from evenhand.service.dashboard.decision_list import latest_decisions

if TYPE_CHECKING:
    from evenhand.desk.desk import Desk
    from evenhand.desk.projection.projection import Projection
    from evenhand.desk.settings import DeskSettings
    from evenhand.ledger.event import Head
    from evenhand.schema.effects import Comparison

COUNT_SECONDS = 2.0
"""Waiting pairs are counted at most this often: counting reads all of them."""

SLOW_SECONDS = 0.25
"""What is learned is computed again at once if that takes less."""
REST = 9.0
"""Else after so many times as long as it took: it gets a tenth of a core."""

LEARN_ERRORS = ("auto", "BayesPoint", "Guarded", "VersionSpace")
"""Metric learners that learn the error rates of reviewers if none is set."""


@dataclass(frozen=True)
class LearnedParts:
    """The parts of a dashboard about what was learned."""

    news: int
    """The last event after which they may differ."""
    parts: dict[str, Any]
    at: float
    seconds: float
    """When they were computed, and how long that took."""

    @property
    def is_fresh(self) -> bool:
        """Whether they took long, and not long ago: then they are shown a little longer than they are true."""
        return self.seconds > SLOW_SECONDS and time.monotonic() - self.at < REST * self.seconds


class Overview:
    """The dashboard of one desk. Its methods block and may be called from any thread."""

    def __init__(self, desk: Desk, book: ReviewBook | None = None) -> None:
        self._desk, self._book = desk, book or ReviewBook(desk.ledger, desk.name)
        self._lock, self._learning = threading.Lock(), threading.Lock()
        self._learned: LearnedParts | None = None
        self._waiting, self._counted_at = 0, float("-inf")

    def since(self, known: str | None) -> dict[str, Any]:
        """The parts that changed since the version `known`; all without one.

        The version consists of the last events of the ledger and of the projection, and of what was learned. It
        depends on the ledger alone, so a viewer can continue with another process.
        """
        before = (known or "").split(".")
        projection = self._desk.projection
        learned = self._what_was_learned(projection, before[-1])
        with self._lock:
            head, projection = self._desk.head, self._desk.projection
            now = [str(head.seq), str(projection.seq), str(learned.news)]
            parts: dict[str, Any] = {"version": ".".join(now)}
            if before[:2] != now[:2]:
                parts["desk"] = self._desk_part(head, projection)
        return parts if before[2:] == now[2:] else parts | learned.parts

    def _what_was_learned(self, projection: Projection, shown: str) -> LearnedParts:
        """The parts about what was learned, computed once for all viewers.

        With many features and answers that takes seconds. Then it is done a tenth of the time. Meanwhile viewers get
        what there is, unless they were shown something newer by another process.
        """
        there, news = self._learned, projection.history.news
        least = min(news, int(shown)) if shown.isdecimal() else 0
        may_be_older = there is not None and there.news >= least
        if there is not None and (there.news == news or (may_be_older and there.is_fresh)):
            return there
        if not self._learning.acquire(blocking=not may_be_older):
            assert there is not None
            return there
        try:
            if self._learned is None or self._learned.news != news:
                self._learned = self._learn(projection)
            return self._learned
        finally:
            self._learning.release()

    def _learn(self, projection: Projection) -> LearnedParts:
        begun, settings = time.monotonic(), self._desk.settings
        parts = {
            "metric": metric_part(projection, settings),
            "reviewers": reviewers_part(self._book, projection, settings),
        }
        now = time.monotonic()
        return LearnedParts(projection.history.news, parts, now, now - begun)

    def _desk_part(self, head: Head, projection: Projection) -> dict[str, Any]:
        settings = self._desk.settings
        return {
            "name": self._desk.name,
            "lines": head.seq,
            "hash": head.hash,
            "decisions": head.decisions,
            "behind": head.seq - projection.seq,
            "kinds": projection.history.kinds,
            "taught": projection.history.taught,
            "waiting": self._count(),
            "capacity": settings.capacity,
            "shadow": settings.shadow,
            "has_shadowed": bool(projection.history.modes),
            "flags_left": projection.bandit.flags_left,
            "promise": projection.bandit.promise,
            "rounds": rounds_part(projection, settings),
            "latest": latest_decisions(self._desk, head, projection),
        }

    def _count(self) -> int:
        if time.monotonic() - self._counted_at > COUNT_SECONDS:
            self._waiting = self._desk.ledger.pairs.count(self._desk.name)
            self._counted_at = time.monotonic()
        return self._waiting


# The learned metric.


def metric_part(projection: Projection, settings: DeskSettings) -> dict[str, Any]:
    """What the dashboard shows of the metric."""
    metric = metric_of(projection, settings)
    # Nobody differs in the intercept: its row, the last, says nothing.
    shown = settings.n_features - (settings.schema is not None and settings.schema.intercept)
    effects = _coordinates(metric.to_dict()) if settings.schema is None else _effects(projection, settings)
    return {
        "state": projection.seq,
        "kind": settings.metric,
        "by_range": settings.schema is not None,
        "reviews": projection.history.taught,
        "effects": effects,
        "sentences": list(metric.sentences),
        "coordinates": metric.coordinates[:shown],
        "matrix": [row[:shown] for row in metric.matrix[:shown]],
        "reviews_in_conflict": metric.reviews_in_conflict,
        "misleading_reviewers": metric.misleading_reviewers,
        "no_metric_fits": metric.no_metric_fits,
        "fit": list(metric.fit),
    }


def _effects(projection: Projection, settings: DeskSettings) -> list[dict[str, Any]]:
    """The effect of each feature of the schema alone, in the schema's order, so that bars keep their places."""
    learner, schema = projection.bandit.metric, settings.schema
    assert schema is not None
    explained = schema.explain(learner.get_mahalanobis_matrix(), ends=learner.ends_of)
    effects = []
    for name in schema.names:
        distance = explained[name].distance
        ends = {"value": distance.value, "lower": distance.lower, "upper": _finite(distance.upper)}
        effects.append({"name": name, "between": _between(explained[name].farthest), **ends})
    return effects


def _between(comparison: Comparison) -> str:
    """The two values that are farthest apart."""
    first, second = (value_words(comparison.feature, value) for value in (comparison.first, comparison.second))
    return f"{first} to {second}" if isinstance(comparison.feature, Number) else f"{first} or {second}"


def _finite(value: float | None) -> float | None:
    """None for no end at all: JSON has no infinity."""
    return None if value is None or math.isinf(value) else value


def _coordinates(metric: dict[str, Any]) -> list[dict[str, Any]]:
    """Without a schema: the effect of a difference of 1 in each coordinate."""
    rows = zip(metric["coordinates"], metric["distance"], metric["lower"], metric["upper"], strict=True)
    return [
        {"name": name, "between": "a difference of 1", "value": value, "lower": lower, "upper": _finite(upper)}
        for name, value, lower, upper in rows
    ]


# The reviewers.


def reviewers_part(book: ReviewBook, projection: Projection, settings: DeskSettings) -> dict[str, Any]:
    """Everybody who has answered, on the page or over HTTP, and their agreement. O(answers)."""
    book.refresh()
    standing, whole = sorted(book.standing(), key=lambda answer: answer.seq), book.whole()
    # Only now: other threads add answers to the book, and perhaps somebody's first.
    by_name: dict[str | None, list[ReviewAnswer]] = {name: [] for name in book.reviewers()}
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
    learns_panel = not projection.bandit.metric.plays_metric  # a model of each reviewer, compared with the others
    return {
        "people": sorted(people, key=lambda person: (-person["answers"], person["name"] or "")),
        "agreement": asdict(agreement(standing, whole)),
        "consistency": asdict(consistency(book.compared())),
        "errors_are_learned": learns_panel or (settings.reviewer_error is None and settings.metric in LEARN_ERRORS),
        "panel_is_learned": any(report.deviation is not None for report in errors.values()),
    }


def _person(name: str | None, answers: list[ReviewAnswer], withdrawn: int, report: Any) -> dict[str, Any]:
    # Of a complete review that found something unfair, the pairs it named are counted.
    counts = Counter(one.answer for one in answers if one.whole != "complete" or one.answer == "acceptable")
    seconds = [one.seconds for one in answers if one.seconds is not None]
    error = None
    if report is not None:
        error = {"rate": report.error_rate, "lower": report.lower, "upper": report.upper, "misleads": report.misleads}
        error |= {name: getattr(report, name) for name in ("softness", "deviation", "agreement")}
    return {
        "name": name,
        "answers": len({one.review for one in answers}),
        **{answer: counts[answer] for answer in ANSWERS},
        "withdrawn": withdrawn,
        "last": answers[-1].time if answers else None,
        "median_seconds": statistics.median(seconds) if seconds else None,
        "error": error,
    }
