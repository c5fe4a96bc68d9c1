"""Interview: which question comes next, what an answer does, and when it is over."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import evenhand as eh
from evenhand.errors import InvalidInput
from evenhand.interview.question import SIMILAR, uncertainties
from evenhand.metrics.verdicts import Pairs
from tests.support.interviewed import exact, interviewed, people, standard
from tests.support.simulation import same

JUDGEMENTS = ("unfair", "acceptable", "unsure")


def _interview(n: int = 40, d: int = 3, **options: Any) -> eh.Interview:
    settings = {"seed": 1} | options
    return eh.Interview(eh.FairBandit(d, epsilon=0.02, seed=0, reviewer_error=1e-3), people(n, d), **settings)


# Questions.


def test_a_question_stays_until_it_is_answered() -> None:
    """Asked twice, the interview asks the same; once answered, it asks another."""
    interview = _interview()
    first = interview.question
    assert first is not None
    assert interview.question is first
    interview.answer("unfair")
    assert interview.question != first


def test_the_same_seed_and_answers_give_the_same_questions() -> None:
    """Two interviews made alike ask alike, to the bit; another seed asks otherwise."""
    runs = []
    for seed in (3, 3, 4):
        interview = _interview(n=500, seed=seed, n_pairs=300, max_questions=12)
        A = np.diag([0.6, 0.3, 0.0])
        runs.append(interviewed(interview, exact(interview.candidates, A)).answers)
    assert runs[0] == runs[1]
    assert runs[0] != runs[2]


@pytest.mark.filterwarnings("ignore::evenhand.errors.InconsistentReviews")
@given(
    judgement=st.lists(st.sampled_from(JUDGEMENTS), min_size=1, max_size=12),
    epsilon=st.sampled_from([0.003, 0.01, 0.05, 0.3]),
    n=st.integers(2, 12),
    seed=st.integers(0, 1000),
)
@settings(max_examples=25, deadline=None)
def test_probabilities_add_up(judgement: list[Any], epsilon: float, n: int, seed: int) -> None:
    """Whatever is answered: two candidates, probabilities of a draw between them, and their gap from epsilon to 1."""
    interview = eh.Interview(
        eh.FairBandit(2, epsilon=epsilon, seed=0, reviewer_error=1e-3), people(n, 2, seed), enough=0.0, seed=seed
    )
    for answer in judgement:
        question = interview.question
        if question is None:
            break
        i, j = question.pair
        assert 0 <= i < j < n
        assert all(0.0 <= probabilities <= 1.0 for probabilities in question.probabilities)
        assert sum(question.probabilities) == pytest.approx(1.0)
        assert abs(abs(question.probabilities[0] - question.probabilities[1]) - question.gap) < 1e-12
        assert epsilon <= question.gap + 1e-12
        assert question.gap <= 1.0
        interview.answer(answer)
        assert 0.0 <= interview.unknown <= 1.0
        assert interview.expected_unfair_pairs >= 0.0


def test_the_pair_is_the_one_known_least_and_the_gap_its_estimate() -> None:
    """Of all pairs none is less certain; the gap is the estimate of its distance, to a tenth of epsilon, at most 1."""
    interview = _interview(n=40)
    reviewer = exact(interview.candidates, np.diag([0.6, 0.3, 0.0]))
    everything = Pairs.of(interview.candidates)
    for question in interview:
        uncertainty = uncertainties(interview.bandit.metric, everything)
        row = everything.names().index(question.pair)
        assert uncertainty[row] == np.max(uncertainty)
        estimate = np.sqrt(interview.bandit.metric.estimate(everything.take(np.array([row])))[0])
        assert abs(question.gap - np.clip(estimate, 0.02, 1.0)) <= 0.002
        interview.answer(reviewer(question))


def test_a_pair_too_far_apart_for_any_gap_is_not_asked_for_ever() -> None:
    """Where all are farther apart than 1 every answer is "acceptable", and the interview is soon over."""
    interview = _interview(n=60)
    for question in interview:
        assert question.number <= 60
        interview.answer("acceptable")
    assert interview.done


def test_why_says_which_pair_it_is_and_gives_no_answer_away() -> None:
    """The reason names how many pairs were looked at, and neither a distance nor a likelier answer."""
    reasons: set[str] = set()
    for size in (0.5, 1e9):  # the second reviewer finds nothing unfair
        interview = _interview(n=500, n_pairs=300)
        interviewed(interview, exact(interview.candidates, np.eye(3) * size))
        reasons |= {answer.question.why for answer in interview.answers}
    least = "Of 300 pairs, the distance of these two is the most uncertain"
    assert reasons <= {
        f"{least}, and at this gap both answers are about equally informative.",
        f"{least}; no wider gap is possible.",
        f"{least}; a smaller gap would make no difference.",
    }
    assert len(reasons) >= 2
    assert not any(word in reason for reason in reasons for word in ("0.", "%", "unfair", "acceptable"))


def test_the_side_of_the_higher_probability_is_random() -> None:
    """Sometimes the first of the pair gets more, sometimes the second."""
    interview, reviewer = standard(3, seed=0, max_questions=30)
    higher = [
        a.question.probabilities[0] > a.question.probabilities[1] for a in interviewed(interview, reviewer).answers
    ]
    assert 5 < sum(higher) < 25


def test_thousands_of_candidates_are_no_burden() -> None:
    """20,000 candidates have 200 million pairs; a question looks at as many as configured."""
    interview = _interview(n=20_000, d=3, n_pairs=500)
    question = interview.question
    assert question is not None
    assert max(question.pair) > 100


def test_candidates_may_be_a_frame() -> None:
    """A data frame of contexts asks what the array asks."""
    contexts = people(20, 3)
    frames = [
        eh.Interview(eh.FairBandit(3, seed=0, reviewer_error=1e-3), x, seed=1)
        for x in (contexts, pd.DataFrame(contexts))
    ]
    assert frames[0].question == frames[1].question


@pytest.mark.parametrize(
    "metric", [eh.metrics.Ellipsoid(2, epsilon=0.05), eh.metrics.Guarded(eh.metrics.BayesPoint(2, epsilon=0.05))]
)
def test_any_shared_learner_can_be_interviewed(metric: eh.metrics.MetricLearner) -> None:
    """Learners with ends instead of a belief are asked as well, and know more in the end."""
    candidates = people(30, 2)
    interview = eh.Interview(eh.FairBandit(2, metric=metric, seed=0), candidates, max_questions=25, seed=0)
    interviewed(interview, exact(candidates, np.diag([0.5, 0.2])))
    assert interview.unknown < 0.8


# Answers.


def test_answers_reach_the_bandit() -> None:
    """What the interview learned is what learn_pair would have taught, reviewer and all."""
    candidates = people(30, 3)
    bandit = eh.FairBandit(3, metric=eh.metrics.BayesPoint(3, epsilon=0.02, error_rate=None), seed=0)
    by_hand = copy.deepcopy(bandit)
    interview = eh.Interview(bandit, candidates, seed=0)
    for judgement in ("unfair", "acceptable", "unfair"):
        question = interview.question
        assert question is not None
        x, y = candidates[list(question.pair)]
        by_hand.learn_pair(x, y, gap=question.gap, unfair=judgement == "unfair", reviewer="Ada")
        assert interview.answer(judgement, reviewer="Ada").used == 1
    assert same(bandit.metric.state()["mean"], by_hand.metric.state()["mean"])
    assert [answer.reviewer for answer in interview.answers] == ["Ada"] * 3
    assert list(bandit.reviewers()) == ["Ada"]


def test_unsure_teaches_nothing_and_the_pair_rests() -> None:
    """The bandit stays as it was, and for 20 questions no pair like it is asked about."""
    interview, reviewer = standard(3, seed=1, max_questions=22)
    before = copy.deepcopy(interview.bandit.state())
    unsure = interview.question
    assert unsure is not None
    assert interview.answer("unsure").used == 0
    assert same(interview.bandit.state(), before)
    z = np.subtract(*interview.candidates[list(unsure.pair)])
    for question in interview:
        w = np.subtract(*interview.candidates[list(question.pair)])
        assert (z @ w) ** 2 <= SIMILAR * (z @ z) * (w @ w)
        interview.answer(reviewer(question))


def test_when_every_pair_rests_the_longest_rested_comes_first() -> None:
    """Three people make three pairs; unsure of all of them, the reviewer meets them in turn, and is not stuck."""
    triangle = [[1.0, 0.0], [-0.5, 0.8], [-0.5, -0.8]]
    interview = eh.Interview(
        eh.FairBandit(2, epsilon=0.02, seed=0, reviewer_error=1e-3), triangle, max_questions=9, seed=1
    )
    pairs = []
    for question in interview:
        pairs.append(question.pair)
        interview.answer("unsure")
    assert len(pairs) == 9
    assert pairs[:3] == pairs[3:6] == pairs[6:]
    assert len(set(pairs)) == 3


def test_what_is_no_answer_is_refused() -> None:
    """A sentence, and everything is as it was."""
    interview = _interview()
    question, before = interview.question, copy.deepcopy(interview.state())
    for judgement in ("fair", None, True, 1):
        with pytest.raises(InvalidInput, match="answer must be 'unfair', 'acceptable' or 'unsure', got"):
            interview.answer(judgement)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="reviewer must be a name or None, got 3"):
        interview.answer("unfair", reviewer=3)  # type: ignore[arg-type]
    assert interview.question is question
    assert same(interview.state(), before)


def test_a_question_that_is_not_answered_does_not_loop_for_ever() -> None:
    """A loop that forgets to answer gets an error."""
    with pytest.raises(InvalidInput, match="question 1 must be answered before the next; 'unsure' skips it"):
        list(_interview())


# Taking back.


@given(judgement=st.lists(st.sampled_from(JUDGEMENTS), min_size=1, max_size=8), back=st.integers(1, 8))
@settings(max_examples=15, deadline=None)
def test_undo_is_as_if_never_answered(judgement: list[Any], back: int) -> None:
    """After undoing some answers, bandit and question are those of the interview that never had them."""
    interview = _interview(enough=0.0)
    states = []
    for answer in judgement:
        if interview.question is None:
            break
        states.append(copy.deepcopy(interview.state()))
        interview.answer(answer)
    for state in states[::-1][:back]:
        undone = interview.undo()
        assert interview.question == undone
        assert same(interview.state(), state)


def test_undo_restores_the_same_bandit() -> None:
    """The bandit is to the bit what it was before the answer, and stays the same object."""
    bandit = eh.FairBandit(3, epsilon=0.02, seed=0, reviewer_error=1e-3)
    interview = eh.Interview(bandit, people(20, 3), seed=0)
    before = copy.deepcopy(bandit.state())
    interview.answer("unfair")
    interview.undo()
    assert interview.bandit is bandit
    assert same(bandit.state(), before)


def test_nothing_is_taken_back_that_would_take_more_with_it() -> None:
    """Without answers, or once the bandit has decided elsewhere, a sentence."""
    interview = _interview()
    with pytest.raises(InvalidInput, match="there is no answer to undo"):
        interview.undo()
    interview.answer("unfair")
    interview.bandit.decide(interview.candidates[:3])
    before = copy.deepcopy(interview.state())
    with pytest.raises(InvalidInput, match="has decided or learned elsewhere"):
        interview.undo()
    assert same(interview.state(), before)


# The end.


def test_it_stops_by_itself_when_little_is_to_be_feared() -> None:
    """Fewer than `enough` unfair pairs to expect, with more than nothing unknown; then no question and no answer."""
    interview, reviewer = standard(3, seed=2)
    interviewed(interview, reviewer)
    assert interview.ended == "fewer than 0.5 unfair pairs are expected live"
    assert interview.expected_unfair_pairs < 0.5
    assert interview.unknown > 0.0
    assert 20 < len(interview.answers) < 60
    assert interview.question is None
    with pytest.raises(InvalidInput, match="no question to answer: fewer than"):
        interview.answer("unfair")


def test_it_stops_when_everything_is_known() -> None:
    """With `enough=0` it goes on until every distance is known to within epsilon, and they are."""
    interview, reviewer = standard(3, seed=2, enough=0.0)
    interviewed(interview, reviewer)
    assert interview.ended == "every pair is known to within 0.01"
    assert interview.unknown == 0.0


def test_it_stops_after_as_many_questions_as_were_wanted() -> None:
    """max_questions counts all answers, also the unsure ones, and may be raised later."""
    interview = _interview(max_questions=2)
    interview.answer("unsure")
    interview.answer("unfair")
    assert interview.ended == "2 questions were answered, the maximum"
    interview.max_questions = None
    assert interview.question is not None


@pytest.mark.parametrize(
    ("bandit", "candidates"),
    [
        (eh.FairBandit(2, metric=eh.metrics.KnownMetric(np.eye(2)), seed=0), people(10, 2)),
        (eh.FairBandit(2, seed=0, reviewer_error=1e-3), np.tile([[0.6, 0.8]], (5, 1))),
    ],
    ids=["a known metric", "candidates all alike"],
)
def test_with_nothing_to_learn_there_is_nothing_to_ask(bandit: eh.FairBandit, candidates: Any) -> None:
    """It is over before it began."""
    interview = eh.Interview(bandit, candidates)
    assert interview.done
    assert interview.unknown == interview.expected_unfair_pairs == 0.0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"bandit": "bandit"}, "bandit must be a FairBandit, got 'bandit'"),
        (
            {"bandit": eh.paper.full(3, epsilon=0.1, seed=0)},
            "the metric of an interview must be shared by all pairs, got PerPair",
        ),
        ({"candidates": people(1, 3)}, "candidates must be at least 2, got 1"),
        ({"candidates": people(5, 2)}, "contexts must have 3 features, got 2"),
        ({"epsilon": 0.0}, r"epsilon must be a number from 1e-06 to 1 or None, got 0\.0"),
        ({"enough": -1}, "enough must be a number >= 0, got -1"),
        ({"max_questions": 2.5}, r"max_questions must be a whole number >= 0 or None, got 2\.5"),
        ({"n_pairs": 0}, "n_pairs must be a whole number >= 1, got 0"),
        ({"seed": "a"}, "seed must be a whole number >= 0, a numpy Generator or None, got 'a'"),
    ],
)
def test_what_cannot_be_is_a_sentence(options: dict[str, Any], message: str) -> None:
    """Settings that make no sense are refused with what is allowed."""
    settings: dict[str, Any] = {
        "bandit": eh.FairBandit(3, seed=0, reviewer_error=1e-3),
        "candidates": people(5, 3),
    } | options
    with pytest.raises(InvalidInput, match=message):
        eh.Interview(settings.pop("bandit"), settings.pop("candidates"), **settings)
