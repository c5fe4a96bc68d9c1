"""Which features count together, in words that follow the truth."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import evenhand as eh
from evenhand._internal.arrays import Floats
from evenhand.bandit.explain_metric import interaction_signs
from evenhand.errors import InvalidInput
from evenhand.metrics import BayesPoint, MetricLearner, WithoutIntercept
from evenhand.metrics.gaussian.interactions import InteractionEvidence
from evenhand.schema import InteractionSigns
from evenhand.schema.interaction_words import MOST_NAMED, signs_in_words
from tests.support.wide_people import WIDE

SCHEMA = eh.Schema(
    [
        eh.Number("income", low=0, high=100, unit="kEUR"),
        eh.Number("debt", low=0, high=100, unit="kEUR"),
        eh.Number("age", low=0, high=100, unit="years"),
        eh.YesNo("member"),
        eh.Category("purpose", levels=("car", "home", "study")),
    ]
)
WEIGHTS = np.array([1.0, 0.8, 0.5, 0.4, 0.3, 0.3, 0.3, 0.0])
ABOUT = "interact"


def _contexts() -> Floats:
    rng = np.random.default_rng(0)
    purposes = ("car", "home", "study")
    rows = [[*rng.uniform(0, 100, 3), bool(rng.integers(2)), purposes[rng.integers(3)]] for _ in range(150)]
    return SCHEMA.encode(rows)


def _truth(interaction: float) -> Floats:
    """Diagonal, but for income and debt."""
    G = np.diag(0.6 * WEIGHTS)
    G[0, 1] = G[1, 0] = interaction * np.sqrt(G[0, 0] * G[1, 1])
    return G


def _bandit(structure: Any, G: Floats, answers: int) -> eh.FairBandit:
    """A bandit that an exact reviewer has answered so many questions."""
    labels = SCHEMA.block_labels[:-1]
    learner = BayesPoint(7, structure=structure, epsilon=0.02, blocks=labels)
    bandit = eh.FairBandit(8, metric=WithoutIntercept(learner), seed=0)
    interview = eh.Interview(bandit, _contexts(), enough=0.0, max_questions=answers, n_pairs=300, seed=0)
    for question in interview:
        x, y = interview.contexts_of(question)
        interview.answer("unfair" if question.gap > np.sqrt((x - y) @ G @ (x - y)) else "acceptable")
    return bandit


def _words(bandit: eh.FairBandit) -> list[str]:
    return [each for each in bandit.explain(SCHEMA).sentences if "count together" in each or ABOUT in each]


@pytest.mark.parametrize("structure", ["auto", "full"])
def test_a_strong_interaction_is_found(structure: str) -> None:
    """Income and debt count together: which combination is far, which is near; no other pair is named.

    A narrow prior finds little evidence against the others: that there are too few answers is right, too.
    """
    bandit = _bandit(structure, _truth(0.9), 120)
    first, *rest = _words(bandit)
    assert first.startswith("income and debt count together: (0 kEUR, 0 kEUR) against (100 kEUR, 100 kEUR) makes ")
    unknown = ["Too few answers to tell whether other features interact."] if structure == "auto" else []
    assert rest in (["No sign that other features interact."], unknown)
    interaction = bandit.explain(SCHEMA).interaction
    assert interaction is not None
    assert interaction.together.value > interaction.against.value
    assert bandit.explain(SCHEMA).sentences[1] == first, "they come after the ranking, before dozens of others"


@pytest.mark.parametrize("structure", ["auto", "full"])
def test_the_sign_is_that_of_the_truth(structure: str) -> None:
    """Where the two make up for each other, the far combination is the other one."""
    first, *_ = _words(_bandit(structure, _truth(-0.9), 120))
    assert first.startswith("income and debt count together: (0 kEUR, 100 kEUR) against (100 kEUR, 0 kEUR) makes ")


@pytest.mark.parametrize("structure", ["auto", "full"])
def test_a_diagonal_metric_has_no_interactions(structure: str) -> None:
    """Before any answer nobody can tell; after many there is no sign of any."""
    assert _words(_bandit(structure, _truth(0.0), 0)) == ["Too few answers to tell whether features interact."]
    assert _words(_bandit(structure, _truth(0.0), 120)) == ["No sign that features interact."]


def test_no_word_where_features_count_separately_anyway() -> None:
    """With structure diagonal it is a setting, not a finding."""
    assert _words(_bandit("diagonal", _truth(0.0), 10)) == []


def test_never_a_list_of_all_pairs() -> None:
    """With 24 features there are 276 pairs, and a few sentences; before any answer a single one."""
    bandit = eh.FairBandit(47, metric=WithoutIntercept(BayesPoint(46, structure="auto")), seed=0)
    told = [each for each in bandit.explain(WIDE).sentences if ABOUT in each]
    assert told == ["Too few answers to tell whether features interact."]
    pairs = tuple(("a", f"b{i}") for i in range(100))
    words = signs_in_words(InteractionSigns(clear=pairs[:50], some=pairs[50:]))
    assert len(words) == MOST_NAMED + 1
    assert words[-1] == "97 more pairs of features may count together."


def test_chance_finds_among_many_pairs_do_not_count() -> None:
    """Evidence that would be clear for one pair is none among 276, as one of so many is expected by chance."""

    class Lucky(BayesPoint):
        def interactions(self, blocks: Any = None) -> list[InteractionEvidence]:
            names = [f"f{i}" for i in range(24)]
            evidence = [(a, b) for i, a in enumerate(names) for b in names[:i]]
            return [InteractionEvidence(a, b, 3.5 if n == 0 else 0.0, 0.1) for n, (a, b) in enumerate(evidence)]

    class Sure(BayesPoint):
        def interactions(self, blocks: Any = None) -> list[InteractionEvidence]:
            return [InteractionEvidence("f0", "f1", 3.5, 0.1)]

    names = [f"f{i}" for i in range(24)]
    lucky: MetricLearner = Lucky(24)
    assert interaction_signs(lucky, names) == InteractionSigns()
    assert interaction_signs(Sure(24), names) == InteractionSigns(clear=(("f0", "f1"),))


def test_the_default_learner_has_words_too() -> None:
    """The learner in play may not know of interactions; another one that learns the same answers does."""
    bandit = eh.FairBandit(3, seed=0)
    schema = eh.Schema([eh.YesNo("member"), eh.YesNo("owner")])
    assert any(ABOUT in sentence for sentence in bandit.explain(schema).sentences)


def test_the_schema_must_fit() -> None:
    """One with as many coordinates as the bandit has features."""
    with pytest.raises(InvalidInput, match="schema must be a Schema of 3 coordinates"):
        eh.FairBandit(3).explain(SCHEMA)
