"""What signed heads cost: taking events into the Merkle tree, and proofs of a long ledger in SQLite.

python -m benchmarks.history [--events 1000000] [--bytes 700]

Events are made up and have texts of about 200 bytes more than --bytes. "anew": by a process that has nothing in memory.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from statistics import median

from evenhand.ledger.event import FIRST, Head, Row
from evenhand.ledger.ledger import Ledger, open_ledger
from evenhand.ledger.signed_heads import SignedHeads
from evenhand.ledger.signing_keys import signing_key
from evenhand.ledger.tree import LedgerTree

DESK, BATCH, REPEATS = "loans", 20_000, 30


def fill(ledger: Ledger, events: int, size: int) -> None:
    """Append events to a new stream."""
    ledger.create(DESK, Row.make(DESK, 1, FIRST, "desk", "opened", {"settings": {}}))
    body = {"pad": "x" * size}
    while (head := ledger.head(DESK)).seq < events:
        rows, previous = [], head.hash
        for seq in range(head.seq + 1, min(events, head.seq + BATCH) + 1):
            rows.append(Row.make(DESK, seq, previous, "desk", "outcome", body))
            previous = rows[-1].hash
        with ledger.writing(DESK) as view:
            view.append(rows, Head(rows[-1].seq, previous, 0, 1))


def milliseconds(work: Callable[[int], object]) -> float:
    """The median time of some calls."""
    times = []
    for number in range(REPEATS):
        begun = time.perf_counter()
        work(number)
        times.append(1e3 * (time.perf_counter() - begun))
    return median(times)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--bytes", type=int, default=700)
    options = parser.parse_args()
    n = options.events
    with tempfile.TemporaryDirectory() as folder, closing(open_ledger(f"sqlite:///{folder}/ledger.db")) as ledger:
        fill(ledger, n, options.bytes)
        heads, key, begun = SignedHeads(ledger), signing_key(ledger), time.process_time()
        heads.sign(DESK, key)
        print(f"signing {n} events: {1e6 * (time.process_time() - begun) / n:.1f} us of processor time each")
        kept = heads.tree(DESK)
        proofs: dict[str, Callable[[LedgerTree, int], object]] = {
            "inclusion": lambda tree, number: tree.inclusion(1 + number * 7919 % n, n),
            "consistency": lambda tree, number: tree.consistency(1 + number * 7919 % n, n),
        }
        for name, prove in proofs.items():
            anew = milliseconds(lambda number, prove=prove: prove(LedgerTree(ledger, DESK), number))  # type: ignore[misc]
            again = milliseconds(lambda number, prove=prove: prove(kept, number))  # type: ignore[misc]
            print(f"proof of {name}: median {again:.1f} ms, anew {anew:.1f} ms")


if __name__ == "__main__":
    main()
