"""Metrics for Prometheus: requests, their durations, batches, and how far projections are.

With several workers each of them writes to files in PROMETHEUS_MULTIPROC_DIR, and any of them answers for all.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import cast

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, Metric, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)
SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 256)
FOLDER = "PROMETHEUS_MULTIPROC_DIR"
"""The variable that names the folder where several workers keep their numbers."""


def are_shared() -> bool:
    """Whether several workers keep their numbers together."""
    return bool(os.environ.get(FOLDER))


class Metrics:
    """The numbers of one process."""

    def __init__(self) -> None:
        registry = self.registry = CollectorRegistry()
        self._requests = Counter("evenhand_requests", "Requests answered.", ["operation", "status"], registry=registry)
        self._seconds = Histogram(
            "evenhand_request_seconds", "Until answered.", ["operation"], buckets=SECONDS, registry=registry
        )
        self._batches = Histogram(
            "evenhand_batch_commands", "Commands in one transaction.", buckets=SIZES, registry=registry
        )
        based_on = "The last event that decisions are based on."
        self._state = Gauge("evenhand_state_seq", based_on, ["desk"], registry=registry, multiprocess_mode="livemax")
        projecting = "Processes that project this desk's ledger."
        self._projecting = Gauge(
            "evenhand_projects_desk", projecting, ["desk"], registry=registry, multiprocess_mode="livesum"
        )
        self._children: dict[tuple[str, int], tuple[Counter, Histogram]] = {}

    def request(self, operation: str, status: int, seconds: float) -> None:
        """A request was answered."""
        # Children are looked up once each: labels() checks its arguments every time.
        children = self._children.get((operation, status))
        if children is None:
            children = self._requests.labels(operation, str(status)), self._seconds.labels(operation)
            self._children[operation, status] = children
        children[0].inc()
        children[1].observe(seconds)

    def batch(self, commands: int) -> None:
        """A transaction was written."""
        self._batches.observe(commands)

    def progress(self, desks: Mapping[str, tuple[int, bool]]) -> None:
        """How far the projection of each desk is, and whether this process projects it."""
        for name, (seq, is_projecting) in desks.items():
            self._state.labels(name).set(seq)
            self._projecting.labels(name).set(int(is_projecting))

    def text(self, desks: Sequence[str] | None) -> bytes:
        """All numbers in Prometheus's text format. desks: those that the caller may know of; None for all."""
        registry = self.registry
        if are_shared():
            drop_dead_gauges(os.environ[FOLDER])
            registry = CollectorRegistry()
            MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
        return generate_latest(registry if desks is None else cast("CollectorRegistry", _Only(registry, desks)))


class _Only(Collector):
    """A registry without the samples of other desks."""

    def __init__(self, registry: CollectorRegistry, desks: Sequence[str]) -> None:
        self._registry, self._visible = registry, {None, *desks}

    def collect(self) -> Iterator[Metric]:
        """Every metric, with fewer samples."""
        for metric in self._registry.collect():
            metric.samples = [sample for sample in metric.samples if sample.labels.get("desk") in self._visible]
            yield metric


def drop_dead_gauges(folder: str) -> None:
    """Remove the gauges of processes that have ended; their counters stay."""
    for file in Path(folder).glob("gauge_live*_*.db"):
        pid = file.stem.rpartition("_")[2]
        if pid.isdecimal() and not _is_alive(int(pid)):
            file.unlink(missing_ok=True)


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:  # a process of another user
        return True
    return True
