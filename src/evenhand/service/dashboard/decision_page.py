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
    quotes = _Quotes(reviews, event.body["state"])
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
                "evidence": quotes.evidence(pair),
            }
            for pair in certificate.pairs
        ],
    }


class _Quotes:
    """Verdicts as the page quotes them. Many pairs rest on the same ones, and reading an event takes long."""

    def __init__(self, reviews: StandingReviews, decided_from: int) -> None:
        self._reviews, self._decided_from = reviews, decided_from
        self._names = {number: row.event.body["candidates"] for number, row in reviews.decisions.items()}
        self._known: dict[tuple[Any, ...], dict[str, Any]] = {}

    def evidence(self, pair: PairCertificate) -> list[dict[str, Any]]:
        """The verdicts a proof rests on, the heaviest first."""
        heaviest = sorted(pair.evidence, key=lambda quoted: -quoted.weight)
        return [{**self._source(quoted), "gap": quoted.gap, "weight": quoted.weight} for quoted in heaviest]

    def _source(self, quoted: QuotedVerdict) -> dict[str, Any]:
        key = (quoted.decision, tuple(quoted.pair), quoted.unfair, quoted.reviewer)
        if key not in self._known:
            self._known[key] = self._read(quoted)
        return self._known[key]

    def _read(self, quoted: QuotedVerdict) -> dict[str, Any]:
        """Where a verdict comes from. is_later: given after the decision, None if not known."""
        number = _number(quoted)
        row = None if number is None else self._reviews.decisions.get(number)
        names, is_later = None, None  # of an interview's answer
        if number is not None and row is not None:
            names = [self._names[number][i] for i in quoted.pair]
            review = self._reviews.behind(number, quoted.pair, unfair=quoted.unfair, reviewer=quoted.reviewer)
            is_later = (row if review is None else review).seq > self._decided_from
        return {
            "decision": None if row is None else row.id,
            "number": number,
            "names": names,
            "unfair": quoted.unfair,
            "reviewer": quoted.reviewer,
            "is_later": is_later,
        }


def _number(quoted: QuotedVerdict) -> int | None:
    """The number of the decision that a verdict was on; None for an interview's answer."""
    return None if quoted.decision == ANSWER else number_of(quoted.decision)
