"""One decision on its page: the record, its explanation, and the candidates' attributes in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evenhand.review.display import features_of, in_words, ordered

if TYPE_CHECKING:
    from evenhand.desk.desk import Desk


def decision_page(desk: Desk, decision: str) -> dict[str, Any]:
    """All that the page shows but the certificate, which takes longer."""
    record, explanation = desk.decision(decision), desk.explain(decision)
    # The page shows attributes in words; the ledger has the numbers.
    body = {name: value for name, value in record["body"].items() if name not in ("contexts", "features")}
    return {
        "id": decision,
        "record": {**record, "body": body},
        "explanation": explanation.to_dict(),
        "attributes": _attributes(desk, record["body"]),
        "decided": desk.head.decisions,
    }


def _attributes(desk: Desk, body: dict[str, Any]) -> dict[str, Any]:
    """The names of the attributes in the desk's order, and a row of words for each candidate."""
    rows = features_of(body, body["candidates"], desk.settings)
    names = ordered(rows[0], desk.settings) if rows else []
    schema = desk.settings.schema
    return {"names": names, "rows": [[in_words(row.get(name), schema, name) for name in names] for row in rows]}
