"""Try the wheel as a user would: `python -m scripts.try_wheel dist/evenhand-VERSION-py3-none-any.whl`.

For no extra and for each of them: a new environment with nothing but the wheel and what it asks for, then the commands
below, from an empty folder. `--extras service lab` tries some of them; "none" is the wheel alone.
"""

from __future__ import annotations

import argparse
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
import urllib.request
import venv
from pathlib import Path

ROOT = Path(__file__).parents[1]

EVERYWHERE = (["evenhand", "--version"], ["evenhand", "--help"], ["python", "-c", "import evenhand"])
ROUND = (
    "import evenhand as eh; bandit = eh.FairBandit(2, seed=0); decision = bandit.decide([[0.6, 0.1], [0.5, 0.2]]);"
    " bandit.learn(decision, review=eh.Review.complete(unfair=[])); print(decision.probabilities)"
)
DESK = "import evenhand as eh; desk = eh.Desk.open('memory:', 'x', n_features=2); desk.decide([[0.1, 0.2], [0.3, 0]])"
LOAN = "import evenhand as eh; print(eh.datasets.load('loanapp'))"
ADAPTER = "import evenhand.adapters.{}"
OF_EXTRA: dict[str, tuple[list[str], ...]] = {
    "none": (["python", "-c", ROUND],),
    "lab": (["evenhand", "demo"], ["evenhand", "lab", "list"]),
    "frames": (
        ["python", "-c", "import polars, evenhand as eh; eh.Schema.from_frame(polars.DataFrame({'a': [1, 2]}))"],
    ),
    "coba": (["python", "-c", ADAPTER.format("coba_learner")], ["python", "-c", ADAPTER.format("coba_world")]),
    "vw": (["python", "-c", f"import vowpalwabbit; {ADAPTER.format('dsjson_ledger')}"],),
    "mlflow": (["python", "-c", ADAPTER.format("mlflow_log")],),
    "cluster": (["python", "-c", "import distributed, evenhand.lab.sweep"],),
    "peers": (["python", "-c", "import metric_learn; from evenhand.baselines import offline_metric"],),
    "models": (["python", "-c", ADAPTER.format("sklearn_metric")],),
    "datasets": (["python", "-c", LOAN], ["evenhand", "datasets"]),
    "history": (["evenhand", "history", "--help"], ["python", "-c", "import evenhand; evenhand.history.read"]),
    "desk": (["python", "-c", DESK], ["evenhand", "ledger", "--help"], ["evenhand", "desk", "--help"]),
    "postgres": (["python", "-c", DESK], ["python", "-c", "import psycopg"]),
    "service": (
        ["evenhand", "serve", "--help"],
        ["evenhand", "token", "--help"],
        ["python", "-c", "import evenhand.client"],
    ),
    "report": (["evenhand", "report", "--help"], ["python", "-c", "import weasyprint"]),
}
SERVES_THE_DEMO = "service"
READY = re.compile(r"http://\S+")
PATIENCE = 300.0


def environment(folder: Path, wheel: Path, extra: str | None) -> Path:
    """A new virtual environment with the wheel and an extra; returns its folder of programs."""
    venv.create(folder, with_pip=True)
    programs = folder / "bin"
    wanted = str(wheel.resolve()) + (f"[{extra}]" if extra else "")
    subprocess.run([programs / "python", "-m", "pip", "install", "--quiet", wanted], check=True)
    return programs


def run(programs: Path, command: list[str], folder: Path) -> bool:
    """Run one command from an empty folder; prints what it said if it failed."""
    done = subprocess.run(
        [programs / command[0], *command[1:]], cwd=folder, env=_environ(), capture_output=True, text=True, check=False
    )
    if done.returncode:
        print(f"  FAILED {' '.join(command)}\n{done.stdout}{done.stderr}", flush=True)
    return done.returncode == 0


def serves_the_demo(programs: Path, folder: Path) -> bool:
    """Whether the demo starts, answers its own address, and ends when it is interrupted."""
    command = [str(programs / "evenhand"), "serve", "--demo", "--port", "0"]
    process = subprocess.Popen(command, cwd=folder, env=_environ(), stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        address = next((found[0] for line in process.stdout if (found := READY.search(line))), None)
        if address is None:
            return False
        with urllib.request.urlopen(address.partition("#")[0], timeout=PATIENCE) as answer:
            is_answered = answer.status == 200 and b"evenhand" in answer.read()
        process.send_signal(signal.SIGINT)
        return process.wait(timeout=PATIENCE) in (0, 130) and is_answered
    finally:
        process.kill()
        process.wait()


def _environ() -> dict[str, str]:
    """The environment without what would let this checkout be imported."""
    return {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}


def try_extra(wheel: Path, extra: str | None) -> bool:
    """Whether everything works that this extra promises."""
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made) / "empty"
        folder.mkdir()
        programs = environment(Path(made) / "venv", wheel, extra)
        passed = [run(programs, command, folder) for command in (*EVERYWHERE, *OF_EXTRA.get(extra or "none", ()))]
        if extra == SERVES_THE_DEMO:
            passed.append(serves_the_demo(programs, folder))
    is_good = all(passed)
    verdict = "good" if is_good else "BAD"
    print(
        f"{extra or 'none':10s} {verdict}: {sum(passed)} of {len(passed)} in {time.monotonic() - start:.0f} s",
        flush=True,
    )
    return is_good


def main() -> int:
    """Try all extras that users install; 1 if one of them does not work."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = ["none", *(extra for extra in project["optional-dependencies"] if extra not in ("dev", "bench", "docs"))]
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("wheel", type=Path)
    parser.add_argument("--extras", nargs="+", choices=extras, default=extras, metavar="EXTRA", help=", ".join(extras))
    options = parser.parse_args()
    results = [try_extra(options.wheel, None if extra == "none" else extra) for extra in options.extras]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
