"""Reviewers with rules on single features: what decides, what adds up, and that no norm does the same."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.auditors import Branch, Criterion, DistanceAuditor, LexicographicAuditor, ThresholdAuditor, TreeAuditor
from evenhand.errors import InvalidInput

FIRST, SECOND = Criterion(0, at=0.2, size=0.7), Criterion(1, at=0.1, size=0.3)
TREE = Branch(0, 0.0, 0.8, no=Branch(1, 0.5, 0.3), yes=Branch(1, -0.5, 0.4, yes=Branch(0, 0.5, 0.1)))

people: st.SearchStrategy[np.ndarray] = st.lists(st.tuples(*[st.floats(-1, 1)] * 2), min_size=3, max_size=3).map(
    np.array
)


@given(contexts=people)
def test_the_first_difference_decides(contexts: np.ndarray) -> None:
    """Whoever differs in the first criterion is its size apart, whatever the second says; else the second decides."""
    found = LexicographicAuditor([FIRST, SECOND], alike=0.05).distances(contexts)
    for i, j in permutations(range(3), 2):
        one, two = np.abs(contexts[i] - contexts[j])
        assert found[i, j] == (0.7 if one > 0.2 else 0.3 if two > 0.1 else 0.05)


@given(contexts=people)
def test_thresholds_add_up(contexts: np.ndarray) -> None:
    """The distance is the sum of the sizes of the thresholds between two, plus what everybody is apart."""
    found = ThresholdAuditor([FIRST, SECOND, Criterion(0, at=-0.4, size=0.1)], alike=0.05).distances(contexts)
    for i, j in permutations(range(3), 2):
        parted = [(contexts[i, c] > at) != (contexts[j, c] > at) for c, at in ((0, 0.2), (1, 0.1), (0, -0.4))]
        assert found[i, j] == pytest.approx(0.05 + np.dot(parted, [0.7, 0.3, 0.1]))


@given(contexts=people)
def test_a_tree_is_an_ultrametric(contexts: np.ndarray) -> None:
    """Of the distances among three people the two longest are equal; distances are symmetric, and 0 to oneself."""
    found = TreeAuditor(TREE, alike=0.05).distances(contexts)
    assert np.array_equal(found, found.T)
    assert np.array_equal(np.diag(found), np.zeros(3))
    longest = sorted([found[0, 1], found[0, 2], found[1, 2]])
    assert longest[1] == longest[2]


def test_a_tree_by_hand() -> None:
    """Four people who part at the root, on the left and on the right; the right part has a third question."""
    contexts = np.array([[-0.5, 0.0], [-0.5, 0.9], [0.2, 0.0], [0.9, 0.0]])
    found = TreeAuditor(TREE, alike=0.02).distances(contexts)
    assert found[0].tolist() == [0.0, 0.3, 0.8, 0.8]
    assert found[2, 3] == 0.1
    assert TreeAuditor(TREE, alike=0.02).distances(contexts[[3, 3]])[0, 1] == 0.02


@pytest.mark.parametrize(
    "auditor",
    [LexicographicAuditor([FIRST]), ThresholdAuditor([FIRST]), TreeAuditor(Branch(0, 0.2, 0.7))],
    ids=lambda auditor: type(auditor).__name__,
)
def test_no_norm_has_these_distances(auditor: DistanceAuditor) -> None:
    """Twice a difference is not twice the distance, as it would be for any norm of differences."""
    line = np.array([[0.0, 0.0], [0.3, 0.0], [0.6, 0.0]])
    found = auditor.distances(line)
    assert found[0, 1] > 0.0
    assert found[0, 2] != pytest.approx(2 * found[0, 1])


def test_what_is_no_rule_is_refused() -> None:
    """Each refusal names the setting; contexts with too few features, too."""
    for make, sentence in (
        (lambda: LexicographicAuditor([]), "criteria must be a list of at least 1 Criterion, got \\[\\]"),
        (lambda: ThresholdAuditor([FIRST], alike=-1), "alike must be a number >= 0, got -1"),
        (lambda: Criterion(-1, 0.0, 0.1), "feature must be a whole number >= 0, got -1"),
        (lambda: Criterion(0, float("nan"), 0.1), "at must be a finite number, got nan"),
        (lambda: Branch(0, 0.0, 0.1, no=Branch(0, 0.0, 0.2)), "size must not grow down the tree, got 0.2 below 0.1"),
        (lambda: TreeAuditor(None), "root must be a Branch, got None"),  # type: ignore[arg-type]
        (lambda: ThresholdAuditor([SECOND]).distances(np.zeros((2, 1))), "at least 2 features for this rule, got 1"),
    ):
        with pytest.raises(InvalidInput, match=sentence):
            make()
