"""Coba's own experiment runner drives our learner, and its learners play our worlds."""

from __future__ import annotations

import copy
import pickle
from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from coba import (
    BanditEpsilonLearner,
    Categorical,
    CobaContext,
    Experiment,
    LambdaSimulation,
    LinUCBLearner,
    RandomLearner,
    SequentialCB,
)
from coba.context import NullLogger
from coba.environments import (
    Environments,
    KernelSyntheticSimulation,
    LinearSyntheticSimulation,
    NeighborsSyntheticSimulation,
)
from coba.safety import SafeLearner
from scripts.coba_experiment import ENVIRONMENTS, run

from evenhand import FairBandit
from evenhand.adapters.always_choosing import AlwaysChoosing
from evenhand.adapters.coba_features import CandidateFeatures
from evenhand.adapters.coba_learner import CobaLearner
from evenhand.adapters.coba_watched import WatchedLearner
from evenhand.adapters.coba_world import WorldSimulation
from evenhand.auditors import DelayedAuditor, MahalanobisAuditor
from evenhand.baselines import ignore_fairness
from evenhand.environments import make_world
from evenhand.errors import InvalidInput
from evenhand.rewards import KnownReward

SHAPE: dict[str, Any] = {"n_actions": 4, "n_context_features": 2, "n_action_features": 2}
ACTIONS = [(0.6, 0.0), (0.5, 0.1), (0.0, 0.7)]


@pytest.fixture(autouse=True)
def silent() -> Any:
    """Coba logs to standard output and swallows errors of an evaluation; here they are raised."""

    class Raising(NullLogger):  # type: ignore[misc]
        def log(self, message: Any) -> Any:
            if isinstance(message, Exception):
                raise message
            return super().log(message)

    before, CobaContext.logger = CobaContext.logger, Raising()
    yield
    CobaContext.logger = before


def rows_of(result: Any) -> list[dict[str, Any]]:
    """The interactions in a result."""
    return list(result.interactions.to_dicts())


def identity(n_features: int, *, scale: float = 1.0) -> MahalanobisAuditor:
    """A Euclidean reviewer for so many features."""
    return MahalanobisAuditor(scale * np.eye(n_features))


def test_cobas_experiment_plays_our_learner_beside_its_own() -> None:
    """On three of Coba's environments every learner gets every interaction, and its probability is recorded."""
    environments = [
        kind(20, **SHAPE, seed=1)
        for kind in (LinearSyntheticSimulation, NeighborsSyntheticSimulation, KernelSyntheticSimulation)
    ]
    learners = [BanditEpsilonLearner(), LinUCBLearner(), CobaLearner(), CobaLearner(auditor=identity, epsilon=0.05)]
    result = Experiment(environments, learners, SequentialCB(["reward", "probability"])).run(quiet=True, processes=1)
    counts = Counter((row["environment_id"], row["learner_id"]) for row in rows_of(result))
    assert counts == {(environment, learner): 20 for environment in range(3) for learner in range(4)}
    ours = [row["probability"] for row in rows_of(result) if row["learner_id"] == 2]
    assert 0 < min(ours) < max(ours) <= 1
    assert list(result.learners.to_dicts())[3]["reviewed"] is True


def test_our_learner_learns_what_pays() -> None:
    """Without fairness it ends near the best action of a linear environment, far above a random choice."""
    environment = LinearSyntheticSimulation(400, n_actions=3, n_context_features=1, n_action_features=2, seed=3)
    learners = [RandomLearner(), CobaLearner(ignore_fairness, norm=2.0)]
    rows = rows_of(Experiment(environment, learners).run(quiet=True, processes=1))
    late = [np.mean([row["reward"] for row in rows if row["learner_id"] == at and row["index"] > 200]) for at in (0, 1)]
    best = np.mean([max(one["rewards"]) for one in list(environment.read())[200:]])
    assert best - late[1] < 0.2 * (best - late[0])


def test_reviews_of_an_auditor_reach_the_bandit() -> None:
    """Prompt ones with their decision, late ones with the decision that they are about."""
    prompt, late = (
        CobaLearner(features=("a",), norm=1.0, auditor=auditor, seed=5)
        for auditor in (partial(identity, scale=0.1), DelayedAuditor(identity(2, scale=0.1), 3))
    )
    for learner in (prompt, late):
        for _ in range(6):
            action, probability, info = learner.predict(None, ACTIONS)
            learner.learn(None, action, 0.5, probability, **info)
        estimate = learner.bandit.distances(ACTIONS).estimate
        unreviewed = FairBandit(2, seed=5).distances(ACTIONS).estimate
        assert estimate[0, 2] < unreviewed[0, 2]


