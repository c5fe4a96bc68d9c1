"""Decisions under people's review: a round counted by hand, floors, ceilings, and models of people."""

from __future__ import annotations

import numpy as np
import pytest

from evenhand.lab.people.online import (
    CEILINGS,
    FAVOURITE,
    KNOWN_PERSON,
    NEAREST_METRIC,
    K,
    Round,
    counted,
    play_person,
    reviewed_by,
    totals,
)
from evenhand.lab.people.person_model import PersonModel, expected_rewards, nearest_metric
from evenhand.lab.people.players import KnownDistances, OffsetRidgeUCB, Player, PlusFavourite
from evenhand.lab.people.study import RatingStudy, distances_of, rating_study
from evenhand.records.decision import Decision
from evenhand.rewards import RewardModel
from evenhand.testing import RewardModelContract
from evenhand.testing.people import made_up_ratings

LEVELS = np.linspace(0.0, 1.0, 5)


@pytest.fixture(scope="module")
def study() -> RatingStudy:
    """Three made-up people who rated sixty candidates."""
    return rating_study(made_up_ratings(3, 60, seed=3), "made up")


class TestOffsetRidgeUCB(RewardModelContract):
    """The reward model with an offset of its own keeps the contract."""

    def make(self) -> RewardModel:
        """Two blocks among three features."""
        return OffsetRidgeUCB(3, 2)


def test_an_offset_is_learned_without_an_intercept() -> None:
    """Everybody earns 0.5: the estimate at the origin goes there, which no linear model without offset can do."""
    model = OffsetRidgeUCB(2, 2)
    model.learn(np.random.default_rng(0).normal(size=(400, 2)) / 5, np.full(400, 0.5))
    assert model.estimate(np.zeros((1, 2)))[0] == pytest.approx(0.5, abs=0.02)


def _decision(probabilities: list[float], tight: tuple[tuple[int, int], ...]) -> Decision:
    p = np.array(probabilities)
    return Decision("", 0, np.eye(len(p)), p, (0,), 1, np.zeros(len(p)), tight)


def test_a_round_counted_by_hand() -> None:
    """Gaps 0.3, 0.4 and 0.1 against distances 0.3, 0.2 and 0.05: two unfair pairs, one of two binding ones flagged."""
    decision = _decision([0.6, 0.3, 0.2], ((0, 1), (0, 2)))
    distances = np.array([[0, 0.3, 0.2], [0.3, 0, 0.05], [0.2, 0.05, 0]])
    rewards = np.array([1.0, 0.0, -1.0])
    found = counted(decision, rewards, distances, [(0, 1), (0, 2), (1, 2)])
    assert (found.unfair, found.binding, found.binding_flagged) == (2, 2, 1)
    assert found.reward == pytest.approx(0.4)
    assert found.equal == pytest.approx(0.0)
    # The best fair ones: p0 - p2 <= 0.2, p1 - p2 <= 0.05, p0 + p1 + p2 <= 1; the gain p0 - p2 is 0.2 at most.
    assert found.best == pytest.approx(0.2)
    review = reviewed_by(decision, distances, [(0, 1), (0, 2)])
    assert (review.kind, review.unfair, review.fair) == ("partial", ((0, 2),), ((0, 1),))


def test_totals_by_hand() -> None:
    """Ten rounds: the first is early, the last three are late, the last five are the second half."""
    rounds = [Round(9 - i, 0.1 * (i >= 7), 0.4, 0.0, 1, int(i == 9), 0.1 if i == 3 else np.nan) for i in range(10)]
    found = totals(rounds)
    assert (found["early"], found["late"]) == (9.0, 1.0)
    assert found["gain"] == pytest.approx(0.25)
    assert found["gain_of_all"] == pytest.approx(0.3 / 4.0)
    assert (found["binding"], found["binding_flagged"]) == (1.0, 0.2)
    assert found["lapses"] == 0.1
    assert np.isnan(totals(rounds[:3])["lapses"])


def test_the_favourite_gets_the_bonus() -> None:
    """All probabilities are equal but one, and they add up to one."""
    contexts = np.random.default_rng(0).normal(size=(K, 3)) / 3
    decision = PlusFavourite(0.3, OffsetRidgeUCB(3, 2), seed=0).decide(contexts)
    assert sorted(decision.probabilities)[:-1] == pytest.approx([0.07] * (K - 1))
    assert np.argmax(decision.probabilities) == np.argmax(decision.optimistic_rewards)
    assert decision.probabilities.max() == pytest.approx(0.37)


def test_known_distances_are_those_of_the_candidates_present() -> None:
    """Twins have the same context; only their rows tell which distance is theirs."""
    contexts = np.array([[0.5], [0.5], [0.1]])
    table = np.array([[0, 0.4, 0.1], [0.4, 0, 0.1], [0.1, 0.1, 0]])
    player = Player(contexts, KnownDistances(table, OffsetRidgeUCB(1, 1), seed=0))
    for rows in ([0, 2], [1, 0]):
        decision = player.decide(np.array(rows))
        assert decision.gap(0, 1) <= table[rows[0], rows[1]] + 1e-9


