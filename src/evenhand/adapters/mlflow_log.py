"""Lab runs and desks in MLflow: settings as parameters, figures as metrics, tables and pictures as artifacts."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.errors import InvalidInput, MissingExtra
from evenhand.version import __version__

try:
    from mlflow import MlflowClient
    from mlflow.entities import Metric, Param, RunTag
except ModuleNotFoundError as error:
    raise MissingExtra("this adapter needs mlflow; pip install 'evenhand[mlflow]'") from error

if TYPE_CHECKING:
    from evenhand.desk.desk import Desk
    from evenhand.lab.account import Account
    from evenhand.lab.experiment import Experiment

MOST_METRICS = 1000
"""MLflow accepts no more of them at once."""

MOST_PARAMS = 100
LONGEST_PARAM = 6000

Point = tuple[str, float, int]
"""A metric, its value and its step."""


class MlflowRun:
    """One run in MLflow, with an explicit client: nothing of MLflow's global state is read or changed.

    tracking_uri: None for MLflow's own default. experiment: created if there is none of this name. run_id: continues a
    run. A `with` block ends the run, as failed after an error.

    >>> with MlflowRun("lending", tracking_uri="sqlite:///mlflow.db") as run:  # doctest: +SKIP
    ...     run.log_params({"epsilon": 0.01})
    ...     run.log_account(account)
    """

    def __init__(
        self,
        experiment: str = "evenhand",
        *,
        name: str | None = None,
        tracking_uri: str | None = None,
        run_id: str | None = None,
        artifacts: str | None = None,
    ) -> None:
        self.client = MlflowClient(tracking_uri=tracking_uri)
        if run_id is None:
            found = self.client.get_experiment_by_name(experiment)
            own = found.experiment_id if found else self.client.create_experiment(experiment, artifacts)
            tags = {"evenhand": __version__}
            run_id = str(self.client.create_run(own, run_name=name, tags=tags).info.run_id)
        else:
            self.client.get_run(run_id)  # an unknown one is refused now
        self.run_id = run_id

    def __enter__(self) -> MlflowRun:
        return self

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        self.client.set_terminated(self.run_id, "FINISHED" if kind is None else "FAILED")

    # The plain kinds of things.

    def log_params(self, settings: Mapping[str, Any], prefix: str = "") -> None:
        """Settings as parameters; nested ones by their path."""
        flat = list(_flat(settings, prefix))
        for start in range(0, len(flat), MOST_PARAMS):
            params = [
                Param(_key(name), str(value)[:LONGEST_PARAM]) for name, value in flat[start : start + MOST_PARAMS]
            ]
            self.client.log_batch(self.run_id, params=params)

    def log_points(self, points: Sequence[Point]) -> None:
        """Values of metrics at steps; those that are not finite are left out."""
        now = int(time.time() * 1000)
        metrics = [
            Metric(_key(name), float(value), now, int(step)) for name, value, step in points if _is_finite(value)
        ]
        for start in range(0, len(metrics), MOST_METRICS):
            self.client.log_batch(self.run_id, metrics=metrics[start : start + MOST_METRICS])

    def log_tags(self, tags: Mapping[str, Any]) -> None:
        """Tags of the run."""
        self.client.log_batch(self.run_id, tags=[RunTag(_key(name), str(value)) for name, value in tags.items()])

    # The lab.

    def log_account(self, account: Account, prefix: str = "") -> None:
        """The totals of `lab.play` at its checkpoints: regret, reward, unfair pairs and the others of `curve`."""
        curve = account.curve()
        steps = [int(step) for step in curve.pop("round")]
        self.log_points(
            [
                (f"{prefix}{name}", value, step)
                for name, values in curve.items()
                for value, step in zip(values, steps, strict=True)
            ]
        )

    def log_experiment(self, folder: Path | str, *, experiments: Mapping[str, Experiment] | None = None) -> None:
        """The results of `evenhand lab run`, from their folder: claim, settings, checks, curves, table and figure.

        A check is a metric, 1 if it holds. A curve is the mean over seeds of each column, by contender.
        """
        import polars as pl

        from evenhand.lab.experiments import EXPERIMENTS

        root, known = Path(folder), EXPERIMENTS if experiments is None else experiments
        try:
            record = json.loads((root / "run.json").read_text())
            table = pl.read_parquet(root / "results.parquet")
        except OSError as error:
            raise InvalidInput(f"{root} must have the results of an experiment: {error.strerror}") from None
        if record["experiment"] not in known:
            raise InvalidInput(f"{root} has results of an unknown experiment, {record['experiment']!r}")
        findings = known[record["experiment"]].findings(table)
        self.log_tags({"evenhand.experiment": record["experiment"], "mlflow.note.content": record["claim"]})
        self.log_params({"options": record["options"], "settings": record["common_settings"]})
        self.log_params({"cases": record["cases"], "seeds": record["seeds"], "varied": record["varied_settings"]})
        self.log_points([("checks hold", float(all(check.holds for check in findings.checks)), 0)])
        self.log_points([(f"check {n}", float(check.holds), 0) for n, check in enumerate(findings.checks)])
        self.log_points(list(_curves(table)))
        checks = "\n".join(
            f"{'holds' if c.holds else 'does not hold'}: {c.claim}: {c.measured} (promised {c.promised})"
            for c in findings.checks
        )
        self.client.log_text(self.run_id, checks, "checks.txt")
        for name in ("run.json", "results.parquet", "figure.png"):
            if (root / name).exists():
                self.client.log_artifact(self.run_id, str(root / name))

    # Desks.

    def log_desk(self, desk: Desk) -> int | None:
        """The figures of a desk as of the last event it has learned from, which is the step; None if they are known.

        Settings and the hash of the ledger's head are parameters and tags; counts of events, mean reward, flagged
        decisions and the proved number of flags left are metrics; the learned metric is an artifact, in words as well.
        Nothing about candidates leaves the desk. Call it now and then with the same run, as from a scheduled job.
        """
        projection = desk.projection
        known = self.client.get_metric_history(self.run_id, "events")
        if known and max(int(point.step) for point in known) >= projection.seq:
            return None
        if not known:
            self.log_params({"desk": desk.name, "settings": _public(desk.settings.to_dict())})
        history, step = projection.history, projection.seq
        rewards, flags = history.rewards.sum(axis=0), history.flags.sum(axis=0)
        decisions = history.kinds.get("decision", 0)
        values: dict[str, float | None] = {
            "events": float(step),
            **{f"events {kind}": float(count) for kind, count in history.kinds.items()},
            "rewards": float(rewards[0]),
            "mean reward": float(rewards[1] / rewards[0]) if rewards[0] else None,
            "flagged decisions": float(flags[0]),
            "flagged share": float(flags[0] / decisions) if decisions else None,
            "flags left": projection.bandit.flags_left,
            "reviews learned": float(history.taught),
            "reviews in conflict": float(projection.bandit.conflicts),
        }
        metric = desk.metric()
        self.client.log_dict(self.run_id, metric.to_dict(), f"metric-{step}.json")
        self.client.log_text(self.run_id, "\n".join(metric.sentences), f"metric-{step}.txt")
        self.log_tags({"evenhand.desk": desk.name, "evenhand.head": f"{desk.head.seq}:{desk.head.hash}"})
        self.log_points([(name, value, step) for name, value in values.items() if value is not None])
        return step


def log_results(
    folders: Sequence[Path], experiment: str = "evenhand lab", *, tracking_uri: str | None = None
) -> Iterator[tuple[str, str]]:
    """Log every result of `evenhand lab run` in these folders, as a run each; names of experiments, and ids of runs."""
    found = sorted({run.parent for root in folders for run in Path(root).rglob("run.json")})
    if not found:
        raise InvalidInput(f"no results in {', '.join(map(str, folders))}; run `evenhand lab run NAME` first")
    for folder in found:
        with MlflowRun(experiment, name=folder.name, tracking_uri=tracking_uri) as run:
            run.log_experiment(folder)
        yield folder.name, run.run_id


def log_desk_figures(
    desk: Desk, experiment: str = "evenhand desks", *, tracking_uri: str | None = None
) -> tuple[str, int | None]:
    """Log a desk in the experiment's run of this desk, or in a new one; the run's id, and what `log_desk` returns."""
    client = MlflowClient(tracking_uri=tracking_uri)
    found = client.get_experiment_by_name(experiment)
    of_desk = f"tags.`evenhand.desk` = '{desk.name}'"
    runs = client.search_runs([found.experiment_id], of_desk, max_results=1) if found else []
    known = runs[0].info.run_id if runs else None
    with MlflowRun(experiment, name=desk.name, tracking_uri=tracking_uri, run_id=known) as run:
        return run.run_id, run.log_desk(desk)


def _public(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings without the seed, which would let others foresee draws, and without those that are not set."""
    return {name: value for name, value in settings.items() if value is not None and name != "seed"}


