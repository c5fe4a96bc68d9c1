"""What memory an open desk takes, as it gets answers: each size in a process of its own, with SQLite in a file.

python -m benchmarks.desk_memory [--features D ...] [--reviews N]

A round is a decision among twenty candidates, an outcome, and a review of two pairs by a rule: the first feature does
not matter, all others the same. Prints what is resident, and how much of it the C library has in use and free, in MB;
the rest are the program and SQLite's cache. Linux with glibc only.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import multiprocessing
import os
import tempfile

import numpy as np

from benchmarks.soak import resident
from evenhand.desk import Desk
from evenhand.service.process_settings import limit_arenas, limit_blas

FEATURES, REVIEWS, LOOKS = (5, 10, 46), 2_000, 4
CANDIDATES, PAIRS = 20, 2


class Allocated(ctypes.Structure):
    """glibc's `struct mallinfo2`."""

    _fields_ = [
        (name, ctypes.c_size_t)
        for name in ("arena", "ordblks", "smblks", "hblks", "mapped", "usm", "fsm", "used", "free", "top")
    ]


def megabytes() -> str:
    """What this process has, all garbage collected."""
    gc.collect()
    library = ctypes.CDLL(None)
    library.mallinfo2.restype = Allocated
    found = library.mallinfo2()
    used, free = (found.used + found.mapped) / 1e6, found.free / 1e6
    return f"{resident(os.getpid()):6.0f} resident, {used:5.0f} in use, {free:5.0f} free"


def play(d: int, reviews: int) -> None:
    """Open a desk with d features and print what it takes as it learns."""
    limit_arenas()
    limit_blas()
    rng = np.random.default_rng(d)
    with tempfile.TemporaryDirectory() as folder, Desk.open(f"sqlite:///{folder}/ledger.db", "x", n_features=d) as desk:
        for number in range(1, reviews + 1):
            contexts = rng.normal(size=(CANDIDATES, d))
            contexts /= np.linalg.norm(contexts, axis=1, keepdims=True) * rng.uniform(1.0, 2.0, size=(CANDIDATES, 1))
            made = desk.decide(contexts)
            desk.outcome(made.id, {made.chosen[0]: float(np.clip(contexts.mean(), -1.0, 1.0))})
            one, *others = rng.permutation(CANDIDATES)[: PAIRS + 1].tolist()
            apart = {other: float(np.linalg.norm((contexts[one] - contexts[other])[1:])) for other in others}
            pairs = [
                [(str(one), str(other)) for other in others if (apart[other] < 0.7) == near] for near in (True, False)
            ]
            desk.review(made.id, "partial", unfair=pairs[0], fair=pairs[1])
            if number % (reviews // LOOKS) == 0 or number == 1:
                print(f"{d:4} features, {number:6,} reviews: {megabytes()}", flush=True)


def main() -> None:
    """Measure each size."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--features", type=int, nargs="+", default=FEATURES)
    parser.add_argument("--reviews", type=int, default=REVIEWS)
    options = parser.parse_args()
    for d in options.features:
        process = multiprocessing.get_context("spawn").Process(target=play, args=(d, options.reviews))
        process.start()
        process.join()


if __name__ == "__main__":
    main()
