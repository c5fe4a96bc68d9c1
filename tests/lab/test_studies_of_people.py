"""Studies of people's judgements: what is read from files, what is refused, and what people would answer."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.errors import InvalidInput
from evenhand.lab.people.answers import GAPS, TEST_GAPS, AnsweredPairs, RatedPairs, folds, members
from evenhand.lab.people.features import schema_of
from evenhand.lab.people.study import TOLERANCE, load_studies, pair_study, rating_study
from evenhand.testing.people import STEPS, made_up_pairs, made_up_ratings, write_studies

RATINGS, PAIRS = made_up_ratings(3, 40, seed=1), made_up_pairs(3, 40, seed=1)


def test_people_candidates_and_features_come_from_the_files(tmp_path: Path) -> None:
    """Both forms are told by their columns, whatever the files are called; other files are not read."""
    write_studies(tmp_path, n_people=5, n_candidates=50)
    pl.DataFrame({"note": ["something else"]}).write_csv(tmp_path / "notes.csv")
    studies = load_studies(tmp_path)
    assert studies.ratings is not None
    assert studies.pairs is not None
    assert studies.ratings.people == tuple(f"person_{number}" for number in range(1, 6))
    assert studies.ratings.ratings.shape == (50, 5)
    assert set(studies.ratings.table.columns) == {"age", "priors_count", "race", "sex", "felony"}
    assert set(studies.ratings.outcomes) == {-1.0, 1.0}


def test_a_folder_above_the_files_will_do(tmp_path: Path) -> None:
    """Without a CSV file of its own, the files of subfolders count."""
    (tmp_path / "human").mkdir()
    write_studies(tmp_path / "human")
    assert load_studies(tmp_path).ratings is not None


def test_other_content_has_another_digest(tmp_path: Path) -> None:
    """Results of other people are never taken for those of these."""
    digests: list[str] = []
    for seed in (0, 1, 0):
        folder = tmp_path / str(len(digests))
        folder.mkdir()
        write_studies(folder, seed=seed)
        digests.append(load_studies(folder).digest)
    assert digests[0] == digests[2] != digests[1]


def _ratings(change: str) -> pl.DataFrame:
    return {
        "no outcome": RATINGS.drop("reoffended"),
        "one person": RATINGS.drop("person_2", "person_3"),
        "few candidates": RATINGS.head(5),
        "missing value": RATINGS.with_columns(
            pl.when(pl.col("defendant") == 3).then(None).otherwise("age").alias("age")
        ),
        "other outcome": RATINGS.with_columns(reoffended=pl.lit(2)),
        "words as ratings": RATINGS.with_columns(person_2=pl.lit("high")),
        "negative ratings": RATINGS.with_columns(person_2=pl.lit(-1)),
        "no feature": RATINGS.drop("age", "priors_count", "race", "sex", "felony"),
    }[change]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("no outcome", "f.csv must have a column 'reoffended', got defendant, age"),
        ("one person", "f.csv must have ratings of at least 2 people, got person_1 alone"),
        ("few candidates", "f.csv must have at least 20 candidates, got 5"),
        ("missing value", "f.csv: age must have a value in every row, got none in row 3"),
        ("other outcome", "f.csv: reoffended must be 0 or 1, got 2"),
        ("words as ratings", "f.csv: person_2 must be numbers, got 'high'"),
        ("negative ratings", "f.csv: ratings must be numbers from 0 up, got -1 to 4"),
        ("no feature", "f.csv must have a feature in which candidates differ"),
    ],
)
def test_ratings_that_cannot_be_read_are_a_sentence(change: str, message: str) -> None:
    """What the file must have, and what it has."""
    with pytest.raises(InvalidInput) as refused:
        rating_study(_ratings(change), "f.csv")
    assert message in str(refused.value)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (PAIRS.drop("left_age"), "f.csv must have the same features as left_* and as right_* columns"),
        (PAIRS.with_columns(answer=pl.lit("coin")), "f.csv: answer must be left, right or alike, got 'coin'"),
        (
            PAIRS.with_columns(answer=pl.lit("left")),
            "at least 2 people with 4 answers 'alike' and as many others, got 0",
        ),
    ],
)
def test_pairs_that_cannot_be_read_are_a_sentence(table: pl.DataFrame, message: str) -> None:
    """What the file must have, and what it has."""
    with pytest.raises(InvalidInput) as refused:
        pair_study(table, "f.csv")
    assert message in str(refused.value)


def test_a_folder_without_studies_is_a_sentence(tmp_path: Path) -> None:
    """No folder, no file of either form, and two of the same form."""
    with pytest.raises(InvalidInput, match="data must be a folder with files of ratings"):
        load_studies(tmp_path / "nowhere")
    (tmp_path / "empty").mkdir()
    with pytest.raises(InvalidInput, match="got no CSV file in"):
        load_studies(tmp_path / "empty")
    for name in ("a.csv", "b.csv"):
        RATINGS.write_csv(tmp_path / name)
    with pytest.raises(InvalidInput, match=r"one file of each form, .*; got a.csv and b.csv of the same form"):
        load_studies(tmp_path)


@pytest.mark.parametrize("scale", ["linear", "log", "quantile", "auto"])
def test_features_become_contexts_through_the_schema(scale: str) -> None:
    """Norm at most 1, no constant coordinate, twins alike."""
    study = rating_study(RATINGS, "f.csv")
    contexts = study.contexts(scale)  # type: ignore[arg-type]
    assert np.all(np.linalg.norm(contexts, axis=1) <= 1.0)
    assert np.all(np.ptp(contexts, axis=0) > 0)
    assert np.array_equal(contexts[:10], contexts[-10:])
    schema = schema_of(study.table, "log")
    assert not schema.intercept
    assert schema.coordinates == ("age", "priors_count", "race=a", "race=b", "race=c", "sex=male", "felony")


def test_distances_are_differences_of_ratings_and_the_tolerance() -> None:
    """As the study defines an unfair gap; nobody is at a distance from themselves."""
    study = rating_study(RATINGS, "f.csv")
    table, raw = study.distances(1), RATINGS["person_2"].to_numpy()
    assert table[4, 9] == pytest.approx(abs(raw[4] - raw[9]) / STEPS + TOLERANCE)
    assert np.array_equal(table, table.T)
    assert not np.diag(table).any()


@given(n=st.integers(2, 60), n_folds=st.integers(2, 7), seed=st.integers(0, 9))
def test_folds_are_even(n: int, n_folds: int, seed: int) -> None:
    """Everything is in exactly one fold, and folds differ by one at most."""
    counts = np.bincount(folds(n, n_folds, np.random.default_rng(seed)), minlength=n_folds)
    assert counts.sum() == n
    assert np.ptp(counts) <= 1


@given(n=st.integers(2, 30), seed=st.integers(0, 9))
def test_nobody_is_in_their_own_panel(n: int, seed: int) -> None:
    """A panel has people of other folds only, and somebody."""
    for person in range(n):
        panel = members(n, person, 5, seed)
        assert person not in panel
        assert panel


def test_no_pair_is_both_learned_and_predicted() -> None:
    """The pairs of a fold are not in its training; over all folds every pair is predicted once, at each gap."""
    people = RatedPairs(rating_study(RATINGS, "f.csv"), 0, "log", pool=200, n_folds=5, seed=0)
    seen = []
    for fold in range(5):
        learned = {tuple(pair) for pair in people.training(fold).rows.tolist()}
        asked = [tuple(pair) for pair in people.test(fold).rows.tolist()]
        assert not learned & set(asked)
        assert len(learned) + len(set(asked)) == 200
        seen += asked
    assert len(seen) == 200 * len(TEST_GAPS)
    assert len(set(seen)) == 200


def test_answers_are_what_the_ratings_say() -> None:
    """A flag exactly where the gap exceeds the distance; gaps to learn from are within their limits."""
    study = rating_study(RATINGS, "f.csv")
    people = RatedPairs(study, 2, "log", pool=200, n_folds=5, seed=0)
    for answers in (people.training(1), people.test(1)):
        allowed = study.distances(2)[answers.rows[:, 0], answers.rows[:, 1]]
        assert np.array_equal(answers.flagged, answers.gaps > allowed)
    assert GAPS[0] <= people.training(0).gaps.min()
    assert people.training(0).gaps.max() <= GAPS[1]


def test_votes_are_those_of_the_others() -> None:
    """The share of the panel that would flag; the person's own ratings play no part."""
    study = rating_study(made_up_ratings(6, 40, seed=2), "f.csv")
    people = RatedPairs(study, 0, "log", pool=200, n_folds=3, seed=0)
    asked = people.test(0)
    flags = [asked.gaps > study.distances(member)[asked.rows[:, 0], asked.rows[:, 1]] for member in members(6, 0, 3, 0)]
    assert np.allclose(people.votes(asked), np.mean(flags, axis=0))
    assert people.name not in dict(people.panel())


def test_answers_on_pairs_are_split_by_fold() -> None:
    """Every answer of a person is predicted in one fold and learned in all others; "alike" is a flag."""
    study = pair_study(PAIRS, "f.csv")
    people = AnsweredPairs(study, 0, "linear", n_folds=5, seed=0)
    tests = [people.test(fold) for fold in range(5)]
    assert sum(map(len, tests)) == 40
    assert (
        sum(int(test.flagged.sum()) for test in tests)
        == PAIRS.filter((pl.col("person").cast(pl.String) == study.people[0]) & (pl.col("answer") == "alike")).height
    )
    for fold, test in enumerate(tests):
        assert len(people.training(fold)) + len(test) == 40
