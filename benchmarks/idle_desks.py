"""What idle desks cost: `python -m benchmarks.idle_desks [desks] [seconds]` prints the share of a core, and threads."""

from __future__ import annotations

import sys
import tempfile
import threading
import time

from evenhand.desk import Desk, open_ledger
from evenhand.desk.projection.projector import Projectors


def main(desks: int, seconds: float) -> None:
    """Open desks in an SQLite file, decide once with each, wait until nothing is left to do, and measure."""
    with tempfile.TemporaryDirectory() as folder:
        ledger = open_ledger(f"sqlite:///{folder}/ledger.db")
        projectors = Projectors(ledger)
        opened = [Desk.open(ledger, f"desk-{i}", n_features=3, seed=i) for i in range(desks)]
        for desk in opened:
            projectors.add(desk)
            desk.decide([[0.5, 0.1, 0.2], [0.1, 0.5, 0.2]])
        for desk in opened:
            assert desk.wait_for(desk.head.seq, 60)
        time.sleep(3)  # for snapshots and queues, which come a second later
        cpu, wall = time.process_time(), time.perf_counter()
        time.sleep(seconds)
        share = (time.process_time() - cpu) / (time.perf_counter() - wall)
        print(f"{desks} idle desks: {share:.2%} of a core, {threading.active_count()} threads")
        begun = time.perf_counter()
        made = opened[0].decide([[0.5, 0.1, 0.2], [0.1, 0.5, 0.2]])
        assert opened[0].wait_for(made.event.seq, 10)
        print(f"a decision is projected after {1e3 * (time.perf_counter() - begun):.1f} ms")
        for desk in opened:
            desk.close()
        projectors.close()
        ledger.close()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 150, float(sys.argv[2]) if len(sys.argv) > 2 else 10.0)
