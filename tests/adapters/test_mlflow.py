"""Lab runs and desks are logged to a real MLflow store, and read back."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mlflow import MlflowClient
from mlflow.exceptions import MlflowException
from rich.console import Console

import evenhand as eh
from evenhand.adapters.mlflow_log import MlflowRun
from evenhand.auditors import MahalanobisAuditor
from evenhand.cli.main import main
from evenhand.desk import Desk
from evenhand.environments import LendingWorld
from evenhand.errors import InvalidInput
from evenhand.lab import play
from evenhand.lab.experiments import EXPERIMENTS
from evenhand.lab.runner import run_experiment
from evenhand.schema import Number, Schema, YesNo
from tests.support.small_experiments import DRIFT

# MLflow's own use of SQLAlchemy and of its file store, which it wants to retire.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")


@pytest.fixture
def uri(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A store of files."""
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    return (tmp_path / "mlruns").as_uri()


def logged(uri: str, run: MlflowRun) -> Any:
    """The run as MLflow has it."""
    return MlflowClient(tracking_uri=uri).get_run(run.run_id)


def history(uri: str, run: MlflowRun, name: str) -> list[tuple[int, float]]:
    """Steps and values of a metric."""
    points = MlflowClient(tracking_uri=uri).get_metric_history(run.run_id, name)
    return sorted((point.step, point.value) for point in points)


def test_a_played_run_is_logged_round_by_round(uri: str) -> None:
    """The totals at the checkpoints of the account, under its own names, and the settings."""
    world = LendingWorld()
    bandit = eh.FairBandit(world.n_features, seed=0)
    account = play(bandit, world, MahalanobisAuditor(world.A), rounds=20, epsilon=0.05, seed=1)
    with MlflowRun("lending", name="fair", tracking_uri=uri) as run:
        run.log_params({"epsilon": 0.05, "world": {"name": "lending", "candidates": [1, 2]}})
        run.log_account(account)
    curve = account.curve()
    for name in ("regret", "unfair_pairs"):
        assert history(uri, run, name) == list(zip(map(int, curve["round"]), curve[name], strict=True))
    found = logged(uri, run)
    assert found.data.params == {"epsilon": "0.05", "world.name": "lending", "world.candidates": "[1, 2]"}
    assert found.data.tags["evenhand"] == eh.__version__
    assert found.info.status == "FINISHED"
    assert found.info.run_name == "fair"


