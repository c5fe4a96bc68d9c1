"""Experiments small enough for a test, importable by the processes that a sweep starts."""

from __future__ import annotations

import os
import time
import uuid
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import threadpoolctl

from evenhand.lab.experiment import Check, Experiment, Findings
from evenhand.lab.figure import draw_band, panels, styles
from evenhand.lab.statistics import bands, by_seed, slope
from evenhand.lab.store import Case, Columns, grid
from tests.support.waiting import wait_for

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def walk(*, steps: int, seed: int, drift: float = 0.5) -> Columns:
    """A random walk with a drift: a curve that costs nothing."""
    path = np.cumsum(drift + np.random.default_rng(seed).normal(size=steps))
    return {"round": list(range(1, steps + 1)), "height": path.tolist()}


def logged_walk(*, log: str, steps: int, seed: int) -> Columns:
    """A walk that leaves a file in `log`, named after its seed and process."""
    (Path(log) / f"{seed}-{os.getpid()}-{uuid.uuid4().hex}").touch()
    return walk(steps=steps, seed=seed)


def endless_walk(*, log: str, steps: int, seed: int) -> Columns:
    """A logged walk; those of the fourth seed and later ones last until their process is killed."""
    found = logged_walk(log=log, steps=steps, seed=seed)
    while seed >= 3:
        time.sleep(60)
    return found


def walk_beside_another(*, log: str, steps: int, seed: int) -> Columns:
    """A logged walk that ends once another process has begun one too."""
    found = logged_walk(log=log, steps=steps, seed=seed)
    wait_for(lambda: len({path.name.split("-")[1] for path in Path(log).iterdir()}) > 1, what="another process")
    return found


def threads_inside(*, seed: int) -> Columns:
    """How many threads each numerical library may use, as seen from inside a case time and again.

    Cases last differently long, so that where two run side by side one sees the other end.
    """
    np.linalg.inv(np.eye(50))
    seen = []
    for _ in range(4 + 4 * (seed % 3)):
        time.sleep(0.01)
        seen += [int(library["num_threads"]) for library in threadpoolctl.threadpool_info()]
    return {"threads": seen}


def walk_or_raise(*, log: str, steps: int, seed: int) -> Columns:
    """A logged walk, but seed 2 has no walk, and later ones end after a while."""
    if seed == 2:
        raise ZeroDivisionError("nobody walks with seed 2")
    found = logged_walk(log=log, steps=steps, seed=seed)
    time.sleep(0.2)
    return found


def seeds(count: int, steps: int = 5) -> list[Case]:
    """A case for each seed."""
    return grid("walk", steps=[steps], seed=range(count))


def _cases(quick: bool) -> list[Case]:
    return grid("drift", steps=[8 if quick else 16], seed=range(4))


def _analyse(table: pl.DataFrame) -> Findings:
    found = slope(*by_seed(table, "height"))
    verdict = Check("the walk climbs by its drift", str(found), "0.5 in [0, 1]", found.lower <= 0.5 <= found.upper)
    return Findings((verdict,), pl.DataFrame({"steps <all>": [table["round"].max()], "slope": [found.value]}))


def _draw(table: pl.DataFrame, findings: Findings) -> Figure:
    figure, (panel,) = panels()
    draw_band(panel, bands(table, "height"), label="walk", style=next(styles()))
    panel.set(xlabel="round", ylabel="height (steps)")
    panel.legend()
    return figure


DRIFT = Experiment("drift", "A walk with drift 0.5 stays in [bold] & <climbs>.", _cases, walk, _analyse, _draw)
