"""One decision on its page: the record, its explanation, attributes in words, and what is proved about its pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, get_args

from evenhand.certificates import ANSWER, Certificate
from evenhand.certificates.certificate import Status
from evenhand.desk.explain.evidence import StandingReviews, number_of
from evenhand.desk.remaining import erased_in
from evenhand.review.display import features_of, in_words, ordered

if TYPE_CHECKING:
    from evenhand.certificates.certificate import PairCertificate, QuotedVerdict
    from evenhand.desk.desk import Desk
    from evenhand.ledger.event import Event

ERASED = "erased"
"""In place of the attributes of somebody who was erased."""


def decision_page(desk: Desk, decision: str) -> dict[str, Any]:
    """All that the page shows but the certificate, which takes longer."""
    record, explanation, settings = desk.decision(decision), desk.explain(decision), desk.settings
    # The page shows attributes in words, in the desk's order; the ledger has the numbers.
    body = {name: value for name, value in record["body"].items() if name not in ("contexts", "features")}
    rows = features_of(record["body"], body["candidates"], settings)
    names = ordered(next((row for row in rows if row), {}), settings)
    words = [[in_words(row.get(name), settings.schema, name) if row else ERASED for name in names] for row in rows]
    return {
        "id": decision,
        "record": {**record, "body": body},
        "explanation": explanation.to_dict(),
        "attributes": {"names": names, "rows": words},
        "decided": desk.head.decisions,
    }


def proofs_page(desk: Desk, event: Event, certificate: Certificate) -> dict[str, Any]:
    """A certificate with candidates by name, and each verdict with its decision."""
    names = event.body["candidates"]
    numbers = {_number(quoted) for pair in certificate.pairs for quoted in pair.evidence}
    reviews = StandingReviews(desk.ledger, desk.name, [number for number in numbers if number is not None])
    tight = {tuple(pair) for pair in event.body["tight_pairs"]}
    return {
        "decision": event.id,
        "state": desk.projection.seq,
        "flags_left": certificate.flags_left,
        "promise": certificate.promise,
        "erased": sorted(erased_in(event.body)),
        "counts": {status: certificate.count(status) for status in get_args(Status)},
        "pairs": [
            {
                "first": names[pair.pair[0]],
                "second": names[pair.pair[1]],
                **{name: getattr(pair, name) for name in ("gap", "status", "probability", "bound")},
                "binding": pair.pair in tight,
                "evidence": _evidence(pair, reviews, event.body["state"]),
            }
            for pair in certificate.pairs
        ],
    }


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
