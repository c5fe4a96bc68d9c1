"""Vowpal Wabbit reads what we write, strictly, and we read what it and its services write."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import vowpalwabbit
from hypothesis import given, settings
from hypothesis import strategies as st

import evenhand as eh
from evenhand.adapters.dsjson_import import write_past
from evenhand.adapters.dsjson_ledger import to_dsjson
from evenhand.adapters.dsjson_lines import DsjsonRound, Form, checked_names, feature_names, lines_of
from evenhand.adapters.dsjson_reader import read_dsjson, read_predictions
from evenhand.cli.main import main
from evenhand.desk import Desk
from evenhand.errors import InvalidInput
from evenhand.testing.metric_worlds import random_contexts

REDUCTIONS: dict[Form, str] = {"cb": "--cb_explore_adf", "ccb": "--ccb_explore_adf", "slates": "--slates"}
CAPACITIES: dict[Form, int | None] = {"cb": 1, "ccb": 3, "slates": None}
forms = pytest.mark.parametrize("form", REDUCTIONS)

SERVICE_CB = {
    "_label_cost": -1,
    "_label_probability": 0.8166667,
    "_label_Action": 2,
    "_labelIndex": 1,
    "Timestamp": "2026-02-03T10:00:00.123Z",
    "Version": "1",
    "EventId": "cb-1",
    "a": [2, 1],
    "c": {
        "_synthetic": False,
        "Geo": {"country": "CH", "_cf": "8"},
        "_multi": [
            {"_tag": "tea", "i": {"constant": 1, "id": "tea"}, "j": [{"_title": "x"}, {"strength": 0.25}]},
            {"_tag": "milk", "i": {"constant": 1, "id": "milk"}, "j": [{"cold": True}]},
        ],
    },
    "p": [0.816666663, 0.183333337],
    "VWState": {"m": "N/A"},
}
SERVICE_CCB = {
    "Timestamp": "2026-02-03T10:00:00.123Z",
    "Version": "1",
    "EventId": "ccb-1",
    "c": {
        "FromUrl": [{"weather": "sunny"}],
        "_multi": [{"i": {"roast": "light"}}, {"i": {"roast": "dark"}}, {"i": {"roast": "none"}}],
        "_slots": [{"_id": "main", "sj": [{"size": "large"}]}, {"_id": "side", "sj": [{"size": "small"}]}],
    },
    "_outcomes": [
        {"_label_cost": -0.6, "_id": "main", "_a": [2, 0, 1], "_p": [0.5, 0.25, 0.25], "_o": [{"v": 0.6}]},
        {"_label_cost": 0.0, "_id": "side", "_a": [0, 1], "_p": [0.9, 0.1], "_o": []},
    ],
    "VWState": {"m": "N/A"},
}
SERVICE_SLATES = {
    "_label_cost": -2.0,
    "EventId": "slates-1",
    "Version": "1",
    "c": {
        "User": {"age": 0.5},
        "_multi": [{"_slot_id": 0, "a": {"x": 1}}, {"_slot_id": 0, "a": {"x": 2}}, {"_slot_id": 1, "b": {"y": 1}}],
        "_slots": [{"_id": "0", "s": {"n": 1}}, {"_id": "1", "s": {"n": 2}}],
    },
    "_outcomes": [{"_a": [1, 0], "_p": [0.7, 0.3]}, {"_a": [0], "_p": [1.0]}],
    "VWState": {"m": "N/A"},
}


def played(form: Form, rounds: int = 30) -> list[DsjsonRound]:
    """Rounds of a bandit with outcomes; some outcomes are missing."""
    rng = np.random.default_rng(5)
    bandit = eh.FairBandit(3, capacity=CAPACITIES[form], seed=2)
    found = []
    for number in range(rounds):
        decision = bandit.decide(random_contexts(rng, 5, 3))
        seen = decision.chosen if number % 5 else decision.chosen[:1]
        rewards = {i: float(decision.contexts[i, 0]) for i in seen} if number % 7 else {}
        bandit.learn(decision, rewards=rewards)
        found.append(DsjsonRound.of(decision, rewards, names=["income", "_debt", "years"]))
    return found


def run_vw(lines: Sequence[Any], options: str, folder: Path) -> tuple[str, str]:
    """Vowpal Wabbit in strict mode on these lines: its log, and what it predicted."""
    data, predictions = folder / "data.dsjson", folder / "predictions.txt"
    data.write_text("".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines))
    workspace = vowpalwabbit.Workspace(
        f"--dsjson --strict_parse -d {data} -p {predictions} {options}", enable_logging=True
    )
    workspace.finish()
    return "\n".join(workspace.get_log()), predictions.read_text()


def examples_in(log: str) -> int:
    """How many examples it has read."""
    return int(re.findall(r"number of examples = (\d+)", log)[0])


@forms
def test_vowpal_wabbit_reads_every_line_in_strict_mode(form: Form, tmp_path: Path) -> None:
    """No error or warning in its log, an example for every line that is not to be skipped, and a finite loss."""
    lines = [line for one in played(form) for line in lines_of(one, form)]
    log, _ = run_vw(lines, REDUCTIONS[form], tmp_path)
    assert "error" not in log
    assert "warning" not in log
    assert examples_in(log) == sum("_skipLearn" not in line for line in lines)
    labelled = [line for line in lines if "_label_cost" in line or "_outcomes" in line]
    assert len(labelled) > 20
    assert abs(float(re.findall(r"average loss = (\S+)", log)[0])) < 10


def test_vowpal_wabbit_tells_a_wrong_line(tmp_path: Path) -> None:
    """So the test above can fail: a cost that is a text is an error in the log, and no example."""
    (line,) = (line for one in played("ccb", 2)[1:] for line in lines_of(one, "ccb"))
    line["_outcomes"][0]["_label_cost"] = "much"
    log, _ = run_vw([line], REDUCTIONS["ccb"], tmp_path)
    assert "error" in log
    assert examples_in(log) == 0


@forms
def test_vowpal_wabbit_learns_what_pays(form: Form, tmp_path: Path) -> None:
    """After 400 rounds in which the first feature pays, it gives a candidate with more of it the best chance."""
    lines = [line for one in played(form, 400) for line in lines_of(one, form)]
    good, bad = {"income": 0.9, "feature _debt": 0.0, "years": 0.0}, {"income": -0.9, "feature _debt": 0.0, "years": 0}
    features = (bad, good) if form == "cb" else (bad, good, bad)
    question = DsjsonRound("q", features, (0,), (0.5,) * len(features), {0: 0.0}, CAPACITIES[form])
    asked = list(lines_of(question, form))  # predicted before it is learned from
    _, text = run_vw([*lines, *asked], f"{REDUCTIONS[form]} --epsilon 0.05 --noconstant", tmp_path)
    *_, last = read_predictions(text.split("\n"))
    if form == "slates":
        assert [slot[0] > 0.5 for slot in last] == [False, True, False]
    else:
        assert max(last[0], key=lambda action: last[0][action]) == 1


@forms
def test_we_read_what_we_write(form: Form) -> None:
    """Features under their own names, who was chosen, probabilities, rewards and capacity, all exactly."""
    for one in played(form):
        lines = [json.dumps(line) for line in lines_of(one, form)]
        for read in read_dsjson(lines):
            assert feature_names([read]) == ["income", "_debt", "years"]
            assert [list(f.values()) for f in read.features] == [list(f.values()) for f in one.features]
            assert read.probabilities == one.probabilities
            assert set(read.chosen) <= set(one.chosen)
            if form != "cb":
                assert (read.chosen, dict(read.rewards), read.capacity) == (one.chosen, dict(one.rewards), one.capacity)
        merged = {i: reward for read in read_dsjson(lines) for i, reward in read.rewards.items()}
        assert merged == one.rewards


@st.composite
def any_round(draw: st.DrawFn) -> DsjsonRound:
    """Any candidates, probabilities, choice and rewards, with names that Vowpal Wabbit would skip among them."""
    names = draw(st.lists(st.text("_ab |=é", min_size=1, max_size=4), min_size=1, max_size=3, unique=True))
    numbers = st.floats(-1, 1, allow_nan=False)
    k = draw(st.integers(1, 4))
    rows = draw(st.lists(st.lists(numbers, min_size=len(names), max_size=len(names)), min_size=k, max_size=k))
    features = tuple(dict(zip(checked_names(names), row, strict=True)) for row in rows)
    chosen = tuple(sorted(draw(st.sets(st.integers(0, k - 1)))))
    probabilities = tuple(draw(st.lists(st.floats(0, 1), min_size=k, max_size=k)))
    rewards = {i: draw(numbers) for i in chosen if draw(st.booleans())}
    return DsjsonRound("r", features, chosen, probabilities, rewards, None)


@given(any_round(), st.sampled_from(["ccb", "slates"]))
@settings(max_examples=60, deadline=None)
def test_any_round_comes_back_from_one_line(one: DsjsonRound, form: Form) -> None:
    """Whatever the names, numbers and missing outcomes, the line has all of the round."""
    (line,) = lines_of(one, form)
    (read,) = read_dsjson([json.dumps(line)])
    assert (read.chosen, read.probabilities, dict(read.rewards)) == (one.chosen, one.probabilities, dict(one.rewards))
    assert [list(f.values()) for f in read.features] == [list(f.values()) for f in one.features]
    assert read.capacity is None


def test_slots_have_the_probability_of_a_place() -> None:
    """A candidate's is the same in every place, and the places of a candidate add up to its own."""
    one = DsjsonRound("r", ({"a": 0.1},) * 4, (0, 2, 3), (0.9, 0.6, 0.8, 0.7), {0: 1.0, 2: 0.0, 3: -1.0}, 3)
    (line,) = lines_of(one, "ccb")
    for outcome in line["_outcomes"]:
        assert outcome["_p"] == [one.probabilities[i] / 3 for i in outcome["_a"]]  # type: ignore[index]
    firsts = [outcome["_a"][0] for outcome in line["_outcomes"]]
    assert sorted(firsts) == [0, 2, 3]
    for at, outcome in enumerate(line["_outcomes"]):
        assert not set(firsts[:at]) & set(outcome["_a"])


