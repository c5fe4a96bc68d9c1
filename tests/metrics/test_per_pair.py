"""PerPair: one copy a pair, updated with what the paper updates it with and nothing else."""

from __future__ import annotations

import numpy as np
import pytest

from evenhand.errors import InvalidInput, SolverFailed
from evenhand.metrics import BayesPoint, Ellipsoid, Learned, Pairs, PerPair, Verdicts
from evenhand.testing.metric_worlds import random_contexts

CONTEXTS = random_contexts(np.random.default_rng(0), 3, 2)


def _verdicts(gaps: list[float], unfair: list[bool], tight: list[bool]) -> Verdicts:
    return Verdicts(Pairs.of(CONTEXTS), np.array(gaps), np.array(unfair), np.array(tight))


def test_only_flagged_and_tight_pairs_are_updated() -> None:
    """The copies of a flagged and of a tight pair learn; the copy of a slack pair nobody flagged is rolled back."""
    learner = PerPair(Ellipsoid(2))
    before = learner.copy_of((1, 2))
    learned = learner.learn(_verdicts([0.1, 0.2, 0.1], [True, False, False], [False, True, False]))
    assert learned.used == 2
    assert learner.copy_of((1, 2)) is before
    assert learner.copy_of((0, 1)) is not before
    assert learner.copy_of((0, 2)) is not before


def test_copies_know_nothing_of_each_other() -> None:
    """A verdict on one pair of indices does not change another's estimate of the same difference."""
    learner = PerPair(BayesPoint(2))
    for _ in range(20):
        learner.learn(_verdicts([0.3, 0.3, 0.3], [True, False, False], [True, False, False]))
    z = CONTEXTS[:1] - CONTEXTS[1:2]
    learned, unchanged = (learner.estimate(Pairs(np.array([pair]), z))[0] for pair in ([0, 1], [1, 2]))
    assert learned < 0.1
    assert unchanged == pytest.approx(BayesPoint(2).estimate(Pairs(np.array([[0, 1]]), z))[0])


def test_a_flag_cuts_through_the_guess_or_at_the_gap() -> None:
    """cuts="guess" learns from a flag that the guess was too large; cuts="gap" that the distance is below the gap."""
    ends = {}
    pair = Pairs.of(CONTEXTS[:2])
    for cuts in ("guess", "gap"):
        learner = PerPair(Ellipsoid(2), cuts=cuts)
        guess = learner.guess(pair)[0]
        learner.learn(_verdicts([0.01, 0.0, 0.0], [True, False, False], [False, False, False]))
        ends[cuts] = learner.ends(pair)[1][0]
        assert ends[cuts] < Ellipsoid(2).ends(pair)[1][0]
        assert ends[cuts] >= (guess if cuts == "guess" else 0.0001)
    assert ends["gap"] < ends["guess"]


def test_a_failing_copy_leaves_all_copies_as_they_were() -> None:
    """If the second copy fails, what the first had learned in the same call is undone."""

    class Picky(Ellipsoid):
        def learn(self, verdicts: Verdicts) -> Learned:
            if verdicts.gaps[0] > 0.5:
                raise SolverFailed("too wide for me")
            return super().learn(verdicts)

    learner = PerPair(Picky(2))
    with pytest.raises(SolverFailed):
        learner.learn(_verdicts([0.1, 0.6, 0.1], [False, False, False], [True, True, True]))
    assert learner.state()["copies"] == {}


def test_only_learners_can_be_copied() -> None:
    """PerPair of PerPair, or of something else, is refused."""
    with pytest.raises(InvalidInput, match="a metric learner other than PerPair"):
        PerPair(PerPair(Ellipsoid(2)))
    with pytest.raises(InvalidInput, match=r"cuts must be .*got .deep."):
        PerPair(Ellipsoid(2), cuts="deep")  # type: ignore[arg-type]


def test_a_late_flag_never_cuts_off_the_truth() -> None:
    """If by then the guess has fallen below the gap, the flag counts at the gap: the truth stays between the ends."""
    fresh, pair = PerPair(Ellipsoid(2)), Pairs.of(CONTEXTS[:2])
    late = _verdicts([0.9, 0.0, 0.0], [True, False, False], [False, False, False])
    assert fresh.guess(pair)[0] < 0.9**2
    fresh.learn(late)
    lower, upper = fresh.ends(pair)
    assert lower[0] <= 0.9**2 - 1e-6 <= upper[0]


def test_the_prototype_is_the_users_own() -> None:
    """Later updates of the user's prototype do not reach the copies."""
    prototype = Ellipsoid(2)
    learner = PerPair(prototype)
    before = learner.distances(CONTEXTS).estimate
    prototype.learn_pair(CONTEXTS[0], CONTEXTS[1], gap=0.05, unfair=True)
    assert np.array_equal(learner.distances(CONTEXTS).estimate, before)
