"""How long the audit report of a long ledger takes.

python -m benchmarks.audit [--events 100000] [--candidates 4] [--keep FILE.db]

A desk is played in batches: each decision has its outcomes, and every fourth a review of a pair. "with snapshots": as a
desk leaves them; "without": all events are learned again.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from contextlib import closing
from pathlib import Path

import numpy as np

import evenhand as eh
from evenhand.desk import Command, Decide, Desk, GiveReview, RecordOutcome
from evenhand.errors import EvenhandError
from evenhand.ledger.ledger import Ledger, open_ledger
from evenhand.report import audit_report

DESK, BATCH = "loans", 250
SCHEMA = eh.Schema(
    [
        eh.Number("income", low=0, high=100_000, unit="EUR"),
        eh.Number("debt", low=0, high=50_000, unit="EUR"),
        eh.Category("purpose", levels=("car", "home", "study")),
        eh.YesNo("has_guarantor"),
    ],
    carry=["sex", "region"],
)


def play(desk: Desk, events: int, k: int) -> None:
    """Play until the ledger has this many events."""
    rng, number = np.random.default_rng(0), 0
    while desk.head.seq < events:
        commands: list[Command] = []
        for _ in range(BATCH):
            commands.append(Decide([_person(rng, f"{number}-{i}") for i in range(k)]))
            number += 1
        later: list[Command] = []
        for place, event in enumerate(desk.execute(commands)):
            if isinstance(event, EvenhandError):
                raise event
            body = event.body
            later += [RecordOutcome(event.id, {name: float(rng.uniform(0, 1))}) for name in body["chosen"]]
            if place % 4 == 0:
                first, second = body["candidates"][:2]
                gap = abs(body["probabilities"][0] - body["probabilities"][1])
                unfair = [(first, second)] if gap > 0.2 else []
                fair = [] if unfair else [(first, second)]
                later.append(GiveReview(event.id, "partial", unfair, fair, reviewer=("Kim", "Lee")[place % 8 // 4]))
        desk.execute(later)
        desk.catch_up()


def _person(rng: np.random.Generator, name: str) -> dict[str, object]:
    features: dict[str, object] = {
        "income": float(rng.uniform(0, 1e5)),
        "debt": float(rng.uniform(0, 5e4)),
        "purpose": ("car", "home", "study")[rng.integers(3)],
        "has_guarantor": bool(rng.integers(2)),
        "sex": ("f", "m")[rng.integers(2)],
        "region": f"region {rng.integers(5)}",
    }
    return {"id": name, "features": features}


def measure(ledger: Ledger, what: str, *, model: bool) -> None:
    """Make a report and print how long it took."""
    begun, cpu = time.perf_counter(), time.process_time()
    report = audit_report(ledger, DESK, model=model)
    page = report.html
    seconds, busy = time.perf_counter() - begun, time.process_time() - cpu
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    events, decisions = report.figures.integrity.events, report.figures.decisions
    print(
        f"{what}: {events} events, {decisions} decisions: {seconds:.1f} s ({busy:.1f} s of processor time), "
        f"page {len(page) / 1024:.0f} KB, at most {most:.0f} MB",
        flush=True,
    )


def main() -> None:
    """Play, measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--events", type=int, default=100_000)
    parser.add_argument("--candidates", type=int, default=4)
    parser.add_argument("--keep", type=Path, help="the ledger's file: played on if there is one")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite:///{(options.keep or Path(folder) / 'ledger.db').resolve()}"
        begun = time.perf_counter()
        with Desk.open(url, DESK, schema=SCHEMA, capacity=1, metric="BayesPoint", seed=0) as desk:
            play(desk, options.events, options.candidates)
        print(f"played in {time.perf_counter() - begun:.0f} s", flush=True)
        with closing(open_ledger(url, make=False)) as ledger:
            measure(ledger, "figures alone", model=False)
            measure(ledger, "with snapshots", model=True)
            with ledger.transaction(writes=True) as connection:
                connection.exec_driver_sql("DELETE FROM snapshots WHERE desk = ?", (DESK,))
            measure(ledger, "without snapshots", model=True)


if __name__ == "__main__":
    main()