def test_an_experiment_is_logged_from_its_folder(
    uri: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Checks, settings, mean curves over seeds, and the files, by a command as well; another folder is refused."""
    findings = run_experiment(DRIFT, tmp_path, quick=True, console=Console(file=io.StringIO()))
    with MlflowRun(tracking_uri=uri) as run:
        run.log_experiment(tmp_path / "drift", experiments={"drift": DRIFT})
    found = logged(uri, run)
    assert found.data.metrics["checks hold"] == float(all(check.holds for check in findings.checks))
    assert found.data.tags["evenhand.experiment"] == "drift"
    assert found.data.params["options.quick"] == "True"
    client = MlflowClient(tracking_uri=uri)
    names = {artifact.path for artifact in client.list_artifacts(run.run_id)}
    assert names == {"checks.txt", "figure.png", "results.parquet", "run.json"}
    curves = [name for name in found.data.metrics if name not in ("checks hold",) and not name.startswith("check ")]
    assert curves
    assert [step for step, _ in history(uri, run, curves[0])] == list(range(1, 9))
    monkeypatch.setitem(EXPERIMENTS, "drift", DRIFT)
    assert main(["lab", "mlflow", str(tmp_path / "drift"), "--tracking-uri", uri, "--experiment", "lab"]) == 0
    said = capsys.readouterr().out.strip()
    assert said.startswith("drift: run ")
    assert client.get_run(said.split()[-1]).data.metrics == found.data.metrics
    monkeypatch.delitem(EXPERIMENTS, "drift")
    with pytest.raises(SystemExit):
        main(["lab", "mlflow", str(tmp_path / "nowhere"), "--tracking-uri", uri])
    assert "no results in" in capsys.readouterr().err
    with MlflowRun(tracking_uri=uri) as run, pytest.raises(InvalidInput, match="must have the results"):
        run.log_experiment(tmp_path / "nowhere")
    with MlflowRun(tracking_uri=uri) as run, pytest.raises(InvalidInput, match="unknown experiment, 'drift'"):
        run.log_experiment(tmp_path / "drift")


SCHEMA = Schema([Number("income", low=0, high=200), YesNo("member")])


def visit(desk: Desk, income: int) -> Any:
    """One decision, reviewed, with its outcome."""
    people = [
        {"id": "Ada Lovelace", "features": {"income": income, "member": True}},
        {"id": "Bob", "features": {"income": 150, "member": False}},
    ]
    decision = desk.decide(people)
    desk.outcome(decision.id, dict.fromkeys(decision.chosen, 0.25))
    desk.review(decision.id, "complete", unfair=[["Ada Lovelace", "Bob"]], reviewer="Kim")
    desk.catch_up()
    return decision


def test_a_desk_is_logged_as_it_goes_on(uri: str, tmp_path: Path) -> None:
    """Counts, rewards and flags at the step of the last event; again only when something is new; nobody is named."""
    with Desk.open("memory:", "loans", schema=SCHEMA, seed=1) as desk, MlflowRun("desks", tracking_uri=uri) as run:
        visit(desk, 20)
        first = run.log_desk(desk)
        assert run.log_desk(desk) is None
        visit(desk, 90)
        second = MlflowRun(tracking_uri=uri, run_id=run.run_id).log_desk(desk)
        head = desk.head
    assert first is not None
    assert second is not None
    assert [step for step, _ in history(uri, run, "events decision")] == [first, second]
    assert [value for _, value in history(uri, run, "events decision")] == [1.0, 2.0]
    assert dict(history(uri, run, "mean reward"))[second] == pytest.approx(0.25)
    found = logged(uri, run)
    assert found.data.tags["evenhand.head"] == f"{head.seq}:{head.hash}"
    assert found.data.params["desk"] == "loans"
    assert not any("seed" in name for name in found.data.params)
    files = [path for path in (tmp_path / "mlruns").rglob("*") if path.is_file()]
    assert any(path.name == f"metric-{second}.json" for path in files)
    assert not any(b"Lovelace" in path.read_bytes() for path in files)


def test_values_that_are_not_finite_are_left_out(uri: str) -> None:
    """And names get the characters that MLflow allows; a thousand points and more go in parts."""
    with MlflowRun(tracking_uri=uri) as run:
        run.log_points([("gap (x)", np.nan, 0), ("gap (x)", 0.5, 1), ("gap (x)", np.inf, 2)])
        run.log_points([("many", float(n), n) for n in range(1001)])
    assert history(uri, run, "gap _x_") == [(1, 0.5)]
    assert len(history(uri, run, "many")) == 1001


def test_a_run_that_fails_is_marked_and_an_unknown_one_refused(uri: str) -> None:
    """The error goes on to the caller."""
    run = MlflowRun(tracking_uri=uri)
    with pytest.raises(ZeroDivisionError), run:
        _ = 1 / 0
    assert logged(uri, run).info.status == "FAILED"
    with pytest.raises(MlflowException):
        MlflowRun(tracking_uri=uri, run_id="0" * 32)


def test_a_database_keeps_runs_as_well(tmp_path: Path) -> None:
    """SQLite, which MLflow recommends; a second run goes into the same experiment."""
    uri = f"sqlite:///{tmp_path}/mlflow.db"
    runs = []
    for value in (0.5, 0.7):
        with MlflowRun("desks", tracking_uri=uri, artifacts=(tmp_path / "artifacts").as_uri()) as run:
            run.log_points([("share", value, 3)])
        runs.append(logged(uri, run))
    assert [run.data.metrics for run in runs] == [{"share": 0.5}, {"share": 0.7}]
    assert runs[0].info.experiment_id == runs[1].info.experiment_id


def test_a_desk_has_one_run_of_its_own(uri: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`evenhand desk mlflow`: the first call makes a run, later ones add a step if there is a new event."""
    url = f"sqlite:///{tmp_path}/ledger.db"
    log = ("--database", url, "--tracking-uri", uri)
    for name in ("loans", "jobs"):
        with Desk.open(url, name, schema=SCHEMA, seed=1) as desk:
            visit(desk, 20)
        assert main(["desk", "mlflow", name, *log]) == 0
    assert main(["desk", "mlflow", "loans", *log]) == 0
    with Desk.open(url, "loans") as desk:
        visit(desk, 90)
        head = desk.head.seq
    assert main(["desk", "mlflow", "loans", *log]) == 0
    loans, jobs, same, again = (line.split() for line in capsys.readouterr().out.splitlines())
    assert loans[3] == same[3] == again[3] != jobs[3]
    assert [words[4:] for words in (same, again)] == [["nothing", "new"], ["step", str(head)]]
    points = MlflowClient(tracking_uri=uri).get_metric_history(loans[3].strip(","), "events")
    assert [point.step for point in points] == [int(loans[5]), head]
    with pytest.raises(SystemExit):
        main(["desk", "mlflow", "nobody", *log])
    assert "there is no desk 'nobody'" in capsys.readouterr().err
