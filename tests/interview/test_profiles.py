"""Partial profiles: who is made up, and what an interview keeps of it."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import evenhand as eh
from evenhand.certificates import check
from evenhand.errors import InvalidInput
from evenhand.interview.profiles import PartialProfiles, chosen_differences, labels_of, rows_of_question
from evenhand.interview.question import Question
from evenhand.metrics import BayesPoint
from tests.support.interviewed import people
from tests.support.simulation import same
from tests.support.wide_people import WIDE, wide_people

ROWS = wide_people(60)


def _interview(differ_in: int | None = 3, seed: int = 1, max_unfair_rounds: int | None = None) -> eh.Interview:
    metric = BayesPoint(WIDE.n_features, structure="diagonal", epsilon=0.05)
    bandit = eh.FairBandit(WIDE.n_features, metric=metric, seed=0, max_unfair_rounds=max_unfair_rounds)
    options: dict[str, Any] = {"differ_in": differ_in, "features": WIDE, "seed": seed, "n_pairs": 100}
    return eh.Interview(bandit, WIDE.encode(ROWS), **options)


def _answer(interview: eh.Interview, n: int) -> eh.Interview:
    for k in range(n):
        assert interview.question is not None
        interview.answer(("acceptable", "unfair", "unsure")[k % 3])
    return interview


# The people.


@given(differ_in=st.integers(1, 30), n=st.integers(2, 40), seed=st.integers(0, 1000))
@settings(max_examples=40, deadline=None)
def test_made_up_people_differ_in_the_stated_features_only(differ_in: int, n: int, seed: int) -> None:
    """In exactly those, at least one and at most differ_in; and they are people that the schema can describe."""
    rows = wide_people(n, seed)
    contexts = WIDE.encode(rows)
    profiles = PartialProfiles(contexts, labels_of(WIDE, WIDE.n_features), differ_in)
    made_up = profiles.sample(30, np.random.default_rng(seed))
    firsts, donors = made_up.pairs.indices.T
    decoded = WIDE.decode(contexts[firsts] - made_up.pairs.differences)
    first_rows, donor_rows = WIDE.decode(contexts[firsts]), WIDE.decode(contexts[donors])
    for row, first, donor, chosen in zip(decoded, first_rows, donor_rows, made_up.replaced, strict=True):
        replaced = {name for name, is_chosen in zip(profiles.names, chosen, strict=True) if is_chosen}
        assert 1 <= len(replaced) <= differ_in
        for name in WIDE.names:
            source = donor if name in replaced else first
            assert row[name] == (
                pytest.approx(source[name], abs=1e-6) if isinstance(row[name], float) else source[name]
            )
        assert {name for name in WIDE.names if first[name] != donor[name]} >= replaced


def test_a_combination_is_one_that_occurs() -> None:
    """Who has worked since twenty is not made up to have worked before birth: far nearer than a random mixture."""
    rows = wide_people(400)
    contexts = WIDE.encode(rows)
    profiles = PartialProfiles(contexts, labels_of(WIDE, WIDE.n_features), 3)
    made_up = profiles.sample(1000, np.random.default_rng(0))
    age, employment = profiles.names.index("age"), profiles.names.index("employment")
    one = made_up.replaced[:, age] != made_up.replaced[:, employment]
    made = WIDE.decode(contexts[made_up.pairs.indices[one, 0]] - made_up.pairs.differences[one])
    off = np.std([row["age"] - row["employment"] for row in made])
    real = np.std([row["age"] - row["employment"] for row in rows])
    shuffled = np.std([a["age"] - b["employment"] for a, b in pairwise(rows)])
    assert off < 2.5 * real
    assert off < 0.4 * shuffled


def test_without_a_schema_every_column_is_a_feature() -> None:
    """Contexts stay within the unit ball; two labels may share a name; None stays."""
    contexts = people(50, 4)
    profiles = PartialProfiles(contexts, labels_of(None, 4), 2)
    made_up = profiles.sample(200, np.random.default_rng(0))
    second = contexts[made_up.pairs.indices[:, 0]] - made_up.pairs.differences
    assert np.linalg.norm(second, axis=1).max() <= 1.0 + 1e-9
    assert set(np.sum(made_up.pairs.differences != 0.0, axis=1)) == {1, 2}
    blocks = PartialProfiles(contexts, labels_of(["a", "a", "b", None], 4), 1)
    differs = blocks.sample(200, np.random.default_rng(0)).pairs.differences != 0.0
    assert (differs[:, 0] == differs[:, 1]).all()
    assert not differs[:, 3].any()


@pytest.mark.parametrize("features", ["ab", ["a"], ["a", 1.5], [True, "b"], WIDE])
def test_labels_are_checked(features: Any) -> None:
    """One for each column: a name, a number or None."""
    with pytest.raises(InvalidInput, match="features must be"):
        labels_of(features, 2)


def test_whole_profiles_for_few_features() -> None:
    """By default people are compared as they are up to eight features; 0 asks for that, a number for partial ones."""
    assert [chosen_differences(None, n) for n in (1, 8, 9, 24)] == [None, None, 3, 3]
    assert [chosen_differences(n, 24) for n in (0, 1, 5)] == [None, 1, 5]


# The interview.


def test_questions_are_about_people_who_differ_little() -> None:
    """Each is about two who differ in at most so many features; the row and the context are the same person."""
    interview = _interview(2)
    for _ in range(6):
        question = interview.question
        assert question is not None
        assert question.replaced
        first, second = rows_of_question(question, ROWS)
        assert {name for name in WIDE.names if first[name] != second[name]} == set(question.replaced)
        assert len(question.replaced) <= 2
        assert "who differ in at most 2 features" in question.why
        assert np.array_equal(interview.contexts_of(question), WIDE.encode([first, second]))
        interview.answer("acceptable")


def test_the_same_seed_asks_the_same() -> None:
    """And another seed something else."""
    asked = [[answer.question for answer in _answer(_interview(seed=seed), 5).answers] for seed in (3, 3, 4)]
    assert asked[0] == asked[1]
    assert asked[0] != asked[2]


def test_it_goes_on_to_the_bit(tmp_path: Path) -> None:
    """Saved and loaded in the middle of a question it asks, learns and undoes as if it had never stopped."""
    interview = _answer(_interview(), 4)
    asked = interview.question
    interview.save(tmp_path / "desk.eh")
    again = eh.Interview.load(tmp_path / "desk.eh")
    assert again.question == asked
    _answer(interview, 3)
    _answer(again, 3)
    assert same(interview.state(), again.state())
    assert again.undo() == interview.undo()
    assert again.undo() == interview.undo()
    assert same(interview.state(), again.state())


def test_undo_is_exact() -> None:
    """The bandit after an answer and its undoing is the bandit before."""
    interview = _answer(_interview(), 3)
    before, asked = interview.bandit.state(), interview.question
    interview.answer("unfair")
    assert interview.undo() == asked
    assert same(interview.bandit.state(), before)


def test_answers_are_evidence() -> None:
    """Sources are the made-up contexts themselves: certificates of later decisions check against them."""
    interview = _answer(_interview(max_unfair_rounds=0), 6)  # plays only what is proved
    sources = interview.sources()
    taught = [answer.question for answer in interview.answers if answer.judgement != "unsure"]
    for source, question in zip(sources, taught, strict=True):
        assert np.array_equal([source["x"], source["y"]], interview.contexts_of(question))
    accepted = next(answer.question for answer in interview.answers if answer.judgement == "acceptable")
    decision = interview.bandit.decide(interview.contexts_of(accepted))
    certificate = interview.bandit.certify(decision)
    assert check(certificate, [(decision, []), *sources], structure="diagonal").proved == 1


def test_questions_through_json() -> None:
    """Partial ones keep the features and the donor; whole ones are written as before."""
    partial = Question(1, (5, 2), (0.35, 0.65), 0.3, "why", ("income", 3))
    assert Question.from_dict(partial.to_dict()) == partial
    whole = Question(1, (2, 5), (0.35, 0.65), 0.3, "why")
    assert "replaced" not in whole.to_dict()
    assert Question.from_dict(whole.to_dict()) == whole


def test_real_people_come_when_no_partial_profile_is_left() -> None:
    """Where nobody differs in a feature that may be replaced, people are asked about as they are."""
    bandit = eh.FairBandit(3, epsilon=0.05, seed=0, reviewer_error=1e-3)
    interview = eh.Interview(bandit, people(20, 3), differ_in=1, features=[None, None, None], seed=0)
    assert interview.question is not None
    assert interview.question.replaced is None
    assert "differ" not in interview.question.why


def test_partial_profiles_teach_a_metric() -> None:
    """An exact reviewer is asked one feature at a time: afterwards few unfair pairs of whole people are expected."""
    weights = np.array([0.9, 0.5, 0.1, 0.0])
    contexts = np.random.default_rng(0).uniform(-0.5, 0.5, size=(100, 4))
    bandit = eh.FairBandit(4, epsilon=0.05, structure="diagonal", seed=0, reviewer_error=1e-3)
    interview = eh.Interview(bandit, contexts, differ_in=1, enough=0.1, max_questions=60, seed=0)
    before = interview.expected_unfair_pairs
    for question in interview:
        x, y = interview.contexts_of(question)
        interview.answer("unfair" if question.gap > np.sqrt((x - y) ** 2 @ weights) else "acceptable")
    assert interview.expected_unfair_pairs < before / 5.0
    assert np.allclose(np.diag(bandit.metric.matrix()), weights, atol=0.15)


@pytest.mark.parametrize("differ_in", [0, -1, 1.5, True])
def test_differ_in_is_checked(differ_in: Any) -> None:
    """A whole number from 1, or None."""
    with pytest.raises(InvalidInput, match="differ_in must be"):
        _interview(differ_in)
