"""The world, the reviewer, the baselines, and the account they are held to."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import evenhand as eh
from evenhand.cli.main import main
from evenhand.environments import LendingWorld, LinearEnvironment, random_metric
from evenhand.errors import InvalidInput
from evenhand.lab import Account
from evenhand.lab.demo import show_demo
from tests.support.simulation import simulate, standard_world


def test_the_auditor_flags_exactly_the_unfair_pairs() -> None:
    """Flagged are all pairs whose gap exceeds ||A (x - y)||, and no others."""
    rng = np.random.default_rng(0)
    A = random_metric(3, rank=2, seed=1)
    bandit = eh.FairBandit(3, seed=0, reviewer_error=1e-3)
    auditor = eh.auditors.MahalanobisAuditor(A)
    for _ in range(30):
        contexts = rng.normal(size=(5, 3))
        contexts /= np.linalg.norm(contexts, axis=1, keepdims=True)
        decision = bandit.decide(contexts)
        expected = tuple(
            (i, j)
            for i in range(5)
            for j in range(i + 1, 5)
            if decision.gap(i, j) > np.linalg.norm(A @ (contexts[i] - contexts[j])) + 1e-9
        )
        assert auditor.review(decision) == eh.Review.complete(unfair=expected)
    assert auditor.review(eh.baselines.EqualProbabilities(seed=0).decide(contexts)).unfair == ()


def test_the_optimum_has_no_regret_and_is_never_unfair() -> None:
    """Who knows everything loses nothing: regret 0 to rounding, no pair flagged."""
    theta, A = standard_world(3, seed=5)
    account = simulate(eh.baselines.fair_optimum(theta, A, seed=0), d=3, k=5, rounds=60, seed=5)
    assert np.max(np.abs(account.regret)) < 1e-9
    assert np.sum(account.flagged_pairs) == 0
    two = simulate(eh.baselines.fair_optimum(theta, A, capacity=2, seed=0), d=3, k=5, rounds=60, seed=5)
    assert np.max(np.abs(two.regret)) < 1e-9
    assert np.sum(two.reward) > np.sum(account.reward)


def test_regret_counts_against_the_best_fair_probabilities() -> None:
    """Nobody who is fair has negative regret; who ignores fairness does."""
    fair = simulate(eh.baselines.EqualProbabilities(seed=0), d=3, k=5, rounds=60, seed=6)
    unfair = simulate(eh.baselines.ignore_fairness(3, seed=0), d=3, k=5, rounds=300, seed=6)
    assert np.min(fair.regret) >= -1e-9
    assert np.sum(fair.unfair_pairs) == 0
    assert np.sum(unfair.regret[200:]) < 0
    assert unfair.last_unfair_round is not None
    assert unfair.last_unfair_round > 290


def test_an_account_counts_pairs_and_rounds() -> None:
    """Fairness loss counts pairs beyond epsilon; unfair_rounds counts rounds; rounds are numbered from 1."""
    decision = eh.baselines.ignore_fairness(2, seed=0).decide([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]])
    alike = eh.auditors.MahalanobisAuditor(np.zeros((1, 2)))
    account = Account(epsilon=0.01)
    fair = eh.baselines.EqualProbabilities(seed=0).decide(decision.contexts)
    for entry in (fair, decision, fair):
        account.add(entry, np.array([0.5, 0.2, -0.1]), alike)
    gaps = [decision.gap(i, j) for i, j in ((0, 1), (0, 2), (1, 2))]
    assert account.unfair_pairs.tolist() == [0, sum(gap > 0.01 for gap in gaps), 0]
    assert account.unfair_rounds == 1
    assert account.last_unfair_round == 2
    assert account.regret[0] == pytest.approx(0.0)


def test_the_world_keeps_to_its_word() -> None:
    """Contexts have norm 1, outcomes average to <theta, x>, and equal seeds give equal worlds for any choice."""
    theta, _ = standard_world(3, seed=7)
    world, twin = LinearEnvironment(theta, n_candidates=4), LinearEnvironment(theta, n_candidates=4)
    contexts, _ = world.reset(seed=1)
    other, _ = twin.reset(seed=1)
    errors = []
    for _ in range(500):
        assert np.array_equal(contexts, other)
        assert np.allclose(np.linalg.norm(contexts, axis=1), 1.0)
        expected = world.expected_rewards(contexts)
        contexts, reward, terminated, truncated, info = world.step((0, 2))
        other, *_ = twin.step(())
        errors += [info["rewards"][i] - expected[i] for i in (0, 2)]
        assert reward == pytest.approx(sum(info["rewards"].values()))
        assert not terminated
        assert not truncated
    assert abs(np.mean(errors)) < 5 * 0.1 / np.sqrt(1000)
    assert np.std(errors) == pytest.approx(0.1, rel=0.15)


def test_bad_worlds_are_refused() -> None:
    """A theta longer than 1, nobody to choose from, or a metric that is no matrix raise a sentence."""
    with pytest.raises(InvalidInput, match="norm <= 1"):
        LinearEnvironment([1.0, 1.0], n_candidates=3)
    with pytest.raises(InvalidInput, match=r"n_candidates must be .* got 0"):
        LinearEnvironment([1.0], n_candidates=0)
    with pytest.raises(InvalidInput, match="matrix of finite numbers"):
        eh.auditors.MahalanobisAuditor([1.0, 2.0])


def test_in_the_lending_world_the_neighbourhood_pays_and_must_not_count() -> None:
    """Applicants who differ only in where they live earn differently and have distance 0."""
    world = LendingWorld(seed=0)
    here = {"income": 40_000, "employment": 5, "debt": 10_000, "lives_in_the_north": False}
    pair = world.schema.encode([here, {**here, "lives_in_the_north": True}])
    assert eh.auditors.MahalanobisAuditor(world.A).distances(pair)[0, 1] == pytest.approx(0.0, abs=1e-12)
    low, high = world.expected_rewards(pair)
    assert high > low + 0.1


def test_the_demonstration_shows_what_it_promises(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The command prints every contender and what was understood, and draws the picture."""
    picture = tmp_path / "demo.png"
    assert main(["demo", "--rounds", "15", "--picture", str(picture)]) == 0
    printed = capsys.readouterr().out
    for name in ("evenhand", "the 2018 paper", "ignores fairness", "equal probabilities", "knows everything"):
        assert name in printed
    assert picture.read_bytes().startswith(b"\x89PNG")