def test_a_slate_without_its_choice_is_skipped(tmp_path: Path) -> None:
    """In shadow mode, until somebody says what was done; a live decision that chose nobody is one of cost 0."""
    contexts = [[0.1, 0.2], [0.3, 0.0]]
    with Desk.open("memory:", "loans", n_features=2, capacity=None, shadow=True) as desk:
        desk.decide(contexts)
        desk.decide(contexts, action={"chosen": ["1"], "probabilities": [0.2, 0.7]})
        lines = [json.loads(line) for line in to_dsjson(desk.ledger, "loans", "slates")]
    assert [line.get("_skipLearn") for line in lines] == [True, True]  # the second has no outcome yet
    nobody = DsjsonRound("r", ({"a": 0.1},), (), (0.4,), {}, None)
    (line,) = lines_of(nobody, "slates")
    assert line["_label_cost"] == 0
    (line,) = lines_of(replace(nobody, is_known=False), "slates")
    assert line["_skipLearn"]


def test_a_service_log_of_choices_is_read() -> None:
    """Actions from 1, costs turned round, nested features by their path, hidden names left out."""
    (one,) = read_dsjson([json.dumps(SERVICE_CB), json.dumps({"RewardValue": 1, "EventId": "late"})])
    assert (one.id, one.chosen, one.rewards) == ("cb-1", (1,), {1: 1.0})
    assert one.probabilities == (0.183333337, 0.816666663)
    assert one.candidates == ("tea", "milk")
    assert one.shared == {"Geo|country=CH": 1.0}
    assert one.features[0] == {"i|constant": 1.0, "i|id=tea": 1.0, "j|strength": 0.25}
    assert one.features[1]["j|cold"] == 1.0
    past = one.to_past(["i|constant", "j|strength"], norm=2.0)
    assert past["candidates"][0] == {"id": "tea", "context": [0.5, 0.125]}
    assert past["rewards"] == {"milk": 1.0}


