"""Which flags the dashboard counts."""

from __future__ import annotations

from evenhand.desk import Desk
from evenhand.service.dashboard.overview import Overview


def test_a_flag_on_equal_probabilities_is_not_counted() -> None:
    """As many decisions are listed as called unfair as the number at the top says."""
    with Desk.open("memory:", "loans", n_features=2, seed=1) as desk:
        equal = desk.decide([[0.5, 0.0], [0.5, 0.0]])
        different = desk.decide([[0.9, 0.0], [0.0, 0.9]])
        for decision in (equal, different):
            desk.review(decision.id, "partial", unfair=[("0", "1")], reviewer="Kim")
        desk.catch_up(wait=True)
        part = Overview(desk).since(None)["desk"]
    assert part["rounds"]["flagged"]["total"] == sum(line["flagged"] for line in part["latest"]) == 1
    assert [(line["flagged"], line["uncounted"]) for line in part["latest"]] == [(True, False), (False, True)]
