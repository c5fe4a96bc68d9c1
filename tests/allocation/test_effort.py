"""How much work the ways to the optimum take: counted, not timed, so that a slow machine cannot fail these tests.

The bounds are about half as much again as was counted when they were written, over ten instances each.
"""

from __future__ import annotations

import importlib

import numpy as np
import pytest
from tests.support.allocation_instances import loose, tight

from evenhand.allocation import fair_distribution
from evenhand.allocation._max_flow import LEAST_GAIN, TIGHT_TOLERANCE
from evenhand.allocation._network_simplex import initial_tree, search_price, solve_at_price
from evenhand.allocation._program import FairProgram, check_program, scaled
from evenhand.allocation._water_filling import fill

MODULE = importlib.import_module("evenhand.allocation.fair_distribution")

ENOUGH = 10**9
KINDS = {"tight": tight, "loose": loose}


def ten_programmes(k: int, metric: str, capacity: float | None) -> list[FairProgram]:
    """The same ten instances each time."""
    return [check_program(*KINDS[metric](np.random.default_rng([k, seed]), k), capacity) for seed in range(10)]


@pytest.mark.parametrize(
    ("k", "metric", "capacity", "most"),
    [
        (10, "tight", 1, 400),
        (10, "loose", 1, 45),
        (100, "tight", 1, 1600),
        (100, "loose", 1, 70),
        (300, "tight", 1, 2600),
        (300, "loose", 1, 100),
        (10, "tight", 2.5, 530),
        (10, "loose", 2.5, 90),
        (100, "tight", 25, 120_000),
        (100, "loose", 25, 7000),
    ],
)
def test_water_filling_reads_few_rows(k: int, metric: str, capacity: float, most: int) -> None:
    """With capacity 1 the rows of distances that are read hardly grow with the number of candidates."""
    read = [
        fill(program.rewards, program.distances, program.budget, TIGHT_TOLERANCE, LEAST_GAIN, ENOUGH)[2]
        for program in ten_programmes(k, metric, capacity)
    ]
    assert min(read) >= 0
    assert sum(read) <= most


@pytest.mark.parametrize(
    ("k", "metric", "most"),
    [
        (10, "tight", 170),
        (10, "loose", 46),
        (100, "tight", 6300),
        (100, "loose", 1650),
        (300, "tight", 31_000),
        (300, "loose", 7800),
    ],
)
def test_passing_down_changes_the_tree_seldom(k: int, metric: str, most: int) -> None:
    """Without a limit a few changes of the tree for each candidate are enough."""
    used = [
        solve_at_price(initial_tree(scaled(program.rewards)[0]), np.zeros(k), program.distances, 0.0, ENOUGH)
        for program in ten_programmes(k, metric, None)
    ]
    assert min(used) >= 0
    assert sum(used) <= most


@pytest.mark.parametrize("metric", KINDS)
def test_few_prices_are_tried(metric: str) -> None:
    """The search for the price of capacity closes in within some ten steps."""
    for program in ten_programmes(100, metric, 25):
        _, tried = search_price(program.rewards, program.distances, program.budget, LEAST_GAIN, ENOUGH)
        assert 0 <= tried <= 16


@pytest.mark.parametrize("metric", KINDS)
@pytest.mark.parametrize("k", [2, 10, 100, 300])
def test_the_first_kernel_is_enough(k: int, metric: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With capacity 1 or none the first kernel finds the answer: neither the price search nor HiGHS is called."""
    monkeypatch.setattr(MODULE, "_fall_back", None)
    for program in ten_programmes(k, metric, 1):
        fair_distribution(program.rewards, program.distances, 1)
        fair_distribution(program.rewards, program.distances, None)


def test_one_compilation_serves_every_form_of_input() -> None:
    """Lists, other number types, read-only, reversed or transposed arrays: none makes the kernel compile again."""
    a, c = tight(np.random.default_rng(1), 6)
    still = c.copy()
    still.setflags(write=False)
    swapped = c.astype(">f8")
    for rewards, distances in (
        (a, c),
        (a.tolist(), c.tolist()),
        (a[::-1], c[::-1, ::-1]),
        (a, c.T),
        (a, still),
        (a, swapped),
        (a.astype(np.float32), c.astype(np.float32)),
        (np.arange(6), c),
    ):
        for capacity in (1, 2.5, None):
            fair_distribution(rewards, distances, capacity)
    assert len(MODULE.solve_within_capacity.signatures) == len(MODULE.solve_without_capacity.signatures) == 1