def test_other_writers_of_choices_are_read() -> None:
    """Some count actions from 0, name the event otherwise, list the actions in their own order, or have no features."""
    line = {**SERVICE_CB, "a": [0, 1], "p": [0.3, 0.7], "event_id": "12", "c": {"A": {"F": 0.0}, "_multi": [{}, {}]}}
    del line["EventId"]
    (one,) = read_dsjson([json.dumps(line)])
    assert (one.id, one.chosen, one.probabilities) == ("12", (1,), (0.3, 0.7))
    assert one.shared == {"A|F": 0.0}
    (slate,) = read_dsjson([json.dumps({"c": SERVICE_SLATES["c"]})])
    assert (slate.chosen, slate.capacity, slate.total_reward) == ((), 2, None)


def test_a_service_log_of_slots_is_read() -> None:
    """Actions from 0; the probabilities of slots are kept, those of candidates are unknown."""
    (one,) = read_dsjson([json.dumps(SERVICE_CCB)])
    assert (one.chosen, one.rewards, one.capacity) == ((2, 0), {2: 0.6, 0: 0.0}, 2)
    assert one.slot_probabilities == (0.5, 0.9)
    assert one.probabilities is None
    assert "probabilities" not in one.to_past()
    with pytest.raises(InvalidInput, match="probabilities must be known"):
        list(lines_of(one, "ccb"))


