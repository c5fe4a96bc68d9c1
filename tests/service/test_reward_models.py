"""A model of the user's own over HTTP: upload, decide, learn, refit, restart, replay; and what is refused."""

from __future__ import annotations

import base64
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import skops.io
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier

from evenhand.client import DeskClient
from evenhand.desk.replay import replay
from evenhand.ledger.ledger import open_ledger
from evenhand.rewards import Predictor
from evenhand.rewards.predictor import ModelInUse
from evenhand.service import ServiceSettings
from evenhand.service.service import Service
from evenhand.testing.metric_worlds import random_contexts
from tests.support.running_service import ADMIN, Asking, is_problem, running
from tests.support.waiting import wait_for

D, K, CAPACITY = 46, 50, 10


def pays(contexts: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Outcomes 0 and 1 that depend on two features together."""
    score = 8 * contexts[:, 0] * contexts[:, 1] + contexts[:, 2] + 0.1 * rng.normal(size=len(contexts))
    return np.asarray(score > 0, dtype=np.int64)


def scorer() -> HistGradientBoostingClassifier:
    """A gradient-boosted classifier, fitted to 500 people of the past."""
    rng = np.random.default_rng(0)
    contexts = random_contexts(rng, 500, D)
    return HistGradientBoostingClassifier(max_iter=20, max_leaf_nodes=8).fit(contexts, pays(contexts, rng))


@pytest.mark.process
def test_a_gradient_boosted_scorer_over_http(tmp_path: Path) -> None:
    """46 features, 50 candidates, capacity 10: decide, learn, refit, restart, and every decision again to the bit."""
    settings = ServiceSettings(database_url=f"sqlite:///{tmp_path}/ledger.db", admin_token=ADMIN, log_requests=False)
    reward = Predictor(scorer(), refit_every=40, members=2)
    with running(settings) as (url, service), DeskClient(url, ADMIN, timeout=120) as client:
        client_settings: dict[str, Any] = {"n_features": D, "capacity": CAPACITY, "reviewer_error": 0.001, "seed": 4}
        opened = client.open_desk("boosted", reward=reward, **client_settings)
        assert "model" not in opened["settings"]["reward"]
        assert opened["settings"]["reward"]["kind"] == "Predictor"
        play(client, "boosted", 6, seed=1)
        wait_for(lambda: in_use(service, "boosted").refits >= 1)
        refits = in_use(service, "boosted").refits
    with running(settings) as (url, service), DeskClient(url, ADMIN, timeout=120) as client:
        assert client.desk("boosted")["settings"]["reward"]["model_bytes"] > 1000
        play(client, "boosted", 5, seed=2)
        wait_for(lambda: in_use(service, "boosted").refits > refits)
    ledger = open_ledger(settings.database_url)
    try:
        report = replay(ledger, "boosted")
    finally:
        ledger.close()
    assert report.is_same
    assert report.decisions == 11


def play(client: DeskClient, desk: str, rounds: int, seed: int) -> None:
    """Decide about fifty people, tell the outcomes of the ten, and three reviewed pairs."""
    rng = np.random.default_rng(seed)
    for _ in range(rounds):
        contexts = random_contexts(rng, K, D)
        people = [{"id": f"p{i}", "context": row.tolist()} for i, row in enumerate(contexts)]
        decision = client.decide(desk, people)
        outcomes = pays(contexts, rng)
        client.outcome(desk, decision["id"], {name: float(outcomes[int(name[1:])]) for name in decision["chosen"]})
        pairs = [("p0", "p1"), ("p2", "p3"), ("p4", "p5")]
        client.review(desk, decision["id"], "partial", unfair=pairs[:1], fair=pairs[1:])


def in_use(service: Service, desk: str) -> ModelInUse:
    """The models that a desk plays."""
    model = service.desks._open[desk].desk.projection.bandit.reward
    assert isinstance(model, Predictor)
    return model.in_use


def test_yes_and_no_over_http(ask: Asking) -> None:
    """LogisticUCB by name; an outcome that is neither is refused, and the response says why."""
    opened = ask("POST", "/api/desks", {"name": "yes-no", "n_features": 2, "reward": "LogisticUCB"})
    assert opened.status_code == 201, opened.text
    assert opened.json()["settings"]["reward"] == {"kind": "LogisticUCB"}
    decision = ask.decide("yes-no")
    path = f"/api/desks/yes-no/decisions/{decision['id']}/outcomes"
    problem = is_problem(ask("POST", path, {"rewards": {decision["chosen"][0]: -0.5}}), 422)
    assert "from 0 (no) to 1 (yes)" in problem["detail"]
    assert ask("POST", path, {"rewards": {decision["chosen"][0]: 1.0}}).status_code == 201


def test_a_metric_known_or_learned_elsewhere_over_http(ask: Asking) -> None:
    """The desk's metric is the matrix passed; reviewers do not see it in the settings."""
    G = [[0.5, 0.1], [0.1, 0.4]]
    for name, metric in (("known", "KnownMetric"), ("begun", "BayesPoint")):
        body = {"name": name, "n_features": 2, "metric": metric, "prior": G}
        body |= {"caution": 0.05, "prior_weight": 4.0} if metric == "BayesPoint" else {}
        assert ask("POST", "/api/desks", body).status_code == 201
        matrix = ask("GET", f"/api/desks/{name}/metric").json()["matrix"]
        np.testing.assert_allclose(matrix, G, atol=1e-9)
        ask.token(f"reviewer of {name}", ["review"], [name])
        assert ask("GET", f"/api/desks/{name}").json()["settings"]["prior"] == G
        assert "prior" not in ask("GET", f"/api/desks/{name}", by=f"reviewer of {name}").json()["settings"]
    refused = ask("POST", "/api/desks", {"name": "no", "n_features": 2, "metric": "Ellipsoid", "caution": 0.2})
    assert "caution must be left out" in is_problem(refused, 422)["detail"]


def uploaded(model: Any) -> dict[str, Any]:
    """A body that opens a desk with this model, as skops writes it."""
    text = base64.b64encode(skops.io.dumps(model)).decode()
    return {"name": "mine", "n_features": 2, "reward": {"kind": "Predictor", "model": text}}


def test_uploads_are_checked_before_anything_is_stored(ask: Asking) -> None:
    """Types that are not listed, what is no model at all: refused, and there is no such desk."""
    contexts = np.array([[0.0, 1.0], [1.0, 0.0], [0.5, 0.5], [0.1, 0.2]])
    cases: list[tuple[dict[str, Any], str]] = [
        (uploaded(KNeighborsClassifier().fit(contexts, [0, 1, 0, 1])), "trusted types"),
        ({"name": "mine", "n_features": 2, "reward": {"kind": "Predictor"}}, "needs model"),
        ({"name": "mine", "n_features": 2, "reward": {"kind": "Predictor", "model": "UEs="}}, "skops"),
        ({"name": "mine", "n_features": 2, "reward": {"kind": "Predictor", "model": "%%%"}}, "base64"),
        ({"name": "mine", "n_features": 2, "reward": {"kind": "Magic"}}, ""),
    ]
    for body, sentence in cases:
        assert sentence in is_problem(ask("POST", "/api/desks", body), 422)["detail"]
        assert ask("GET", "/api/desks/mine").status_code == 404


def test_one_model_is_tried_at_a_time(ask: Asking, monkeypatch: pytest.MonkeyPatch) -> None:
    """A second one is refused with a time; as many as there are threads to read with would stop the whole service."""
    begun, go = threading.Event(), threading.Event()

    def slow(*_: Any) -> None:
        begun.set()
        assert go.wait(60)

    monkeypatch.setattr("evenhand.desk.opening.check_in_child", slow)
    body = uploaded(LogisticRegression().fit(np.array([[0.0, 1.0], [1.0, 0.0]]), [0, 1]))
    with ThreadPoolExecutor(1) as other:
        first = other.submit(ask, "POST", "/api/desks", body)
        try:
            assert begun.wait(60)
            refused = ask("POST", "/api/desks", body | {"name": "second"})
            assert "another model is being tried" in is_problem(refused, 503, "unavailable")["detail"]
            assert refused.headers["retry-after"] == "5"
            assert ask("POST", "/api/desks", {"name": "plain", "n_features": 2}).status_code == 201
        finally:
            go.set()
        assert first.result().status_code == 201
    assert ask("POST", "/api/desks", body | {"name": "second"}).status_code == 201


@pytest.mark.process
def test_a_desk_with_an_uploaded_model_is_opened_once(ask: Asking) -> None:
    """The same request with the same key gets the same response, without another trial."""
    model = LogisticRegression().fit(np.array([[0.0, 1.0], [1.0, 0.0]]), [0, 1])
    headers = {"Idempotency-Key": "k1"}
    body = uploaded(model)
    first, second = (ask("POST", "/api/desks", body, headers=headers) for _ in range(2))
    assert first.status_code == second.status_code == 201, first.text
    assert first.json() == second.json()
    assert ask.decide("mine")["number"] == 0


@pytest.mark.process
def test_a_model_that_fails_its_trial_opens_no_desk(ask: Asking) -> None:
    """A model of other features is refused by the child, and there is no such desk."""
    wide = LogisticRegression().fit(np.eye(4), [0, 1, 0, 1])
    assert "n_features must be 4" in is_problem(ask("POST", "/api/desks", uploaded(wide)), 422)["detail"]
    assert ask("GET", "/api/desks/mine").status_code == 404
