"""Differences: where a desk in shadow mode and the system in force decided differently, as far as is known."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from heapq import nlargest
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand._internal.checks import check_whole
from evenhand._internal.counted import counted
from evenhand.desk.event_records import decisions_with_events, subject_of
from evenhand.desk.projection.projection import Projection
from evenhand.desk.remaining import erased_in
from evenhand.desk.shadow import action_of, treatment_of
from evenhand.ledger.event import Row
from evenhand.ledger.ledger import Ledger
from evenhand.ledger.waiting_pairs import SUBJECTS, Subject
from evenhand.metrics import Pairs
from evenhand.records.decision import PROBABILITY_TOLERANCE

Floats = NDArray[np.float64]

DIFFERENCES = 200
"""Decisions compared unless you ask for more."""
MOST_DIFFERENCES = 5_000
LISTED = 10
"""Decisions and pairs that are listed."""


@dataclass(frozen=True)
class UnfairPair:
    """Two candidates whose gap exceeds their distance, as it is estimated now."""

    decision: str
    number: int
    subject: Subject
    first: str
    second: str
    gap: float
    distance: float


@dataclass(frozen=True)
class Difference:
    """One decision on which the two differ."""

    decision: str
    number: int
    agreement: float
    """sum_i min(p_i, q_i) / max(sum_i p_i, sum_i q_i): 1 if both treat everybody the same, 0 if they share nobody."""
    chosen: tuple[str, ...]
    """By the system in force."""
    would_choose: tuple[str, ...]
    """By the desk."""
    reward_difference: float
    """The desk's estimated reward less the system's."""


@dataclass
class Side:
    """The desk, or the system in force, over the decisions compared."""

    estimated_reward: float = 0.0
    """The mean over decisions of sum_i p_i r_i, with the reward model's estimates r of now."""
    unfair_pairs: int = 0
    """Pairs whose gap exceeds the distance, as it is estimated now."""
    unfair_decisions: int = 0
    """Decisions with such a pair."""
    reviewed: int = 0
    """Decisions with a review that stands."""
    flagged: int = 0
    """Decisions that a reviewer called unfair."""


@dataclass
class Differences:
    """Where a desk in shadow mode and the system in force differ."""

    state: int
    """The projection whose reward model and metric are used: events up to this seq."""
    reviews: int
    """Reviews and answers that the metric has learned from; with few of them the distances are guesses."""
    compared: int = 0
    """Decisions made in shadow mode for which it is known what was done."""
    untold: int = 0
    """Decisions made in shadow mode for which it is not."""
    erased: int = 0
    """Decisions that cannot be compared, since a candidate was erased."""
    same_choice: int = 0
    """Decisions in which the desk would have chosen exactly those who were chosen."""
    agreement: float | None = None
    """The mean agreement, see `Difference.agreement`; None if nothing can be compared."""
    reward_difference: float | None = None
    """The mean of the desk's estimated reward less the system's."""
    reward_uncertainty: float | None = None
    """The mean of sum_i |p_i - q_i| w_i with the reward model's confidence widths w: how far that may be off."""
    outcomes: int = 0
    """Outcomes known of those who were really chosen."""
    mean_outcome: float | None = None
    mean_estimate: float | None = None
    """The reward model's mean estimate for the same people: far from `mean_outcome`, it cannot be trusted."""
    desk: Side = field(default_factory=Side)
    system: Side = field(default_factory=Side)
    decisions: tuple[Difference, ...] = ()
    """Those with the least agreement, at most ten."""
    pairs: tuple[UnfairPair, ...] = ()
    """Pairs whose gap exceeds the distance most, at most ten of each side."""

    def to_dict(self) -> dict[str, Any]:
        """Plain dicts, lists and numbers."""
        return asdict(self)

    @property
    def sentences(self) -> tuple[str, ...]:
        """The report in words."""
        if not self.compared:
            waiting = [_waiting(self.untold)] if self.untold else []
            return (" ".join(["No decision of this desk can be compared with the system in force.", *waiting]),)
        return tuple(_sentences(self))

    def __str__(self) -> str:
        return "\n".join(self.sentences)


def _sentences(report: Differences) -> Iterator[str]:
    n, agreement = report.compared, report.agreement or 0.0
    yield (
        f"In {counted(n, 'decision')} the desk and the system in force agree by {agreement:.0%}; in "
        f"{report.same_choice} the desk would have chosen exactly those who were chosen."
    )
    difference, off = report.reward_difference or 0.0, report.reward_uncertainty or 0.0
    yield (
        f"Estimated reward per decision: desk {report.desk.estimated_reward:.3f}, system "
        f"{report.system.estimated_reward:.3f}, a difference of {difference:+.3f}, give or take {off:.3f}."
    )
    if report.mean_outcome is not None:
        yield (
            f"The {report.outcomes} outcomes known are {report.mean_outcome:.3f} on average; the estimate for the same "
            f"people is {report.mean_estimate:.3f}."
        )
    pairs = "; ".join(
        f"{name} {side.unfair_pairs}, in {counted(side.unfair_decisions, 'decision')}"
        for name, side in (("desk", report.desk), ("system", report.system))
    )
    yield f"Unfair pairs under the metric learned from {counted(report.reviews, 'review')}: {pairs}."
    yield (
        f"Reviewers called {report.desk.flagged} of {report.desk.reviewed} reviewed proposals of the desk unfair, and "
        f"{report.system.flagged} of {report.system.reviewed} decisions of the system."
    )
    if report.untold:
        yield _waiting(report.untold)


