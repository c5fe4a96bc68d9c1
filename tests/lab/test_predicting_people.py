"""Prediction of people's flags: scores that are right, predictors that learn, and no answer seen beforehand."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.lab.people.answers import RatedPairs
from evenhand.lab.people.learners import DEFAULT, LEARNERS, BanditPredictor
from evenhand.lab.people.peers import PEERS, Constant, gap_pieces
from evenhand.lab.people.prediction import VOTES, predict
from evenhand.lab.people.scores import BINS, area_under_curve, calibration_error, log_loss, reliability
from evenhand.lab.people.study import Studies, load_studies
from evenhand.metrics import default_learner
from evenhand.testing.people import write_studies

metrics = pytest.importorskip("sklearn.metrics")


@pytest.fixture(scope="module")
def studies(tmp_path_factory: pytest.TempPathFactory) -> Studies:
    """Both studies of four made-up people."""
    folder: Path = tmp_path_factory.mktemp("people")
    write_studies(folder)
    return load_studies(folder)


@given(seed=st.integers(0, 1000), n=st.integers(2, 60), digits=st.integers(1, 6))
def test_scores_equal_scikit_learns(seed: int, n: int, digits: int) -> None:
    """Area under the curve, ties included, and log-loss."""
    rng = np.random.default_rng(seed)
    flagged, chance = rng.random(n) < 0.4, np.round(0.05 + 0.9 * rng.random(n), digits)
    if 0 < flagged.sum() < n:
        assert area_under_curve(flagged, chance) == pytest.approx(metrics.roc_auc_score(flagged, chance))
    chance = np.clip(chance, 0.01, 0.99)
    assert log_loss(flagged, chance) == pytest.approx(metrics.log_loss(flagged, chance, labels=[False, True]))


def test_only_pairs_of_one_stratum_are_compared() -> None:
    """A constant in each fold says nothing, whatever the constants are; without both kinds there is no area."""
    flagged, fold = np.array([True, False, True, False]), np.array([0, 0, 1, 1])
    assert area_under_curve(flagged, np.array([0.1, 0.1, 0.9, 0.9]), fold) == 0.5
    assert area_under_curve(flagged, np.array([0.2, 0.1, 0.8, 0.9]), fold) == 0.5
    assert np.isnan(area_under_curve(np.array([True, True]), np.array([0.1, 0.9])))


def test_reliability_counts_what_was_predicted_and_what_happened() -> None:
    """By hand: two predictions in the third bin, one at the very end."""
    table = reliability(np.array([True, False, True]), np.array([0.21, 0.29, 1.0]))
    assert [table.number[at] for at in (2, BINS - 1)] == [2, 1]
    assert table.predicted[2] == pytest.approx(0.5)
    assert (table.flagged[2], table.flagged[BINS - 1]) == (1, 1)
    assert calibration_error([table]) == pytest.approx(0.5 / 3)


def test_a_constant_is_the_share_of_flags(studies: Studies) -> None:
    """With one answer of each kind more; one half before any."""
    assert studies.ratings is not None
    people = RatedPairs(studies.ratings, 0, "log", pool=100, n_folds=5, seed=0)
    constant, known, asked = Constant(), people.training(0), people.test(0)
    assert set(constant.chance_flagged(asked)) == {0.5}
    constant.learn(known.take(slice(0, 30)))
    constant.learn(known.take(slice(30, None)))
    assert set(constant.chance_flagged(asked)) == {(known.flagged.sum() + 1) / (len(known) + 2)}


def test_pieces_add_up_to_the_gap() -> None:
    """The pieces are a monotone code of the gap: their mean is the gap itself."""
    gaps = np.linspace(0.0, 1.0, 33)
    assert np.allclose(gap_pieces(gaps).mean(axis=1), gaps)


@pytest.mark.parametrize("study", ["ratings", "pairs"])
@pytest.mark.parametrize(
    "contender", [DEFAULT, "BayesPoint", "constant", "gap alone", "logistic, squares", "boosting", "MMC"]
)
def test_every_contender_predicts_chances(studies: Studies, contender: str, study: str) -> None:
    """Sound scores after each number of answers, and the same again with the same seed."""
    if contender in PEERS and importlib.util.find_spec(PEERS[contender][0]) is None:
        pytest.skip(f"{PEERS[contender][0]} is not installed")
    settings = {"contender": contender, "panel": False, "person": 1, "most_answers": 30, "n_folds": 3, "seed": 0}
    found = predict(studies, study=study, scale="log", **settings)  # type: ignore[arg-type]
    assert found == predict(studies, study=study, scale="log", **settings)  # type: ignore[arg-type]
    assert min(found["answers"]) == 0
    assert max(found["answers"]) <= 30
    assert all(0.0 <= area <= 1.0 for area in found["area"])
    assert all(np.isfinite(loss) for loss in found["log_loss"])
    assert len({sum(count) for count in found["bin_count"]}) == 1


def test_answers_and_the_panel_teach(studies: Studies) -> None:
    """Made-up people follow a score: answers raise the area, and others' votes say something before the first one."""
    common = {"person": 0, "most_answers": 1000, "n_folds": 5, "seed": 0, "study": "ratings", "scale": "log"}
    regression = predict(studies, contender="logistic, absolute", panel=False, **common)  # type: ignore[arg-type]
    assert regression["area_within"][-1] > regression["area_within"][1] + 0.05
    votes = predict(studies, contender=VOTES, panel=False, **common)  # type: ignore[arg-type]
    alone, after = (
        predict(studies, contender="BayesPoint", panel=panel, **common)  # type: ignore[arg-type]
        for panel in (False, True)
    )
    assert votes["area_within"][0] > 0.6
    assert votes["answers"] == [0, 10, 30, 100, 300, 1000]
    assert len(set(votes["log_loss"])) == 1
    assert after["log_loss"][0] != alone["log_loss"][0]


def test_every_learner_of_the_registry_can_be_made() -> None:
    """A line of the registry is enough: each makes a learner of the right size that predicts."""
    for entry in LEARNERS.values():
        assert entry.make(3, entry.cautions[0], 0).n_features == 3
        assert len(set(entry.cautions)) == len(entry.cautions)


def test_the_default_is_judged_as_a_bandit_has_it(studies: Studies) -> None:
    """Its learner is handed the answers as FairBandit hands them, so that a model of the person may take over."""
    assert studies.ratings is not None
    people = RatedPairs(studies.ratings, 0, "log", pool=400, n_folds=5, seed=0)
    predictor = BanditPredictor(default_learner(people.contexts.shape[1], seed=0), people.name)
    assert predictor.bandit.metric.plays_metric
    predictor.learn(people.training(0))
    assert predictor.bandit.fit_check.seen == len(people.training(0))
    assert not predictor.bandit.metric.plays_metric
