"""A desk whose reviewer follows no metric: it says so, withdraws its promise, and a replay says the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evenhand.desk import Decide, Desk, GiveReview
from evenhand.desk.event_records import decision_of
from evenhand.desk.explain.explanation import metric_of
from evenhand.desk.projection.snapshots import from_bytes, to_bytes
from evenhand.desk.replay import projected, replay
from tests.support.desk_play import done
from tests.support.ledger_command import run
from tests.support.made_up_people import Rater


def rated(desk: Desk, rater: Rater, rounds: int, *, batch: int = 10) -> None:
    """Decisions on six candidates each, and five answers on each, at a desk that learns after every few of them."""
    rng = np.random.default_rng(0)
    for _ in range(rounds // batch):
        shown = [rng.choice(200, 6, replace=False) for _ in range(batch)]
        rows = [[{"id": str(i), "context": rater.contexts[i].tolist()} for i in who] for who in shown]
        events = done(desk.execute([Decide(candidates) for candidates in rows]))
        reviews = []
        for event, who in zip(events, shown, strict=True):
            decision, names = decision_of(event.body), event.body["candidates"]
            first = int(np.argmax(decision.probabilities))
            pairs = np.array([sorted((first, i)) for i in range(6) if i != first])
            gaps = np.array([decision.gap(int(i), int(j)) for i, j in pairs])
            flagged = rater.flags(who, pairs, gaps)
            said: dict[bool, list[Any]] = {True: [], False: []}
            for (i, j), bad in zip(pairs.tolist(), flagged.tolist(), strict=True):
                said[bad].append((names[i], names[j]))
            reviews.append(GiveReview(event.id, "partial", said[True], said[False], reviewer="Kim"))
        done(desk.execute(reviews))
        desk.catch_up(wait=True)


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A ledger of a desk with 300 decisions reviewed by somebody who follows no metric."""
    url = f"sqlite:///{tmp_path_factory.mktemp('fit') / 'ledger.db'}"
    settings: dict[str, Any] = {"features": ["age", "debt", "income", "years"], "seed": 1}
    with Desk.open(url, "loans", **settings) as desk:
        rated(desk, Rater(3), 300)
    return url


@pytest.mark.statistical
def test_the_desk_says_so_and_a_replay_says_the_same(url: str) -> None:
    """The report depends on the ledger alone: projected with snapshots, without them, or at another time."""
    with Desk.open(url, "loans") as desk:
        desk.catch_up(wait=True)
        metric = desk.metric()
        assert metric.no_metric_fits
        assert "follow no metric" in metric.fit[0]
        assert "model of the reviewers" in metric.fit[1]
        assert "none is set" in metric.fit[2]
        again, settings = projected(desk.ledger, "loans")
        assert again.bandit.fit() == desk.projection.bandit.fit()
        assert metric_of(again, settings).fit == metric.fit
        assert replay(desk.ledger, "loans").is_same


@pytest.mark.statistical
def test_the_command_line_prints_it(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    """One sentence a line, after the name of the desk."""
    assert run("fit", "loans", "--database", url) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("desk loans, up to event ")
    assert lines[1].strip().startswith("The answers follow no metric")


@pytest.mark.statistical
def test_a_snapshot_without_the_check_is_not_used(url: str) -> None:
    """It is older than the check, which needs the answers before it: the desk projects them again."""
    with Desk.open(url, "loans") as desk:
        reducer = desk.projector._reducer
        kept = from_bytes(to_bytes(reducer, "aa"))
        assert kept is not None
        assert kept.bandit.fit() == reducer.bandit.fit()
        state = reducer.bandit.state()
        del state["fit"]
        reducer.bandit.state = lambda: state  # type: ignore[method-assign]
        assert from_bytes(to_bytes(reducer, "aa")) is None


def test_a_desk_without_answers_claims_nothing(tmp_path: Path) -> None:
    """Too few answers to tell."""
    with Desk.open("memory:", "new", n_features=2) as desk:
        assert not desk.metric().no_metric_fits
        assert "Too few answers" in desk.metric().fit[0]
