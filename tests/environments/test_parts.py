"""Populations, outcomes and truths are what they say."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.environments import METRIC_KINDS, REWARD_KINDS, FairEnvironment, make_world, metric_of_kind, names
from evenhand.environments import population as make_population
from evenhand.environments.contexts import Scene
from evenhand.environments.outcomes import BoundedOutcomes, outcomes_of_kind
from evenhand.environments.truths import HUGE_NORM


def draw(name: str, *, k: int, d: int = 4, t: int = 0, seed: int = 0, **settings: Any) -> Any:
    """Contexts (k, d) of a population in round t, under a Euclidean metric."""
    source = make_population(name, d, seed=1, **settings)
    return source.draw(Scene(k, t, np.eye(d)[0], np.eye(d)), np.random.default_rng(seed))


SCALES = {"gaussian": "scale", "correlated": "scale", "heavy-tails": "scale", "groups": "spread", "drifting": "spread"}


@settings(max_examples=60, deadline=None)
@given(
    name=st.sampled_from(names()),
    k=st.integers(1, 7),
    d=st.integers(2, 9),
    t=st.integers(0, 3),
    size=st.floats(1e-3, 1e3),
    seed=st.integers(0, 2**31),
)
def test_contexts_never_leave_the_ball(name: str, k: int, d: int, t: int, size: float, seed: int) -> None:
    """Any world, any number of candidates and features, any spread: every norm is at most 1 and finite."""
    extra: dict[str, Any] = {SCALES[name]: size} if name in SCALES else {}
    shape: dict[str, Any] = {} if name == "lending" else {"n_features": d}
    world = make_world(name, n_candidates=k, seed=seed, **shape, **extra)
    contexts, _ = world.reset(seed=seed)
    for _ in range(t):
        contexts = world.advance()
    assert contexts.shape == (k, world.n_features)
    assert np.all(np.linalg.norm(contexts, axis=1) <= 1 + 1e-12)
    assert contexts in world.observation_space


def test_groups_are_clusters() -> None:
    """With three groups of spread 0.1 everybody is near one of three centres and far from the others."""
    source = make_population("groups", 6, n_groups=3, spread=0.1, seed=1)
    contexts = source.draw(Scene(300), np.random.default_rng(0))
    distances = np.sort(np.linalg.norm(contexts[:, None] - source.centres[None], axis=2), axis=1)  # type: ignore[attr-defined]
    assert np.max(distances[:, 0]) < 0.3
    assert np.min(distances[:, 1]) > 0.5


def test_correlated_features_are_as_correlated_as_asked() -> None:
    """Neighbours correlate by 0.8, features two apart by 0.64, to 0.05 (clipping takes a little)."""
    table = np.corrcoef(draw("correlated", k=20_000, correlation=0.8, scale=0.5).T)
    assert table[0, 1] == pytest.approx(0.8, abs=0.05)
    assert table[0, 2] == pytest.approx(0.64, abs=0.05)


def test_tails_are_heavy() -> None:
    """At equal median norms far more people lie on the surface than in a Gaussian population."""
    heavy = np.linalg.norm(draw("heavy-tails", k=5000), axis=1)
    light = np.linalg.norm(draw("gaussian", k=5000, scale=float(np.median(heavy))), axis=1)
    assert np.median(light) == pytest.approx(np.median(heavy), rel=0.2)
    assert np.mean(heavy > 0.999) > 0.05
    assert np.mean(light > 0.999) == 0


def test_a_drifting_population_drifts_and_comes_round() -> None:
    """The mean moves far in half a period, little in a hundredth, and is back after a whole one."""
    centre = {t: draw("drifting", k=4000, t=t, n_groups=1, period=1000).mean(axis=0) for t in (0, 10, 500, 1000)}
    assert np.linalg.norm(centre[500] - centre[0]) > 0.5
    assert np.linalg.norm(centre[10] - centre[0]) < 0.1
    assert np.linalg.norm(centre[1000] - centre[0]) < 1e-9
    still = [draw("groups", k=4000, t=t, n_groups=1).mean(axis=0) for t in (0, 500)]
    assert np.array_equal(*still)


@pytest.mark.parametrize("kind", REWARD_KINDS)
@pytest.mark.parametrize("mean", [-1.0, -0.6, 0.0, 0.3, 0.95])
def test_outcomes_have_the_mean_they_are_given(kind: str, mean: float) -> None:
    """Over 20,000 draws the average is within five standard errors of the mean, at the scale the model claims."""
    model = outcomes_of_kind(kind, noise=0.3)
    outcomes = model.draw(np.full(20_000, mean), np.random.default_rng(0))
    assert abs(np.mean(outcomes) - mean) <= 5 * model.noise / np.sqrt(20_000)
    assert np.std(outcomes) <= 1.02 * model.noise


def test_bounded_and_bernoulli_outcomes_stay_within_one() -> None:
    """Bounded outcomes lie in [-1, 1] for any mean there, Bernoulli ones are -1 or 1; both do scatter."""
    means, rng = np.linspace(-1, 1, 5001), np.random.default_rng(0)
    bounded = BoundedOutcomes(spread=1.0).draw(means, rng)
    assert np.max(np.abs(bounded)) <= 1.0
    assert np.std(bounded - means) > 0.2
    assert set(outcomes_of_kind("bernoulli").draw(means, rng).tolist()) == {-1.0, 1.0}


@pytest.mark.parametrize("d", [1, 2, 5])
@pytest.mark.parametrize("kind", METRIC_KINDS)
def test_metrics_have_the_rank_and_norm_they_say(kind: str, d: int) -> None:
    """Rank and ||A'A||_F of each kind; diagonal has no other entries; and every seed gives another matrix."""
    A = metric_of_kind(kind, d, norm=0.4, seed=3)
    G = A.T @ A
    rank = {"full": d, "low-rank": max(1, d // 2), "rank-one": 1, "diagonal": d, "zero": 0, "huge": d}[kind]
    norm = {"zero": 0.0, "huge": HUGE_NORM}.get(kind, 0.4)
    assert np.linalg.matrix_rank(A) == rank
    assert np.linalg.norm(G) == pytest.approx(norm)
    if kind == "diagonal":
        assert np.array_equal(G, np.diag(np.diag(G)))
    if kind not in ("zero", "huge") and d > 1:
        assert not np.allclose(A, metric_of_kind(kind, d, norm=0.4, seed=4))


def test_under_the_huge_metric_nobody_is_alike() -> None:
    """Contexts a hundredth apart are at a distance beyond 1, where no probabilities are bound."""
    assert np.linalg.norm(metric_of_kind("huge", 5) @ np.array([0.01, 0, 0, 0, 0])) > 1


def test_sources_may_serve_many_worlds() -> None:
    """Two worlds that share one source do not disturb each other."""
    source = make_population("drifting", 3, seed=0)
    one, two, alone = (FairEnvironment([1.0, 0, 0], np.eye(3), source=source, n_candidates=4) for _ in range(3))
    for world in (one, two, alone):
        world.reset(seed=1)
    for _ in range(5):
        two.advance()
    assert np.array_equal(one.advance(), alone.advance())