def test_a_service_log_of_slates_is_read() -> None:
    """Actions are numbered within their slot; there is one reward for all of them."""
    (one,) = read_dsjson([json.dumps(SERVICE_SLATES)])
    assert (one.chosen, one.capacity, one.total_reward) == ((1, 2), 2, 2.0)
    assert one.probabilities == (0.3, 0.7, 1.0)
    assert one.features[1] == {"a|x": 2.0}


@pytest.mark.parametrize(("record", "form"), [(SERVICE_CB, "cb"), (SERVICE_CCB, "ccb"), (SERVICE_SLATES, "slates")])
def test_the_service_logs_of_these_tests_are_vowpal_wabbits(record: Any, form: Form, tmp_path: Path) -> None:
    """Vowpal Wabbit reads them, too, and its predictions name the actions that we read."""
    log, text = run_vw([record], REDUCTIONS[form], tmp_path)
    assert "error" not in log
    assert examples_in(log) == 1
    (slots,) = read_predictions(text.split("\n"))
    (one,) = read_dsjson([json.dumps(record)])
    assert len(slots) == len(one.chosen)
    for slot in slots:
        assert sum(slot.values()) == pytest.approx(1, abs=1e-4)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"c": None}, "a decision must be"),
        ({"a": [3, 1]}, "an action must be one of 2"),
        ({"p": [1.5, 0.1]}, "a probability must be from 0 to 1, got 1.5"),
        ({"p": [0.5]}, "p must be a list with a probability for each of the 2 actions"),
        ({"p": None}, "p must be a list with a probability for each of the 2 actions"),
        ({"a": [2, 2]}, "a must name every action once"),
        ({"a": ["x", 1]}, "a must be a list of whole numbers"),
        ({"c": {"_multi": [1, 2]}}, "a decision must be"),
        ({"_label_cost": "NaN"}, "a cost must be a finite number"),
        ({"_labelIndex": -1}, "an action must be one of 2"),
    ],
)
def test_a_line_that_cannot_be_read_is_named(change: dict[str, Any], said: str) -> None:
    """With its number and what is wrong."""
    lines = [json.dumps(SERVICE_CB), json.dumps({**SERVICE_CB, **change})]
    with pytest.raises(InvalidInput, match=f"line 2.*{said}"):
        list(read_dsjson(lines))
    with pytest.raises(InvalidInput, match="line 1 must be JSON"):
        list(read_dsjson(["{"]))
    with pytest.raises(InvalidInput, match="line 1 must be JSON"):
        list(read_dsjson(["[" * 100_000]))
    with pytest.raises(InvalidInput, match="line 2 must be ACTION:PROBABILITY"):
        list(read_predictions(["0:1", "zero"]))


