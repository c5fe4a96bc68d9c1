"""Past decisions come in as a warm start: counted truly, refused by the line, into a desk that need not be there."""

from __future__ import annotations

import re
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evenhand.desk import Desk, Ledger
from evenhand.desk.imports.importing import import_jsonl
from evenhand.desk.replay import replay
from evenhand.desk.settings import DeskSettings
from evenhand.errors import LedgerUnavailable
from evenhand.ledger.verify import to_jsonl
from evenhand.metrics import Guarded
from evenhand.records.decision import Review
from tests.support.desk_play import QUICK, D, done, outcome_of, people, play
from tests.support.ledger_command import run
from tests.support.past_records import GOOD, PEOPLE, PROBABILITIES, REVIEW, distance, written


def test_past_decisions_from_elsewhere(ledger: Ledger, name: str, tmp_path: Path) -> None:
    """Good records are taken in, bad ones are reported with their line, and a flag shortens the distance."""
    bad = [
        {**GOOD, "probabilities": None},
        {**GOOD, "rewards": {"c": 1.0}},
        {**GOOD, "candidates": []},
        {**GOOD, "reviews": [{"kind": "one_bit", "any_unfair": "yes"}]},
        {**GOOD, "reviews": [{"unfair": [7]}]},
        {"nothing": 1},
        [1],
    ]
    file = written(tmp_path / "past.jsonl", GOOD, *bad, GOOD, "no json", {"settings": {"n_features": D}})
    with Desk.open(ledger, name, **QUICK, seed=2) as desk:
        before = distance(desk)
        reported = import_jsonl(desk, file)
        assert (reported.lines, reported.decisions, reported.outcomes, reported.reviews, reported.answers) == (
            11,
            2,
            2,
            2,
            0,
        )
        assert [number for number, _ in reported.refused] == [2, 3, 4, 5, 6, 7, 8, 10, 11]
        desk.catch_up(wait=True)
        assert distance(desk) < before


@pytest.mark.parametrize(("reviewer_error", "rounds"), [(None, 10), (0.0, 40), (0.05, 40)])
@pytest.mark.parametrize("kind", ["complete", "partial"])
def test_a_warm_start_knows_what_its_source_knew(
    tmp_path: Path, kind: str, reviewer_error: float | None, rounds: int
) -> None:
    """A desk that imports another's ledger has learned the same metric, however many pairs each review spoke of."""
    rng = np.random.default_rng(5)
    settings: dict[str, Any] = {"n_features": D, "seed": 4, "reviewer_error": reviewer_error}
    with Desk.open("memory:", "source", **settings) as source, Desk.open("memory:", "warm", **settings) as warm:
        for _ in range(rounds):
            contexts = people(rng, 4)
            made = source.decide(contexts)
            pairs = list(combinations(made.candidates, 2))
            chances = made.probabilities
            unfair = [pair for pair in pairs if abs(chances[pair[0]] - chances[pair[1]]) > 0.3]
            fair = [pair for pair in pairs if pair not in unfair] if kind == "partial" else []
            source.review(made.id, kind, unfair=unfair, fair=fair, reviewer="Kim")
        file = written(tmp_path / "source.jsonl", *to_jsonl(source.ledger, "source"))
        assert import_jsonl(warm, file).reviews == rounds
        warm.catch_up(wait=True)
        np.testing.assert_allclose(warm.metric().matrix, source.metric().matrix, rtol=1e-9, atol=1e-12)


def test_all_pairs_of_a_past_review_count_as_tight() -> None:
    """Which did is unknown: so of a flagged review, `Guarded` keeps those that were acceptable as well."""
    bandit = DeskSettings.create(n_features=2, metric="Guarded", seed=1).first_bandit()
    bandit.learn_past_review([[0.9, 0.0], [0.0, 0.9], [0.5, 0.5]], [0.7, 0.2, 0.1], Review.complete(unfair=[(0, 1)]))
    assert isinstance(bandit.metric, Guarded)
    (remembered,) = bandit.metric._memory
    assert remembered.unfair.tolist() == [True, False, False]


