"""Decisions go out as obp's bandit feedback, and its logs come in; its formulas are checked by hand here.

The last test runs obp's own code on the same feedback, where it is installed.
"""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import evenhand as eh
from evenhand.adapters.obp_feedback import Logged, action_dist, to_obp
from evenhand.adapters.obp_log import ObpLog
from evenhand.desk import Desk
from evenhand.desk.imports.past import read_past
from evenhand.errors import InvalidInput, NotChosen
from evenhand.records.decision import Decision
from evenhand.testing.metric_worlds import random_contexts


def logged(capacity: int, rounds: int = 50, *, seed: int = 1, theta: Any = (-0.5, 0.5, 0.2)) -> list[Logged]:
    """Rounds of a bandit with 3 to 5 candidates; rewards are linear, and many are negative, so places stay empty."""
    rng = np.random.default_rng(seed)
    bandit = eh.FairBandit(3, capacity=capacity, seed=seed)
    played: list[Logged] = []
    for _ in range(rounds):
        decision = bandit.decide(random_contexts(rng, int(rng.integers(3, 6)), 3))
        rewards = {i: float(decision.contexts[i] @ np.asarray(theta)) for i in decision.chosen}
        bandit.learn(decision, rewards=rewards)
        played.append((decision, rewards))
    return played


def check_as_obp_does(feedback: dict[str, Any]) -> None:
    """The conditions that obp's own check of bandit feedback states."""
    n = feedback["n_rounds"]
    assert feedback["context"].shape[0] == n == len(feedback["action"]) == len(feedback["reward"])
    assert feedback["context"].ndim == 2
    assert np.issubdtype(feedback["action"].dtype, np.integer)
    assert 0 <= feedback["action"].min() <= feedback["action"].max() < feedback["n_actions"]
    assert feedback["action_context"].shape[0] == feedback["n_actions"]
    assert np.all(feedback["pscore"] > 0)
    if feedback["position"] is not None:
        assert np.issubdtype(feedback["position"].dtype, np.integer)
        assert feedback["position"].min() >= 0


@pytest.mark.parametrize("capacity", [1, 3])
def test_the_feedback_is_what_obp_expects(capacity: int) -> None:
    """A row for every place, probabilities that sum to 1 over the actions, pscore those of the actions taken."""
    rounds = logged(capacity)
    feedback = to_obp(rounds)
    check_as_obp_does(feedback)
    assert feedback["n_rounds"] == len(rounds) * capacity
    np.testing.assert_allclose(feedback["pi_b"].sum(axis=1), 1, atol=1e-9)
    place = np.zeros(len(feedback["action"]), dtype=int) if capacity == 1 else feedback["position"]
    taken = feedback["pi_b"][np.arange(feedback["n_rounds"]), feedback["action"], place]
    np.testing.assert_array_equal(taken, feedback["pscore"])
    assert feedback["reward"].sum() == pytest.approx(sum(sum(rewards.values()) for _, rewards in rounds))
    nobody = feedback["action"] == feedback["n_actions"] - 1
    assert not feedback["reward"][nobody].any()
    assert nobody.sum() == sum(capacity - len(decision.chosen) for decision, _ in rounds)


@pytest.mark.parametrize("capacity", [1, 3])
def test_the_policy_that_played_has_its_own_value(capacity: int) -> None:
    """Its importance weights are all 1, so IPS is the mean reward of a place."""
    rounds = logged(capacity)
    feedback = to_obp(rounds)
    dist = action_dist([decision.probabilities for decision, _ in rounds], capacity)[feedback["round"]]
    place = np.zeros(feedback["n_rounds"], dtype=int) if capacity == 1 else feedback["position"]
    weights = dist[np.arange(feedback["n_rounds"]), feedback["action"], place] / feedback["pscore"]
    np.testing.assert_allclose(weights, 1, rtol=1e-9)


