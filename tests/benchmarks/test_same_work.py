"""Peers are given the same work: where they solve the same problem they find the same answer."""

from __future__ import annotations

import math
import pickle
import random

import numpy as np
import pytest
from benchmarks.allocation import agree, instance
from benchmarks.bandit_peers import ENTRIES, Entry, drawn
from benchmarks.full_models import PEERS, by_evenhand
from benchmarks.long_run import footprint, largest, twin_of
from benchmarks.measurement import Floats
from benchmarks.metrics import WAYS, learn_ours, learn_theirs, quality, random_answers
from benchmarks.players import Evenhand, Match, NumpyLinUCB, Player, Widened, World

from evenhand.environments import random_metric

SOLVERS = [(peer, use) for peer in PEERS for use in peer.uses]


def _entry(name: str) -> Entry:
    return next(entry for entry in ENTRIES if entry.name == name)


def _choices(player: Player, rounds: int, k: int, d: int) -> list[int | None]:
    contexts, outcomes = World(k, d).rounds(rounds)
    chosen = []
    for x, y in zip(contexts, outcomes, strict=True):
        chosen.append(player.choose(x))
        player.learn(None if chosen[-1] is None else float(y[chosen[-1]]))
    return chosen


@pytest.mark.parametrize("capacity", [1, 2.5, None])
@pytest.mark.parametrize(("peer", "use"), SOLVERS, ids=[f"{peer.name}-{use}" for peer, use in SOLVERS])
def test_full_models_find_our_value(peer: object, use: str, capacity: float | None) -> None:
    """Every solver, in every use, finds the value that evenhand finds; again and again when it is kept."""
    solver = next(other for other in PEERS if other is peer)
    pytest.importorskip(solver.module)
    for seed in range(3):
        a, c = instance(7, 0.3, seed)
        assert agree(by_evenhand(a, c, capacity), solver.uses[use](a, c, capacity), solver.name)


def test_disagreement_is_an_error() -> None:
    """Another value means that the work was not the same; a solver that was stopped says nothing."""
    assert not agree(1.0, math.nan, "a peer")
    assert agree(1.0, 1.0 + 1e-9, "a peer")
    with pytest.raises(ArithmeticError, match="a peer"):
        agree(1.0, 1.001, "a peer")


def test_linucb_in_numpy_keeps_the_inverse() -> None:
    """The inverse that is updated is the inverse of I plus the sum of chosen x x', also over products of features."""
    for player, n in ((NumpyLinUCB(4), 4), (Widened(3), 6)):
        gram: Floats = np.eye(n)
        for x in World(5, 4 if n == 4 else 3).rounds(40)[0]:
            player.choose(x)
            gram += np.outer(player._context, player._context)
            player.learn(0.5)
        np.testing.assert_allclose(player.inverse @ gram, np.eye(n), atol=1e-9)


@pytest.mark.parametrize("name", ["Coba, LinUCB", "MABWiser LinUCB, one arm (its fastest)"])
def test_linucb_is_linucb(name: str) -> None:
    """Those who play LinUCB with one model for all choose as LinUCB in bare numpy does, round by round."""
    entry = _entry(name)
    pytest.importorskip(entry.module)
    assert _choices(entry.make(6, 4), 60, 6, 4) == _choices(NumpyLinUCB(4), 60, 6, 4)


def test_vowpal_wabbit_is_used_alike() -> None:
    """Text twice, or examples made of it once: the same probabilities, so the same candidates are drawn."""
    pytest.importorskip("vowpalwabbit")
    text, examples = (_entry(f"Vowpal Wabbit, {use}") for use in ("text", "examples (its fastest)"))
    found = _choices(text.make(6, 4), 200, 6, 4)
    assert found == _choices(examples.make(6, 4), 200, 6, 4)
    assert len(set(found)) > 1


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_every_bandit_learns(entry: Entry) -> None:
    """After some rounds each earns more than chance would, if it can: those with an arm for each seat cannot."""
    pytest.importorskip(entry.module)
    player, (contexts, outcomes) = entry.make(6, 3), World(6, 3).rounds(300)
    earned = []
    for x, y in zip(contexts, outcomes, strict=True):
        chosen = player.choose(x)
        assert chosen is not None
        earned.append(float(y[chosen]))
        player.learn(earned[-1])
    seats_alone = entry.name in ("MABWiser LinUCB, k arms", "River LinUCBDisjoint")
    assert seats_alone or np.mean(earned[100:]) > np.mean(outcomes[100:]) + 0.2


def test_draws_follow_the_probabilities() -> None:
    """Places are drawn as often as their probabilities say; what rounding leaves over goes to the last."""
    rng = random.Random(0)
    shares = np.bincount([drawn([0.1, 0.6, 0.3], rng) for _ in range(4000)], minlength=3) / 4000
    np.testing.assert_allclose(shares, [0.1, 0.6, 0.3], atol=0.03)
    assert drawn([0.0, 0.0], rng) == 1


def test_answers_say_what_the_metric_says() -> None:
    """A pair is flagged exactly if its gap exceeds its distance, and the true metric gets everything right."""
    answers = random_answers(500, 4, 0)
    assert np.array_equal(answers.unfair, answers.gaps > answers.distances)
    assert 0.2 < answers.unfair.mean() < 0.8
    A = random_metric(4, seed=2)
    assert quality(A.T @ A, answers) == (1.0, 1.0)


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.name)
def test_metrics_are_learned(way: object) -> None:
    """Ours and theirs get more held-out verdicts right than the rarer half would be by chance."""
    pytest.importorskip("metric_learn", exc_type=ImportError)
    theirs = next(other for other in WAYS if other is way)
    answers, unseen = random_answers(90, 2, 0), random_answers(1000, 2, 1)
    for G in (learn_ours(answers), learn_theirs(theirs, answers)):
        assert quality(G, unseen)[0] > 0.75
        assert np.linalg.eigvalsh(G).min() > -1e-9


def test_a_twin_shares_nothing() -> None:
    """A twin stays as it is while the one it was made of plays on."""
    player = Evenhand(World(4, 3))
    match = Match(player, World(4, 3))
    match.play(20)
    twin = twin_of(player)
    before = pickle.dumps(twin.bandit.state())
    match.play(20)
    assert (twin.bandit.rounds, player.bandit.rounds) == (20, 40)
    assert pickle.dumps(twin.bandit.state()) == before


def test_the_footprint_counts_everything() -> None:
    """Arrays inside of a thing count; the largest over some rounds is no smaller than the one at the end."""
    assert 8_000 <= footprint({"a": [np.zeros(1000)]}) < 12_000
    match = Match(player := Evenhand(World(4, 3)), World(4, 3))
    python_itself = 500  # bytes: what Python itself keeps of a first look
    assert largest(match, 10) >= footprint(player.bandit) - python_itself
    assert player.bandit.rounds == 10


def test_worlds_are_alike() -> None:
    """Everybody meets the same candidates and outcomes; another stream brings others in the same world."""
    (contexts, outcomes), (again, same) = (World(3, 2).rounds(4) for _ in range(2))
    assert np.array_equal(contexts, again)
    assert np.array_equal(outcomes, same)
    other = World(3, 2, stream=1)
    assert not np.array_equal(other.rounds(4)[0], contexts)
    assert np.array_equal(other.theta, World(5, 2).theta)
    np.testing.assert_allclose(np.linalg.norm(contexts, axis=2), 1.0)