def test_wrong_rounds_are_not_written() -> None:
    """Slates of a capacity, an unknown form, names that do not fit."""
    one = DsjsonRound("r", ({"a": 0.1},), (0,), (0.9,))
    with pytest.raises(InvalidInput, match="capacity must be None, got 1"):
        list(lines_of(one, "slates"))
    with pytest.raises(InvalidInput, match="form must be"):
        list(lines_of(one, "json"))  # type: ignore[arg-type]
    decision = eh.FairBandit(2, seed=0).decide([[0.1, 0.2]])
    with pytest.raises(InvalidInput, match="names must be 2"):
        DsjsonRound.of(decision, names=["a"])


@forms
def test_a_ledger_goes_to_vowpal_wabbit_and_back(form: Form, tmp_path: Path) -> None:
    """Exported by the command line, read by Vowpal Wabbit strictly, imported into a new desk: the same outcomes."""
    url, log = f"sqlite:///{tmp_path}/a.db", tmp_path / "loans.dsjson"
    rng = np.random.default_rng(3)
    options: dict[str, Any] = {"features": ["income", "_debt"], "capacity": CAPACITIES[form]}
    with Desk.open(url, "loans", seed=1, **options) as desk:
        for _ in range(8):
            decision = desk.decide(random_contexts(rng, 4, 2))
            desk.outcome(decision.id, dict.fromkeys(decision.chosen, 0.5))
    name = {"cb": "dsjson", "ccb": "dsjson-ccb", "slates": "dsjson-slates"}[form]
    assert main(["ledger", "export", "loans", "--database", url, "--format", name, "--output", str(log)]) == 0
    said, _ = run_vw(log.read_text().splitlines(), REDUCTIONS[form], tmp_path)
    assert "error" not in said
    to = f"sqlite:///{tmp_path}/b.db"
    importing = ["--format", "dsjson", "--database", to, "--set", "features=income,_debt"]
    assert main(["ledger", "import", "copy", str(log), *importing]) == 0
    with Desk.open(url, "loans") as desk, Desk.open(to, "copy") as copy:
        outcomes = [event.body["rewards"] for event in desk.events() if event.kind == "outcome"]
        imported = [event.body for event in copy.events() if event.kind == "imported"]
        assert sum(len(body["rewards"]) for body in imported) == sum(map(len, outcomes)) > 0
        exported = [one.probabilities for one in read_dsjson(to_dsjson(desk.ledger, "loans", form))]
        assert [tuple(body["probabilities"]) for body in imported] == exported


def test_a_log_of_a_service_becomes_a_desk(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Contexts are scaled to norm 1, and refused lines keep their numbers."""
    log = tmp_path / "service.dsjson"
    log.write_text("\n".join(["", json.dumps({"RewardValue": 0}), json.dumps(SERVICE_CB), json.dumps(SERVICE_CB)]))
    found = write_past(log, tmp_path / "past.jsonl")
    assert (found.rounds, found.capacity) == (2, 1)
    assert found.norm == pytest.approx(np.sqrt(3))
    assert [
        number for number, line in enumerate((tmp_path / "past.jsonl").read_text().split("\n"), 1) if line.strip()
    ] == [3, 4]
    database = f"sqlite:///{tmp_path}/ledger.db"
    assert main(["ledger", "import", "shop", str(log), "--format", "dsjson", "--database", database]) == 0
    said = capsys.readouterr().out
    assert "2 rounds, 5 features; contexts were divided by 1.73205" in said
    assert "2 outcomes" in said
    log.write_text("")
    with pytest.raises(InvalidInput, match="at least one decision"):
        write_past(log, tmp_path / "past.jsonl")