@pytest.mark.statistical
@pytest.mark.parametrize("capacity", [1, 2])
def test_ips_on_the_feedback_is_unbiased(capacity: int) -> None:
    """Over 20,000 draws of one decision, IPS of another policy is its value, within four standard errors."""
    rng = np.random.default_rng(9)
    contexts = random_contexts(rng, 4, 2)
    logging = np.array([0.4, 0.3, 0.2, 0.05]) * capacity
    target = np.array([0.1, 0.1, 0.5, 0.2]) * capacity
    expected = np.array([0.5, -0.2, 0.3, 0.9])
    rounds: list[Logged] = []
    for number in range(20_000):
        chosen = eh.allocation.draw(logging, capacity, rng)
        decision = Decision(f"r{number}", number, contexts, logging, chosen, capacity, np.zeros(4))
        rounds.append((decision, {i: float(expected[i]) for i in chosen}))
    feedback = to_obp(rounds)
    dist = action_dist([target], capacity)[np.zeros(feedback["n_rounds"], dtype=int)]
    place = np.zeros(feedback["n_rounds"], dtype=int) if capacity == 1 else feedback["position"]
    weights = dist[np.arange(feedback["n_rounds"]), feedback["action"], place] / feedback["pscore"]
    values = capacity * (weights * feedback["reward"]).reshape(-1, capacity).mean(axis=1)
    error = values.std(ddof=1) / np.sqrt(len(values))
    assert abs(values.mean() - target @ expected) < 4 * error


def test_missing_rewards_are_refused_or_dropped() -> None:
    """By default; dropping them is a choice."""
    rounds = [(decision, {}) if at == 3 else (decision, rewards) for at, (decision, rewards) in enumerate(logged(2, 8))]
    with pytest.raises(InvalidInput, match=r"got none of \d in round 3"):
        to_obp(rounds)
    assert to_obp(rounds, missing="drop")["n_rounds"] < 16


def test_rounds_that_do_not_fit_are_refused() -> None:
    """None at all, of several capacities, without a capacity, rewards of others."""
    one, two = logged(1, 3), logged(2, 3)
    cases: list[tuple[Any, str]] = [
        ([], "at least 1"),
        (one + two, "one capacity"),
        ([(eh.FairBandit(2, capacity=None).decide([[0.1, 0.2]]), {})], "must have a capacity"),
    ]
    for rounds, said in cases:
        with pytest.raises(InvalidInput, match=said):
            to_obp(rounds)
    with pytest.raises(NotChosen):
        to_obp([(one[0][0], {7: 1.0})])
    with pytest.raises(InvalidInput, match="at most the capacity"):
        action_dist([[0.8, 0.8]], 1)


def feedback_of_obp(n: int = 60) -> dict[str, Any]:
    """A log as obp's synthetic data set makes it: shapes and keys, other numbers."""
    rng = np.random.default_rng(2)
    pi_b = rng.dirichlet(np.ones(3), size=n)
    action = np.array([rng.choice(3, p=p) for p in pi_b])
    context = rng.normal(size=(n, 2))
    return {
        "n_rounds": n,
        "n_actions": 3,
        "context": context,
        "action_context": np.eye(3),
        "action": action,
        "position": None,
        "reward": np.where(action == 1, 0.8, 0.1),
        "expected_reward": np.tile([0.1, 0.8, 0.1], (n, 1)),
        "pi_b": pi_b[:, :, None],
        "pscore": pi_b[np.arange(n), action],
    }


def test_a_log_warms_up_a_bandit() -> None:
    """It then expects most of the action that paid; the log changes nothing but the rewards."""
    log = ObpLog(feedback_of_obp())
    bandit = eh.FairBandit(log.n_features, seed=0)
    assert log.teach(bandit) == 60
    estimates = np.mean([bandit.reward.estimate(log.contexts(row)) for row in range(60)], axis=0)
    assert int(np.argmax(estimates)) == 1
    assert bandit.rounds == 0
    with pytest.raises(InvalidInput, match="must have 9 features"):
        log.teach(eh.FairBandit(2))


