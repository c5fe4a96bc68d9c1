"""The commands `evenhand lab list`, `run` and `report`."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from evenhand.cli.main import main
from evenhand.lab.experiments import EXPERIMENTS
from tests.support.small_experiments import DRIFT


@pytest.fixture(autouse=True)
def _one_small_experiment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """`drift` is the only experiment there is, and the working folder is empty."""
    monkeypatch.chdir(tmp_path)
    experiments = dict(EXPERIMENTS)
    EXPERIMENTS.clear()
    EXPERIMENTS[DRIFT.name] = DRIFT
    yield
    EXPERIMENTS.clear()
    EXPERIMENTS.update(experiments)  # in their order


def test_list_prints_names_and_claims(capsys: pytest.CaptureFixture[str]) -> None:
    """Every experiment with the sentence that it puts to the test, word for word."""
    assert main(["lab", "list"]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert f"drift {DRIFT.claim}" in printed


def test_run_and_report_from_an_empty_folder(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """`run --quick` writes results/NAME and prints the verdict; `report results` writes report.html."""
    assert main(["lab", "run", "drift", "--quick", "--jobs", "1"]) == 0
    assert "holds" in capsys.readouterr().out
    record = json.loads((tmp_path / "results" / "drift" / "run.json").read_text())
    assert record["options"] == {"quick": True, "jobs": 1, "cluster": None}
    assert main(["lab", "report", "results"]) == 0
    assert "<h2>drift</h2>" in (tmp_path / "report.html").read_text()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "nonsense"], "unknown experiment 'nonsense'; there are drift, all"),
        (["run", "drift", "--jobs", "0"], "jobs must be a whole number >= 1, got 0"),
        (["run"], "NAME"),
        (["report", "nowhere"], "no results in nowhere; run `evenhand lab run NAME` first"),
        (["report", "results", "--output", "no/where.html"], "there is no folder no to write where.html in"),
        ([], "action"),
    ],
)
def test_what_cannot_be_done_is_a_sentence(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Exit status 2, a sentence that says what is allowed, no traceback, nothing written."""
    with pytest.raises(SystemExit) as ended:
        main(["lab", *arguments])
    assert ended.value.code == 2
    printed = capsys.readouterr()
    assert message in " ".join(printed.err.split())
    assert list(tmp_path.iterdir()) == []


def test_an_interruption_is_no_traceback(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Control-C ends a run with the customary status 130 and a word."""

    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("evenhand.lab.runner.sweep", interrupt)
    with pytest.raises(SystemExit) as ended:
        main(["lab", "run", "drift", "--quick", "--jobs", "1"])
    assert ended.value.code == 130
    assert "stopped" in capsys.readouterr().err


@pytest.mark.process
def test_the_installed_command_lists() -> None:
    """`evenhand lab list`, as a command of its own, ends well; an unknown name ends with 2."""
    command = [str(Path(sys.executable).with_name("evenhand")), "lab"]
    listed, refused = (
        subprocess.run([*command, *arguments], check=False, capture_output=True, text=True, timeout=60)
        for arguments in (["list"], ["run", "nonsense"])
    )
    assert listed.returncode == 0
    assert listed.stderr == ""
    assert refused.returncode == 2
    assert "unknown experiment 'nonsense'" in refused.stderr
    assert "Traceback" not in refused.stderr