def _flat(settings: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, Any]]:
    for name, value in settings.items():
        path = f"{prefix}{name}"
        if isinstance(value, Mapping):
            yield from _flat(value, f"{path}.")
        else:
            yield path, json.dumps(value) if isinstance(value, list | tuple) else value


def _key(name: str) -> str:
    """A name in the characters that MLflow allows."""
    return "".join(letter if letter.isalnum() or letter in "_-. /:" else "_" for letter in name)[:250]


def _is_finite(value: float) -> bool:
    return math.isfinite(float(value))


def _curves(table: Any) -> Iterator[Point]:
    """The mean over seeds of every numeric column along "round", of each contender; nothing without rounds."""
    import polars as pl

    if "round" not in table.columns:
        return
    by = next((name for name in ("label", "policy") if name in table.columns), None)
    numeric = [name for name, kind in table.schema.items() if kind.is_float() and name != "round"]
    groups = table.partition_by(by, as_dict=True).items() if by else [(("",), table)]
    for (contender, *_), rows in groups:
        means = rows.group_by("round").agg([pl.col(name).mean() for name in numeric]).sort("round")
        for name in numeric:
            for step, value in zip(means["round"].to_list(), means[name].to_list(), strict=True):
                if value is not None and np.isfinite(value):
                    yield (f"{name}/{contender}" if contender else name), float(value), int(step)
