"""Offline peers on verdicts of rules: questions counted, orders and thresholds found, and the experiment on them."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from evenhand.auditors import MahalanobisAuditor
from evenhand.lab.experiments import offline_peers
from evenhand.lab.people.peers import MetricLearn
from evenhand.lab.people.scores import area_under_curve
from evenhand.lab.real_data.comparison_queries import (
    STEP,
    Arbiter,
    ComparisonSubmetric,
    in_order,
    levels,
    most_verdicts,
    sample_size,
)
from evenhand.lab.real_data.offline import BAYES_POINT, CONTENDERS, QUERIES, answered, drawn_pairs, predict_rule
from evenhand.lab.real_data.rules import THRESHOLDS
from evenhand.lab.store import Store
from tests.support.tiny_results import check_analysis

ON_A_LINE = MahalanobisAuditor([[0.9, 0.0]])


def _people(n: int, d: int = 2, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).uniform(-0.7, 0.7, size=(n, d))


def test_people_are_put_in_order_of_their_distance() -> None:
    """Comparisons alone sort a sample by its distance from the representative, in at most the sum of log2."""
    people = _people(40)
    arbiter = Arbiter(ON_A_LINE, people)
    order = in_order(arbiter, 0, np.arange(1, 40))
    distances = [float(ON_A_LINE.distances(people[[0, other]])[0, 1]) for other in order]
    assert distances == sorted(distances)
    assert arbiter.verdicts == 0
    assert arbiter.comparisons <= sum(math.ceil(math.log2(n + 1)) for n in range(39))


@pytest.mark.parametrize("size", [3, 8, 40])
def test_thresholds_are_found_with_few_questions(size: int) -> None:
    """Everybody's level is the number of thresholds at or below the distance, in a small order and in a long one."""
    people = _people(40)
    arbiter = Arbiter(ON_A_LINE, people)
    order = in_order(arbiter, 0, np.arange(1, size))
    thresholds = [place * STEP for place in range(1, 10)]
    found = levels(arbiter, 0, order, thresholds)
    distances = np.array([float(ON_A_LINE.distances(people[[0, other]])[0, 1]) for other in order])
    assert found.tolist() == np.sum(np.array(thresholds)[None, :] <= distances[:, None], axis=1).tolist()
    assert arbiter.verdicts <= most_verdicts(size - 1, 9)


@pytest.mark.parametrize("budget", [30, 100, 300, 1000])
def test_a_budget_is_kept(budget: int) -> None:
    """No more questions are asked than allowed, and most of them are."""
    arbiter = Arbiter(ON_A_LINE, _people(400))
    ComparisonSubmetric(arbiter, budget, np.random.default_rng(1))
    assert 0.5 * budget <= arbiter.queries <= budget
    assert sample_size(budget, 9) >= 2


def test_a_submetric_is_learned_and_is_seldom_too_long() -> None:
    """With a metric on a line, three representatives give distances that follow the truth and rarely exceed it."""
    people, others = _people(400), _people(600, seed=1)
    submetric = ComparisonSubmetric(Arbiter(ON_A_LINE, people), 1000, np.random.default_rng(1))
    first, second = others[:300], others[300:]
    truth = 0.9 * np.abs(first[:, 0] - second[:, 0])
    found = submetric.distances(first, second)
    assert np.corrcoef(found, truth)[0, 1] > 0.9
    assert np.mean(found > truth + STEP) < 0.1


@pytest.mark.filterwarnings("ignore:.*:FutureWarning:sklearn", "ignore:.*:DeprecationWarning")
@pytest.mark.parametrize("contender", ["LSML", "ITML", "MMC", "logistic, squares"])
def test_a_peer_learns_a_metric(contender: str) -> None:
    """From 200 answers by a metric that ignores a feature, each predicts others better than the gap alone does."""
    people, rng = np.hstack([_people(300, 3), np.ones((300, 1))]), np.random.default_rng(2)
    rule = MahalanobisAuditor([[0.9, 0.0, 0.0, 0.0], [0.0, 0.3, 0.0, 0.0]])
    known = answered(rule, people, *drawn_pairs(np.arange(150), 200, rng))
    asked = answered(rule, people, *drawn_pairs(np.arange(150, 300), 600, rng))
    areas = {}
    for name in (contender, "gap alone"):
        predictor = CONTENDERS[name](None, 0)  # type: ignore[arg-type]
        if isinstance(predictor, MetricLearn):  # a fit that fails would be replaced by Euclidean distances
            lengths = np.linalg.norm(np.asarray(predictor.components(known)), axis=0)
            assert lengths[0] > 1.05 * lengths[2]
        predictor.learn(known)
        areas[name] = area_under_curve(asked.flagged, predictor.chance_flagged(asked))
    assert areas[contender] > areas["gap alone"] + 0.02


@pytest.mark.parametrize("contender", [QUERIES, "constant", "MMC"])
def test_a_case_says_how_many_questions_it_took(contender: str) -> None:
    """Scores are in their ranges; given answers count as they are, comparison queries as they were asked."""
    found = predict_rule(dataset="resume", reviewer=THRESHOLDS, contender=contender, answers=60, seed=0)
    assert 0.45 <= found["area"][0] <= 1.0
    assert found["queries"][0] == 60 if contender != QUERIES else 30 <= found["queries"][0] <= 60


def test_tiny_results_are_analysed_and_drawn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three contenders on one rule give checks, a table and a figure."""
    monkeypatch.setattr(offline_peers, "EVENHAND", BAYES_POINT)  # the quicker one: this is about the experiment
    experiment, store = offline_peers.EXPERIMENT, Store(tmp_path)
    cases = [case for case in experiment.sweep(True) if case.settings["contender"] in (BAYES_POINT, "ITML", QUERIES)]
    for case in cases:
        store.put(case, experiment.run(**case.settings), 0.0)
    check_analysis(experiment, store.gather(cases), tmp_path)
