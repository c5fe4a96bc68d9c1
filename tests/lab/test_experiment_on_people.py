"""The experiment on people: its data, its cases, its checks, and resuming."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from rich.console import Console

from evenhand.cli.main import main
from evenhand.errors import InvalidInput
from evenhand.lab.experiment import Data, Experiment
from evenhand.lab.experiments import EXPERIMENTS, people
from evenhand.lab.people import findings, learners, pictures
from evenhand.lab.people.findings import PANEL, over_people, unfair_at
from evenhand.lab.people.learners import LEARNERS
from evenhand.lab.people.online import CEILINGS, FAVOURITE, FLOORS
from evenhand.lab.people.peers import PEERS, installed
from evenhand.lab.people.prediction import VOTES
from evenhand.lab.runner import named, run_experiment
from evenhand.lab.store import Case
from evenhand.testing.people import made_up_pairs, write_studies

DEFAULT = "BayesPoint"


@pytest.fixture(autouse=True)
def quick_default(monkeypatch: pytest.MonkeyPatch) -> None:
    """The experiment as if its default were the quickest learner: these tests are about the experiment."""
    for module in (findings, learners, pictures, people):
        monkeypatch.setattr(module, "DEFAULT", DEFAULT)
    monkeypatch.setattr(learners, "QUICK", (DEFAULT,))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with both studies of four made-up people."""
    made = tmp_path_factory.mktemp("data")
    write_studies(made)
    return made


def _screen() -> Console:
    return Console(file=io.StringIO(), width=200)


def _small(folder: Path) -> Experiment:
    """The quick experiment without most of its cases: two people, 20 rounds."""
    experiment = people.on(Data(folder))

    def sweep(quick: bool) -> list[Case]:
        kept = []
        for case in experiment.sweep(True):
            settings = dict(case.settings)
            if settings["person"] < 2 and settings["contender"] in (DEFAULT, FAVOURITE, "constant"):
                kept.append(replace(case, settings=settings | ({"rounds": 20} if "rounds" in settings else {})))
        return kept

    return replace(experiment, sweep=sweep)