def _waiting(untold: int) -> str:
    wait = "waits" if untold == 1 else "wait"
    return f"{counted(untold, 'decision')} {wait} to be told what was done."


def differences(ledger: Ledger, desk: str, projection: Projection, last: int = DIFFERENCES) -> Differences:
    """Compare the newest `last` decisions that a desk made in shadow mode with what was really done."""
    check_whole("last", last, least=1, most=MOST_DIFFERENCES)
    comparison = _Comparison(projection)
    numbers = projection.history.shadow_numbers(projection.bandit.rounds, last)
    for row, later in decisions_with_events(ledger, desk, numbers):
        comparison.add(row, later)
    return comparison.report()


class _Comparison:
    """Sums over decisions; estimates are those of one projection."""

    def __init__(self, projection: Projection) -> None:
        self._bandit = projection.bandit
        self._report = Differences(projection.seq, projection.history.taught)
        self._sums = dict.fromkeys(("agreement", "difference", "width", "outcomes", "estimates"), 0.0)
        self._decisions: list[Difference] = []
        self._pairs: dict[Subject, list[UnfairPair]] = {subject: [] for subject in SUBJECTS}

    def add(self, row: Row, about: Sequence[Row]) -> None:
        """Compare one decision."""
        body, report = row.event.body, self._report
        action = action_of(body, about)
        if action is None or erased_in(body):
            report.erased += action is not None
            report.untold += action is None
            return
        candidates, contexts = body["candidates"], np.array(body["contexts"], dtype=np.float64)
        p, q = np.array(body["probabilities"]), np.array(treatment_of(action, candidates))
        rewards, most = self._bandit.reward.estimate(contexts), max(float(p.sum()), float(q.sum()))
        agreement = float(np.minimum(p, q).sum()) / most if most > 0.0 else 1.0
        gained = float(rewards @ (p - q))
        report.compared += 1
        report.same_choice += set(body["would_choose"]) == set(action["chosen"])
        report.desk.estimated_reward += float(rewards @ p)
        report.system.estimated_reward += float(rewards @ q)
        self._sums["agreement"] += agreement
        self._sums["difference"] += gained
        self._sums["width"] += float(np.abs(p - q) @ self._bandit.reward.widths(contexts))
        who = (tuple(action["chosen"]), tuple(body["would_choose"]))
        self._decisions.append(Difference(row.id, body["number"], agreement, *who, gained))
        if len(self._decisions) > 20 * LISTED:
            self._decisions = self._most_different()
        self._add_outcomes(about, dict(zip(candidates, rewards.tolist(), strict=True)))
        self._add_reviews(about)
        self._add_pairs((row.id, body["number"]), candidates, contexts, {"desk": p, "system": q})

    def _add_outcomes(self, about: Sequence[Row], estimates: dict[str, float]) -> None:
        for row in about:
            for name, reward in row.event.body["rewards"].items() if row.kind == "outcome" else ():
                self._report.outcomes += 1
                self._sums["outcomes"] += reward
                self._sums["estimates"] += estimates[name]

    def _add_reviews(self, about: Sequence[Row]) -> None:
        reviews = [row.event.body for row in about if row.kind == "review"]
        for subject, side in self._sides():
            own = [review for review in reviews if subject_of(review) == subject]
            side.reviewed += bool(own)
            side.flagged += any(review["unfair"] or review["any_unfair"] for review in own)

    def _add_pairs(
        self, decision: tuple[str, int], names: Sequence[str], contexts: Floats, treated: dict[Subject, Floats]
    ) -> None:
        pairs = Pairs.of(contexts)
        if not len(pairs):
            return
        distances = np.sqrt(np.maximum(self._bandit.metric.estimate(pairs), 0.0))
        first, second = pairs.indices.T
        for subject, side in self._sides():
            gaps = np.abs(treated[subject][first] - treated[subject][second])
            found = np.flatnonzero(gaps > distances + PROBABILITY_TOLERANCE)
            side.unfair_pairs += len(found)
            side.unfair_decisions += bool(len(found))
            worst = found[np.argsort(distances[found] - gaps[found])[:LISTED]]
            listed = [
                UnfairPair(*decision, subject, names[first[i]], names[second[i]], float(gaps[i]), float(distances[i]))
                for i in worst
            ]
            known = [*self._pairs[subject], *listed]
            self._pairs[subject] = nlargest(LISTED, known, key=lambda pair: pair.gap - pair.distance)

    def _sides(self) -> tuple[tuple[Subject, Side], ...]:
        return ("desk", self._report.desk), ("system", self._report.system)

    def _most_different(self) -> list[Difference]:
        return sorted(self._decisions, key=lambda one: (one.agreement, -one.number))[:LISTED]

    def report(self) -> Differences:
        """The means."""
        report, n = self._report, self._report.compared
        if n:
            report.agreement, report.reward_difference = self._sums["agreement"] / n, self._sums["difference"] / n
            report.reward_uncertainty = self._sums["width"] / n
            if not math.isfinite(report.reward_uncertainty):  # of a model without widths
                report.reward_uncertainty = None
            for _, side in self._sides():
                side.estimated_reward /= n
        if report.outcomes:
            report.mean_outcome = self._sums["outcomes"] / report.outcomes
            report.mean_estimate = self._sums["estimates"] / report.outcomes
        report.decisions = tuple(self._most_different())
        report.pairs = tuple(pair for subject in SUBJECTS for pair in self._pairs[subject])
        return report
