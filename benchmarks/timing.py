"""Clocks: everybody works in turn, on one core, and the time of the processor counts.

The work of one takes place a few calls in a row, then that of the next, so that each finds its own code in the caches.
On a busy machine the clock on the wall is much kinder to a call that is over before anybody else gets the core; the
time of the processor is not, and everybody here uses one core only.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence

import numpy as np

from benchmarks.measurement import Floats

clock = time.process_time

TURN = 0.005
"""Seconds that a turn lasts at least; a call that takes longer is a turn of its own."""


def repeated(call: Callable[[], object]) -> Callable[[], float]:
    """A turn that says what one of its calls took, in seconds; the first of several calls only warms the caches."""

    def turn() -> float:
        once = timed(call)
        if once >= TURN:
            return once
        calls = math.ceil(TURN / max(once, 1e-7))
        start = clock()
        for _ in range(calls):
            call()
        return (clock() - start) / calls

    return turn


def timed(call: Callable[[], object]) -> float:
    """The seconds of one call."""
    start = clock()
    call()
    return clock() - start


def in_turn(turns: Sequence[Callable[[], float]], *, repetitions: int, budget: float = math.inf) -> Floats:
    """The seconds of each turn, (n, number of turns), n repetitions, fewer when `budget` seconds are used up.

    Whoever begins changes from repetition to repetition.
    """
    rows, until = [], time.perf_counter() + budget
    for repetition in range(repetitions):
        row = np.empty(len(turns))
        for place in range(len(turns)):
            who = (place + repetition) % len(turns)
            row[who] = turns[who]()
        rows.append(row)
        if time.perf_counter() > until:
            break
    return np.array(rows)
