"""Chance and outcome by group, also by an attribute that the learner never sees."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evenhand.desk import Desk
from evenhand.errors import InvalidInput
from evenhand.schema import Category, Number, Schema
from evenhand.service.dashboard.groups import GroupView, mean_of_clusters
from tests.support.serving import Serving

SCHEMA = Schema([Number("age", low=18, high=90), Category("purpose", levels=("car", "home"))], carry=("gender", "id"))


def people(number: int, rng: np.random.Generator) -> list[dict[str, Any]]:
    """Four candidates; every second one is a woman."""
    rows = [
        {"age": float(rng.integers(18, 90)), "purpose": "car" if rng.random() < 0.7 else "home", "gender": gender}
        for gender in ("woman", "man", "woman", "man")
    ]
    return [{"id": f"{number}-{i}", "features": row} for i, row in enumerate(rows)]


def played(url: str, decisions: int) -> Desk:
    """A desk with outcomes for everybody chosen."""
    desk, rng = Desk.open(url, "loans", schema=SCHEMA, capacity=2, seed=1), np.random.default_rng(0)
    for number in range(decisions):
        made = desk.decide(people(number, rng))
        if made.chosen:
            desk.outcome(made.id, {name: float(int(name[-1]) % 2) for name in made.chosen})
    desk.catch_up(wait=True)
    return desk


def test_every_number_is_that_of_the_ledger() -> None:
    """Candidates, chances and rewards of each group, recomputed from the events."""
    with played("memory:", 12) as desk:
        table = GroupView(desk).by(None)
        with desk.ledger.reading("loans") as view:
            bodies = [row.event.body for row in view.by_number(range(12)).values()]
    assert (table["attribute"], table["attributes"], table["seen"]) == ("gender", ["gender", "age", "purpose"], False)
    assert (table["decisions"], table["candidates"]) == (12, 48)
    for one in table["groups"]:
        place = {"woman": 0, "man": 1}[one["name"]]
        chances = [p for body in bodies for p in body["probabilities"][place::2]]
        chosen = [name for body in bodies for name in body["chosen"] if int(name[-1]) % 2 == place]
        assert one["candidates"] == 24
        assert one["chance"]["value"] == pytest.approx(np.mean(chances), abs=1e-6)
        assert one["chance"]["lower"] <= one["chance"]["value"] <= one["chance"]["upper"]
        assert (one["chosen"], one["outcomes"]) == (len(chosen), len(chosen))
        assert one["reward"]["value"] == (place if chosen else None)


def test_numbers_are_grouped_by_quarters() -> None:
    """About as many candidates in each, in order, in words."""
    with played("memory:", 12) as desk:
        ages = GroupView(desk).by("age")["groups"]
        assert [one["name"].split()[0] for one in ages] == ["up", "over", "over", "over"]
        assert all(6 <= one["candidates"] <= 18 for one in ages)
        assert sum(one["candidates"] for one in ages) == 48
        with pytest.raises(InvalidInput, match="unknown attribute 'sex'; there are gender, age, purpose"):
            GroupView(desk).by("sex")


def test_the_interval_counts_decisions_not_candidates() -> None:
    """Where values of a decision are the same, the interval is that of one value a decision, and covers the truth.

    400 tables of 30 decisions: a 95% interval misses in 20 of them on average, with a deviation of 4.4.
    """
    rng = np.random.default_rng(7)
    missed = 0
    for _ in range(400):
        values = [(cluster, value) for cluster, value in enumerate(rng.normal(size=30)) for _ in range(10)]
        found = mean_of_clusters(values)
        assert found["lower"] is not None
        assert found["upper"] is not None
        missed += not found["lower"] <= 0 <= found["upper"]
    assert 5 <= missed <= 38
    assert mean_of_clusters([(3, 0.5), (3, 0.7)]) == {"value": 0.6, "lower": None, "upper": None}
    assert mean_of_clusters([]) == {"value": None, "lower": None, "upper": None}


def test_reviewers_do_not_see_groups(tmp_path: Path) -> None:
    """Chances of everybody are not for them; an unknown attribute is refused in words."""
    service = Serving(tmp_path)
    played(service.database, 3).close()
    service.token("owner", ["admin"])
    service.token("Kim", ["review"], ["loans"])
    with service:
        path = "/api/desks/loans/window/groups"
        assert service.ask("GET", path, by="Kim").status_code == 403
        assert service.ask("GET", f"{path}?by=purpose", by="owner").json()["attribute"] == "purpose"
        refused = service.ask("GET", f"{path}?by=sex", by="owner")
        assert (refused.status_code, "unknown attribute" in refused.text) == (422, True)
