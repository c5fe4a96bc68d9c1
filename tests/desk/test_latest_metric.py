"""The learned metric is computed once for all who ask, and again when something was learned."""

from __future__ import annotations

import numpy as np
import pytest

from evenhand.desk import Desk
from evenhand.desk.explain import latest_metric
from evenhand.desk.explain.explanation import Metric, metric_of
from evenhand.desk.projection.projection import Projection
from evenhand.desk.settings import DeskSettings
from tests.support.desk_play import QUICK, people


def test_it_is_computed_when_something_was_learned(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not for a decision, whose event it names all the same; after a review it is that of the new projection."""
    made = []

    def counted(projection: Projection, settings: DeskSettings) -> Metric:
        made.append(projection.seq)
        return metric_of(projection, settings)

    monkeypatch.setattr(latest_metric, "metric_of", counted)
    rng = np.random.default_rng(0)
    with Desk.open("memory:", "loans", **QUICK) as desk:
        for learns in (True, False, False, True, False):
            decision = desk.decide(people(rng))
            if learns:
                desk.review(decision.id, "partial", unfair=[("person 0", "person 1")])
            desk.catch_up(wait=True)
            assert desk.metric() == metric_of(desk.projection, desk.settings)
    assert made == [3, 7]