@pytest.mark.parametrize("metric", ["BayesPoint", "Ellipsoid", "VersionSpace"])
def test_one_bit_is_taken_with_its_decision(ledger: Ledger, name: str, tmp_path: Path, metric: str) -> None:
    """A past review of one bit shortens the distance if the learner can learn from it; the rest is learned."""
    third = {"id": "c", "context": [0, 0, 0.5]}
    bit = {"kind": "one_bit", "any_unfair": True, "reviewer": "Kim"}
    record = {
        "candidates": [*PEOPLE, third],
        "probabilities": {**PROBABILITIES, "c": 0.3},
        "rewards": {"a": 0.5},
        "reviews": [bit],
    }
    file = written(tmp_path / "past.jsonl", record)
    with Desk.open(ledger, name, n_features=D, seed=2, metric=metric) as desk:
        before, reward = distance(desk), desk.projection.bandit.reward.estimate(np.eye(D))[0]
        reported = import_jsonl(desk, file)
        desk.catch_up(wait=True)
        assert (reported.decisions, reported.outcomes, reported.reviews, reported.refused) == (1, 1, 1, [])
        assert desk.projection.skipped == 0
        assert (distance(desk) < before) == (metric != "Ellipsoid")
        assert desk.projection.bandit.reward.estimate(np.eye(D))[0] > reward
        play(desk, 1)
        assert replay(ledger, name).is_same


def test_one_bit_of_a_live_desk_is_exported_and_imported(ledger: Ledger, name: str, tmp_path: Path) -> None:
    """The decision comes over with its outcome and its review."""
    rng = np.random.default_rng(0)
    with Desk.open(ledger, name, **QUICK, seed=1) as desk:
        decision = desk.decide(people(rng))
        outcome = outcome_of(decision.event, rng)
        assert outcome is not None
        done(desk.execute([outcome]))
        desk.review(decision.id, "one_bit", any_unfair=True, reviewer="Kim")
    file = written(tmp_path / "past.jsonl", *to_jsonl(ledger, name))
    with Desk.open(ledger, f"{name}-anew", **QUICK) as desk:
        reported = import_jsonl(desk, file)
    assert (reported.lines, reported.decisions, reported.outcomes, reported.reviews, reported.refused) == (
        4,
        1,
        1,
        1,
        [],
    )


def test_events_of_a_missing_decision_are_reported(ledger: Ledger, name: str, tmp_path: Path) -> None:
    """An outcome or a review without its decision, and a line that only looks like one, are refused."""
    with Desk.open(ledger, name, **QUICK, seed=1) as desk:
        play(desk, 2)
        events = [event.content for event in desk.events()]  # without hashes, as somebody picked them
    gone = next(event["id"] for event in events if event["kind"] == "decision")
    lost = {i for i, event in enumerate(events) if event["body"].get("decision") == gone}
    hollow = {**events[0], "kind": "review", "body": {}}
    kept = [event for event in events if event["id"] != gone]
    file = written(tmp_path / "past.jsonl", *kept, hollow)
    with Desk.open(ledger, f"{name}-anew", **QUICK) as desk:
        reported = import_jsonl(desk, file)
    assert [number for number, _ in reported.refused] == sorted({*lost, len(kept) + 1})
    assert sum("not in the file" in str(error) for _, error in reported.refused) == len(lost)


