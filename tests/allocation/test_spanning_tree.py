"""The spanning tree stays a tree with the right sums, whatever is moved, and in the end it proves the optimum."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.support.allocation_instances import make_instance

from evenhand.allocation._network_simplex import initial_tree, move_subtree, solve_at_price, subtree
from evenhand.allocation._program import check_program, scaled


def members_of(tree: Any, top: int) -> list[int]:
    """The nodes of a subtree."""
    members = np.empty(len(tree), np.int64)
    return [int(node) for node in members[: subtree(tree, top, members)]]


def check_tree(tree: Any, a: np.ndarray[tuple[int], np.dtype[np.float64]]) -> None:
    """All nodes are below the root, lists and parents agree, and the sums are those of the subtrees."""
    k = len(a)
    assert sorted(members_of(tree, k)) == list(range(k + 1))
    for node in range(k):
        members = members_of(tree, node)
        assert all(tree["parent"][child] in members for child in members[1:])
        assert tree["size"][node] == len(members)
        assert tree["reward"][node] == pytest.approx(a[members].sum(), abs=1e-12)


@pytest.mark.parametrize("seed", range(10))
def test_a_tree_stays_a_tree(seed: int) -> None:
    """After any subtree was hung by any of its members on any node outside, the tree is whole."""
    rng = np.random.default_rng(seed)
    a = rng.normal(size=9)
    tree = initial_tree(a)
    check_tree(tree, a)
    for _ in range(50):
        top = int(rng.integers(9))
        members = members_of(tree, top)
        onto = int(rng.choice([node for node in range(10) if node not in members]))
        end = int(rng.choice(members))
        move_subtree(tree, top, end, onto, bool(rng.integers(2)))
        assert tree["parent"][end] == onto
        check_tree(tree, a)


def test_a_reversed_constraint_holds_its_other_end() -> None:
    """If 1 was held by 0 and the two are then attached by 1, 0 is lifted by 1: the same constraint, reversed."""
    tree = initial_tree(np.ones(2))
    move_subtree(tree, 1, 1, 0, True)
    assert tree["held"].tolist()[:2] == [False, True]
    move_subtree(tree, 0, 1, 2, True)
    assert tree["parent"].tolist()[:2] == [1, 2]
    assert tree["held"].tolist()[:2] == [False, True]
    move_subtree(tree, 1, 0, 2, False)
    assert tree["parent"].tolist()[:2] == [2, 0]
    assert tree["held"].tolist()[:2] == [False, True]


@pytest.mark.parametrize("price", [0.0, 0.1])
@pytest.mark.parametrize("number", range(60))
def test_the_tree_proves_the_probabilities(number: int, price: float) -> None:
    """In the end each constraint of the tree is tight, held subtrees have a surplus and lifted ones a need."""
    instance = make_instance(number)
    program = check_program(instance.rewards, instance.distances, None)
    a, c = scaled(program.rewards)[0], program.distances
    k = len(a)
    tree, p = initial_tree(a), np.zeros(k)
    assert solve_at_price(tree, p, c, price, 1000) >= 0
    check_tree(tree, a)
    for i in range(k):
        parent, held = tree["parent"][i], tree["held"][i]
        if parent == k:
            expected = 1.0 if held else 0.0
        else:
            expected = p[parent] + c[i, parent] if held else p[parent] - c[i, parent]
        assert p[i] == pytest.approx(expected, abs=1e-12)
        surplus = tree["reward"][i] - price * tree["size"][i]
        assert surplus >= -1e-12 if held else surplus <= 1e-12
