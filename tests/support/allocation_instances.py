"""Fair programs of every kind, and their value by a solver that shares nothing with the library but HiGHS itself."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import highspy
import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

CAPACITIES: tuple[float | str | None, ...] = (1, 2, 2.5, "everybody", None, 0.3)


@dataclass(frozen=True, eq=False)
class Instance:
    """One program: rewards (k,), distances (k, k), capacity, and what kind it is."""

    kind: str
    rewards: Floats
    distances: Floats
    capacity: float | None
    lower: Floats | None = None
    upper: Floats | None = None

    @property
    def scale(self) -> float:
        """The size of value that errors are measured against: the largest reward, filled up to the capacity."""
        k = len(self.rewards)
        limit = k if self.capacity is None else min(k, self.capacity)
        return float(np.max(np.abs(self.rewards))) * max(1.0, limit)

    def __repr__(self) -> str:  # so that a failing test can be repeated
        program = f"{self.rewards.tolist()}, np.array({self.distances.tolist()}), {self.capacity}"
        bounds = "" if self.lower is None or self.upper is None else f", {self.lower.tolist()}, {self.upper.tolist()}"
        return f"Instance({self.kind!r}, {program}{bounds})"


def mahalanobis(rng: np.random.Generator, k: int, size: float, rank: int = 5) -> tuple[Floats, Floats]:
    """Contexts in the unit ball of R^5, linear rewards, and distances |A (x - y)| with A of this size and rank."""
    contexts = rng.normal(size=(k, 5))
    contexts /= np.maximum(1.0, np.linalg.norm(contexts, axis=1, keepdims=True))
    seen = contexts @ (rng.normal(size=(rank, 5)) * size).T
    return contexts @ rng.normal(size=5) / np.sqrt(5), np.linalg.norm(seen[:, None] - seen[None], axis=2)


def _any_symmetric(rng: np.random.Generator, k: int) -> Floats:
    raw = np.abs(rng.normal(size=(k, k))) * 10 ** rng.uniform(-2, 0)
    return np.asarray(np.minimum(raw, raw.T))


def tight(rng: np.random.Generator, k: int) -> tuple[Floats, Floats]:
    """A Mahalanobis metric whose constraints are short."""
    return mahalanobis(rng, k, 0.05)


def loose(rng: np.random.Generator, k: int) -> tuple[Floats, Floats]:
    """A Mahalanobis metric whose constraints are long."""
    return mahalanobis(rng, k, 0.5)


def non_metric(rng: np.random.Generator, k: int) -> tuple[Floats, Floats]:
    """Distances that break the triangle inequality."""
    return rng.normal(size=k), _any_symmetric(rng, k)


def some_zero(rng: np.random.Generator, k: int) -> tuple[Floats, Floats]:
    """Many pairs at distance zero, without the triangle inequality."""
    return rng.normal(size=k), _any_symmetric(rng, k) * (rng.random((k, k)) < 0.8)


def duplicates(rng: np.random.Generator, k: int) -> tuple[Floats, Floats]:
    """A metric of rank 1 in which several candidates are the same person."""
    a, c = mahalanobis(rng, k, 0.3, rank=1)
    twin = rng.integers(0, k, size=k)
    return a, c[np.ix_(twin, twin)]


def ties(rng: np.random.Generator, k: int) -> tuple[Floats, Floats]:
    """Rewards of only three values."""
    return rng.choice([-1.0, 0.0, 1.0], size=k), mahalanobis(rng, k, 0.2)[1]


def grid(rng: np.random.Generator, k: int) -> tuple[Floats, Floats]:
    """Rewards and distances that are multiples of a tenth: many constraints go tight at once."""
    steps = rng.integers(0, 6, size=(k, k))
    return rng.integers(-5, 6, size=k) / 10, np.minimum(steps, steps.T) / 10


def line(rng: np.random.Generator, k: int) -> tuple[Floats, Floats]:
    """Whole-number positions on a line: every constraint along the line is tight together with its parts."""
    place = rng.integers(0, 8, size=k)
    return rng.integers(-3, 4, size=k).astype(float), np.abs(place[:, None] - place[None]) / rng.integers(3, 20)


def all_negative(rng: np.random.Generator, k: int) -> tuple[Floats, Floats]:
    """Nobody is worth choosing."""
    return -rng.random(k), mahalanobis(rng, k, 0.2)[1]


def infinite(rng: np.random.Generator, k: int) -> tuple[Floats, Floats]:
    """Most pairs have no constraint at all."""
    c = _any_symmetric(rng, k)
    return rng.normal(size=k), np.where(rng.random((k, k)) < 0.6, np.inf, c)


def mixed_scales(rng: np.random.Generator, k: int) -> tuple[Floats, Floats]:
    """Distances from a millionth to a thousand, rewards from a thousandth to a thousand."""
    a = 10 ** rng.uniform(-3, 3, size=k) * rng.choice([-1.0, 1.0], size=k)
    return a, 10 ** rng.uniform(-6, 3, size=(k, k))


def alone(rng: np.random.Generator, k: int) -> tuple[Floats, Floats]:
    """A single candidate."""
    return rng.normal(size=1), np.zeros((1, 1))


KINDS = (
    tight,
    loose,
    non_metric,
    some_zero,
    duplicates,
    ties,
    grid,
    line,
    all_negative,
    infinite,
    mixed_scales,
    alone,
)


def make_instance(number: int, most: int = 16) -> Instance:
    """Instance number so-and-so: the kind, the capacity and the size go round with the number."""
    rng = np.random.default_rng([2024, number])
    kind = KINDS[number % len(KINDS)]
    rewards, distances = kind(rng, int(rng.integers(2, most + 1)))
    capacity = CAPACITIES[number // len(KINDS) % len(CAPACITIES)]
    if isinstance(capacity, str):
        capacity = len(rewards)
    return Instance(kind.__name__, rewards, distances, capacity)


def make_bounded_instance(number: int, most: int = 16) -> Instance:
    """The same with floors and ceilings: of few candidates or of many, some at 0, some equal, on a grid or not.

    Those of odd numbers lie around probabilities that fit, and often touch them; most of the others collide.
    """
    plain = make_instance(number, most)
    rng, k = np.random.default_rng([2025, number]), len(plain.rewards)
    if number % 2:
        fit = _probabilities_that_fit(rng, plain)
        loose = rng.choice([0.0, 0.2, 1.0], size=(2, k)) * rng.random((2, k))
        return replace(plain, lower=fit * (1.0 - loose[0]), upper=fit + (1.0 - fit) * loose[1])
    floor, ceiling = rng.choice([0.05, 0.3, 1.0]), rng.choice([0.0, 0.5, 0.9])
    lower = np.where(rng.random(k) < rng.choice([0.1, 0.5, 1.0]), floor * rng.random(k), 0.0)
    upper = np.where(rng.random(k) < rng.choice([0.1, 0.5, 1.0]), ceiling + (1.0 - ceiling) * rng.random(k), 1.0)
    upper[rng.random(k) < 0.1] = 0.0  # not eligible
    if rng.random() < 0.3:
        lower, upper = np.round(lower, 1), np.round(upper, 1)
    lower = np.minimum(lower, upper)
    given = rng.random(k) < 0.1
    lower[given] = upper[given]
    return replace(plain, lower=lower, upper=upper)


def _probabilities_that_fit(rng: np.random.Generator, instance: Instance) -> Floats:
    """Random probabilities within all distances and the capacity, by shortest paths."""
    paths = np.minimum(instance.distances, instance.distances.T)
    for middle in range(len(paths)):
        paths = np.minimum(paths, paths[:, [middle]] + paths[[middle]])
    np.fill_diagonal(paths, 0.0)
    p = np.min(rng.random(len(paths))[None, :] + paths, axis=1)
    return np.asarray(p if instance.capacity is None else p * min(1.0, instance.capacity / p.sum()))


def full_model_value(instance: Instance) -> float:
    """The value of the program by HiGHS with every row in the model."""
    value = full_model_value_or_none(instance)
    assert value is not None, instance
    return value


def full_model_value_or_none(instance: Instance) -> float | None:
    """The same; None if nothing fits."""
    a, c = instance.rewards, np.minimum(instance.distances, instance.distances.T)
    k = len(a)
    i, j = np.triu_indices(k, 1)
    new_solver: Any = highspy.Highs  # which has no types
    model = new_solver()
    model.silent()
    for side in ("primal", "dual"):
        model.setOptionValue(f"{side}_feasibility_tolerance", 1e-10)
    lower, upper = instance.lower, instance.upper
    model.addVars(k, np.zeros(k) if lower is None else lower, np.ones(k) if upper is None else upper)
    model.changeColsCost(k, np.arange(k, dtype=np.int32), -a)
    columns = np.stack([i, j], axis=1).ravel().astype(np.int32)
    starts = np.arange(0, 2 * len(i), 2, dtype=np.int32)
    model.addRows(len(i), -c[i, j], c[i, j], 2 * len(i), starts, columns, np.tile([1.0, -1.0], len(i)))
    if instance.capacity is not None:
        model.addRow(-np.inf, instance.capacity, k, np.arange(k, dtype=np.int32), np.ones(k))
    model.run()
    if model.getModelStatus() == highspy.HighsModelStatus.kInfeasible:
        return None
    assert model.getModelStatus() == highspy.HighsModelStatus.kOptimal
    return float(a @ np.array(model.getSolution().col_value))
