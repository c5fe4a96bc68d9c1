"""What a report says of the model, and the reasons for a candidate, follow from the raw export."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from evenhand.desk import Desk
from evenhand.desk.settings import DeskSettings
from evenhand.errors import UnknownRecord
from evenhand.ledger.verify import to_jsonl
from evenhand.records.decision import Decision, Review
from evenhand.report import AuditReport, audit_report
from evenhand.rewards import RidgeUCB
from tests.support.desk_play import QUICK, play
from tests.support.report_play import DESK, SETTINGS, applicants
from tests.support.report_recount import opened
from tests.support.report_text import text_of, tokens, written


@pytest.fixture(scope="module")
def played() -> Iterator[Desk]:
    """A desk without a schema, played for some days."""
    with Desk.open("memory:", "bare", **QUICK, seed=2) as desk:
        play(desk, 6, seed=4)
        yield desk


def learned_again(events: list[dict[str, Any]], until: int) -> Any:
    """A bandit that learned from the events of an export up to one, as the paper's loop does."""
    bandit = DeskSettings.from_dict(events[0]["body"]["settings"]).first_bandit()
    made: dict[str, Decision] = {}
    for event in events[:until]:
        body, name = event["body"], event["body"].get("decision", "")
        if event["kind"] == "decision":
            bandit.count_decisions()
            made[event["id"]] = bandit.own(decision_in(body))
        elif event["kind"] == "outcome":
            names = names_in(events, name)
            bandit.learn(made[name], rewards={names.index(who): r for who, r in body["rewards"].items()})
        elif event["kind"] == "review":
            names = names_in(events, name)
            unfair = [(names.index(a), names.index(b)) for a, b in body["unfair"]]
            bandit.learn(made[name], review=Review.complete(unfair=unfair, reviewer=body["reviewer"]))
    return bandit


def names_in(events: list[dict[str, Any]], decision: str) -> list[str]:
    """The candidates of a decision."""
    return next(list(event["body"]["candidates"]) for event in events if event["id"] == decision)


def decision_in(body: dict[str, Any]) -> Decision:
    """The decision of an exported event."""
    arrays: dict[str, Any] = {
        name: np.array(body[name]) for name in ("contexts", "probabilities", "optimistic_rewards")
    }
    chosen = tuple(body["candidates"].index(name) for name in body["chosen"])
    tight = tuple((i, j) for i, j in body["tight_pairs"])
    rest: dict[str, Any] = {
        "capacity": body["capacity"],
        "tight_pairs": tight,
        "worst_residual": body["worst_residual"],
    }
    return Decision(id=body["seal"], round=body["number"], chosen=chosen, **arrays, **rest)


def test_the_model_is_learned_again(played: Desk) -> None:
    """Metric, proofs, error counts and settled flags are those of a bandit that learns from the export."""
    events = [opened(line) for line in to_jsonl(played.ledger, "bare")]
    model = audit_report(played.ledger, "bare").model
    assert model is not None
    bandit = learned_again(events, len(events))
    np.testing.assert_allclose(model.metric.matrix, bandit.metric.get_mahalanobis_matrix(), rtol=1e-9)
    kinds = Counter(event["kind"] for event in events)
    assert (model.state, model.outcomes, model.reviews, model.skipped) == (
        len(events),
        kinds["outcome"],
        kinds["review"],
        0,
    )
    made = [event["body"] for event in events if event["kind"] == "decision"]
    certificates = [bandit.certify(bandit.own(decision_in(body))) for body in made[-20:]]
    found = Counter(pair.status for one in certificates for pair in one.pairs)
    assert {status: n for status, n in model.pairs.items() if n} == found
    assert sum(found.values()) == sum(len(list(combinations(body["candidates"], 2))) for body in made[-20:])
    gaps = [
        (pair, event["body"]["decision"])
        for event in events
        if event["kind"] == "review"
        for pair in event["body"]["unfair"]
    ]
    assert (model.compared_flags, model.settled_flags) == (len(gaps), settled(events, gaps, bandit))
    assert model.compared_flags > 0


