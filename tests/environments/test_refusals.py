"""Settings that make no world are refused with a sentence."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from evenhand.environments import (
    BoundedOutcomes,
    DirectionHider,
    FairEnvironment,
    LendingWorld,
    ProxyWorld,
    ViolationHunter,
    make_world,
    population,
)
from evenhand.environments.contexts import Drifting, Scene, Sphere
from evenhand.errors import InvalidInput


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"name": "moon"}, "unknown world 'moon'; there are sphere"),
        ({"name": "sphere", "n_candidates": 0}, "n_candidates must be a whole number >= 1, got 0"),
        ({"name": "sphere", "n_candidates": True}, "n_candidates must be .* got True"),
        ({"name": "sphere", "n_features": 2.5}, "n_features must be .* got 2.5"),
        ({"name": "sphere", "metric": "round"}, "metric must be one of full, .* got 'round'"),
        ({"name": "sphere", "metric": [[1.0, 0.0]]}, r"A must be .* shape \(r, 5\), got shape \(1, 2\)"),
        ({"name": "sphere", "metric": [[np.nan] * 5]}, "finite numbers"),
        ({"name": "sphere", "norm": 0.0}, "norm must be a number > 0, got 0.0"),
        ({"name": "sphere", "reward": "cash"}, "reward must be 'gaussian', 'bounded' or 'bernoulli', got 'cash'"),
        ({"name": "sphere", "noise": -1.0}, "noise must be a number >= 0, got -1.0"),
        ({"name": "sphere", "noise": float("nan")}, "noise must be .* got nan"),
        ({"name": "sphere", "seed": -1}, "seed must be .* got -1"),
        ({"name": "sphere", "colour": "red"}, "unknown setting 'colour' of 'sphere'; it has none"),
        ({"name": "groups", "n_group": 2}, "unknown setting 'n_group' of 'groups'; it has n_groups, spread"),
        ({"name": "drifting", "n_features": 1}, "n_features must be >= 2"),
        ({"name": "drifting", "period": 0}, "period must be .* got 0"),
        ({"name": "correlated", "correlation": 1.5}, "correlation must be a number from 0 to 1, got 1.5"),
        ({"name": "violation-hunter", "n_proposals": 0}, "n_proposals must be .* got 0"),
        ({"name": "violation-hunter", "among": "moon"}, "unknown population 'moon'"),
        ({"name": "direction-hider", "n_features": 2, "reveal_at": [1, 2]}, "fewer rounds than the 2 features, got 2"),
        ({"name": "direction-hider", "hide": "all"}, "hide must be 'narrowest' or 'widest', got 'all'"),
        ({"name": "proxy", "n_features": 1}, "n_features must be >= 2, a proxy and another feature"),
        ({"name": "proxy", "proxy_weight": 2.0}, "proxy_weight must be .* got 2.0"),
        ({"name": "lending", "n_features": 3}, "n_features must be None, since .* own truth, got 3"),
        ({"name": "lending", "metric": "zero"}, "metric must be None"),
    ],
)
def test_bad_settings_are_refused(settings: dict[str, Any], sentence: str) -> None:
    """The message names the setting, the limit and the value."""
    with pytest.raises(InvalidInput, match=sentence):
        make_world(**settings)


def test_parts_must_fit_together() -> None:
    """A source of other features than theta's, a theta too long, a policy that cannot decide: refused."""
    with pytest.raises(InvalidInput, match="source must draw the 2 features of theta, got 3"):
        FairEnvironment([1.0, 0.0], np.eye(2), source=Sphere(3), n_candidates=2)
    with pytest.raises(InvalidInput, match="norm <= 1"):
        FairEnvironment([1.0, 1.0], np.eye(2), source=Sphere(2), n_candidates=2)
    with pytest.raises(InvalidInput, match="theta must be a vector of norm <= 1, got 'x'"):
        FairEnvironment("x", np.eye(2), source=Sphere(2), n_candidates=2)
    with pytest.raises(InvalidInput, match="policy must be an object with decide"):
        LendingWorld().watch("nobody")  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match=r"share must be .* got 2"):
        ProxyWorld(share=2)
    with pytest.raises(InvalidInput, match=r"spread must be .* got 1\.5"):
        BoundedOutcomes(spread=1.5)
    with pytest.raises(InvalidInput, match="unknown population"):
        population("proxy", 3)
    with pytest.raises(InvalidInput, match="n_features must be >= 2"):
        Drifting(Sphere(1))


def test_a_source_that_leaves_the_ball_is_found_out() -> None:
    """A home-made source with a contexts must have norm <= 1, context 0 has 2 raises at reset, naming the candidate."""

    class Far(Sphere):
        def draw(self, scene: Scene, rng: np.random.Generator) -> Any:
            return 2.0 * super().draw(scene, rng)

    world = FairEnvironment([1.0, 0.0], np.eye(2), source=Far(2), n_candidates=2)
    with pytest.raises(InvalidInput, match="contexts must have norm <= 1, context 0 has 2"):
        world.reset(seed=0)


def test_adversaries_need_the_truth() -> None:
    """Outside a world, without theta and A, a hunter that watches somebody and a hider say what is missing."""
    rng = np.random.default_rng(0)
    with pytest.raises(InvalidInput, match="A of the scene is missing"):
        DirectionHider(Sphere(2), reveal_at=[3]).draw(Scene(2), rng)
    with pytest.raises(InvalidInput, match="theta and A of the scene are missing"):
        ViolationHunter(Sphere(2)).draw(Scene(2, policy=LendingPolicy()), rng)


class LendingPolicy:
    """Decides nothing; enough to be watched."""

    def decide(self, contexts: Any) -> Any:
        """Never called."""
        raise AssertionError