def test_probabilities_sum_to_one_even_if_everybody_loses() -> None:
    """And they are the best that fairness allows: a plain bandit would rather choose nobody."""
    learner = CobaLearner(features=("a",), norm=1.0, reward=lambda d: KnownReward([-1.0, -0.5]))
    probabilities = learner.probabilities(None, ACTIONS)
    assert probabilities.sum() == pytest.approx(1, abs=1e-9)
    assert probabilities[2] == max(probabilities) > min(probabilities)
    plain = FairBandit(2, reward=KnownReward([-1.0, -0.5])).decide(ACTIONS)
    assert plain.probabilities.sum() == pytest.approx(0, abs=1e-9)


def test_a_score_is_the_probability_of_the_next_prediction() -> None:
    """Asking for it changes nothing: two learners of one seed, one of them asked, choose the same."""
    asked, silent = (CobaLearner(features=("a",), seed=2) for _ in range(2))
    for _ in range(5):
        scores = [asked.score(None, ACTIONS, action) for action in ACTIONS]
        predictions = [learner.predict(None, ACTIONS) for learner in (asked, silent)]
        assert predictions[0][:2] == predictions[1][:2]
        assert predictions[0][1] == scores[ACTIONS.index(predictions[0][0])]
        for learner, (action, probability, info) in zip((asked, silent), predictions, strict=True):
            learner.learn(None, action, 0.3, probability, **info)


def test_a_log_of_another_policy_teaches_rewards() -> None:
    """Coba's off-policy learning passes no decision: the reward model alone learns."""
    log = WorldSimulation(40, "sphere", n_features=2, n_candidates=3)
    logged = Environments(log).logged(RandomLearner())
    learner = CobaLearner(features=("a",), norm=1.0)
    rows = rows_of(Experiment(logged, learner, SequentialCB(learn="off", eval="ips")).run(quiet=True, processes=1))
    assert len(rows) == 40


def test_batches_are_learned_one_by_one() -> None:
    """Coba's batches reach the learner as single interactions."""
    batched = Environments(WorldSimulation(12, "sphere", n_features=2)).batch(4)
    rows = rows_of(Experiment(batched, CobaLearner(features=("a",), norm=1.0)).run(quiet=True, processes=1))
    assert len(rows) == 12


def test_a_learner_is_copied_and_pickled() -> None:
    """As an experiment does for every environment and process; the copies play on alike."""
    learner = CobaLearner(features=("a",), auditor=identity(2), seed=4)
    learner.learn(None, *_played(learner))
    copies = [copy.deepcopy(learner), pickle.loads(pickle.dumps(learner))]
    expected = learner.predict(None, ACTIONS)[:2]
    assert [one.predict(None, ACTIONS)[:2] for one in copies] == [expected, expected]


def _played(learner: CobaLearner) -> tuple[Any, float, float, Any]:
    action, probability, info = learner.predict(None, ACTIONS)
    return action, 0.5, probability, info["decision"]


def test_classes_are_candidates() -> None:
    """Coba makes one-hot actions of categories; with a constant and products there are 1 + 2 + 4 features."""
    levels = ["low", "high"]
    simulation = LambdaSimulation(
        10,
        lambda index: [0.1 * index, 1.0 - 0.1 * index],
        lambda index, context: [Categorical(level, levels) for level in levels],
        lambda index, context, action: float((action == "low") == (index < 5)),
    )
    learner = CobaLearner()
    rows = rows_of(Experiment(simulation, [learner]).run(quiet=True, processes=1))
    assert {row["reward"] for row in rows} <= {0, 1}
    assert learner.bandit.n_features == 1 + 2 + 4


