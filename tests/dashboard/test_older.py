"""Pages of older decisions, and of those called unfair: all can be reached, and nobody learns what they must not."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from evenhand.desk import Desk
from evenhand.ledger.ledger import LedgerView
from evenhand.service.dashboard.decision_list import PAGE, decision_list
from tests.support.running_service import Asking, asking

FAR = [[0.9, 0.0], [0.0, 0.9]]
DECISIONS = 3 * PAGE + 4
EVERY = 2


@pytest.fixture(scope="module")
def desk() -> Iterator[Desk]:
    """A desk with three pages and a bit, every second decision called unfair."""
    with Desk.open("memory:", "loans", n_features=2, seed=1) as made:
        decided = [made.decide(FAR) for _ in range(DECISIONS)]  # flags would pull later probabilities together
        for decision in decided[::EVERY]:
            made.review(decision.id, "partial", unfair=[("0", "1")], reviewer="Eve")
        made.catch_up(wait=True)
        yield made


def numbers(page: dict[str, Any]) -> list[int]:
    """The decisions on a page."""
    return [line["number"] for line in page["lines"]]


def walked(desk: Desk, *, flagged: bool) -> list[dict[str, Any]]:
    """All pages, from the newest on."""
    pages = [decision_list(desk, before=None, flagged=flagged)]
    while pages[-1]["older"] is not None:
        pages.append(decision_list(desk, before=pages[-1]["older"], flagged=flagged))
    return pages


@pytest.mark.parametrize("flagged", [False, True])
def test_pages_hold_every_decision_once(desk: Desk, flagged: bool) -> None:
    """From the newest page to the oldest, and back: each decision once, in order, and as many as are counted."""
    counted = sorted(desk.projection.bandit.safeguards.flagged_rounds) if flagged else list(range(DECISIONS))
    assert len(counted) > PAGE
    pages = walked(desk, flagged=flagged)
    assert [number for page in pages for number in numbers(page)] == counted[::-1]
    assert all(line["flagged"] for page in pages for line in page["lines"]) or not flagged
    assert [page["is_first"] for page in pages] == [True] + [False] * (len(pages) - 1)
    assert {page["of"] for page in pages} == {len(counted)}
    for newer, older in itertools.pairwise(pages):
        assert numbers(decision_list(desk, before=older["newer"], flagged=flagged)) == numbers(newer)


def test_a_page_reads_its_own_lines_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever page is requested, the database is queried by number and by id: no statement goes through a ledger."""
    statements: list[str] = []
    run = LedgerView._rows

    def noted(view: LedgerView, statement: str, values: tuple[Any, ...]) -> list[Any]:
        statements.append(statement)
        return run(view, statement, values)

    with Desk.open(f"sqlite:///{tmp_path / 'ledger.db'}", "loans", n_features=2, seed=1) as desk:
        for made in [desk.decide(FAR) for _ in range(PAGE + 5)]:
            desk.review(made.id, "partial", unfair=[("0", "1")], reviewer="Eve")
        desk.catch_up(wait=True)
        monkeypatch.setattr(LedgerView, "_rows", noted)
        assert numbers(decision_list(desk, before=3, flagged=True)) == [2, 1, 0]
        monkeypatch.undo()
    assert [next(word for word in one.split() if word.startswith("events_")) for one in statements] == [
        "events_number",
        "events_target",
        "events_target",
    ]


@pytest.fixture(scope="module")
def ask() -> Iterator[Asking]:
    """A service with a ledger in memory."""
    with asking() as running:
        yield running


def test_a_reviewer_does_not_see_which_decisions_others_called_unfair(ask: Asking) -> None:
    """No page of those for whoever only reviews; a page of all has neither probabilities nor answers in it."""
    made = ask.decide()
    body = {"kind": "partial", "unfair": [made["candidates"][:2]], "reviewer": "Ana"}
    assert ask("POST", f"/api/desks/loans/decisions/{made['id']}/reviews", body).is_success
    path = "/api/desks/loans/window/decisions"
    assert ask("GET", f"{path}?show=unfair", by="review").status_code == 403
    assert ask("GET", f"{path}?show=unfair", by="decide").status_code == 200
    (line,) = ask("GET", f"{path}?before=1", by="review").json()["lines"]
    assert set(line) == {"id", "number", "time", "candidates", "chosen", "overridden", "shadow", "told"}
    assert "probability" not in str(line)
    assert ask("GET", path, by="elsewhere").status_code == 403


@pytest.mark.parametrize("query", ["show=some", "before=-1", "before=x", "before=1&before=2", "after=1"])
def test_invalid_queries_are_refused(ask: Asking, query: str) -> None:
    """A sentence says what is allowed."""
    answer = ask("GET", f"/api/desks/loans/window/decisions?{query}")
    assert (answer.status_code, answer.headers["content-type"]) == (422, "application/problem+json")