@pytest.mark.statistical
def test_floors_and_ceilings(study: RatingStudy) -> None:
    """Equal probabilities gain nothing and are fair; who knows the person is fair and gains; a bonus gains too."""
    common = {"panel": False, "reviewer": "ratings", "person": 0, "rounds": 60, "n_folds": 3, "scale": "log", "seed": 0}
    found = {}
    for name, size in ((FAVOURITE, 0.0), (FAVOURITE, 0.3), (KNOWN_PERSON, 1.0), (NEAREST_METRIC, 1.0)):
        row = play_person(study, contender=name, caution=size, **common)  # type: ignore[arg-type]
        found[name, size] = {key: value[0] for key, value in row.items()}
    assert found[FAVOURITE, 0.0]["late"] == found[FAVOURITE, 0.0]["early"] == 0.0
    assert found[FAVOURITE, 0.0]["gain"] == pytest.approx(0.0, abs=1e-9)
    assert found[KNOWN_PERSON, 1.0]["late"] == found[KNOWN_PERSON, 1.0]["early"] == 0.0
    assert found[KNOWN_PERSON, 1.0]["gain"] > found[FAVOURITE, 0.0]["gain"] + 0.2
    assert found[NEAREST_METRIC, 1.0]["late"] > 0.0
    assert set(CEILINGS) >= {KNOWN_PERSON, NEAREST_METRIC}


@pytest.mark.parametrize("reviewer", ["ratings", "model"])
@pytest.mark.parametrize("panel", [False, True])
def test_a_learner_plays_the_same_again(study: RatingStudy, reviewer: str, panel: bool) -> None:
    """A case depends on its settings alone."""
    settings = {"contender": "BayesPoint", "panel": panel, "caution": 0.1, "reviewer": reviewer, "person": 1}
    more = {"rounds": 20, "n_folds": 3, "scale": "log", "seed": 0}
    first, again = (play_person(study, **settings, **more) for _ in range(2))  # type: ignore[arg-type]
    np.testing.assert_equal(first, again)  # not a number equals itself
    assert 0.0 <= first["binding_flagged"][0] <= 1.0


def test_a_model_of_a_person_draws_what_it_says(study: RatingStudy) -> None:
    """Chances add up to one, and ratings are drawn with them."""
    model = PersonModel.linear(study.contexts("log"), study.ratings[:, 0], LEVELS)
    chances, rng = model.chances(), np.random.default_rng(0)
    assert np.allclose(chances.sum(axis=1), 1.0)
    drawn = np.array([model.drawn(rng) for _ in range(2000)])
    shares = np.stack([(drawn == level).mean(axis=0) for level in LEVELS], axis=1)
    assert np.abs(shares - chances).max() < 0.05
    assert np.mean((model.scores - study.ratings[:, 0]) ** 2) < np.var(study.ratings[:, 0])


@pytest.mark.parametrize("quantile", [0.05, 0.2])
def test_cautious_distances_are_quantiles(study: RatingStudy, quantile: float) -> None:
    """A distance is below the cautious one with at most that probability, and below the next level with more."""
    model = PersonModel.linear(study.contexts("log"), study.ratings[:, 0], LEVELS)
    cautious, rng = model.cautious_distances(quantile), np.random.default_rng(1)
    tables = np.array([distances_of(model.drawn(rng)) for _ in range(1500)])
    pairs = np.triu_indices(len(cautious), 1)
    below = (tables < cautious - 1e-6).mean(axis=0)[pairs]
    next_one = (tables < cautious + 0.25 - 1e-6).mean(axis=0)[pairs]
    assert below.max() < quantile + 0.05
    assert np.all((next_one > quantile - 0.05) | (cautious[pairs] > 1.0))


def test_the_nearest_metric_finds_a_metric() -> None:
    """Distances that are a metric's own are found again."""
    rng = np.random.default_rng(2)
    contexts, A = rng.normal(size=(40, 3)) / 3, np.diag([1.0, 0.5, 0.2])
    images = contexts @ A.T
    distances = np.linalg.norm(images[:, None] - images[None], axis=2)
    found = contexts @ nearest_metric(contexts, distances).T
    assert np.abs(np.linalg.norm(found[:, None] - found[None], axis=2) - distances).max() < 0.01


def test_expected_rewards_follow_outcomes_of_others(study: RatingStudy) -> None:
    """Within [-1, 1], higher for those who turn out well, and unmoved by the candidate's own outcome."""
    contexts = study.contexts("log")
    found = expected_rewards(contexts, study.outcomes)
    assert np.all(np.abs(found) <= 1.0)
    assert found[study.outcomes > 0].mean() > found[study.outcomes < 0].mean()
    other = study.outcomes.copy()
    other[7] *= -1
    assert expected_rewards(contexts, other)[7] == found[7]
