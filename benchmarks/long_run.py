"""Whether a round costs more after many rounds, in time and in memory.

A bandit after many rounds plays against itself after few. Both are copied before each turn, so that they stay at their
age, and meet the same candidates.
"""

from __future__ import annotations

import functools
import itertools
import pickle
import tracemalloc
from collections.abc import Callable

from benchmarks.measurement import Case, Measurement, Size, compared
from benchmarks.players import Evenhand, Match, World
from benchmarks.timing import in_turn

PART = "long-run"

AGES = {Size.TINY: (5, 30), Size.QUICK: (1_000, 10_000), Size.FULL: (1_000, 100_000)}
REPETITIONS = {Size.TINY: 1, Size.QUICK: 9, Size.FULL: 31}
ROUNDS = {Size.TINY: 2, Size.QUICK: 50, Size.FULL: 100}
"""In each turn."""
WATCHED = {Size.TINY: 5, Size.QUICK: 4_000, Size.FULL: 6_000}
"""Rounds over which memory is looked at, from the young age on and up to the old one."""
LOOKS = 20

SHAPE = (10, 10)
GOAL = 1 / 1.1
"""The old one takes at most 1.1 times as much as the young one."""


def cases(size: Size) -> list[Case]:
    """One case; it plays as many rounds as the old bandit has."""
    return [
        Case(PART, "k = 10, d = 10, T = {:,} against {:,}".format(*AGES[size][::-1]), functools.partial(aged, size))
    ]


def aged(size: Size) -> list[Measurement]:
    """Time and memory of a round, the old bandit's against the young one's."""
    few, many = AGES[size]
    player = Evenhand(World(*SHAPE))
    match = Match(player, World(*SHAPE))
    match.play(few)
    young = twin_of(player)
    early = largest(match, WATCHED[size])
    match.play(many - few - 2 * WATCHED[size])
    late = largest(match, WATCHED[size])
    seconds = in_turn([_turn(player, ROUNDS[size]), _turn(young, ROUNDS[size])], repetitions=REPETITIONS[size])
    peer = f"itself at T = {few:,}"
    return [
        compared(PART, f"k = 10, d = 10, a round at T = {many:,}", peer, seconds, goal=GOAL),
        _memory(f"k = 10, d = 10, memory at T = {many:,}", peer, late, early),
    ]


def _turn(player: Evenhand, rounds: int) -> Callable[[], float]:
    streams = itertools.count(1)
    return lambda: Match(twin_of(player), World(*SHAPE, stream=next(streams))).play(rounds)


def _memory(work: str, peer: str, ours: int, theirs: int) -> Measurement:
    ratio = theirs / ours
    note = f"at most {ours:,} bytes against {theirs:,}"
    details = {"bytes": float(ours), "bytes of the peer": float(theirs)}
    return Measurement(
        *(PART, work, peer), ratio=ratio, low=ratio, high=ratio, repetitions=1, goal=GOAL, note=note, details=details
    )


def largest(match: Match, rounds: int) -> int:
    """The largest footprint of the bandit over the next rounds, looked at every now and then.

    What it keeps of reviews grows for a while and is then cut back, in waves of some thousand rounds: one look alone
    would say where in a wave it happened to be.
    """
    player, step, found = match.player, max(1, rounds // LOOKS), 0
    assert isinstance(player, Evenhand)
    for _ in range(0, rounds, step):
        match.play(step)
        found = max(found, footprint(player.bandit))
    return found


def twin_of(player: Evenhand) -> Evenhand:
    """A copy that shares nothing: `copy.deepcopy` lets learners share what they promise not to write into."""
    twin: Evenhand = pickle.loads(pickle.dumps(player))
    return twin


def footprint(thing: object) -> int:
    """The bytes of a thing and all that it refers to: what is allocated when it is put together again."""
    packed = pickle.dumps(thing)
    tracemalloc.start()
    try:
        twin = pickle.loads(packed)
        size, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    del twin
    return size
