"""What a new desk takes from its schema: no unknowns for the intercept, a first bound; and whose judgement it plays."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from evenhand.desk import Desk, DeskSettings
from evenhand.errors import InvalidInput
from evenhand.metrics import BayesPoint, ByEvidence, Guarded, MetricLearner, Score, WithoutIntercept
from evenhand.schema import Category, Number, Schema, YesNo

FEATURES = (Number("income", low=0, high=100), Category("purpose", levels=("car", "home")), YesNo("member"))


def _metric(settings: DeskSettings) -> MetricLearner:
    return settings.first_bandit().metric


def test_the_intercept_of_a_schema_is_no_unknown() -> None:
    """The metric of a new desk has the unknowns of the other four coordinates; without an intercept nothing changes."""
    metric = _metric(DeskSettings.create(schema=Schema(FEATURES), metric="BayesPoint"))
    assert isinstance(metric, WithoutIntercept)
    assert (metric.n_features, metric.learner.n_features) == (5, 4)
    plain = _metric(DeskSettings.create(schema=Schema(FEATURES, intercept=False), metric="BayesPoint"))
    assert isinstance(plain, BayesPoint)
    assert isinstance(_metric(DeskSettings.create(n_features=5, metric="BayesPoint")), BayesPoint)


@pytest.mark.parametrize("intercept", [True, False])
def test_the_first_bound_puts_the_most_different_people_one_apart(intercept: bool) -> None:
    """Before any answer, the estimated distance of two who differ in everything is 1: the widest gap there is."""
    schema = Schema(FEATURES, intercept=intercept)
    metric = _metric(DeskSettings.create(schema=schema, metric="BayesPoint"))
    rows = [{"income": 0, "purpose": "car", "member": False}, {"income": 100, "purpose": "home", "member": True}]
    contexts = schema.encode(rows)
    assert metric.distances(contexts).estimate[0, 1] == pytest.approx(1.0)
    assert schema.farthest == pytest.approx(np.linalg.norm(contexts[0] - contexts[1]))


def test_at_46_columns_the_bound_leaves_room() -> None:
    """With a bound of 1 the prior of a distance between two at opposite ends was 0.54, give or take 0.11."""
    schema = Schema([Number(f"x{i}", low=0, high=1) for i in range(46)])
    settings = DeskSettings.create(schema=schema, metric="BayesPoint")
    assert settings.bound == pytest.approx(math.sqrt(46) / 2 * 47 / 46)
    assert DeskSettings.create(schema=schema, bound=2.0).bound == 2.0


def test_desks_from_before_stay_as_they_are() -> None:
    """A record without these settings has the intercept among its unknowns, and a bound of 1."""
    record = DeskSettings.create(schema=Schema(FEATURES), metric="BayesPoint", seed=1).to_dict()
    old = {name: value for name, value in record.items() if name not in ("bound", "intercept_in_metric", "play")}
    settings = DeskSettings.from_dict(old)
    metric = _metric(settings)
    assert isinstance(metric, BayesPoint)
    assert (metric.n_features, metric.bound, settings.play) == (5, 1.0, "mean")
    again = DeskSettings.from_dict(record)
    assert isinstance(_metric(again), WithoutIntercept)
    assert again.to_dict() == record


@pytest.mark.parametrize("metric", ["Score", "auto"])
@pytest.mark.parametrize("play", ["mean", "minimum", "Ada"])
def test_whose_judgement_is_played_is_a_setting(tmp_path: Path, metric: str, play: str) -> None:
    """Of the desk's learner, or of the one among several that models reviewers; reopened, it is the same."""
    url = f"sqlite:///{tmp_path / 'ledger.db'}"
    with Desk.open(url, "loans", n_features=2, metric=metric, play=play, seed=1):
        pass
    with Desk.open(url, "loans") as desk:
        learner = desk.projection.bandit.metric
        score = learner.last_resort if isinstance(learner, ByEvidence) else learner
        assert isinstance(score, Score)
        assert score.play == desk.settings.play == play


@pytest.mark.parametrize("n_features", [2, 9])
def test_all_learners_of_the_default_get_the_bound(n_features: int) -> None:
    """They start from the desk's bound, few features or many; the last resort has none."""
    learner = _metric(DeskSettings.create(n_features=n_features, bound=1.5))
    assert isinstance(learner, ByEvidence)
    assert [each.bound for each in learner.learners] == [1.5] * len(learner.learners)  # type: ignore[attr-defined]


@pytest.mark.parametrize(("settings", "message"), [({"play": ""}, "play must be"), ({"bound": -1.0}, "bound must be")])
def test_wrong_values_are_refused(settings: dict[str, object], message: str) -> None:
    """Before a desk is opened."""
    with pytest.raises(InvalidInput, match=message):
        DeskSettings.create(n_features=2, **settings)


@pytest.mark.parametrize("metric", ["auto", "BayesPoint", "Guarded"])
def test_the_schema_says_which_columns_belong_together(metric: str) -> None:
    """With more than five columns the levels of a category are a block of the prior, unless structure is "full"."""
    levels = tuple(f"purpose {i}" for i in range(12))
    schema = Schema([Number("income", low=0, high=9), Category("purpose", levels=levels)])
    for structure, blocks in (("auto", ("income", *["purpose"] * 12)), ("full", None)):
        learner = DeskSettings.create(schema=schema, structure=structure, metric=metric, seed=0).first_bandit().metric
        assert isinstance(learner, WithoutIntercept)
        inner = learner.learner
        inner = inner.learners[-1] if isinstance(inner, ByEvidence) else inner
        inner = inner.playing if isinstance(inner, Guarded) else inner
        assert isinstance(inner, BayesPoint)
        assert inner.blocks == blocks
