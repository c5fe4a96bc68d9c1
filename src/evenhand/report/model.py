"""ModelFigures: what the desk had learned by the end of a period: its metric, its promise, and what it can prove."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from evenhand.desk.event_records import decision_of
from evenhand.desk.explain.explanation import Metric, metric_of
from evenhand.desk.projection.projection import Projection
from evenhand.desk.remaining import erased_in
from evenhand.desk.settings import DeskSettings
from evenhand.errors import EvenhandError
from evenhand.ledger.event import Row
from evenhand.ledger.ledger import Ledger
from evenhand.metrics import Pairs
from evenhand.report.figures import FlagRecord

PROOF_DECISIONS = 20
"""The newest decisions whose pairs are looked at for proofs."""
PROOF_SECONDS = 15.0
"""How long proofs are looked for, altogether; pairs that are left are "not attempted"."""
LOOKED_AT = 200
"""The newest standing flags that are compared with the metric."""


@dataclass(frozen=True)
class ReviewerError:
    """The error rate of a reviewer, as it is learned from answers."""

    name: str | None
    answers: int
    rate: float
    lower: float
    upper: float
    misleads: bool


@dataclass(frozen=True)
class ModelFigures:
    """What was learned from all events up to one."""

    state: int
    """The projection: events up to this seq."""
    learner: str
    reward_model: str
    outcomes: int
    """That the reward model has learned from, of all times."""
    reviews: int
    """Reviews and answers that the metric has learned from, of all times."""
    skipped: int
    """Events that could not be learned from."""
    metric: Metric
    reviewers: tuple[ReviewerError, ...]
    certified: int
    """Decisions whose pairs were looked at for proofs: the newest ones."""
    pairs: dict[str, int]
    """Their pairs by status: proved, likely, unproven, not attempted."""
    compared_flags: int
    """Pairs of the newest standing flags whose gap was compared with the metric."""
    settled_flags: int
    """Of these, pairs that the metric puts nearer to each other than the gap: it would not be played again."""

    def to_dict(self) -> dict[str, Any]:
        """Plain dicts, lists and numbers."""
        return asdict(self)


def model_figures(
    ledger: Ledger,
    desk: str,
    projection: Projection,
    settings: DeskSettings,
    made: Sequence[str],
    flags: Sequence[FlagRecord],
) -> ModelFigures:
    """The figures of a projection; made: the ids of the period's decisions, in order."""
    standing = [flag for flag in flags if flag.became == "stands"][-LOOKED_AT:]
    with ledger.reading(desk) as view:
        rows = view.by_id([*made[-PROOF_DECISIONS:], *{flag.decision for flag in standing}])
    newest = [rows[name] for name in made[-PROOF_DECISIONS:]]
    certified, pairs = _proofs(projection, newest)
    compared, settled = _settled(projection, rows, standing)
    bandit, kinds = projection.bandit, projection.history.kinds
    errors = bandit.reviewers().values()
    return ModelFigures(
        projection.seq,
        type(bandit.metric).__name__,
        type(bandit.reward).__name__,
        kinds.get("outcome", 0),
        projection.history.taught,
        projection.skipped,
        metric_of(projection, settings),
        tuple(ReviewerError(e.name, e.answers, e.error_rate, e.lower, e.upper, e.misleads) for e in errors),
        certified,
        pairs,
        compared,
        settled,
    )


def _proofs(projection: Projection, decisions: Sequence[Row]) -> tuple[int, dict[str, int]]:
    """How many decisions were looked at, and their pairs by status; pairs of erased people are left out."""
    found, certified = Counter[str](), 0
    for row in decisions:
        body, gone = row.event.body, erased_in(row.event.body)
        if gone.issuperset(body["candidates"]):
            continue
        made = projection.bandit.own(decision_of(body))
        try:
            certificate = projection.bandit.certify(made, seconds=PROOF_SECONDS / PROOF_DECISIONS)
        except EvenhandError:  # a solver failed: nothing is proved of this decision
            continue
        certified += 1
        names = body["candidates"]
        found.update(pair.status for pair in certificate.pairs if gone.isdisjoint(names[i] for i in pair.pair))
    return certified, {status: found[status] for status in ("proved", "likely", "unproven", "not attempted")}


def _settled(projection: Projection, rows: dict[str, Row], flags: Sequence[FlagRecord]) -> tuple[int, int]:
    """Flagged pairs that were compared with the metric, and those whose gap exceeds the distance it estimates."""
    compared = settled = 0
    for flag in flags:
        body, gone = rows[flag.decision].event.body, erased_in(rows[flag.decision].event.body)
        named = [pair for pair in flag.pairs if gone.isdisjoint(pair)]
        if flag.subject != "desk" or not named:
            continue
        place = {name: i for i, name in enumerate(body["candidates"])}
        places = np.array([[place[first], place[second]] for first, second in named])
        probabilities = np.array(body["probabilities"])
        gaps = np.abs(probabilities[places[:, 0]] - probabilities[places[:, 1]])
        squared = projection.bandit.metric.estimate(Pairs.named(decision_of(body).contexts, places))
        compared += len(named)
        settled += int((np.sqrt(np.maximum(squared, 0.0)) < gaps).sum())
    return compared, settled
