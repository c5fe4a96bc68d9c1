"""Certificates of decisions: made from what the desk knows now, and shown with names instead of indices."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from evenhand.bandit.safeguards import Safeguards
from evenhand.certificates import ANSWER, Certificate, certify
from evenhand.desk.event_records import decision_of
from evenhand.desk.explain.evidence import StandingReviews, number_of
from evenhand.service.problems import unavailable

if TYPE_CHECKING:
    from evenhand.certificates.certificate import PairCertificate, QuotedVerdict
    from evenhand.desk.desk import Desk
    from evenhand.ledger.event import Event


class Prover:
    """Makes certificates of one desk's decisions. Its methods block and may be called from any thread."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._lock = threading.Lock()
        self._copy: tuple[int, Safeguards] | None = None

    def certificate(self, event: Event) -> Certificate:
        """What can be proved about each pair now; a Problem if the projection does not contain the decision yet."""
        projection, decision = self._desk.projection, decision_of(event.body)
        if decision.round >= projection.bandit.rounds:
            raise unavailable("the decision is too new; try again in a moment")
        with self._lock:
            # Evidence is computed on demand: in a copy, since the projection belongs to whoever decides.
            if self._copy is None or self._copy[0] != projection.history.news:
                self._copy = (projection.history.news, Safeguards.from_state(projection.bandit.safeguards.state()))
            safeguards = self._copy[1]
            flagged = safeguards.log.flagged(decision.id)
            return certify(decision, safeguards.log.evidence, projection.bandit.metric.chance_unfair, flagged)


def proofs_page(desk: Desk, event: Event, certificate: Certificate) -> dict[str, Any]:
    """A certificate with candidates by name, and each verdict with its decision."""
    names = event.body["candidates"]
    numbers = {_number(quoted) for pair in certificate.pairs for quoted in pair.evidence}
    reviews = StandingReviews(desk.ledger, desk.name, [number for number in numbers if number is not None])
    tight = {tuple(pair) for pair in event.body["tight_pairs"]}
    return {
        "decision": event.id,
        "state": desk.projection.seq,
        "counts": {status: certificate.count(status) for status in ("proved", "likely", "unproven")},
        "pairs": [
            {
                **_pair(pair, names),
                "binding": pair.pair in tight,
                "evidence": _evidence(pair, reviews, event.body["state"]),
            }
            for pair in certificate.pairs
        ],
    }


def _pair(pair: PairCertificate, names: list[str]) -> dict[str, Any]:
    i, j = pair.pair
    claim = {"gap": pair.gap, "status": pair.status, "probability": pair.probability, "bound": pair.bound}
    return {"first": names[i], "second": names[j], **claim}


def _evidence(pair: PairCertificate, reviews: StandingReviews, decided_from: int) -> list[dict[str, Any]]:
    """The verdicts a proof rests on, the heaviest first. is_later: given after the decision, None if not known."""
    found = []
    for quoted in sorted(pair.evidence, key=lambda quoted: -quoted.weight):
        number = _number(quoted)
        row = None if number is None else reviews.decisions.get(number)
        names, is_later = None, None  # of an interview's answer
        if number is not None and row is not None:
            names = [row.event.body["candidates"][i] for i in quoted.pair]
            review = reviews.behind(number, quoted.pair, unfair=quoted.unfair, reviewer=quoted.reviewer)
            is_later = (row if review is None else review).seq > decided_from
        found.append(
            {
                "decision": None if row is None else row.id,
                "number": number,
                "names": names,
                "unfair": quoted.unfair,
                "reviewer": quoted.reviewer,
                "gap": quoted.gap,
                "weight": quoted.weight,
                "is_later": is_later,
            }
        )
    return found


def _number(quoted: QuotedVerdict) -> int | None:
    """The number of the decision that a verdict was on; None for an interview's answer."""
    return None if quoted.decision == ANSWER else number_of(quoted.decision)
