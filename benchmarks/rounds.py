"""Rounds: deciding and learning from an outcome and a complete review, against bandits that know no fairness.

Everybody plays in the same world, after as many rounds; see players.py for what counts as time.
"""

from __future__ import annotations

import functools
import itertools

from scipy.spatial.distance import pdist

import evenhand as eh
from benchmarks.bandit_peers import ENTRIES
from benchmarks.measurement import Case, Floats, Measurement, Size, compared
from benchmarks.peers import load, missing
from benchmarks.players import Evenhand, Match, Player, Widened, World
from benchmarks.timing import in_turn, repeated

PART = "rounds"

WARM_UP = {Size.TINY: 5, Size.QUICK: 1000, Size.FULL: 1000}
"""Rounds before anything is timed."""
ROUNDS = {Size.TINY: 2, Size.QUICK: 50, Size.FULL: 100}
"""In each turn."""
REPETITIONS = {Size.TINY: 1, Size.QUICK: 7, Size.FULL: 21}

SMALL = (10, 10)
"""(k, d)."""

WIDE = {Size.TINY: (3, 4), Size.QUICK: (20, 50), Size.FULL: (20, 50)}
WIDE_WARM_UP = {Size.TINY: 2, Size.QUICK: 100, Size.FULL: 300}
WIDE_ROUNDS = {Size.TINY: 1, Size.QUICK: 15, Size.FULL: 25}
"""Rounds cost very different amounts while much is learned: a turn must be long enough to hold some of each kind."""
WIDE_GOAL = 1 / 20
"""Our round lasts at most twenty rounds of LinUCB with as many unknowns."""

MANY = {Size.TINY: (20, 4), Size.QUICK: (1000, 20), Size.FULL: (1000, 20)}
MANY_WARM_UP = {Size.TINY: 2, Size.QUICK: 100, Size.FULL: 300}
CROWDS = 8
"""Sets of candidates that are decided on in turn: nobody sees the same one twice in a row."""
MANY_GOAL = 1 / 10
"""Our decision lasts at most ten times as long as the distances alone."""


def cases(size: Size) -> list[Case]:
    """A round beside bandit libraries, a wide round, a decision among many."""
    small = "k = 10, d = 10, a round"
    wide = "k = {}, d = {}, a round".format(*WIDE[size])
    many = "k = {}, d = {}, decide".format(*MANY[size])
    return [
        Case(PART, small, functools.partial(small_rounds, small, size)),
        Case(PART, wide, functools.partial(wide_rounds, wide, size)),
        Case(PART, many, functools.partial(many_candidates, many, size)),
    ]


def small_rounds(work: str, size: Size) -> list[Measurement]:
    """Against each library, all in turn."""
    k, d = SMALL
    lines, present, players = [], [], []
    for entry in ENTRIES:
        try:
            load(entry.module)
        except ImportError:
            lines.append(missing(PART, work, entry.name))
            continue
        present.append(entry)
        players.append(entry.make(k, d))
    work = f"{work} after {WARM_UP[size]} rounds"
    ours = Evenhand(World(k, d))
    seconds = _played([ours, *players], SMALL, WARM_UP[size], ROUNDS[size], REPETITIONS[size])
    for place, entry in enumerate(present, start=1):
        lines.append(compared(PART, work, entry.name, seconds[:, [0, place]], goal=entry.goal))
    return lines


def wide_rounds(work: str, size: Size) -> list[Measurement]:
    """Against LinUCB with d(d+1)/2 unknowns, as many as our metric has."""
    d = WIDE[size][1]
    players: list[Player] = [Evenhand(World(*WIDE[size])), Widened(d)]
    seconds = _played(players, WIDE[size], WIDE_WARM_UP[size], WIDE_ROUNDS[size], REPETITIONS[size])
    work = f"{work} after {WIDE_WARM_UP[size]} rounds"
    peer = f"LinUCB in bare numpy, {d * (d + 1) // 2} unknowns"
    return [compared(PART, work, peer, seconds, goal=WIDE_GOAL)]


def _played(players: list[Player], shape: tuple[int, int], warm_up: int, rounds: int, repetitions: int) -> Floats:
    """Seconds of a round (repetitions, players), after warming up; each in a world of its own, which are alike."""
    matches = [Match(player, World(*shape)) for player in players]
    for match in matches:
        match.play(warm_up)
    return in_turn([functools.partial(match.play, rounds) for match in matches], repetitions=repetitions)


def many_candidates(work: str, size: Size) -> list[Measurement]:
    """A decision against the distances between all candidates, known metric, by scipy's pdist."""
    k, d = MANY[size]
    bandit = taught(d, MANY_WARM_UP[size])
    crowds = World(k, d).rounds(CROWDS)[0]
    ours, theirs = itertools.cycle(crowds), itertools.cycle(crowds)
    turns = [repeated(lambda: bandit.decide(next(ours))), repeated(lambda: pdist(next(theirs)))]
    seconds = in_turn(turns, repetitions=REPETITIONS[size])
    return [compared(PART, work, "scipy pdist of the contexts", seconds, goal=MANY_GOAL)]


def taught(d: int, rounds: int) -> eh.FairBandit:
    """A bandit that played some rounds with ten candidates of d features: it knows the metric, not the crowd."""
    world = World(10, d, stream=1)
    player = Evenhand(world)
    Match(player, world).play(rounds)
    return player.bandit