@pytest.mark.statistical
def test_the_demonstration_prints_its_story(tmp_path: Path) -> None:
    """14 unfair pairs against the paper's 214 and 800; a reward of 26 against 9 by equal probabilities."""
    accounts = show_demo(rounds=200, seed=0, picture=tmp_path / "demo.png")
    pairs = {name: int(np.sum(account.unfair_pairs)) for name, account in accounts.items()}
    assert 4 * pairs["evenhand"] < pairs["the 2018 paper"] < pairs["ignores fairness"]
    assert np.sum(accounts["evenhand"].reward) > 1.5 * np.sum(accounts["equal probabilities"].reward)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--rounds", "0"], "rounds must be a whole number >= 1, got 0"),
        (["--seed", "-1"], "seed must be a whole number >= 0, got -1"),
        (["--picture", "no/where.png"], "no folder"),
    ],
)
def test_the_command_refuses_before_it_runs(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Bad options end at once, with a sentence and exit status 2."""
    with pytest.raises(SystemExit) as ended:
        main(["demo", *arguments])
    assert ended.value.code == 2
    assert message in capsys.readouterr().err


def test_the_demonstration_is_the_same_every_time(tmp_path: Path) -> None:
    """Two runs with one seed give equal accounts."""
    first, second = (show_demo(rounds=10, seed=3, picture=tmp_path / "demo.png") for _ in range(2))
    assert first.keys() == second.keys()
    for name in first:
        assert np.array_equal(first[name].regret, second[name].regret)
        assert np.array_equal(first[name].unfair_pairs, second[name].unfair_pairs)
