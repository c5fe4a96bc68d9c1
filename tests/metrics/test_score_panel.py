"""Score with several reviewers, ratings and comparisons."""

from __future__ import annotations

import numpy as np
import pytest

from evenhand.allocation import fair_distribution
from evenhand.bandit import FairBandit
from evenhand.errors import InvalidInput
from evenhand.metrics import Comparisons, Pairs, Panel, Ratings, Score
from evenhand.records.decision import PROBABILITY_TOLERANCE
from tests.support.score_people import MadeUpPerson, area_under_curve, random_people

SHARED = np.array([4.0, -3.0, 1.0, 0.0])


def people(n: int, seed: int = 0) -> list[MadeUpPerson]:
    """People who have much in common."""
    rng = np.random.default_rng(seed)
    return [MadeUpPerson(SHARED + rng.normal(0.0, 0.7, 4), seed=row) for row in range(n)]


@pytest.fixture(scope="module")
def panel() -> Panel:
    """Nine people, 300 answers each, fitted in one learner."""
    learner, rng = Score(4), np.random.default_rng(1)
    for row, person in enumerate(people(9)):
        learner.learn(person.verdicts(300, rng, f"person {row}"))
    return learner.panel()


def quality(learner: Score, person: MadeUpPerson, reviewer: str | None = None) -> float:
    """How well the learner ranks 1,000 new pairs of this person."""
    new = person.verdicts(1000, np.random.default_rng(99))
    return area_under_curve(learner.chance_flagged(new.pairs, new.gaps, reviewer), new.unfair)


@pytest.mark.statistical
def test_new_reviewer_starts_from_the_panel(panel: Panel) -> None:
    """Without an own answer the panel predicts a tenth person better than 30 own answers do."""
    person, rng = people(10)[9], np.random.default_rng(2)
    alone = Score(4)
    alone.learn(person.verdicts(30, rng))
    fresh = Score(4, panel=panel)
    assert len(panel) == 9
    assert quality(fresh, person) > max(quality(alone, person), quality(Score(4), person) + 0.05)
    assert quality(fresh, person) > 0.84


@pytest.mark.statistical
def test_reviewers_of_one_learner_help_each_other() -> None:
    """A reviewer with ten answers is predicted better beside others than alone, and a new one from the others."""
    *others, last = people(6, seed=3)
    rng, together, alone = np.random.default_rng(4), Score(4), Score(4)
    for row, person in enumerate(others):
        together.learn(person.verdicts(120, rng, f"person {row}"))
    before = quality(together, last, "last")
    few = last.verdicts(10, rng, "last")
    together.learn(few)
    alone.learn(few)
    assert before > 0.8
    assert quality(together, last, "last") > quality(alone, last, "last")


def test_who_is_played() -> None:
    """The minimum is the elementwise minimum of the members' distances; the mean lies within; a name is one person."""
    rng = np.random.default_rng(5)
    learners = {play: Score(4, play=play) for play in ("minimum", "mean", "Ada", "Bob")}
    for name, person in zip(("Ada", "Bob"), people(2, seed=6), strict=True):
        verdicts = person.verdicts(60, rng, name)
        for learner in learners.values():
            learner.learn(verdicts)
    pairs = Pairs.of(random_people(rng, 8, 4))
    guess = {play: learner.guess(pairs) for play, learner in learners.items()}
    both = np.stack([guess["Ada"], guess["Bob"]])
    assert np.array_equal(guess["minimum"], both.min(axis=0))
    assert np.all((guess["mean"] >= both.min(axis=0) - 0.01) & (guess["mean"] <= both.max(axis=0) + 0.01))
    gaps = np.full(len(pairs), 0.5)
    chances = [learners["mean"].chance_flagged(pairs, gaps, name) for name in ("Ada", "Bob")]
    np.testing.assert_allclose(learners["mean"].chance_flagged(pairs, gaps), np.mean(chances, axis=0))


def test_the_minimum_is_played_exactly() -> None:
    """No gap exceeds what any member accepts, and no probabilities that keep to the minimum earn more."""
    rng, learners = np.random.default_rng(9), {play: Score(4, play=play) for play in ("minimum", "Ada", "Bob")}
    for name, person in zip(("Ada", "Bob"), people(2, seed=10), strict=True):
        verdicts = person.verdicts(60, rng, name)
        for learner in learners.values():
            learner.learn(verdicts)
    decision = FairBandit(4, metric=learners["minimum"], seed=0).decide(random_people(rng, 6, 4))
    gaps = np.abs(decision.probabilities[:, None] - decision.probabilities[None, :])
    tables = {play: learner.playable_distances(decision.contexts) for play, learner in learners.items()}
    for name in ("Ada", "Bob"):
        assert np.all(gaps <= tables[name] + PROBABILITY_TOLERANCE)
    rewards = decision.optimistic_rewards
    best = fair_distribution(rewards, tables["minimum"], decision.capacity)
    assert float(rewards @ decision.probabilities) == pytest.approx(best.value, rel=1e-9)
    assert gaps.max() > 0.01


@pytest.mark.statistical
def test_report_names_the_odd_one_out() -> None:
    """Whoever judges by something else deviates most and agrees least; nobody is taken to lapse."""
    rng, learner = np.random.default_rng(7), Score(4)
    odd = MadeUpPerson(np.array([0.0, 0.0, 0.0, 5.0]), seed=9)
    for name, person in zip(("Ada", "Bob", "Cleo", "odd"), [*people(3, seed=8), odd], strict=True):
        learner.learn(person.verdicts(250, rng, name))
    reports = learner.reviewers()
    assert max(reports, key=lambda name: reports[name].deviation or 0.0) == "odd"
    assert min(reports, key=lambda name: reports[name].agreement or 1.0) == "odd"
    for report in reports.values():
        assert report.answers == 250
        assert report.lower <= report.error_rate <= report.upper
        assert report.error_rate < 0.05
        assert 0.05 < report.softness < 1.0


