"""How well one person's flags are predicted from n of their answers, by five-fold cross-validation."""

from __future__ import annotations

import copy
from collections import defaultdict
from collections.abc import Callable, Sequence

import numpy as np

from evenhand._internal.arrays import Floats
from evenhand.lab.people.answers import POOL, AnsweredPairs, Panel, PersonAnswers, RatedPairs
from evenhand.lab.people.learners import DEFAULT, LEARNERS, BanditPredictor, LearnerPredictor
from evenhand.lab.people.peers import PEERS, AnswerPredictor
from evenhand.lab.people.scores import area_under_curve, log_loss, reliability
from evenhand.lab.people.study import Studies
from evenhand.lab.store import Columns
from evenhand.metrics import MetricLearner
from evenhand.schema.scales import Scale

VOTES = "panel's votes"
"""Predicts the share of the panel that would flag; it takes people who rated the same candidates."""

ANSWERS = {"ratings": (0, 10, 30, 100, 300, 1000), "pairs": (0, 10, 20, 1000)}
"""After how many answers of their own people are predicted; more than there are count as all."""


def predict(
    studies: Studies,
    *,
    study: str,
    contender: str,
    panel: bool,
    person: int,
    most_answers: int,
    n_folds: int,
    scale: Scale,
    seed: int,
) -> Columns:
    """The scores of one contender on one person, after each number of answers; one row each.

    panel: whether the learner starts from what others answered. most_answers: larger numbers are left out.
    """
    people: RatedPairs | AnsweredPairs
    if study == "ratings":
        assert studies.ratings is not None
        people = RatedPairs(studies.ratings, person, scale, pool=POOL, n_folds=n_folds, seed=seed)
    else:
        assert studies.pairs is not None
        people = AnsweredPairs(studies.pairs, person, scale, n_folds=n_folds, seed=seed)
    taught = people.panel() if panel else None
    make = _maker(contender, taught, people, seed=seed)
    there = min(len(people.training(fold)) for fold in range(n_folds))
    steps = sorted({n for n in (min(n, there) for n in ANSWERS[study]) if n <= most_answers})
    held_out: dict[int, list[tuple[PersonAnswers, Floats]]] = defaultdict(list)
    for fold in range(n_folds):
        training, test = people.training(fold), people.test(fold)
        predictor, known = make(training.differences.shape[1]), 0
        for n in steps:
            predictor.learn(training.take(slice(known, n)))
            known = n
            held_out[n].append((test, predictor.chance_flagged(test)))
    rows = [_scored(n, parts) for n, parts in held_out.items()]
    return {name: [row[name] for row in rows] for name in rows[0]}


def _maker(
    contender: str, panel: Panel | None, people: RatedPairs | AnsweredPairs, *, seed: int
) -> Callable[[int], AnswerPredictor]:
    if contender == VOTES:
        assert isinstance(people, RatedPairs)
        return lambda d: Votes(people)
    if contender in PEERS:
        return lambda d: PEERS[contender][1]()
    entry = LEARNERS[contender]
    ready: dict[int, MetricLearner] = {}  # what the panel taught is the same for each fold

    def made(d: int) -> AnswerPredictor:
        if d not in ready:
            ready[d] = entry.make(d, entry.cautions[0], seed)
            if panel is not None:
                assert entry.with_panel is not None
                ready[d] = entry.with_panel(ready[d], panel)
        if contender == DEFAULT:
            return BanditPredictor(copy.deepcopy(ready[d]), people.name)
        return LearnerPredictor(copy.deepcopy(ready[d]), people.name)

    return made


class Votes:
    """The share of the panel that would flag, each kind of vote counted once more; it learns nothing."""

    def __init__(self, people: RatedPairs) -> None:
        self.people = people

    def learn(self, answers: PersonAnswers) -> None:
        """Nothing."""

    def chance_flagged(self, answers: PersonAnswers) -> Floats:
        """The share of votes, (n,)."""
        n = len(self.people.panel_members)
        return np.asarray((self.people.votes(answers) * n + 1) / (n + 2))


def _scored(n: int, parts: Sequence[tuple[PersonAnswers, Floats]]) -> dict[str, object]:
    """Scores of held-out predictions; only those of one fold are compared, since one model made them."""
    flagged, chance, gaps, fold = (
        np.concatenate(column)
        for column in (
            [test.flagged for test, _ in parts],
            [chance for _, chance in parts],
            [test.gaps for test, _ in parts],
            [np.full(len(test), number) for number, (test, _) in enumerate(parts)],
        )
    )
    _, gap = np.unique(gaps, return_inverse=True)
    table = reliability(flagged, chance)
    return {
        "answers": n,
        "area": area_under_curve(flagged, chance, fold),
        "area_within": area_under_curve(flagged, chance, fold * len(gaps) + gap),
        "log_loss": log_loss(flagged, chance),
        "bin_count": table.number,
        "bin_predicted": table.predicted,
        "bin_flagged": table.flagged,
    }
