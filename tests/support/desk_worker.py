"""A process that writes to a desk until it is killed, and prints what was acknowledged: one line for each event.

Run as `python -m tests.support.desk_worker URL DESK SEED`. Every command has a key that identifies it, so that a
later process can send again what was not acknowledged to the one before.
"""

from __future__ import annotations

import sys

import numpy as np

from evenhand.desk import Command, Decide, Desk, Event, Withdraw
from evenhand.errors import AlreadyRecorded, EvenhandError, LedgerUnavailable
from tests.support.desk_play import D, outcome_of, people, review_of


def main(url: str, name: str, seed: int) -> None:
    """Decide, record outcomes, review, now and then withdraw; for ever."""
    rng = np.random.default_rng(seed)
    with Desk.open("memory:", "warm-up", n_features=D) as desk:  # the first decision of a process loads compiled code
        desk.decide(people(rng))
    with Desk.open(url, name, n_features=D, seed=1) as desk:
        desk.project_in_background()
        report("ready", "")
        batch = 0
        while True:
            batch += 1
            wanted: list[Command] = [
                Decide(people(rng), idempotency_key=f"{seed}-{batch}-{i}") for i in range(int(rng.integers(1, 6)))
            ]
            made = carry_out(desk, wanted)
            pairs = [(outcome_of(event, rng), review_of(event)) for event in made]
            later: list[Command] = [command for pair in pairs for command in pair if command is not None]
            recorded = carry_out(desk, later)
            reviews = [event.id for event in recorded if event.kind == "review"]
            if rng.random() < 0.2 and reviews:
                carry_out(desk, [Withdraw(reviews[0])])


def carry_out(desk: Desk, commands: list[Command]) -> list[Event]:
    """Execute, and print what was acknowledged, as soon as it was."""
    results = desk.execute(commands)
    for result in results:
        if isinstance(result, EvenhandError) and not isinstance(result, AlreadyRecorded):
            raise result
    events = [result for result in results if isinstance(result, Event)]
    for event in events:
        report(event.id, event.hash)
    return events


def report(first: str, second: str) -> None:
    """A line that arrives whole, or not at all."""
    sys.stdout.write(f"{first} {second}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    try:
        main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
    except LedgerUnavailable as error:
        sys.exit(str(error))
