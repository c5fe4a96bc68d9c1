"""The certificate of a decision: made from what the desk knows now, and told with names in place of indices."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from evenhand.bandit.safeguards import Safeguards
from evenhand.certificates import ANSWER, Certificate, certify
from evenhand.desk.desk import Desk
from evenhand.desk.event_records import decision_of
from evenhand.desk.explain.evidence import StandingReviews, number_of
from evenhand.service.problems import Problem

if TYPE_CHECKING:
    from evenhand.certificates.certificate import PairCertificate, QuotedVerdict
    from evenhand.ledger.event import Event

_provers: WeakKeyDictionary[Desk, Prover] = WeakKeyDictionary()


class Prover:
    """Makes certificates of one desk's decisions. Its methods block and may be called from any thread."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._lock = threading.Lock()
        self._known: tuple[int, Safeguards] | None = None

    def certificate(self, event: Event) -> Certificate:
        """What can be proved of each pair now; a Problem if the desk has not got so far yet."""
        state, decision = self._desk.projection, decision_of(event.body)
        if decision.round >= state.bandit.rounds:
            raise Problem("unavailable", "the decision is too new; try again in a moment", headers={"Retry-After": "1"})
        with self._lock:
            # Evidence is worked out when it is asked for: in a copy, since the state belongs to whoever decides.
            if self._known is None or self._known[0] != state.history.news:
                self._known = (state.history.news, Safeguards.from_state(state.bandit.safeguards.state()))
            safeguards = self._known[1]
            flagged = safeguards.flagged_pairs(decision)
            return certify(decision, safeguards.evidence, state.bandit.metric.chance_unfair, flagged)


def prover_of(desk: Desk) -> Prover:
    """The prover of a desk that is open in this process."""
    found = _provers.get(desk)
    return found if found is not None else _provers.setdefault(desk, Prover(desk))


def proofs_told(desk: Desk, event: Event, certificate: Certificate) -> dict[str, Any]:
    """A certificate for people: candidates by name, and each verdict with the decision it was on."""
    names = event.body["candidates"]
    numbers = {_number(quoted) for pair in certificate.pairs for quoted in pair.evidence}
    book = StandingReviews(desk.ledger, desk.name, [number for number in numbers if number is not None])
    binding = {tuple(pair) for pair in event.body["tight_pairs"]}
    return {
        "decision": event.id,
        "state": desk.projection.seq,
        "counts": {status: certificate.count(status) for status in ("proved", "likely", "unproven")},
        "pairs": [
            {
                **_pair(pair, names),
                "binding": pair.pair in binding,
                "evidence": _evidence(pair, book, event.body["state"]),
            }
            for pair in certificate.pairs
        ],
    }


def _pair(pair: PairCertificate, names: list[str]) -> dict[str, Any]:
    i, j = pair.pair
    known = {"gap": pair.gap, "status": pair.status, "probability": pair.probability, "bound": pair.bound}
    return {"first": names[i], "second": names[j], **known}


def _evidence(pair: PairCertificate, book: StandingReviews, decided_from: int) -> list[dict[str, Any]]:
    """The verdicts a proof rests on, the weightiest first; is_later: given after the decision, None if not known."""
    found = []
    for quoted in sorted(pair.evidence, key=lambda quoted: -quoted.weight):
        number, told = _number(quoted), {"unfair": quoted.unfair, "reviewer": quoted.reviewer}
        row = None if number is None else book.decisions.get(number)
        names, is_later = None, None  # of an interview's answer
        if number is not None and row is not None:
            names = [row.event.body["candidates"][i] for i in quoted.pair]
            review = book.behind(number, quoted.pair, unfair=quoted.unfair, reviewer=quoted.reviewer)
            is_later = (row if review is None else review).seq > decided_from
        said = {**told, "gap": quoted.gap, "weight": quoted.weight, "is_later": is_later}
        found.append({"decision": None if row is None else row.id, "number": number, "names": names, **said})
    return found


def _number(quoted: QuotedVerdict) -> int | None:
    """The number of the decision that a verdict was on; None for an interview's answer."""
    return None if quoted.decision == ANSWER else number_of(quoted.decision)
