"""Steps that tests of review sessions share: a desk with pairs waiting, and its next items and answers."""

from __future__ import annotations

from typing import Any

import numpy as np

from evenhand.desk import Desk, Event
from evenhand.errors import EvenhandError
from evenhand.review.item import Item
from evenhand.review.review_sessions import ReviewSessions

REMARKS: dict[str, Any] = {"reason": None, "note": None, "seconds": 1.0}


def opened(url: str, decisions: int = 12, *, name: str = "loans", **settings: Any) -> Desk:
    """A desk with some decisions of four candidates, projected."""
    reviewing = {"controls": 0.0, "repeats": 0.0, **settings.pop("reviewing", {})}
    settings = {"metric": "BayesPoint", **settings}  # which binds many pairs from the start
    desk = Desk.open(url, name, features=["a", "b"], seed=5, reviewing=reviewing, **settings)
    rng = np.random.default_rng(1)
    for number in range(decisions):
        contexts = rng.uniform(-0.7, 0.7, (4, 2)).tolist()
        desk.decide([{"id": f"p{number}-{i}", "context": context} for i, context in enumerate(contexts)])
    desk.catch_up(wait=True)
    return desk


def next_item(reviewing: ReviewSessions, reviewer: str) -> Item:
    """The next item, which there is."""
    item = reviewing.next(reviewer)
    assert item is not None
    return item


def submit(reviewing: ReviewSessions, item: Item, answer: str) -> Event:
    """Answer an item, as the service does."""
    (event,) = reviewing.desk.execute([reviewing.command(item, answer, REMARKS)])
    if isinstance(event, EvenhandError):
        raise event
    reviewing.settle(item, answer)
    return event
