"""The two studies of people's judgements, as files have them: ratings of candidates, and answers on pairs."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

import numpy as np
import polars as pl

from evenhand._internal.arrays import Floats, Mask
from evenhand.errors import InvalidInput
from evenhand.lab.people.features import contexts_of, schema_of
from evenhand.schema.scales import Scale

PERSON_COLUMN = re.compile(r"person_\w+")
OUTCOME = "reoffended"
"""The outcome of a rated candidate: 1 costs a reward of 1, 0 earns it."""
NO_FEATURE = ("defendant", OUTCOME)
"""Columns of a rated candidate, besides the people's, that are no feature."""
ANSWERS = ("left", "right", "alike")
TOLERANCE = 0.05
"""Ratings that differ by the share s of the scale allow a gap of s + TOLERANCE."""
FEWEST_OF_EACH = 4
"""People with fewer answers "alike", or fewer others, say nothing of a metric."""
FEWEST_CANDIDATES = 20
FORMS = "ratings (columns reoffended, person_1, person_2, ...) or pairs (columns person, answer, left_*, right_*)"


@dataclass(frozen=True, eq=False)
class RatingStudy:
    """People who rated the same candidates."""

    table: pl.DataFrame
    """The candidates' features as shown to the people."""
    people: tuple[str, ...]
    ratings: Floats
    """(n_candidates, n_people), as shares of the scale."""
    outcomes: Floats
    """(n_candidates,): the reward of choosing each one, 1 or -1."""

    def contexts(self, scale: Scale) -> Floats:
        """The candidates as contexts (n_candidates, d), numbers on this scale."""
        return contexts_of(self.table, schema_of(self.table, scale))

    def distances(self, person: int) -> Floats:
        """How far the treatment of any two candidates may differ by this person's ratings, (n, n)."""
        return distances_of(self.ratings[:, person])


@dataclass(frozen=True, eq=False)
class PairStudy:
    """People who said of pairs of candidates which one to prefer, or that they are alike."""

    left: pl.DataFrame
    right: pl.DataFrame
    persons: tuple[str, ...]
    """Who answered each pair."""
    alike: Mask
    """Whether the answer was "alike", (n_answers,)."""

    @cached_property
    def people(self) -> tuple[str, ...]:
        """Those with at least FEWEST_OF_EACH answers "alike" and as many others, in the order of the file."""
        names, of = np.array(self.persons), dict.fromkeys(self.persons)
        counts = {name: (int(np.sum(self.alike[names == name])), int(np.sum(names == name))) for name in of}
        return tuple(name for name, (alike, n) in counts.items() if FEWEST_OF_EACH <= alike <= n - FEWEST_OF_EACH)

    def differences(self, scale: Scale) -> Floats:
        """The difference of each pair's contexts, (n_answers, d), numbers on this scale."""
        both = pl.concat([self.left, self.right])
        contexts = contexts_of(both, schema_of(both, scale))
        return contexts[: len(self.left)] - contexts[len(self.left) :]


@dataclass(frozen=True, eq=False)
class Studies:
    """What a folder holds; at least one of the two."""

    ratings: RatingStudy | None
    pairs: PairStudy | None
    digest: str
    """Changes with the content of the files."""


def distances_of(ratings: Floats) -> Floats:
    """Distances from the ratings of all candidates, (n,) shares of the scale to (n, n); 0 on the diagonal.

    >>> distances_of(np.array([0.0, 0.5])).tolist()
    [[0.0, 0.55], [0.55, 0.0]]
    """
    table = np.abs(ratings[:, None] - ratings[None, :]) + TOLERANCE
    np.fill_diagonal(table, 0.0)
    return np.asarray(table)


@lru_cache(maxsize=4)
def load_studies(folder: Path) -> Studies:
    """The studies in the CSV files of a folder, or of its subfolders if it has none itself."""
    if not folder.is_dir():
        raise InvalidInput(f"data must be a folder with files of {FORMS}, got {folder}")
    files = sorted(folder.glob("*.csv")) or sorted(folder.rglob("*.csv"))
    ratings, pairs, content = [], [], hashlib.blake2b(digest_size=6)
    for file in files:
        table = _read(file)
        if _people_of(table):
            ratings.append((file, table))
        elif {"person", "answer"} <= set(table.columns):
            pairs.append((file, table))
        else:
            continue
        content.update(file.read_bytes())
    for found in (ratings, pairs):
        if len(found) > 1:
            names = " and ".join(file.name for file, _ in found)
            raise InvalidInput(f"data must hold one file of each form, {FORMS}; got {names} of the same form")
    if not ratings and not pairs:
        named = ", ".join(file.name for file in files) or "no CSV file"
        raise InvalidInput(f"data must be a folder with files of {FORMS}, got {named} in {folder}")
    return Studies(
        ratings=rating_study(ratings[0][1], ratings[0][0].name) if ratings else None,
        pairs=pair_study(pairs[0][1], pairs[0][0].name) if pairs else None,
        digest=content.hexdigest(),
    )


