"""Accuracies near the end of double precision: beliefs do not freeze, and sets of metrics do not fall apart."""

from __future__ import annotations

import numpy as np
import pytest

from evenhand.lab.runs import standard_run
from evenhand.metrics import BayesPoint, Pairs
from evenhand.metrics.gaussian.belief import Belief


def _unfair_after(rounds: int, seed: int, *, start: int, learner: str = "bayes-point") -> float:
    """Unfair pairs of a learner with known rewards from round `start` on, d = k = 3, epsilon = 1e-5."""
    run = standard_run(policy=f"{learner}-known-reward", d=3, k=3, rounds=rounds, epsilon=1e-5, seed=seed)
    return float(run["unfair_pairs"][-1] - run["unfair_pairs"][np.flatnonzero(np.array(run["round"]) <= start)[-1]])


@pytest.mark.statistical
def test_a_belief_does_not_freeze_too_low() -> None:
    """The one seed of 16 whose belief became certain of too low distances; it was unfair until round 5,540."""
    assert _unfair_after(3000, 4, start=1000) == 0


@pytest.mark.slow
@pytest.mark.parametrize("learner", ["bayes-point", "evenhand"])
@pytest.mark.parametrize("seed", range(16))
def test_no_late_errors(seed: int, learner: str) -> None:
    """Seeds 0 to 15, 16,384 rounds: nothing is unfair after the first quarter."""
    assert _unfair_after(2**14, seed, start=2**12, learner=learner) == 0


def test_a_frozen_belief_is_refitted_to_what_it_remembers() -> None:
    """A belief that is wrong and sure contradicts remembered verdicts, and is found wrong at the next check."""
    learner, x, y = BayesPoint(1, epsilon=0.001), np.array([0.5]), np.array([-0.5])

    def play() -> None:
        gap = float(learner.playable_distances(np.array([x, y]))[0, 1])
        learner.learn_pair(x, y, gap=gap, unfair=gap > 0.6)

    for _ in range(40):
        play()
    assert learner.estimate(Pairs.between(x, y))[0] == pytest.approx(0.36, abs=1e-3)
    learner._history.belief = Belief(np.array([0.1]), np.array([[1e-12]]))
    for _ in range(learner.tuning.min_reviews_to_check):
        play()
    assert learner.estimate(Pairs.between(x, y))[0] == pytest.approx(0.36, abs=1e-2)


@pytest.mark.slow
def test_a_set_at_the_end_of_precision_does_not_fall_apart() -> None:
    """ProjectedVolume, d = 2, epsilon = 2^-16, 2^16 rounds: fair from round 100 on; once, bursts until 56,233."""
    run = standard_run(policy="projected-volume", d=2, k=3, rounds=2**16, epsilon=2.0**-16, seed=2)
    assert run["last_unfair_round"][-1] <= 100


@pytest.mark.statistical
def test_flags_finer_than_probabilities_come_to_an_end() -> None:
    """ProjectedVolume at epsilon = 2^-16: at most 5 flags of any size from round 500 to 1,500; there were 43 to 60."""
    for seed in (2, 3, 5):
        run = standard_run(policy="projected-volume", d=2, k=3, rounds=1500, epsilon=2.0**-16, seed=seed)
        flags, late = np.array(run["flagged_pairs"]), np.array(run["round"]) > 500
        assert flags[-1] - flags[~late][-1] <= 5
