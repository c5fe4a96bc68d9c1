"""The fair allocation against the same programme in general solvers, every row in the model.

All solve the same programmes, many different ones in a row, and must agree on every value. The sweep checks whether
HiGHS, in its fastest use, is the faster one anywhere between 2 and 2000 candidates.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np
from scipy.spatial.distance import pdist, squareform

from benchmarks.full_models import FASTEST_HIGHS, PEERS, Peer, Solver, by_evenhand
from benchmarks.measurement import Case, Floats, Measurement, Size, compared
from benchmarks.peers import if_installed
from benchmarks.timing import clock, in_turn, repeated

PART, SWEEP = "allocation", "allocation-sweep"

TIGHTNESS = {"tight": 0.05, "loose": 0.5}
"""The size of the Mahalanobis matrix: the larger, the looser the constraints."""

GOALS = {(1, 10): 50.0, (1, 100): 40.0, (1, 1000): 40.0, (None, 10): 20.0, (None, 100): 5.0, (None, 1000): 5.0}
"""By capacity and candidates: how many times as long HiGHS takes at least."""

CANDIDATES = {Size.TINY: (3, 10), Size.QUICK: (10, 100), Size.FULL: (10, 100, 1000)}

LADDER = (2, 3, 4, 5, 6, 8, 10, 13, 16, 20, 25, 32, 40, 50, 64, 80, 100, 130, 160, 200, 250, 320, 400, 500, 640, 800)
SWEPT = {Size.TINY: (2, 5), Size.QUICK: (2, 3, 5, 10, 20, 50, 100, 200), Size.FULL: (*LADDER, 1000, 1400, 2000)}

MOST_WITHOUT_LIMIT = 1000
"""Beyond, HiGHS takes minutes for one programme without a limit on capacity, a thousand times as long as evenhand."""

REPETITIONS = {Size.TINY: 1, Size.QUICK: 5, Size.FULL: 15}
BUDGET = {Size.TINY: 0.0, Size.QUICK: 2.0, Size.FULL: 10.0}
"""Seconds, after which no further repetition begins."""

LONG = 5.0
"""Seconds; a peer that takes longer for all its programmes solves them once: what its first call costs on top does not
count any more."""

AGREEMENT = 1e-6
"""Values may differ by this, relative to their size if that is above 1: what the general solvers promise."""


def instance(k: int, size: float, seed: int) -> tuple[Floats, Floats]:
    """Contexts in the unit ball of R^5, linear rewards (k,), Mahalanobis distances (k, k)."""
    rng = np.random.default_rng(seed)
    contexts = rng.normal(size=(k, 5))
    contexts /= np.maximum(1.0, np.linalg.norm(contexts, axis=1, keepdims=True))
    seen = contexts @ (rng.normal(size=(5, 5)) * size)
    return contexts @ rng.normal(size=5) / np.sqrt(5), squareform(pdist(seen))


def cases(size: Size) -> list[Case]:
    """Every peer at each capacity, tightness and number of candidates."""
    return [
        _case(size, k, capacity, tightness, peer)
        for capacity in (1, None)
        for k in CANDIDATES[size]
        for tightness in TIGHTNESS
        for peer in PEERS
    ]


def sweep_cases(size: Size) -> list[Case]:
    """HiGHS alone, at many numbers of candidates."""
    return [
        _case(size, k, capacity, tightness, FASTEST_HIGHS, sweep=True)
        for capacity in (1, None)
        for tightness in TIGHTNESS
        for k in SWEPT[size]
        if capacity is not None or k <= MOST_WITHOUT_LIMIT
    ]


def _case(size: Size, k: int, capacity: int | None, tightness: str, peer: Peer, *, sweep: bool = False) -> Case:
    room, people = str(capacity), f"k = {k}"
    part = SWEEP if sweep else PART
    work = (
        f"capacity {room}, {tightness} constraints" if sweep else f"capacity {room}, {people}, {tightness} constraints"
    )
    more: dict[str, Any] = {}
    if sweep:
        more = {"along": float(k), "goal": 1.0}
    elif peer.module == "highspy":
        more = {"goal": GOALS.get((capacity, k))}
    compare = functools.partial(against, peer, k, capacity, tightness, size)

    def measure() -> list[Measurement]:
        seconds, stopped, use = compare()
        note = use if len(peer.uses) > 1 else ""
        return [compared(part, work, peer.name, seconds, stopped=stopped, note=note, **more)]

    title = f"{work}, {people}: {peer.name}" if sweep else f"{work}: {peer.name}"
    return Case(part, title, functools.partial(if_installed, peer.module, part, work, peer.name, measure))


def against(peer: Peer, k: int, capacity: int | None, tightness: str, size: Size) -> tuple[Floats, bool, str]:
    """Seconds a programme of ours and of the peer's (n, 2), whether the peer was ever stopped, and its quickest use."""
    pool = [instance(k, TIGHTNESS[tightness], seed) for seed in range(2 if size is Size.TINY else pool_size(k))]
    values = [by_evenhand(a, c, capacity) for a, c in pool]  # which also compiles, before anything is timed
    tries = {}
    for use, solve in peer.uses.items():
        solve(*instance(3, 1.0, 0), capacity)  # which imports
        start = clock()
        found = [solve(a, c, capacity) for a, c in pool]
        seconds = clock() - start
        finished = [agree(value, theirs, peer.name) for value, theirs in zip(values, found, strict=True)]
        tries[use] = (seconds, not all(finished))
    use = min(tries, key=lambda name: tries[name][0])
    once, stopped = tries[use]
    ours = repeated(functools.partial(solve_all, by_evenhand, pool, capacity))
    theirs = repeated(functools.partial(solve_all, peer.uses[use], pool, capacity))
    turns = [ours, (lambda: once) if once > LONG else theirs]
    return in_turn(turns, repetitions=REPETITIONS[size], budget=BUDGET[size]) / len(pool), stopped, use


def pool_size(k: int) -> int:
    """How many different programmes a turn solves. One and the same, again and again, is solved up to twice as fast:
    the processor learns its way through it. A large one is too long for that.
    """
    return 50 if k <= 32 else 20 if k <= 160 else 5 if k <= 400 else 1


def solve_all(solve: Solver, pool: list[tuple[Floats, Floats]], capacity: int | None) -> None:
    """Each programme of the pool, once."""
    for a, c in pool:
        solve(a, c, capacity)


def agree(value: float, theirs: float, name: str) -> bool:
    """Whether the peer finished; it is an error if it did and found another value."""
    if math.isnan(theirs):
        return False
    if abs(theirs - value) > AGREEMENT * max(1.0, abs(value)):
        raise ArithmeticError(f"{name} finds {theirs!r}, evenhand {value!r}: they do not measure the same work")
    return True
