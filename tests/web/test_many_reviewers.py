"""Fifty reviewers at once, over HTTP: no pair is answered twice unplanned, and none is lost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import httpx
import pytest

from evenhand.ledger.ledger import open_ledger
from tests.support.local_service import LocalService
from tests.support.serving import Serving

REVIEWERS = 50
MOMENTS = {"started": "2024-01-01T00:00:00+00:00", "ended": "2024-01-01T00:00:03+00:00"}
RULES = {"repeats": 0.1, "repeat_after": 2, "controls": 0.1}


class Crowded(NamedTuple):
    """A service that fifty reviewers have worked with."""

    service: Serving
    answered: list[tuple[str, str]]
    """What was acknowledged, by review id and answer."""


@pytest.fixture(scope="module")
def crowded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Crowded]:
    """Fifty reviewers of one desk, where some pairs are for two of them, have answered all there is, at once."""
    service = LocalService(tmp_path_factory.mktemp("crowded"))
    service.open_desk("loans", 80, overlap=0.2, reviewing=RULES, reviewer_error=1e-3)
    service.token("owner", ["admin"])
    for number in range(REVIEWERS):
        service.token(f"reviewer {number}", ["review"], ["loans"])
    with service, ThreadPoolExecutor(REVIEWERS) as pool:
        yield Crowded(
            service, [one for found in pool.map(lambda n: _work(service, n), range(REVIEWERS)) for one in found]
        )


def _work(service: Serving, number: int) -> list[tuple[str, str]]:
    """Answer until nothing waits; what was acknowledged, by review id and answer."""
    headers = {"Authorization": f"Bearer {service.tokens[f'reviewer {number}']}"}
    answered: list[tuple[str, str]] = []
    with httpx.Client(base_url=f"{service.url}/api/desks/loans/review", headers=headers, timeout=60) as client:
        page: dict[str, Any] = client.get("/next").json()
        while page["item"] is not None:
            choice = ("unfair", "acceptable", "unsure", "skip")[
                len(answered) % 4 if number % 5 == 0 else len(answered) % 2
            ]
            answer = client.post("/answers", json={"item": page["item"], "answer": choice, **MOMENTS})
            assert answer.status_code == 201, answer.text
            answered.append((answer.json()["review"], choice))
            page = answer.json()["next"]
    return answered


def test_fifty_reviewers_at_once(crowded: Crowded) -> None:
    """Every acknowledged answer is one line of the ledger; no place of a pair is taken twice; nothing is left over."""
    service, answered = crowded
    reviews = {event["id"]: event["body"] for event in service.events("review")}
    assert Counter(name for name, _ in answered) == Counter(reviews.keys())
    assert all(reviews[name]["circumstances"]["answer"] == choice for name, choice in answered)
    places: Counter[tuple[Any, ...]] = Counter()
    people: dict[tuple[Any, ...], list[str]] = {}
    for body in reviews.values():
        metadata = body["circumstances"]
        if metadata["answer"] != "skip" and "repeat" not in metadata:
            pair = (body["decision"], *sorted(metadata["pair"]))
            places[*pair, metadata["queue"]["place"]] += 1
            people.setdefault(pair, []).append(body["reviewer"])
        assert "late" not in metadata
    assert set(places.values()) == {1}
    assert all(len(set(names)) == len(names) <= 2 for names in people.values())
    assert any(len(names) == 2 for names in people.values())
    ledger = open_ledger(service.database)
    try:
        # What is left was skipped by all who could be asked, or waits for a second reviewer who was gone by then.
        assert ledger.pairs.count("loans") <= REVIEWERS
        assert len(people) >= 80
    finally:
        ledger.close()


def test_reviewers_are_summarised(crowded: Crowded) -> None:
    """The owner sees workload, steadiness and agreement; a reviewer does not."""
    service = crowded.service
    summary = service.ask("GET", "/api/desks/loans/reviewers", by="owner").json()
    assert sum(one["answers"] for one in summary["reviewers"]) == len(crowded.answered)
    assert summary["agreement"]["pairs"] > 0
    assert -1 <= summary["agreement"]["kappa"] <= 1
    assert service.ask("GET", "/api/desks/loans/reviewers", by="reviewer 1").status_code == 403
