"""One decision for its page: the record, its explanation, and people's attributes in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evenhand.review.display import features_of, in_words, ordered

if TYPE_CHECKING:
    from evenhand.desk.desk import Desk


def decision_told(desk: Desk, name: str) -> dict[str, Any]:
    """All that the page shows but the certificate, which takes longer."""
    record, explanation = desk.decision(name), desk.explain(name)
    return {
        "id": name,
        "record": _without_numbers(record),
        "explanation": explanation.to_dict(),
        "attributes": _in_words(desk, record["body"]),
        "decided": desk.head.decisions,
    }


def _in_words(desk: Desk, body: dict[str, Any]) -> dict[str, Any]:
    """The candidates' attributes in words: names in the desk's order, and a row for each candidate."""
    rows = features_of(body, body["candidates"], desk.settings)
    names = ordered(rows[0], desk.settings) if rows else []
    schema = desk.settings.schema
    return {"names": names, "rows": [[in_words(row.get(name), schema, name) for name in names] for row in rows]}


def _without_numbers(record: dict[str, Any]) -> dict[str, Any]:
    """The record without contexts: the page shows attributes in words, the ledger has them to the bit."""
    body = {key: value for key, value in record["body"].items() if key not in ("contexts", "features")}
    return {**record, "body": body}