def _read(file: Path) -> pl.DataFrame:
    try:
        return pl.read_csv(file, infer_schema_length=None)
    except (pl.exceptions.PolarsError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{file.name} must be a CSV file with a line of column names, got: {error}") from None


def _people_of(table: pl.DataFrame) -> list[str]:
    return [name for name in table.columns if PERSON_COLUMN.fullmatch(name)]


def rating_study(table: pl.DataFrame, source: str) -> RatingStudy:
    """The study in a table of candidates with a column of ratings for each person; `source` names it in errors.

    Ratings are numbers from 0 up; the highest one of all is the top of the scale.
    """
    people = _people_of(table)
    if OUTCOME not in table.columns:
        raise InvalidInput(f"{source} must have a column {OUTCOME!r}, got {', '.join(table.columns)}")
    if len(table) < FEWEST_CANDIDATES:
        raise InvalidInput(f"{source} must have at least {FEWEST_CANDIDATES} candidates, got {len(table)}")
    if len(people) < 2:
        raise InvalidInput(f"{source} must have ratings of at least 2 people, got {', '.join(people)} alone")
    _check_complete(table, source)
    outcomes = _numbers(table, OUTCOME, source)
    if not set(outcomes.tolist()) <= {0.0, 1.0}:
        raise InvalidInput(f"{source}: {OUTCOME} must be 0 or 1, got {_other(outcomes, (0.0, 1.0))}")
    ratings = np.stack([_numbers(table, name, source) for name in people], axis=1)
    if ratings.min() < 0 or ratings.max() <= 0:
        raise InvalidInput(f"{source}: ratings must be numbers from 0 up, got {ratings.min():g} to {ratings.max():g}")
    features = table.drop(name for name in (*NO_FEATURE, *people) if name in table.columns)
    if not any(features[name].n_unique() > 1 for name in features.columns):
        raise InvalidInput(f"{source} must have a feature in which candidates differ, got {features.columns or 'none'}")
    return RatingStudy(features, tuple(people), ratings / ratings.max(), 1.0 - 2.0 * outcomes)


def pair_study(table: pl.DataFrame, source: str) -> PairStudy:
    """The study in a table of answers on pairs; `source` names it in errors."""
    sides = [
        sorted(name[len(side) :] for name in table.columns if name.startswith(side)) for side in ("left_", "right_")
    ]
    if not sides[0] or sides[0] != sides[1]:
        got = ", ".join(table.columns)
        raise InvalidInput(f"{source} must have the same features as left_* and as right_* columns, got {got}")
    _check_complete(table, source)
    answers = table["answer"].to_list()
    if other := [answer for answer in answers if answer not in ANSWERS]:
        raise InvalidInput(f"{source}: answer must be {', '.join(ANSWERS[:-1])} or {ANSWERS[-1]}, got {other[0]!r}")
    left, right = (
        table.select(pl.col(f"{side}_{name}").alias(name) for name in sides[0]) for side in ("left", "right")
    )
    alike = np.array([answer == "alike" for answer in answers], dtype=np.bool_)
    study = PairStudy(left, right, tuple(map(str, table["person"].to_list())), alike)
    if len(study.people) < 2:
        raise InvalidInput(
            f"{source} must have at least 2 people with {FEWEST_OF_EACH} answers 'alike' and as many others, "
            f"got {len(study.people)}"
        )
    return study


def _check_complete(table: pl.DataFrame, source: str) -> None:
    for name in table.columns:
        if table[name].null_count():
            row = table[name].is_null().arg_max()
            raise InvalidInput(f"{source}: {name} must have a value in every row, got none in row {row}")


def _numbers(table: pl.DataFrame, name: str, source: str) -> Floats:
    if not table[name].dtype.is_numeric():
        raise InvalidInput(f"{source}: {name} must be numbers, got {table[name][0]!r}")
    return table[name].cast(pl.Float64).to_numpy().copy()


def _other(values: Floats, allowed: tuple[float, ...]) -> float:
    return next(float(value) for value in values if value not in allowed)
