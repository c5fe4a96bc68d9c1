"""Chances where a fixed number of places is given away."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.errors import InvalidInput
from evenhand.history import inclusion_probabilities
from evenhand.history.conditional_logit import ConditionalLogit
from tests.support.simulated_log import NEW, chances, people

SCORES = st.lists(st.floats(-6, 6), min_size=1, max_size=8)


@given(SCORES, st.data())
def test_chances_are_sums_over_all_sets(scores: list[float], data: st.DataObject) -> None:
    """They equal the sums over all sets of that size, each with the product of its odds."""
    places = data.draw(st.integers(0, len(scores)))
    expected, total = np.zeros(len(scores)), 0.0
    for chosen in combinations(range(len(scores)), places):
        mass = np.exp(sum(scores[i] for i in chosen))
        expected[list(chosen)] += mass
        total += mass
    np.testing.assert_allclose(inclusion_probabilities(scores, places), expected / total, atol=1e-8)


def test_chances_of_many_candidates_are_chances() -> None:
    """With 400 candidates and any number of places they lie in [0, 1], add up to the places, and follow the scores."""
    scores = np.random.default_rng(0).normal(size=400) * 3
    for places in (0, 1, 40, 200, 399, 400):
        p = inclusion_probabilities(scores, places)
        assert np.all((p >= 0.0) & (p <= 1.0))
        assert p.sum() == pytest.approx(places)
        assert np.all(np.diff(p[np.argsort(scores)]) >= -1e-9)


def test_bad_input_is_refused() -> None:
    """Places beyond the candidates, and scores that are no numbers, are refused with a sentence."""
    with pytest.raises(InvalidInput, match="places must be from 0 to the number of candidates, 2, got 3"):
        inclusion_probabilities([0.0, 1.0], 3)
    with pytest.raises(InvalidInput, match="scores must be k finite numbers"):
        inclusion_probabilities([np.inf], 1)


@pytest.mark.parametrize("places", [1, 4, 8])
def test_conditional_logit_recovers_what_decisions_looked_at(places: int) -> None:
    """From 600 rounds, coefficients come within 0.35 of those that rounds were decided by: four standard errors."""
    rng = np.random.default_rng(places)
    contexts = people(600, rng)
    b, k = chances(contexts, NEW, places), 10
    chosen = np.zeros(len(b), dtype=np.bool_)
    for start in range(0, len(b), k):  # conditional Poisson sampling by rejection
        odds = 1 / (1 + np.exp(-(contexts[start : start + k] @ NEW)))
        while chosen[start : start + k].sum() != places:
            chosen[start : start + k] = rng.random(k) < odds
    model = ConditionalLogit.fitted(contexts, np.arange(0, len(b) + 1, k), chosen)
    np.testing.assert_allclose(model.coefficients, NEW, atol=0.35)
    assert np.corrcoef(model.scores(contexts), contexts @ NEW)[0, 1] > 0.98


def test_constant_features_get_no_weight() -> None:
    """A coordinate that is the same for everybody, as an intercept is, has coefficient 0."""
    rng = np.random.default_rng(0)
    contexts = np.column_stack([rng.normal(size=60), np.ones(60)])
    model = ConditionalLogit.fitted(contexts, np.arange(0, 61, 6), np.arange(60) % 6 == 0)
    assert model.coefficients[1] == 0.0
