"""The run of interview: so many questions before going live, then rounds as ever."""

from __future__ import annotations

import warnings
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from evenhand._internal.randomness import Seed
from evenhand.auditors import MahalanobisAuditor
from evenhand.bandit import FairBandit
from evenhand.environments import FairEnvironment, make_world
from evenhand.errors import InconsistentReviews
from evenhand.interview import Interview, Question
from evenhand.lab.curve import Curve
from evenhand.lab.play import decisions
from evenhand.lab.store import Columns

CANDIDATES = 500
"""So many people like those to come stand ready to be asked about; none of them comes."""


def interviewed_run(*, questions: int, d: int, k: int, rounds: int, epsilon: float, seed: int) -> Columns:
    """Ask an exact reviewer so many questions, then play in the standard world; the curve is of the live rounds alone.

    Streams are those of `standard_run`, and one more for the interview: without a question it is the standard run.
    Beside the curve: `asked`, fewer than `questions` if the interview ended before, as nothing was left to learn; and
    `expected`, the unfair pairs live that the interview foresaw at its end.

    >>> curve = interviewed_run(questions=5, d=2, k=3, rounds=8, epsilon=0.05, seed=0)
    >>> curve["round"][-1], curve["asked"][-1]
    (8.0, 5.0)
    """
    truth, luck, own, chance = (np.random.default_rng(s) for s in np.random.SeedSequence(seed).spawn(4))
    world = make_world("sphere", n_features=d, n_candidates=k, seed=truth)
    bandit, auditor, curve = (
        FairBandit(d, epsilon=epsilon, seed=own),
        MahalanobisAuditor(world.A),
        Curve(epsilon, rounds),
    )
    of_people, of_questions = chance.spawn(2)
    people = _people(world, of_people)
    # It is to go on to its last question, however little is to be feared.
    interview = Interview(bandit, people, enough=0.0, max_questions=questions, seed=of_questions)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InconsistentReviews)
        for question in interview:
            interview.answer(_said(auditor, people, question))
        expected = interview.expected_unfair_pairs
        for decision, reviews in decisions(bandit, world, auditor, rounds=rounds, seed=luck):
            curve.add(decision, world.expected_rewards(decision.contexts), auditor, reviews)
    columns = curve.columns()
    ends = {"asked": float(len(interview.answers)), "expected": expected}
    return columns | {name: [value] * len(columns["round"]) for name, value in ends.items()}


def _people(world: FairEnvironment, seed: Seed) -> NDArray[np.float64]:
    """Candidates of the world whom nobody will meet, (CANDIDATES, d) or a few more."""
    shown = [world.reset(seed=seed)[0]]
    while sum(map(len, shown)) < CANDIDATES:
        shown.append(world.advance())
    return np.concatenate(shown)


def _said(
    auditor: MahalanobisAuditor, people: NDArray[np.float64], question: Question
) -> Literal["unfair", "acceptable"]:
    """What an exact reviewer says."""
    distance = float(auditor.distances(people[list(question.pair)])[0, 1])
    return "unfair" if question.gap > distance else "acceptable"