def test_without_data_a_sentence_says_what_to_pass(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`lab run people` alone ends with status 2; "all" runs everything else."""
    for arguments in (["people"], ["people", "--data", str(tmp_path)]):
        with pytest.raises(SystemExit) as ended:
            main(["lab", "run", *arguments, "--quick", "--jobs", "1", "--results", str(tmp_path / "results")])
        assert ended.value.code == 2
        printed = " ".join(capsys.readouterr().err.split())
        assert "files of ratings (columns reoffended, person_1, person_2, ...) or pairs" in printed
        assert ("pass --data DIR" in printed) == (len(arguments) == 1)
    assert people.EXPERIMENT not in named(["all"])
    assert named(["all"], data=True) == list(EXPERIMENTS.values())
    assert named(["all", "people"])[-1] is people.EXPERIMENT


@pytest.mark.parametrize(("quick", "full"), [(True, False), (False, False), (False, True)])
def test_every_case_is_run_once(folder: Path, quick: bool, full: bool) -> None:
    """No two cases have the same settings, none names a place on a disk; only a quick run leaves people out."""
    cases = people.on(Data(folder, full=full)).sweep(quick)
    assert len({case.key for case in cases}) == len(cases)
    assert not any(str(folder) in str(case.settings) for case in cases)
    assert {case.settings["person"] for case in cases} == set(range(3 if quick else 4))


def test_every_learner_and_caution_takes_part(folder: Path) -> None:
    """In the full run: all of the registry, offline and online, and the default on every scale."""
    cases = [case.settings for case in people.on(Data(folder, "quantile", full=True)).sweep(False)]
    for name, entry in LEARNERS.items():
        online = [case for case in cases if case["contender"] == name and case["part"] == "online"]
        assert {case["caution"] for case in online} == (set(entry.cautions) if entry.plays else set())
        assert entry.predicts == any(case["contender"] == name and case["part"] == "predict" for case in cases)
    scales = {case["scale"] for case in cases if case["contender"] == DEFAULT and case["part"] == "online"}
    assert scales == {"linear", "log", "quantile", "auto"}


def test_the_usual_run_has_what_the_checks_need(folder: Path) -> None:
    """The default at every caution with several seeds, all peers, floors and ceilings, and a part of a full run."""
    usual, full = (people.on(Data(folder, full=full)).sweep(False) for full in (False, True))
    keys = {case.key for case in usual}
    assert keys < {case.key for case in full}
    cases = [case.settings for case in usual]
    own = [case for case in cases if case["part"] == "online" and case["contender"] == DEFAULT and not case["panel"]]
    assert {(case["caution"], case["seed"]) for case in own} >= {
        (q, seed) for q in LEARNERS[DEFAULT].cautions for seed in range(people.N_SEEDS)
    }
    there = {name for name in PEERS if installed(name)}
    assert {case["contender"] for case in cases} >= {*there, *FLOORS, *CEILINGS[:2], VOTES}
    assert len(usual) < 0.6 * len(full)


def test_one_study_is_enough(tmp_path: Path) -> None:
    """Pairs alone: prediction without decisions, and a figure."""
    made_up_pairs(3, 40).write_csv(tmp_path / "pairs.csv")
    experiment = people.on(Data(tmp_path))
    cases = [case for case in experiment.sweep(True) if case.settings["contender"] in (DEFAULT, "constant")]
    shown = run_experiment(replace(experiment, sweep=lambda quick: cases), tmp_path, quick=True, console=_screen())
    assert {case.settings["part"] for case in cases} == {"predict"}
    assert "played" not in shown.numbers
    assert (tmp_path / "people" / "figure.png").exists()


@pytest.mark.statistical
def test_a_resumed_run_gives_the_same_table(folder: Path, tmp_path: Path) -> None:
    """Stopped after a few cases and run again, or run at once: the same results, figure and findings."""
    experiment = _small(folder)
    cases = list(experiment.sweep(True))
    whole = run_experiment(experiment, tmp_path / "whole", quick=True, console=_screen())
    half = replace(experiment, sweep=lambda quick: [case for case in cases if case.settings["person"] == 0])
    run_experiment(half, tmp_path / "parts", quick=True, console=_screen())
    resumed = run_experiment(experiment, tmp_path / "parts", quick=True, console=_screen())
    assert resumed.table.equals(whole.table)
    assert resumed.checks == whole.checks
    tables = [pl.read_parquet(tmp_path / name / "people" / "results.parquet") for name in ("whole", "parts")]
    assert tables[0].equals(tables[1])
    shown = whole.table
    assert set(shown["people"]) == {2}
    assert {DEFAULT, DEFAULT + PANEL, FAVOURITE, "constant"} <= set(shown["who"])
    equal = shown.filter((pl.col("who") == FAVOURITE) & (pl.col("caution") == 0.0))
    assert equal["late"].to_list() == [0.0]


def test_changed_files_are_noticed(folder: Path) -> None:
    """A case of other data is refused, not run on these."""
    with pytest.raises(InvalidInput, match="must stay as they are during a run"):
        people.run(folder, part="predict", data="another", person=0, scale="log")


def test_spread_is_over_people() -> None:
    """Seeds of one person are averaged first; not a number is left out."""
    runs = pl.DataFrame({"who": ["a"] * 4, "person": [0, 0, 1, 2], "share": [0.0, 2.0, 3.0, float("nan")]})
    row = over_people(runs, ["who"], ["share"]).row(0, named=True)
    assert row["share"] == 2.0
    assert row["share_se"] == pytest.approx(1.0)
    assert row["people"] == 3


def test_a_frontier_is_not_drawn_beyond_its_ends() -> None:
    """Between two cautions it is straight; beyond the boldest nothing is known."""
    points = {0.5: 4.0, 0.3: 1.0}
    assert unfair_at(points, 0.4) == pytest.approx(2.5)
    assert unfair_at(points, 0.6) != unfair_at(points, 0.6)
