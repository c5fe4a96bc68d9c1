"""Bandits that version 0.1 saved: they load, and go on as 0.1 itself did."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import evenhand as eh
from evenhand.rewards import RidgeUCB
from tests.support.processors import is_the_one_of_0_1

FILES = Path(__file__).parents[1] / "data" / "v0_1" / "bandits"
"""NAME.eh is a bandit saved by 0.1 after 25 rounds; NAME.json what 0.1 did with it next, and what it learned from."""

NAMES = sorted(path.stem for path in FILES.glob("*.eh"))

CLOSE = 1e-9
"""Another machine's BLAS may add up in another order; on one machine the numbers agree to the bit."""

WALKS = {"guarded": 0.01, "projected_volume": 0.01}
"""These two let points walk along eigenvectors, whose signs rounding decides: elsewhere the walk is another sample.

Distances differed by 2e-3 on one kind of processor, by 1e-8 on another."""


def _expected(name: str) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((FILES / f"{name}.json").read_text())
    return content


def test_every_learner_has_a_file() -> None:
    """No learner is left out, nor a form of it whose state differs."""
    assert {"bayes_point", "bayes_point_diagonal", "bayes_point_learned_rates"} <= set(NAMES)
    assert {"ellipsoid", "guarded", "known_metric", "per_pair", "projected_volume"} <= set(NAMES)


@pytest.mark.filterwarnings("ignore::evenhand.errors.InconsistentReviews")
@pytest.mark.filterwarnings("ignore::evenhand.errors.MisleadingReviewer")
@pytest.mark.parametrize("name", NAMES)
def test_a_bandit_of_0_1_goes_on_as_it_did(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Loaded, and saved and loaded again, it plays the same probabilities and draws, and learns the same distances.

    But for the cap on optimistic rewards, which 0.1 did not have.
    """
    monkeypatch.setattr(RidgeUCB, "optimistic", lambda self, x: self.estimate(x) + self.widths(x))
    expected, close = _expected(name), CLOSE if is_the_one_of_0_1() else WALKS.get(name, CLOSE)
    eh.FairBandit.load(FILES / f"{name}.eh").save(tmp_path / "again.eh")
    bandit = eh.FairBandit.load(tmp_path / "again.eh")
    for row in expected["rounds"]:
        decision = bandit.decide(row["contexts"])
        np.testing.assert_allclose(decision.probabilities, row["probabilities"], rtol=close, atol=close)
        assert list(decision.chosen) == row["chosen"]
        review = eh.Review.complete(unfair=[tuple(pair) for pair in row["unfair"]], reviewer=row["reviewer"])
        bandit.learn(decision, rewards={int(i): reward for i, reward in row["rewards"].items()}, review=review)
    then = expected["then"]
    distances = bandit.distances(then["contexts"])
    for part in ("estimate", "lower", "upper"):
        np.testing.assert_allclose(getattr(distances, part), then[part], rtol=close, atol=close)
    if close == CLOSE:  # verdicts on other gaps than those played may contradict each other
        assert bandit.conflicts == expected["conflicts"]