def test_a_desk_is_made_with_settings_from_file_and_options(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """From the first line, from an exported ledger, from options; those go first; without any, the command asks."""
    data = ("--data", str(tmp_path / "data"))
    plain = written(tmp_path / "plain.jsonl", {**GOOD, "probabilities": [0.4, 0.1]})
    assert run("import", "bare", str(plain), *data) == 2
    assert "--set features=" in capsys.readouterr().err
    assert run("import", "named", str(plain), *data, "--set", "features=income,debt,years", "--set", "capacity=2") == 0
    reported = written(tmp_path / "other.jsonl", {"settings": {"n_features": D, "epsilon": 0.2, "capacity": 2}}, GOOD)
    assert run("import", "other", str(reported), *data, "--set", "capacity=null") == 0
    assert run("import", "other", str(reported), *data, "--set", "capacity=null") == 0
    assert run("import", "other", str(reported), *data) == 2  # its capacity is not the file's
    assert run("import", "other", str(reported), *data, "--set", "capacity") == 2
    out = capsys.readouterr().out
    assert "2 lines read; imported: 1 decision, 1 outcome, 1 review, 0 answers; 0 lines refused" in out
    assert "1 line was imported before" in out
    url = f"sqlite:///{tmp_path}/data/ledger.db"
    with Desk.open(url, "named") as desk:
        assert (desk.settings.features, desk.settings.capacity) == (("income", "debt", "years"), 2)
        desk.change_settings(capacity=3)
    assert run("export", "named", *data, "--output", str(tmp_path / "out.jsonl")) == 0
    assert run("import", "anew", str(tmp_path / "out.jsonl"), *data) == 0
    with Desk.open(url, "anew") as anew, Desk.open(url, "named") as named, Desk.open(url, "other") as other:
        assert (anew.settings.features, anew.settings.capacity) == (named.settings.features, 3)
        assert anew.settings.seed != named.settings.seed
        assert (other.settings.epsilon, other.settings.capacity) == (0.2, None)


def test_rewards_that_cannot_be_learned_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Rewards in euros are reported at once, with the line, and not passed over later."""
    euros = {**GOOD, "rewards": dict.fromkeys(GOOD["rewards"], 500.0)}
    file = written(tmp_path / "past.jsonl", {"settings": {"n_features": D}}, GOOD, euros)
    assert run("import", "loans", str(file), "--data", str(tmp_path)) == 1
    reported = capsys.readouterr().out
    assert "imported: 1 decision," in reported
    assert "line 3: rewards must be from -20.0 to 20.0, got 500.0" in reported
    with Desk.open(f"sqlite:///{tmp_path}/ledger.db", "loans") as desk:
        desk.catch_up(wait=True)
        assert desk.projection.skipped == 0


def test_a_ledger_of_other_features_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As many features, but of other names: nothing is taken in unless somebody says that they mean the same."""
    data = ("--data", str(tmp_path))
    names, others = [f"f{i}" for i in range(D)], [f"g{i}" for i in range(D)]
    url, file = f"sqlite:///{tmp_path}/ledger.db", tmp_path / "out.jsonl"
    with Desk.open(url, "old", features=names, seed=1) as desk:
        play(desk, 2)
    Desk.open(url, "same", features=names).close()
    Desk.open(url, "new", features=others).close()
    assert run("export", "old", *data, "--output", str(file)) == 0
    assert run("import", "same", str(file), *data) == 0
    assert run("import", "new", str(file), *data) == 2
    assert "features f0" in capsys.readouterr().err
    assert run("import", "new", str(file), *data, "--set", f"features={','.join(others)}") == 0


def test_refused_lines_end_with_a_status_and_are_listed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What fits is taken in and counted; what does not is listed with line and reason; the status is 1."""
    file = written(tmp_path / "past.jsonl", {"settings": {"n_features": D}}, GOOD, "no json", {**GOOD, "rewards": 3})
    assert run("import", "loans", str(file), "--data", str(tmp_path)) == 1
    out = capsys.readouterr().out
    assert "4 lines read; imported: 1 decision, 1 outcome, 1 review, 0 answers; 2 lines refused" in out
    assert re.search(r"^line 3: a line must be JSON", out, re.MULTILINE)
    assert re.search(r"^line 4: rewards must be .*, got 3", out, re.MULTILINE)


def test_an_import_that_stops_half_way_says_so(
    ledger: Ledger, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The database goes away after a batch: what was taken in is reported, and the same file can be imported again."""
    monkeypatch.setattr("evenhand.desk.imports.importing.BATCH", 2)
    file = written(tmp_path / "past.jsonl", GOOD, GOOD, GOOD)
    with Desk.open(ledger, name, **QUICK) as desk:
        execute, calls = desk.execute, []

        def failing(commands: Any) -> Any:
            calls.append(commands)
            if len(calls) == 2:
                raise LedgerUnavailable("the database cannot be used now")
            return execute(commands)

        monkeypatch.setattr(desk, "execute", failing)
        with pytest.raises(LedgerUnavailable, match=r"half way .*imported: 2 decisions"):
            import_jsonl(desk, file)
        reported = import_jsonl(desk, file)
        assert (reported.decisions, reported.known) == (1, 2)


@pytest.mark.parametrize(
    ("record", "reported"),
    [
        (
            {**GOOD, "reward": {"a": 1.0}},
            "a past decision has the unknown field reward; its fields are candidates, probabilities,",
        ),
        ({**GOOD, "contexts": [[1, 0, 0]]}, "a past decision has the unknown field contexts; its fields are"),
        (
            {**GOOD, "reviews": [{**REVIEW, "unfiar": []}]},
            "a review has the unknown field unfiar; its fields are kind, unfair, fair,",
        ),
    ],
)
def test_a_misspelt_field_is_not_passed_over(tmp_path: Path, record: dict[str, Any], reported: str) -> None:
    """What it says would be lost: the line is refused, with the fields there are."""
    with Desk.open("memory:", "loans", **QUICK) as desk:
        found = import_jsonl(desk, written(tmp_path / "past.jsonl", GOOD, record))
        assert found.decisions == 1
        ((number, error),) = found.refused
        assert number == 2
        assert str(error).startswith(reported)
