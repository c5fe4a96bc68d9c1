"""The table behind the sizing page: `python -m scripts.sizing` simulates desks and writes docs/assets/sizing.js.

Each cell is what `evenhand size` forecasts for a made-up schema of that size: unfair pairs by week, with an
interval, and the same after an interview. Takes about --seconds of processor time for each of the cells, however busy
the machine is; finished cells are kept, so an interrupted run goes on where it stopped.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np

import evenhand as eh
from evenhand._internal.atomic_write import atomic_write
from evenhand.cli.size import FEWEST_QUESTIONS, MADE_UP, QUESTIONS_PER_COLUMN
from evenhand.interview.bandit_of_schema import bandit_of_schema
from evenhand.interview.forecast import Forecast
from evenhand.interview.interview import EPSILON_OF_PEOPLE
from evenhand.interview.made_up_people import made_up_people
from evenhand.interview.plan import ReviewPlan
from evenhand.interview.profiles import chosen_differences
from evenhand.interview.sizing import Budget, size
from evenhand.schema import Feature

TABLE = Path(__file__).parents[1] / "docs" / "assets" / "sizing.js"
HEAD = "const SIZING = "

FEATURES = (3, 6, 12, 24)
CANDIDATES = (5, 20, 50)
REVIEWS = (1, 3, 10)
WEEKS, A_WEEK = 4, 20
SHARE_CHOSEN = 5  # One of five candidates is chosen.
EVERY_THIRD = 3  # A category of three levels; the other features are numbers.


def schema_of(n: int) -> eh.Schema:
    """A schema of n features, every third of them a category."""
    features: list[Feature] = []
    for i in range(n):
        if i % EVERY_THIRD == EVERY_THIRD - 1:
            features.append(eh.Category(f"category {i}", levels=("a", "b", "c")))
        else:
            features.append(eh.Number(f"number {i}", low=0, high=1))
    return eh.Schema(features)


def cell(features: int, candidates: int, reviews: int, seconds: float) -> dict[str, Any]:
    """Unfair pairs by week: the median, the interval, and the median after an interview."""
    schema = schema_of(features)
    people = made_up_people(schema, max(MADE_UP, 2 * candidates), np.random.default_rng(0))
    capacity = max(1, candidates // SHARE_CHOSEN)
    bandit = bandit_of_schema(schema, capacity=capacity, epsilon=EPSILON_OF_PEOPLE, seed=0)
    questions = max(FEWEST_QUESTIONS, QUESTIONS_PER_COLUMN * schema.n_features)
    result = size(
        bandit,
        people,
        ReviewPlan(candidates, reviews, WEEKS * A_WEEK),
        epsilon=EPSILON_OF_PEOPLE,
        questions=questions,
        differ_in=chosen_differences(None, features),
        features=schema,
        draws=40,
        budget=Budget(seconds, lambda used: None, clock=time.process_time),
        seed=0,
    )
    return {
        "worlds": len(result.forecast.counts),
        "capacity": capacity,
        "questions": questions,
        "weeks": [_week(result.forecast, week) for week in range(WEEKS)],
        "interviewed": result.interviewed.expected,
        "not_interviewed": result.not_interviewed.expected,
        "milliseconds": round(1000 * (result.deciding + result.learning), 1),
    }


def _week(forecast: Forecast, week: int) -> list[float]:
    part = forecast.between(week * A_WEEK, (week + 1) * A_WEEK)
    return [round(pairs, 1) for pairs in (part.expected, part.lower, part.upper)]


def main() -> None:
    """Fill in the cells that are missing."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=30.0, help="processor time for each cell (%(default)g)")
    parser.add_argument("--anew", action="store_true", help="simulate all cells again")
    options = parser.parse_args()
    kept = {} if options.anew or not TABLE.exists() else json.loads(TABLE.read_text()[len(HEAD) :].rstrip(";\n"))
    for features in FEATURES:
        for candidates in CANDIDATES:
            for reviews in REVIEWS:
                name = f"{features}-{candidates}-{reviews}"
                if name in kept:
                    continue
                print(name, end=" ", flush=True)
                kept[name] = cell(features, candidates, reviews, options.seconds)
                print(kept[name]["weeks"][-1], flush=True)
                with atomic_write(TABLE) as file:
                    file.write((HEAD + json.dumps(kept) + ";\n").encode())


if __name__ == "__main__":
    main()
