"""Made-up people in the form of the studies that `evenhand lab run people` reads: tables and files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

STEPS = 4
"""Ratings are whole numbers from 0 to this."""
ALIKE = 0.35
"""Patients whose scores differ by less are alike."""


def made_up_ratings(
    n_people: int, n_candidates: int, *, twins: int = 10, residual: float = 0.15, seed: int = 0
) -> pl.DataFrame:
    """Candidates with features, an outcome, and a column of ratings for each person.

    A person has a score of the features, near to everybody's, and a residual for each candidate, so the last `twins`
    candidates, who have the features of the first ones, may be rated differently.
    """
    rng = np.random.default_rng(seed)
    age, priors = rng.integers(18, 70, n_candidates), rng.geometric(0.25, n_candidates) - 1
    race, sex = rng.choice(["a", "b", "c"], n_candidates), rng.choice(["female", "male"], n_candidates)
    felony = rng.integers(0, 2, n_candidates)
    for column in (age, priors, race, sex, felony):
        column[n_candidates - twins :] = column[:twins]
    x = np.stack([np.log(age - 17.0) / 4, np.log1p(priors) / 3, sex == "male", felony], axis=1)
    common = np.array([-0.5, 0.8, 0.1, 0.3])
    risk = x @ common
    columns: dict[str, object] = {"defendant": np.arange(n_candidates), "age": age, "priors_count": priors}
    columns |= {"race": race, "sex": sex, "felony": felony}
    columns["reoffended"] = (rng.random(n_candidates) < np.clip(0.3 + 0.6 * risk, 0.05, 0.95)).astype(int)
    for person in range(1, n_people + 1):
        own = 0.4 + x @ (common + 0.15 * rng.normal(size=4)) + residual * rng.normal(size=n_candidates)
        columns[f"person_{person}"] = np.clip(np.round(STEPS * own), 0, STEPS).astype(int)
    return pl.DataFrame(columns)


def made_up_pairs(n_people: int, n_answers: int, *, residual: float = 0.2, seed: int = 0) -> pl.DataFrame:
    """Answers on pairs of patients, `n_answers` a person: alike if the scores of the two are close, else the better."""
    rng = np.random.default_rng(seed)
    rows = []
    for person in range(n_people):
        weights = np.array([-1.0, -0.7, 0.5]) + 0.2 * rng.normal(size=3)
        for order in range(n_answers):
            sides = [[int(rng.integers(25, 71)), int(rng.integers(1, 6)), int(rng.integers(0, 3))] for _ in range(2)]
            left, right = (weights @ [(age - 25) / 45, (drinks - 1) / 4, kids / 2] for age, drinks, kids in sides)
            margin = left - right + residual * rng.normal()
            row: dict[str, int | str] = {"person": person, "order": order}
            for side, (age, drinks, kids) in zip(("left", "right"), sides, strict=True):
                row |= {f"{side}_age": age, f"{side}_drinks": drinks, f"{side}_dependents": kids}
            row["answer"] = "alike" if abs(margin) < ALIKE else ("left" if margin > 0 else "right")
            rows.append(row)
    return pl.DataFrame(rows)


def write_studies(
    folder: Path, *, n_people: int = 4, n_candidates: int = 60, n_answers: int = 40, seed: int = 0
) -> None:
    """Write both studies of made-up people into a folder, as CSV files."""
    made_up_ratings(n_people, n_candidates, seed=seed).write_csv(folder / "ratings.csv")
    made_up_pairs(n_people, n_answers, seed=seed).write_csv(folder / "pairs.csv")