def test_a_log_becomes_past_decisions() -> None:
    """Records that a desk accepts, with all probabilities if the log has them."""
    log = ObpLog(feedback_of_obp(5))
    with Desk.open("memory:", "shop", n_features=log.n_features) as desk:
        for row, record in enumerate(log.to_past()):
            body = read_past(record, desk.settings)
            assert body["probabilities"] == pytest.approx(feedback_of_obp(5)["pi_b"][row, :, 0].tolist())
    without = ObpLog({**feedback_of_obp(5), "pi_b": None})
    assert all("probabilities" not in record for record in without.to_past())


def test_our_feedback_comes_back() -> None:
    """With an encoding that takes the context apart again, the contexts and rewards are those of the decisions."""
    rounds = logged(1, 10)
    feedback = to_obp(rounds)

    def candidates(context: Any, actions: Any) -> Any:
        return np.vstack([context.reshape(-1, 3), np.zeros((1, 3))])

    log = ObpLog(feedback, encode=candidates, norm=1.0)
    for row, (decision, rewards) in enumerate(rounds):
        np.testing.assert_array_equal(log.contexts(row)[: decision.n_candidates], decision.contexts)
        assert log.reward[row] == sum(rewards.values())


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"reward": "much"}, "reward must be an array of numbers"),
        ({"context": np.zeros((3, 2))}, r"context must have shape \(60, any\), got \(3, 2\)"),
        ({"action": np.full(60, 9)}, "action must be whole numbers from 0 to 2, got 9"),
        ({"reward": np.full(60, np.nan)}, "reward must be finite, got nan"),
        ({"action": np.full(60, 0.5)}, "action must be whole numbers from 0 to 2, got 0.5"),
        ({"pi_b": np.full((60, 3, 1), 5.0)}, "pi_b must be from 0 to 1, got 5 to 5"),
        ({"pi_b": np.full((60, 3, 1), 0.3), "position": np.full(60, 1)}, "position must be whole numbers from 0 to 0"),
        ({"position": np.array([0])}, r"position must have shape \(60\), got \(1,\)"),
        ({"n_rounds": "x"}, "n_rounds must be a whole number >= 1, got 'x'"),
        ({"action_context": np.zeros((3, 2))}, "not all 0"),
    ],
)
def test_a_bad_log_is_refused(change: dict[str, Any], said: str) -> None:
    """With the name of the array and what it must be."""
    with pytest.raises(InvalidInput, match=said):
        ObpLog({**feedback_of_obp(), **change})
    with pytest.raises(InvalidInput, match="got no reward"):
        ObpLog({name: value for name, value in feedback_of_obp().items() if name != "reward"})


@pytest.mark.process
@pytest.mark.parametrize("capacity", [1, 3])
def test_obps_own_code_agrees(capacity: int, tmp_path: Path) -> None:
    """Its check accepts our feedback, its estimators give their formulas to 1e-9, and we learn from its own log.

    In a process of its own: obp changes settings of the libraries it uses. `scripts.compare_obp` says how to get it.
    """
    if find_spec("obp") is None:
        pytest.skip("obp is not installed; see scripts/compare_obp.py")
    feedback = {name: value for name, value in to_obp(logged(capacity)).items() if value is not None}
    np.savez(tmp_path / "ours.npz", **feedback)
    script = Path(__file__).with_name("obp_real.py")
    arguments = [sys.executable, str(script), str(tmp_path / "ours.npz"), str(tmp_path / "theirs.npz")]
    done = subprocess.run(arguments, check=False, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    theirs = dict(np.load(tmp_path / "theirs.npz"))
    log = ObpLog({name: value.item() if value.ndim == 0 else value for name, value in theirs.items()})
    bandit = eh.FairBandit(log.n_features, seed=0)
    log.teach(bandit)
    estimates = np.array([bandit.reward.estimate(log.contexts(row)) for row in range(log.n_rounds)])
    assert np.corrcoef(estimates.ravel(), theirs["expected_reward"].ravel())[0, 1] > 0.8
