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
        ({"name": "moon"}, "no world is called 'moon'; known are sphere"),
        ({"name": "sphere", "n_candidates": 0}, "n_candidates is 0; allowed is a whole number >= 1"),
        ({"name": "sphere", "n_candidates": True}, "n_candidates is True"),
        ({"name": "sphere", "n_features": 2.5}, "n_features is 2.5"),
        ({"name": "sphere", "metric": "round"}, "no metric is called 'round'; known are full"),
        ({"name": "sphere", "metric": [[1.0, 0.0]]}, r"A has shape \(1, 2\); allowed is an \(r, 5\) matrix"),
        ({"name": "sphere", "metric": [[np.nan] * 5]}, "finite numbers"),
        ({"name": "sphere", "norm": 0.0}, "norm is 0.0; allowed is a number > 0"),
        ({"name": "sphere", "reward": "cash"}, "no kind of reward is called 'cash'"),
        ({"name": "sphere", "noise": -1.0}, "noise is -1.0; allowed is a number >= 0"),
        ({"name": "sphere", "noise": float("nan")}, "noise is nan"),
        ({"name": "sphere", "seed": -1}, "seed is -1"),
        ({"name": "sphere", "colour": "red"}, "'sphere' has no setting 'colour'; it has none"),
        ({"name": "groups", "n_group": 2}, "'groups' has no setting 'n_group'; it has n_groups, spread"),
        ({"name": "drifting", "n_features": 1}, "2 or more"),
        ({"name": "drifting", "period": 0}, "period is 0"),
        ({"name": "correlated", "correlation": 1.5}, "correlation is 1.5; allowed is a number >= 0 and <= 1"),
        ({"name": "violation-hunter", "n_proposals": 0}, "n_proposals is 0"),
        ({"name": "violation-hunter", "among": "moon"}, "no population is called 'moon'"),
        ({"name": "direction-hider", "n_features": 2, "reveal_at": [1, 2]}, "2 directions are to be hidden of 2"),
        ({"name": "direction-hider", "hide": "all"}, "hide is 'all'; allowed are 'narrowest' and 'widest'"),
        ({"name": "proxy", "n_features": 1}, "a proxy needs at least one other feature"),
        ({"name": "proxy", "proxy_weight": 2.0}, "proxy_weight is 2.0"),
        ({"name": "lending", "n_features": 3}, "n_features is 3; the lending world has a truth of its own"),
        ({"name": "lending", "metric": "zero"}, "metric is 'zero'"),
    ],
)
def test_bad_settings_are_refused(settings: dict[str, Any], sentence: str) -> None:
    """Each with a sentence that quotes the value and says what is allowed."""
    with pytest.raises(InvalidInput, match=sentence):
        make_world(**settings)


def test_parts_must_fit_together() -> None:
    """A source of other features than theta's, a theta too long, a policy that cannot decide: refused."""
    with pytest.raises(InvalidInput, match="the source draws 3 features, theta has 2"):
        FairEnvironment([1.0, 0.0], np.eye(2), source=Sphere(3), n_candidates=2)
    with pytest.raises(InvalidInput, match="norm <= 1"):
        FairEnvironment([1.0, 1.0], np.eye(2), source=Sphere(2), n_candidates=2)
    with pytest.raises(InvalidInput, match="theta is 'x'; allowed are numbers"):
        FairEnvironment("x", np.eye(2), source=Sphere(2), n_candidates=2)
    with pytest.raises(InvalidInput, match="anything with decide"):
        LendingWorld().watch("nobody")  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="share is 2"):
        ProxyWorld(share=2)
    with pytest.raises(InvalidInput, match=r"spread is 1\.5"):
        BoundedOutcomes(spread=1.5)
    with pytest.raises(InvalidInput, match="no population is called"):
        population("proxy", 3)
    with pytest.raises(InvalidInput, match="2 or more"):
        Drifting(Sphere(1))


def test_a_source_that_leaves_the_ball_is_found_out() -> None:
    """A home-made source with a context of norm 2 raises at reset, naming the candidate."""

    class Far(Sphere):
        def draw(self, scene: Scene, rng: np.random.Generator) -> Any:
            return 2.0 * super().draw(scene, rng)

    world = FairEnvironment([1.0, 0.0], np.eye(2), source=Far(2), n_candidates=2)
    with pytest.raises(InvalidInput, match="context of norm 2"):
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
