"""What a reviewer may say to ProjectedVolume without breaking it: contradictions, nonsense, nothing at all."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from evenhand._internal.linear_program import LinearProgram
from evenhand.errors import InvalidInput, SolverFailed, UnsupportedReview
from evenhand.metrics.projected_volume import ProjectedVolume
from evenhand.metrics.verdicts import Pairs, Verdicts
from tests.support.played_rounds import World, full


def test_an_inconsistent_reviewer_is_reported_and_survived() -> None:
    """A verdict no metric fits is a conflict, changes nothing, and learning goes on."""
    learner, world = ProjectedVolume(3, seed=0), World(full(3))
    world.play(learner, 40, check_every=40)
    x, y = world.contexts()[:2]
    distance = float(np.sqrt(world.squared(Pairs.between(x, y))[0]))
    before = learner.matrix()
    flagged = learner.learn_pair(x, y, gap=0.5 * distance, unfair=True)
    assert flagged.conflicts == ((0, 1),)
    assert flagged.used == 0
    cleared = learner.learn_pair(x, y, gap=min(1.0, 1.5 * distance), unfair=False)
    assert cleared.conflicts == ((0, 1),)
    np.testing.assert_array_equal(learner.matrix(), before)
    world.play(learner, 20, check_every=5)
    assert world.conflicts == 0


def test_of_verdicts_that_contradict_each_other_the_first_are_kept() -> None:
    """One review that says fair at gap 0.8 and unfair at gap 0.2 of the same pair: the second is the conflict."""
    learner = ProjectedVolume(2, seed=0)
    difference = np.array([[1.0, 0.5], [0.4, -1.0], [1.0, 0.5]])
    pairs = Pairs(np.array([[0, 1], [0, 2], [0, 3]]), difference)
    learned = learner.learn(
        Verdicts(pairs, np.array([0.8, 0.5, 0.2]), np.array([False, False, True]), np.ones(3, dtype=np.bool_))
    )
    assert learned.conflicts == ((0, 3),)
    assert learned.used == 2
    low, _ = learner.ends(pairs)
    assert low[0] >= 0.64 - 1e-4


def test_twins_treated_differently_and_called_fair_are_a_conflict() -> None:
    """Equal contexts have distance zero in every metric; unfair is what they must be, and says nothing new."""
    learner = ProjectedVolume(2, seed=0)
    x = np.array([0.3, 0.4])
    assert learner.learn_pair(x, x, gap=0.5, unfair=False).conflicts == ((0, 1),)
    assert learner.learn_pair(x, x, gap=0.5, unfair=True).conflicts == ()


@pytest.mark.parametrize("flipped", [0.1, 0.5])
def test_a_careless_reviewer_breaks_nothing(flipped: float) -> None:
    """With verdicts flipped at random conflicts are reported, and guesses and ends stay numbers in order."""
    learner, world = ProjectedVolume(3, seed=0), World(full(3))
    for _ in range(80):
        verdicts = world.verdicts(learner, world.hardest(learner))
        lie = world.rng.random(len(verdicts)) < flipped
        world.conflicts += len(
            learner.learn(Verdicts(verdicts.pairs, verdicts.gaps, verdicts.unfair ^ lie, verdicts.tight)).conflicts
        )
    assert world.conflicts > 0
    low, high = learner.ends(Pairs.of(world.contexts()))
    assert np.all(low >= 0.0)
    assert np.all(low <= high)
    assert np.all(np.isfinite(learner.matrix()))


def test_what_only_the_cone_forbids_is_a_conflict_too() -> None:
    """Distances that half-spaces allow and no positive semidefinite matrix has: the newest verdict is the conflict."""
    learner = ProjectedVolume(2, seed=0)
    origin = np.zeros(2)
    assert not learner.learn_pair([1.0, 0.0], origin, gap=0.2, unfair=True).conflicts
    assert not learner.learn_pair([0.0, 1.0], origin, gap=0.05, unfair=True).conflicts
    # By the triangle inequality the distance is at most 0.2 * 0.8 + 0.05 * 0.4 = 0.18.
    assert learner.learn_pair([0.8, 0.4], origin, gap=0.19, unfair=False).conflicts == ((0, 1),)
    assert not learner.learn_pair([0.8, 0.4], origin, gap=0.17, unfair=False).conflicts


def test_a_solver_that_fails_costs_a_verdict_and_not_the_learner(monkeypatch: pytest.MonkeyPatch) -> None:
    """If HiGHS gives no verified answer, ends fall back on the bound and a contradiction is still refused."""
    learner = ProjectedVolume(2, seed=0)
    learner.learn_pair([1.0, 0.0], [0.0, 0.0], gap=0.5, unfair=True)
    before = learner.matrix()

    def fails(*_: object) -> None:
        raise SolverFailed("no")

    monkeypatch.setattr(LinearProgram, "maximise", fails)
    assert learner.learn_pair([1.0, 0.0], [0.0, 0.0], gap=0.9, unfair=False).conflicts == ((0, 1),)
    np.testing.assert_array_equal(learner.matrix(), before)
    low, high = learner.ends(Pairs.between(np.array([1.0, 0.0]), np.zeros(2)))
    assert low[0] == 0.0
    assert high[0] == 1.0


def test_one_bit_needs_another_learner() -> None:
    """A review must name which of several pairs was unfair."""
    pairs = Pairs.of(np.eye(3))
    verdicts = Verdicts(pairs, np.full(3, 0.5), np.zeros(3, dtype=np.bool_), np.ones(3, dtype=np.bool_))
    with pytest.raises(UnsupportedReview):
        ProjectedVolume(3, seed=0).learn_bit(verdicts, any_unfair=True)


def test_a_review_of_no_pair_changes_nothing() -> None:
    """A review without verdicts changes nothing but the count of reviews."""
    learner = ProjectedVolume(2, seed=0)
    nobody = Pairs.of(np.zeros((1, 2)))
    empty = np.zeros(0)
    learned = learner.learn(Verdicts(nobody, empty, empty.astype(np.bool_), empty.astype(np.bool_)))
    assert learned.used == 0
    assert learner.ends(nobody)[0].shape == (0,)
    assert learner.guess(nobody).shape == (0,)


@pytest.mark.parametrize(
    "settings",
    [
        {"n_features": 0},
        {"n_features": 2.5},
        {"structure": "round"},
        {"bound": 0.0},
        {"bound": float("nan")},
        {"bound": "1"},
        {"epsilon": 0.0},
        {"epsilon": 2.0},
        {"thinness": -1.0},
        {"thinness": True},
        {"n_samples": 3},
        {"n_samples": 50.5},
    ],
)
def test_settings_that_do_not_fit_are_refused(settings: dict[str, Any]) -> None:
    """Errors state the condition and quote the value."""
    with pytest.raises(InvalidInput, match="must be"):
        ProjectedVolume(**{"n_features": 2, "seed": 0, **settings})
