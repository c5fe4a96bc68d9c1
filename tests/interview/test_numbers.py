"""What an interview is worth: unfair pairs live after so many questions, and whether they were foreseen."""

from __future__ import annotations

import numpy as np
import pytest

import evenhand as eh
from tests.support.interviewed import interviewed, live, standard

SEEDS = range(5)


def _unfair_live(d: int, k: int, seed: int, questions: int, rounds: int) -> int:
    interview, reviewer = standard(d, seed=seed, enough=0.0, max_questions=questions)
    interviewed(interview, reviewer)
    account = live(interview.bandit, d=d, k=k, rounds=rounds, seed=seed)
    return int(np.sum(account.unfair_pairs))


@pytest.mark.statistical
def test_forty_questions_spare_the_unfair_pairs_of_three_features() -> None:
    """d = 3, k = 4, 150 rounds, means over seeds: more than 5 unfair pairs without a question, below 1.5 after 40."""
    without = [_unfair_live(3, 4, seed, questions=0, rounds=150) for seed in range(6)]
    after = [_unfair_live(3, 4, seed, questions=40, rounds=150) for seed in range(16)]
    assert np.mean(without) > 5
    assert np.mean(after) < 1.5


def test_what_is_foreseen_at_the_start_is_what_happens() -> None:
    """d = 3, k = 4, means of eight seeds: the number foreseen before any question is right to within a third."""
    found, foreseen = [], []
    for seed in range(8):
        interview, _ = standard(3, seed=seed)
        foreseen.append(interview.expected_unfair_pairs)
        found.append(np.sum(live(interview.bandit, d=3, k=4, rounds=150, seed=seed).unfair_pairs))
    assert 2 / 3 < np.mean(found) / np.mean(foreseen) < 3 / 2


@pytest.mark.slow
@pytest.mark.parametrize(("questions", "most"), [(50, 12), (100, 8), (200, 0)])
def test_a_hundred_questions_leave_next_to_nothing(
    questions: int, most: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """d = k = 5, 3,000 live rounds, five seeds: in each at most 8 unfair pairs after 100 questions, none after 200."""
    found = [_unfair_live(5, 5, seed, questions=questions, rounds=3000) for seed in SEEDS]
    with capsys.disabled():
        print(f"\nunfair pairs live after {questions} questions: {found}")
    assert max(found) <= most


@pytest.mark.slow
def test_when_it_stops_by_itself_it_has_foreseen_what_is_left(capsys: pytest.CaptureFixture[str]) -> None:
    """d = k = 5, ten seeds: it stops at fewer than half an unfair pair to expect, and the mean found is below one."""
    lengths, found = [], []
    for seed in range(10):
        interview, reviewer = standard(5, seed=seed)
        lengths.append(len(interviewed(interview, reviewer).answers))
        found.append(int(np.sum(live(interview.bandit, d=5, k=5, rounds=500, seed=seed).unfair_pairs)))
    with capsys.disabled():
        print(f"\nstopped by itself after {lengths} questions; unfair pairs live: {found}")
    assert np.mean(found) < 1.0
    assert max(lengths) < 120


@pytest.mark.slow
@pytest.mark.parametrize("questions", [0, 30, 60, 90])
def test_meter_and_forecast_agree_with_what_happens(questions: int, capsys: pytest.CaptureFixture[str]) -> None:
    """d = k = 5, means of five seeds: both are right to within a factor of 1.6, or to within one unfair pair."""
    found, metered, forecast = [], [], []
    for seed in SEEDS:
        interview, reviewer = standard(5, seed=seed, enough=0.0, max_questions=questions)
        interviewed(interview, reviewer)
        metered.append(interview.expected_unfair_pairs)
        forecast.append(interview.forecast(plan=eh.interview.ReviewPlan(decisions=250), draws=4).expected)
        found.append(np.sum(live(interview.bandit, d=5, k=5, rounds=500, seed=seed).unfair_pairs))
    with capsys.disabled():
        print(f"\n{questions} questions: found {np.mean(found)}, {np.mean(metered):.2f}, {np.mean(forecast):.2f}")
    for foreseen in (np.mean(metered), np.mean(forecast)):
        ratio = np.mean(found) / foreseen
        assert 1 / 1.6 < ratio < 1.6 or abs(np.mean(found) - foreseen) < 1.0