def test_one_reviewer_has_no_panel_to_agree_with() -> None:
    """Alone, deviation and agreement are None."""
    learner = Score(4)
    learner.learn(people(1)[0].verdicts(5, np.random.default_rng(0), "Ada"))
    report = learner.reviewers()["Ada"]
    assert (report.deviation, report.agreement) == (None, None)


@pytest.mark.statistical
def test_ratings_teach_more_than_verdicts() -> None:
    """24 ratings predict verdicts better than 24 verdicts do, and find the sign of the weights."""
    gains = []
    for seed in range(3):
        person, rng = MadeUpPerson(SHARED, seed=seed), np.random.default_rng(seed)
        rated, judged = Score(4), Score(4)
        for _ in range(4):
            rated.learn_ratings(person.rated(6, rng))
            judged.learn(person.verdicts(6, rng))
        gains.append(quality(rated, person) - quality(judged, person))
        weights = rated._members[None].belief.parameters.weights.mean(axis=1)
        assert weights @ SHARED > 0.8 * np.linalg.norm(weights) * np.linalg.norm(SHARED)
    assert np.mean(gains) > 0.02


@pytest.mark.statistical
def test_ratings_are_calibrated() -> None:
    """Of pairs played at the quantile after ratings only, about that share is flagged, many equal ratings or not."""
    person, rng, learner = MadeUpPerson(SHARED, seed=1), np.random.default_rng(1), Score(4, quantile=0.1)
    for _ in range(10):
        learner.learn_ratings(person.rated(30, rng))
    contexts = random_people(rng, 3000, 4)
    pairs, scores = Pairs.named(contexts, np.arange(3000).reshape(-1, 2)), person.ratings(contexts)
    gaps = np.sqrt(learner.guess(pairs))
    flags = gaps > np.abs(scores[::2] - scores[1::2]) + 0.05
    assert flags.mean() < 0.15


def test_one_rating_says_nothing_yet() -> None:
    """A single rating is remembered, and compared with the next one."""
    learner, person, rng = Score(4), people(1)[0], np.random.default_rng(3)
    pairs = Pairs.of(random_people(rng, 4, 4))
    before = learner.guess(pairs)
    assert learner.learn_ratings(person.rated(1, rng)).used == 1
    assert np.array_equal(learner.guess(pairs), before)
    learner.learn_ratings(person.rated(1, rng))
    assert not np.array_equal(learner.guess(pairs), before)


def test_comparisons_teach_the_score() -> None:
    """200 comparisons find the direction of the weights, sign included, and who is alike."""
    rng, learner = np.random.default_rng(8), Score(4)
    contexts = random_people(rng, 400, 4)
    scores = MadeUpPerson(SHARED).ratings(contexts)
    said = np.sign(scores[::2] - scores[1::2]).astype(np.int64)
    learner.learn_comparisons(Comparisons(Pairs.named(contexts, np.arange(400).reshape(-1, 2)), said))
    weights = learner._members[None].belief.parameters.weights.mean(axis=1)
    assert weights @ SHARED > 0.9 * np.linalg.norm(weights) * np.linalg.norm(SHARED)


@pytest.mark.parametrize("tolerance", [0.0, 0.05])
def test_answers_alike_are_no_lapses(tolerance: float) -> None:
    """Who calls everybody alike does not contradict herself, also where nobody is exactly alike."""
    rng, learner = np.random.default_rng(3), Score(2)
    for _ in range(10):
        pairs = Pairs.of(random_people(rng, 3, 2))
        learner.learn_comparisons(Comparisons(pairs, np.zeros(3, np.int64), tolerance))
    assert learner.reviewers()[None].error_rate < 0.05
    assert np.all(learner.guess(pairs) < 0.1**2)


@pytest.mark.statistical
def test_panel_with_the_other_sign_helps_a_rater(panel: Panel) -> None:
    """Verdicts leave the sign of a panel's weights open: ratings find it, whichever it is."""
    person, turned = people(10)[9], Panel(np.hstack([-panel.people[:, :4], panel.people[:, 4:]]))
    values = []
    for prior in (panel, turned):
        learner, rng = Score(4, panel=prior), np.random.default_rng(9)
        for _ in range(4):
            learner.learn_ratings(person.rated(3, rng))
        values.append(quality(learner, person))
    assert values[0] == pytest.approx(values[1], abs=0.02)
    assert min(values) > 0.84


def test_invalid_ratings_and_comparisons_are_refused() -> None:
    """Scores beyond the scale, tables of the wrong shape and answers other than -1, 0, 1 change nothing."""
    learner, contexts = Score(2), np.eye(2)
    for scores in (np.array([0.5, 1.5]), np.array([0.5, np.nan]), np.array([0.5])):
        with pytest.raises(InvalidInput, match="scores must be 2 numbers from 0 to 1"):
            learner.learn_ratings(Ratings(contexts, scores))
    with pytest.raises(InvalidInput, match="contexts must be"):
        learner.learn_ratings(Ratings(np.eye(3), np.zeros(3)))
    with pytest.raises(InvalidInput, match="answers must be -1, 0 or 1"):
        learner.learn_comparisons(Comparisons(Pairs.of(contexts), np.array([2])))
    assert learner.reviewers() == {}