@pytest.mark.parametrize(
    "settings",
    [{"metric": "BayesPoint", "reviewer_error": None}, {"metric": "VersionSpace", "reviewer_error": 0.01}],
    ids=["error rates", "promise"],
)
def test_rates_intervals_and_promise_are_learned_again(settings: dict[str, Any]) -> None:
    """Error rates, the ends of distances and the promise are those of a bandit that learns from the export; the page
    shows no other number of the model."""
    with Desk.open("memory:", "bare", n_features=3, seed=2, **settings) as desk:
        play(desk, 3, seed=4)
        report, events = audit_report(desk.ledger, "bare"), [opened(line) for line in to_jsonl(desk.ledger, "bare")]
    model, bandit = report.model, learned_again(events, len(events))
    assert model is not None
    one_apart = np.vstack([np.eye(3), np.zeros(3)])
    _, lower, upper = (ends[:3, 3] for ends in bandit.distances(one_apart))
    estimate = np.diag(bandit.metric.get_mahalanobis_matrix()) ** 0.5
    for found, expected in (
        (model.metric.distance, estimate),
        (model.metric.lower, lower),
        (model.metric.upper, upper),
    ):
        np.testing.assert_allclose(found, expected, rtol=1e-9)
    assert (model.metric.flags_left, model.metric.promise) == (bandit.flags_left, bandit.promise)
    assert (model.metric.flags_left is None) == (settings["metric"] == "BayesPoint")
    learned = {one.name: (one.answers, one.error_rate, one.lower, one.upper) for one in bandit.reviewers().values()}
    assert {one.name: (one.answers, one.rate, one.lower, one.upper) for one in model.reviewers} == learned
    known = set(tokens(" ".join([*written(model.to_dict()), *written(report.figures.settings)])))
    shown = {name: set(tokens(text_of(report.html, name))) for name in ("model", "reviewers", "flags")}
    assert shown["model"] <= known | {"1"}, shown["model"] - known
    if settings["reviewer_error"] is None:
        rates = {f"{100 * value:.1f}" for numbers in learned.values() for value in numbers[1:]}
        assert rates
        assert rates <= shown["reviewers"]
    else:
        assert str(bandit.flags_left) in shown["flags"]


def settled(events: list[dict[str, Any]], gaps: list[tuple[list[str], str]], bandit: Any) -> int:
    """Flagged pairs that a metric puts nearer to each other than their gap."""
    matrix, found = bandit.metric.get_mahalanobis_matrix(), 0
    for (first, second), decision in gaps:
        body = next(event["body"] for event in events if event["id"] == decision)
        i, j = body["candidates"].index(first), body["candidates"].index(second)
        away = np.array(body["contexts"][i]) - np.array(body["contexts"][j])
        gap = abs(body["probabilities"][i] - body["probabilities"][j])
        found += bool((away @ matrix @ away) ** 0.5 < gap)
    return found


def declined(desk: Desk) -> tuple[AuditReport, dict[str, Any]]:
    """The report for somebody who was not drawn in the last decision, and the decision."""
    event = opened([line for line in to_jsonl(desk.ledger, DESK) if '"kind":"decision"' in line][-1])
    body = event["body"]
    name = next(name for name in body["candidates"] if name not in body["chosen"])
    return audit_report(desk.ledger, DESK, candidate=name, model=False), body


@pytest.fixture(scope="module")
def lending() -> Iterator[Desk]:
    """A live desk with a schema that has learned from outcomes: income pays off."""
    settings = {name: value for name, value in SETTINGS.items() if name not in ("shadow", "metric")}
    with Desk.open("memory:", DESK, **settings) as desk:
        rng = np.random.default_rng(3)
        for day in range(15):
            people = applicants(rng, day)
            decision = desk.decide(people)
            income = {one["id"]: one["features"]["income"] for one in people}
            for name in decision.chosen:
                desk.outcome(decision.id, {name: income[name] / 1e5})
        yield desk


def test_contributions_add_up(lending: Desk) -> None:
    """Contributions are theta times the difference to the average, and add up to the recorded difference."""
    report, body = declined(lending)
    (notice,) = report.notices
    events = [opened(line) for line in to_jsonl(lending.ledger, DESK)]
    bandit = learned_again(events, body["state"])
    assert isinstance(bandit.reward, RidgeUCB)
    contexts, place = np.array(body["contexts"]), body["candidates"].index(report.candidate)
    amounts = bandit.reward.theta * (contexts[place] - contexts.mean(axis=0))
    by_name = {one.feature: one.amount for one in notice.contributions}
    assert by_name == pytest.approx({"income": amounts[0], "has_guarantor": amounts[1]})
    optimistic = np.array(body["optimistic_rewards"])
    assert notice.difference == pytest.approx(optimistic[place] - optimistic.mean())
    assert sum(by_name.values()) + notice.unknown == pytest.approx(notice.difference)
    assert notice.chance == body["probabilities"][place]


def test_a_notice_names_only_the_candidate(lending: Desk) -> None:
    """What can be sent has the chance and the candidate's own values in the schema's words, and no other id."""
    report, body = declined(lending)
    (notice,) = report.notices
    words = " ".join(notice.sentences)
    assert f"{notice.chance:.1%}" in words
    for one in notice.reasons:
        assert f"{one.feature.replace('_', ' ')}: {one.words}" in words
    assert all(name not in words for name in body["candidates"])
    assert json.dumps(notice.sentences[0])[1:20] in report.html


def test_an_unknown_candidate_is_refused(lending: Desk) -> None:
    """Somebody who took part in no decision has no reasons."""
    with pytest.raises(UnknownRecord, match="'nobody' took part in no decision of the period"):
        audit_report(lending.ledger, DESK, candidate="nobody")
