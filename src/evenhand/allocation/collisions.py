"""Why no fair probabilities keep to given floors and ceilings, and what each way out costs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from evenhand._internal.arrays import Floats, Indices
from evenhand.allocation._bounded_filling import implied_floors
from evenhand.allocation._lazy_rows import lower_to_feasible
from evenhand.allocation._program import FairProgram
from evenhand.allocation.allocation import Allocation
from evenhand.errors import CollidingBounds, SolverFailed

COLLISION_TOLERANCE = 1e-12
"""Bounds collide when they miss each other by more than this: above the rounding of one sum of distances."""

ROUNDING = COLLISION_TOLERANCE / 2.0  # What a way out may leave.

MOST_COLLISIONS = 100
"""Maximum number of colliding pairs in a report, those that collide most."""

MOST_STEPS = 100  # Maximum steps of Newton's method on piecewise linear functions; random instances need fewer than 10.

MOST_IN_WORDS = 3  # Pairs in a message.

ChoiceKind = Literal["floors", "ceilings", "capacity", "distances"]

WORDS: dict[ChoiceKind, str] = {
    "floors": "lower the floors",
    "ceilings": "raise the ceilings",
    "capacity": "raise the capacity",
    "distances": "exceed the distances",
}


@dataclass(frozen=True)
class Collision:
    """A floor and a ceiling that are further apart than the distance of their candidates allows."""

    floor_of: int
    """The candidate who may not have less than `floor`."""
    ceiling_of: int
    """The candidate who may not have more than `ceiling`."""
    floor: float
    ceiling: float
    distance: float
    """Of the two; along `through`, if there are candidates between them."""
    through: tuple[int, ...] = ()
    """Candidates between them, where distances break the triangle inequality: each within its distance of the next."""

    @property
    def excess(self) -> float:
        """By how much the floor must be lowered, the ceiling raised, or the distance exceeded."""
        return self.floor - self.ceiling - self.distance


@dataclass(frozen=True, eq=False)
class Choice:
    """One way out: the least change of one kind that makes room, and the best probabilities after it.

    "floors": every floor that is too high is lowered to the highest that fits; all in proportion if the capacity is too
    small for them. "ceilings": every ceiling that is too low is raised. "capacity": raised to the sum of the implied
    floors. "distances": all are longer by the same amount.
    """

    kinds: tuple[ChoiceKind, ...]
    """What changes; ceilings and capacity together where both are too low."""
    lower: Floats = field(repr=False)
    """Floors (k,)."""
    upper: Floats = field(repr=False)
    """Ceilings (k,)."""
    capacity: float
    extra_distance: float
    """What is added to every distance."""
    probabilities: Floats = field(repr=False)
    """The best ones after the change, (k,)."""
    value: float
    """What they are worth."""
    cost: float
    """What the best fair probabilities without floors and ceilings are worth, less `value`. It may be below 0 where the
    distances are exceeded, or the capacity is."""


@dataclass(frozen=True, eq=False)
class Collisions:
    """All that collides, and the ways out."""

    pairs: tuple[Collision, ...]
    """The pairs that collide, those that collide most first; at most MOST_COLLISIONS."""
    n_pairs: int
    """How many pairs collide."""
    needed: float
    """The sum of the implied floors: what the floors and distances need of the capacity."""
    capacity: float
    choices: tuple[Choice, ...]
    """The ways out: by floors; by ceilings, capacity or both; by distances, if that helps."""
    names: tuple[str, ...] | None = None
    """Of the candidates, in order, in words and dicts; None for their indices."""

    @property
    def exceeds_capacity(self) -> bool:
        """Whether floors and distances need more than the capacity."""
        return self.needed - self.capacity > COLLISION_TOLERANCE * max(1.0, self.needed)

    def named(self, names: Sequence[str]) -> Collisions:
        """The same with names of the candidates."""
        return replace(self, names=tuple(names))

    def error(self) -> CollidingBounds:
        """The error that says so."""
        return CollidingBounds(" ".join(self.sentences()), self)

    def sentences(self) -> list[str]:
        """What collides, and what each way out costs."""
        sentences = [_pair_in_words(pair, self.names) for pair in self.pairs[:MOST_IN_WORDS]]
        if self.n_pairs > MOST_IN_WORDS:
            sentences.append(f"{self.n_pairs - MOST_IN_WORDS} more pairs collide.")
        if self.exceeds_capacity:
            sentences.append(
                f"The floors need a capacity of {_shown(self.needed)}, with those that they imply for similar "
                f"candidates, got {_shown(self.capacity)}."
            )
        ways = "; ".join(_choice_in_words(choice, self.capacity) for choice in self.choices)
        return [*sentences, f"Ways out: {ways}."]

    def to_dict(self) -> dict[str, Any]:
        """Plain dicts, lists and numbers."""
        return {
            "pairs": [_pair_as_dict(pair, self.names) for pair in self.pairs],
            "n_pairs": self.n_pairs,
            "needed_capacity": self.needed,
            "capacity": self.capacity if np.isfinite(self.capacity) else None,
            "choices": [_choice_as_dict(choice, self.names) for choice in self.choices],
        }


def _pair_in_words(pair: Collision, names: Sequence[str] | None) -> str:
    i, j = _name(pair.floor_of, names), _name(pair.ceiling_of, names)
    between = f" by way of {', '.join(str(_name(one, names)) for one in pair.through)}" if pair.through else ""
    return (
        f"The floor {_shown(pair.floor)} of candidate {i} and the ceiling {_shown(pair.ceiling)} of candidate {j} "
        f"collide: the two may differ by {_shown(pair.distance)}{between}, which is {_shown(pair.excess)} too little."
    )


def _choice_in_words(choice: Choice, capacity: float) -> str:
    words = " and ".join(WORDS[kind] for kind in choice.kinds)
    if "capacity" in choice.kinds:
        words = f"{words} from {_shown(capacity)} to {_shown(choice.capacity)}"
    if "distances" in choice.kinds:
        words = f"{words} by {_shown(choice.extra_distance)}"
    return f"{words} (reward {_shown(choice.value)}, a cost of {_shown(choice.cost)})"


def _shown(number: float) -> str:
    return f"{round(number, 4) + 0.0:g}"  # no -0


def _name(candidate: int, names: Sequence[str] | None) -> int | str:
    return candidate if names is None else names[candidate]


def _pair_as_dict(pair: Collision, names: Sequence[str] | None) -> dict[str, Any]:
    numbers = {name: getattr(pair, name) for name in ("floor", "ceiling", "distance", "excess")}
    people = {"floor_of": _name(pair.floor_of, names), "ceiling_of": _name(pair.ceiling_of, names)}
    return {**people, **numbers, "through": [_name(one, names) for one in pair.through]}


def _choice_as_dict(choice: Choice, names: Sequence[str] | None) -> dict[str, Any]:
    labels = [_name(i, names) for i in range(len(choice.lower))]
    arrays = {name: getattr(choice, name).tolist() for name in ("lower", "upper", "probabilities")}
    return {
        "kinds": list(choice.kinds),
        **{name: dict(zip(map(str, labels), values, strict=True)) for name, values in arrays.items()},
        "capacity": choice.capacity if np.isfinite(choice.capacity) else None,
        "extra_distance": choice.extra_distance,
        "value": choice.value,
        "cost": choice.cost,
    }


def explain_collisions(
    program: FairProgram, implied: tuple[Floats, Indices], solve: Callable[[FairProgram], Allocation]
) -> Collisions:
    """What collides in a program with floors and ceilings; implied: its implied floors and who lifts each.

    solve: gives the best probabilities of a program. Cost: O(k^2), and some solutions.
    """
    floors, lifter = implied
    pairs = _colliding_pairs(program, floors, lifter)
    needed = float(floors.sum())
    free = solve(program._replace(lower=None, upper=None)).value
    choices = []
    for kinds, changed, extra in _ways_out(program, floors):
        best = solve(changed)
        lower, upper = changed.floors, changed.ceilings
        rest = (best.probabilities, best.value, free - best.value)
        choices.append(Choice(kinds, lower, upper, changed.capacity, extra, *rest))
    return Collisions(pairs[:MOST_COLLISIONS], len(pairs), needed, program.capacity, tuple(choices))


def collide(floors: Floats, program: FairProgram) -> bool:
    """Whether implied floors (k,) miss a ceiling or the capacity by more than rounding."""
    most = program.capacity + COLLISION_TOLERANCE * max(1.0, program.capacity)
    return bool(np.any(floors - program.ceilings > COLLISION_TOLERANCE) or floors.sum() > most)


def _colliding_pairs(program: FairProgram, floors: Floats, lifter: Indices) -> tuple[Collision, ...]:
    """The pairs that collide, those that collide most first: directly, or by way of others where no direct one does."""
    lower, upper, c = program.floors, program.ceilings, program.distances
    found = [
        Collision(i, j, float(lower[i]), float(upper[j]), float(c[i, j]))
        for i, j in np.argwhere(lower[:, None] - upper[None, :] - c > COLLISION_TOLERANCE).tolist()
    ]
    direct = {pair.ceiling_of for pair in found}
    for j in np.flatnonzero(floors - upper > COLLISION_TOLERANCE).tolist():
        if j not in direct:
            path = [int(lifter[j])]
            while lifter[path[-1]] < len(lifter):
                path.append(int(lifter[path[-1]]))
            *through, i = path
            distance = float(lower[i] - floors[j])
            found.append(Collision(i, j, float(lower[i]), float(upper[j]), distance, tuple(reversed(through))))
    return tuple(sorted(found, key=lambda pair: -pair.excess))


def _ways_out(program: FairProgram, floors: Floats) -> list[tuple[tuple[ChoiceKind, ...], FairProgram, float]]:
    """The ways out of a collision: what changes, the program after it, and what is added to every distance."""
    lowered = program._replace(lower=_floors_that_fit(program))
    ways: list[tuple[tuple[ChoiceKind, ...], FairProgram, float]] = [(("floors",), lowered, 0.0)]
    upper, capacity = np.maximum(program.ceilings, floors), max(program.capacity, float(floors.sum()))
    raised: list[ChoiceKind] = []
    if np.any(floors - program.ceilings > COLLISION_TOLERANCE):
        raised.append("ceilings")
    if capacity > program.capacity:
        raised.append("capacity")
    ways.append((tuple(raised), program._replace(upper=upper, capacity=capacity), 0.0))
    if program.floors.sum() <= program.capacity:
        extra = _extra_distance_that_fits(program)
        longer = program.distances + extra
        np.fill_diagonal(longer, 0.0)
        ways.append((("distances",), program._replace(distances=longer), extra))
    return ways


def _floors_that_fit(program: FairProgram) -> Floats:
    """The highest floors below the given ones that fit (k,); in proportion if the capacity is too small for them.

    No probabilities exceed the implied ceilings, so no floor may, and those do keep to all distances. The sum of the
    implied floors is convex in the factor on all floors: Newton's method comes from above, and ends.
    """
    most = program.ceilings.copy()
    lower_to_feasible(most, program.distances)
    fitting = np.minimum(program.floors, most)
    factor = 1.0
    for _ in range(MOST_STEPS):
        floors, lifter, order = implied_floors(factor * fitting, program.distances, 0.0)
        over = float(floors.sum()) - program.capacity
        if over <= ROUNDING * max(1.0, program.capacity):
            return np.asarray(factor * fitting)
        lifted = floors > 0.0
        factor -= over / float(fitting[_sources(lifter, order)[lifted]].sum())
    raise SolverFailed(f"no factor on the floors was found in {MOST_STEPS} steps")


def _extra_distance_that_fits(program: FairProgram) -> float:
    """The least number that makes room for floors and ceilings if every distance is longer by it.

    Implied floors are convex in it and fall: Newton's method comes from below, and ends.
    """
    extra = 0.0
    for _ in range(MOST_STEPS):
        floors, lifter, order = implied_floors(program.floors, program.distances, extra)
        steps = _steps(lifter, order)
        over = np.where(steps > 0, (floors - program.ceilings) / np.maximum(steps, 1), -np.inf)
        missing = max(float(np.max(over)), (float(floors.sum()) - program.capacity) / max(1, int(steps.sum())))
        if missing <= ROUNDING / len(floors):
            return extra
        extra += missing
    raise SolverFailed(f"no extra distance was found in {MOST_STEPS} steps")


def _sources(lifter: Indices, order: Indices) -> Indices:
    """The candidate whose floor lifts each one, (k,)."""
    sources = np.arange(len(lifter))
    for i in order.tolist():
        if lifter[i] < len(lifter):
            sources[i] = sources[lifter[i]]
    return sources


def _steps(lifter: Indices, order: Indices) -> Indices:
    """How many distances lie between each candidate and the one whose floor lifts them, (k,)."""
    steps = np.zeros(len(lifter), np.int64)
    for i in order.tolist():
        if lifter[i] < len(lifter):
            steps[i] = steps[lifter[i]] + 1
    return steps
