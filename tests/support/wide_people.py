"""A table of people with many features: 24 of them, 46 columns and an intercept; some depend on one another."""

from __future__ import annotations

from typing import Any

import numpy as np

import evenhand as eh

LEVELS = (3, 3, 3, 4, 4, 4, 4, 5)

WIDE = eh.Schema(
    [
        eh.Number("age", low=18, high=98, unit="years"),
        eh.Number("employment", low=0, high=80, unit="years"),
        *(eh.Number(f"amount_{i}", low=0, high=100_000, unit="EUR") for i in range(12)),
        eh.YesNo("member"),
        eh.YesNo("owner"),
        *(eh.Category(f"kind_{i}", levels=tuple("abcde"[:n])) for i, n in enumerate(LEVELS)),
    ]
)


def wide_people(n: int, seed: int = 0) -> list[dict[str, Any]]:
    """People who have worked since they were about twenty; all else is independent."""
    rng = np.random.default_rng([seed, 46])
    people = []
    for age in rng.uniform(20, 98, size=n):
        row: dict[str, Any] = {"age": float(age), "employment": float(np.clip(age - 20 + 3 * rng.normal(), 0, 80))}
        row |= {f"amount_{i}": float(rng.uniform(0, 100_000)) for i in range(12)}
        row |= {"member": bool(rng.integers(2)), "owner": bool(rng.integers(2))}
        people.append(row | {f"kind_{i}": "abcde"[rng.integers(n)] for i, n in enumerate(LEVELS)})
    return people


def csv_of(rows: list[dict[str, Any]]) -> str:
    """The people as comma-separated values."""
    written = [",".join(str(int(v) if isinstance(v, bool) else v) for v in row.values()) for row in rows]
    return "\n".join([",".join(rows[0]), *written]) + "\n"