def test_watched_learners_record_unfair_pairs() -> None:
    """A greedy learner is unfair to all it does not choose, a random one to nobody, and what they play is the same."""
    environment = WorldSimulation(20, "sphere", n_candidates=4, n_features=3)
    strict = partial(identity, scale=0.01)
    learners = [WatchedLearner(one, strict, features=("a",)) for one in (RandomLearner(), LinUCBLearner())]
    rows = rows_of(Experiment(environment, [*learners, LinUCBLearner()]).run(quiet=True, processes=1))
    by_learner = [[row for row in rows if row["learner_id"] == at] for at in range(3)]
    assert sum(row["unfair_pairs"] for row in by_learner[0]) == 0
    assert all(row["unfair_pairs"] == 3 for row in by_learner[1][1:])
    assert all(row["excess"] > 0.9 for row in by_learner[1][1:])
    assert [row["reward"] for row in by_learner[1]] == [row["reward"] for row in by_learner[2]]


def test_a_world_of_ours_is_an_environment_of_coba() -> None:
    """Its interactions are the world's candidates and outcomes, the same at every reading."""
    simulation = WorldSimulation(3, "groups", seed=7, n_candidates=4, n_features=3)
    first, again = list(simulation.read()), list(simulation.read())
    assert first == again
    world = make_world("groups", n_candidates=4, n_features=3)
    contexts, _ = world.reset(seed=7)
    for interaction in first:
        np.testing.assert_array_equal(np.array(interaction["actions"]), contexts)
        assert interaction["rewards"] == list(world.settle(range(4)).values())
        contexts = world.advance()
    rows = rows_of(Experiment(simulation, [LinUCBLearner(), CobaLearner(features=("a",))]).run(quiet=True, processes=1))
    assert len(rows) == 6


def test_bad_arguments_are_refused() -> None:
    """With a sentence, before anything is played."""
    for features in ((), ("b",), "xa", (2,)):
        with pytest.raises(InvalidInput, match="features must be a list of terms"):
            CobaLearner(features=features)
    with pytest.raises(InvalidInput, match="capacity must be left out"):
        CobaLearner(capacity=2)
    with pytest.raises(InvalidInput, match="norm must be"):
        CobaLearner(norm=0.0)
    with pytest.raises(InvalidInput, match="must not depend on the policy"):
        WorldSimulation(3, "violation-hunter")
    with pytest.raises(InvalidInput, match="unknown world"):
        WorldSimulation(3, "nowhere")
    with pytest.raises(InvalidInput, match="dense vectors of numbers"):
        CobaLearner().predict({"age": 3}, ACTIONS)
    with pytest.raises(InvalidInput, match="must always choose somebody"):
        CobaLearner(lambda d, **made: FairBandit(d, reward=KnownReward([-1.0, -1.0])), features=("a",)).predict(
            None, ACTIONS
        )
    with pytest.raises(InvalidInput, match="must have seen an interaction"):
        _ = CobaLearner().bandit
    with pytest.raises(InvalidInput, match="must have score"):
        WatchedLearner(object(), identity)


def test_coba_finds_our_score() -> None:
    """Coba asks for it by calling it with nothing."""
    assert SafeLearner(CobaLearner()).has_score


def test_long_vectors_are_shortened_and_counted() -> None:
    """Twice the longest of the first round counts as 1 by default; directions stay."""
    encode = CandidateFeatures(("a",))
    assert np.hypot.reduce(encode(None, [(3.0, 4.0), (0.0, 1.0)])[0]) == pytest.approx(0.5)
    assert encode(None, [(30.0, 40.0)]).tolist() == [pytest.approx([0.6, 0.8])]
    assert encode.shortened == 1
    assert encode(None, [(0.0, 0.0)]).tolist() == [[0.0, 0.0]]


def test_a_bandit_that_always_chooses_is_saved(tmp_path: Path) -> None:
    """The wrapped model goes into the file and comes back as it was."""
    learner = CobaLearner(features=("a",), norm=1.0, seed=4)
    learner.learn(None, *_played(learner))
    learner.bandit.save(tmp_path / "learner.eh")
    loaded = FairBandit.load(tmp_path / "learner.eh")
    assert isinstance(loaded.reward, AlwaysChoosing)
    assert loaded.decide(ACTIONS).to_dict() == learner.bandit.decide(ACTIONS).to_dict()


def test_the_experiment_of_the_guide_runs() -> None:
    """Every learner of the tables plays every environment; the one that is not fair is seen to be so."""
    for name in ENVIRONMENTS:
        found = run(name, 6, [1, 2], "full")
        assert {len(values) for values in found.values()} == {2}
        assert found["Coba: random"][0][1] == 0
        assert found["evenhand: ignore fairness"][0][1] > 100
