"""Batches: many commands in one transaction come to the same as one after the other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from evenhand.desk import Decide, Desk
from evenhand.errors import IdempotencyConflict, InvalidInput
from evenhand.ledger.event import Event

NAMES = ["age", "income"]


def entries(*rows: dict[str, Any]) -> list[dict[str, Any]]:
    """Candidates by their features."""
    return [{"id": f"c{i}", "features": row} for i, row in enumerate(rows)]


def commands(broken: object) -> list[Decide]:
    """Good ones, one whose contexts are too long, one with a feature that JSON cannot hold, and keys sent twice."""
    rng = np.random.default_rng(3)
    good = [Decide(rng.uniform(0.0, 0.5, size=(4, 2)), idempotency_key=f"k{i}") for i in range(6)]
    long = Decide([[3.0, 4.0]], idempotency_key="long")
    odd = Decide(entries({"age": 0.5, "income": broken}))
    return [good[0], long, good[1], odd, good[2], good[0], good[3], Decide([[0.1, 0.1]], idempotency_key="k1"), good[4]]


def reported(results: list[Any]) -> list[Any]:
    """What came of each: all of a decision but its id and its time, or the kind of error."""
    found: list[Any] = []
    for result in results:
        if isinstance(result, Event):
            found.append({"seq": result.seq, **result.body})
        else:
            found.append(type(result))
    return found


class Half(float):
    """A number for numpy that JSON does not know."""


@pytest.mark.parametrize("cut", [slice(None), slice(0, 5), slice(4, 7), slice(6, 9)])
def test_a_batch_comes_to_the_same_as_its_commands_one_by_one(cut: slice) -> None:
    """Numbers, probabilities, draws and errors are the same, whatever fails or comes twice; numbers have no gap."""
    batch = commands(Half(0.5))[cut]
    with Desk.open("memory:", "a", features=NAMES, seed=5) as desk:
        singly = reported([desk.execute([command])[0] for command in batch])
    with Desk.open("memory:", "a", features=NAMES, seed=5) as desk:
        together = reported(desk.execute(batch))
        numbers = [event.body["number"] for event in desk.events(kinds=("decision",))]
    assert together == singly
    assert numbers == list(range(len(numbers)))


def test_what_cannot_be_written_out_is_refused_alone() -> None:
    """A feature that JSON cannot hold, a key reused, contexts too long: each an error of its own, the others stand."""
    with Desk.open("memory:", "a", features=NAMES, seed=5) as desk:
        found = desk.execute(commands(Half(0.5)))
    kinds = [type(result) for result in found]
    assert kinds == [Event, InvalidInput, Event, InvalidInput, Event, Event, Event, IdempotencyConflict, Event]
    assert found[5] == found[0]
