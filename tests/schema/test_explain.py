"""An explanation says of features what the matrix says of contexts."""

from __future__ import annotations

import math
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from evenhand.errors import InvalidInput
from evenhand.schema import Category, Distance, Number, Schema, YesNo
from evenhand.schema.words import label

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

SCHEMA = Schema(
    [
        Number("income", low=0, high=200_000, unit="EUR"),
        Number("employment", low=0, high=40, unit="years"),
        Category("purpose", levels=("car", "home", "study", "travel")),
        YesNo("has_guarantor"),
        Category("gender", levels=("f", "m")),
    ]
)
BASE: dict[str, Any] = {"income": 0, "employment": 0, "purpose": "car", "has_guarantor": False, "gender": "f"}


def random_matrix(seed: int, *, rank: int = 4, size: float = 0.4, schema: Schema = SCHEMA) -> Floats:
    """A matrix of some rank, so that features interact."""
    A = np.random.default_rng(seed).normal(scale=size, size=(rank, schema.n_features))
    return np.asarray(A.T @ A)


def apart(one: dict[str, Any], other: dict[str, Any], matrix: Floats) -> float:
    """The distance of two rows, the long way: encode both, then sqrt(z'Gz)."""
    first, second = SCHEMA.encode([{**BASE, **one}, {**BASE, **other}])
    return math.sqrt((second - first) @ matrix @ (second - first))


def alone(**lengths: float) -> Floats:
    """A matrix in which the farthest values of each feature make the given distance and nothing interacts."""
    matrix = np.zeros((SCHEMA.n_features, SCHEMA.n_features))
    for name, length in lengths.items():
        block = SCHEMA.blocks[name]
        first, second = SCHEMA.feature(name).contrasts()[0]
        unit = float(np.sum(SCHEMA.difference(name, first, second) ** 2))
        matrix[block, block] = np.eye(block.stop - block.start) * length**2 / unit
    return matrix


@pytest.mark.parametrize("seed", range(10))
def test_every_distance_is_the_one_of_two_rows(seed: int) -> None:
    """Each comparison equals the distance of two encoded rows that differ in that feature only."""
    matrix = random_matrix(seed)
    explanation = SCHEMA.explain(matrix)
    assert {effect.name for effect in explanation.effects} == set(SCHEMA.names)
    for effect in explanation.effects:
        for c in effect.comparisons:
            direct = apart({effect.name: c.first}, {effect.name: c.second}, matrix)
            assert c.distance.value == pytest.approx(direct, abs=1e-12)
            assert (c.distance.lower, c.distance.upper) == (None, None)


@pytest.mark.parametrize("seed", range(10))
def test_the_most_a_feature_can_do_is_never_exceeded(seed: int) -> None:
    """No two values of a feature are farther apart than its effect says, and the effects are ranked by it."""
    matrix, rng = random_matrix(seed), np.random.default_rng(seed)
    explanation = SCHEMA.explain(matrix)
    for _ in range(20):
        low, high = rng.uniform(0, 200_000, size=2)
        assert apart({"income": low}, {"income": high}, matrix) <= explanation["income"].distance.value + 1e-12
    levels = combinations(("car", "home", "study", "travel"), 2)
    purpose = [apart({"purpose": a}, {"purpose": b}, matrix) for a, b in levels]
    assert explanation["purpose"].farthest.distance.value == pytest.approx(max(purpose))
    assert explanation["purpose"].nearest.distance.value == pytest.approx(min(purpose))
    ranked = [effect.distance.value for effect in explanation.effects]
    assert ranked == sorted(ranked, reverse=True)


@pytest.mark.parametrize("seed", range(10))
def test_equivalent_amounts_make_the_same_distance(seed: int) -> None:
    """The amount of the leading number makes exactly the distance of the comparison it is put beside."""
    matrix = random_matrix(seed)
    explanation = SCHEMA.explain(matrix)
    assert explanation.equivalences
    leading = next(effect.feature for effect in explanation.effects if isinstance(effect.feature, Number))
    for equivalence in explanation.equivalences:
        assert equivalence.number == leading
        c = equivalence.comparison
        assert apart({c.feature.name: c.first}, {c.feature.name: c.second}, matrix) == pytest.approx(
            apart({leading.name: 0}, {leading.name: equivalence.amount}, matrix)
        )


@pytest.mark.parametrize("seed", range(10))
def test_the_strongest_interaction_is_reported(seed: int) -> None:
    """Both distances equal those of encoded rows, and no other two features differ more between the two ways."""
    matrix = random_matrix(seed, rank=2)
    explanation = SCHEMA.explain(matrix).interaction
    assert explanation is not None
    a, b = explanation.first.feature.name, explanation.second.feature.name
    p, q, r, s = explanation.first.first, explanation.first.second, explanation.second.first, explanation.second.second
    assert explanation.together.value == pytest.approx(apart({a: p, b: r}, {a: q, b: s}, matrix), abs=1e-9)
    assert explanation.against.value == pytest.approx(apart({a: p, b: s}, {a: q, b: r}, matrix), abs=1e-7)
    best = 0.0
    for one, other in combinations(SCHEMA.features, 2):
        for x, y in one.contrasts():
            for u, v in other.contrasts():
                way = apart({one.name: x, other.name: u}, {one.name: y, other.name: v}, matrix)
                back = apart({one.name: x, other.name: v}, {one.name: y, other.name: u}, matrix)
                best = max(best, abs(way - back))
    assert explanation.together.value - explanation.against.value == pytest.approx(best, abs=1e-6)


def test_features_without_interaction_have_no_sentence_on_it() -> None:
    """Without blocks beside the diagonal, and with weak ones, there is no interaction."""
    matrix = alone(income=0.5, employment=0.4, has_guarantor=0.3)
    assert SCHEMA.explain(matrix).interaction is None
    matrix[0, 1] = matrix[1, 0] = 0.19 * math.sqrt(matrix[0, 0] * matrix[1, 1])
    assert SCHEMA.explain(matrix).interaction is None
    matrix[0, 1] = matrix[1, 0] = 0.21 * math.sqrt(matrix[0, 0] * matrix[1, 1])
    assert SCHEMA.explain(matrix).interaction is not None


def test_the_sentences() -> None:
    """The whole text, for a matrix whose distances are known by hand."""
    matrix = alone(income=1.6, employment=0.4, purpose=0.3, has_guarantor=0.2, gender=0.004)
    assert str(SCHEMA.explain(matrix)).split("\n") == [
        "By the distance a feature can make alone: income (1.60), then employment (0.40), then purpose (0.30), "
        "then has guarantor (0.20).",
        "A difference of 10,000 EUR in income makes a distance of 0.08: "
        "probabilities may differ by up to 8 percentage points.",
        "The whole range of income, 0 EUR to 200,000 EUR, makes a distance of 1.60: no limit on probabilities.",
        "From a difference of about 125,000 EUR in income on there is no limit on probabilities.",
        "A difference of 1 year in employment makes a distance of 0.01: "
        "probabilities may differ by up to 1 percentage point.",
        "The whole range of employment, 0 years to 40 years, makes a distance of 0.40: "
        "probabilities may differ by up to 40 percentage points.",
        "In purpose, any two are equally far apart, which makes a distance of 0.30: "
        "probabilities may differ by up to 30 percentage points.",
        "has guarantor, yes or no, makes a distance of 0.20: probabilities may differ by up to 20 percentage points.",
        "A difference of 1 year in employment counts for as much as 1,250 EUR in income.",
        "In purpose, car or home counts for as much as 37,500 EUR in income.",
        "has guarantor, yes or no, counts for as much as 25,000 EUR in income.",
        "gender makes no difference so far: candidates who differ in nothing else get the same probability, "
        "to 0.4 percentage points.",
    ]


def test_levels_that_are_almost_alike_are_reported_as_such() -> None:
    """The nearest levels get their own sentence when probabilities hardly differ."""
    matrix = np.zeros((SCHEMA.n_features, SCHEMA.n_features))
    start = SCHEMA.blocks["purpose"].start
    matrix[start : start + 4, start : start + 4] = np.outer([0.0, 0.03, 0.5, 1.0], [0.0, 0.03, 0.5, 1.0])
    explanation = SCHEMA.explain(matrix)
    assert (explanation["purpose"].farthest.first, explanation["purpose"].farthest.second) == ("car", "travel")
    near = apart({"purpose": "car"}, {"purpose": "home"}, matrix)
    assert f"In purpose, car and home count as almost alike: {near:.2g}." in explanation.sentences


def test_a_feature_of_two_levels_has_one_sentence() -> None:
    """Nearest and farthest are the same pair."""
    explanation = SCHEMA.explain(alone(gender=0.5))
    assert explanation.sentences[0] == (
        "In gender, f or m makes a distance of 0.50: probabilities may differ by up to 50 percentage points."
    )
    assert explanation.equivalences == ()


def test_a_zero_matrix_makes_no_difference_anywhere() -> None:
    """Nobody can be explanation from anybody: same probabilities for all."""
    explanation = SCHEMA.explain(np.zeros((SCHEMA.n_features,) * 2))
    assert explanation.sentences == tuple(
        f"{label(name)} makes no difference so far: candidates who differ in nothing else get the same probability."
        for name in SCHEMA.names
    )


def test_an_equivalence_carries_its_ends() -> None:
    """The smallest and the largest amount that both distances' ends allow; without a limit where there is none."""
    matrix = alone(income=0.8, employment=0.4)

    def ends(differences: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        distances = np.sqrt(np.einsum("ij,jk,ik->i", differences, matrix, differences))
        return 0.5 * distances, 1.25 * distances

    (same,) = SCHEMA.explain(matrix, ends=ends).equivalences
    assert same.lower == pytest.approx(0.4 * same.amount)
    assert same.upper == pytest.approx(2.5 * same.amount)
    explanation = SCHEMA.explain(matrix, ends=ends).sentences
    assert any(
        sentence.endswith("as much as 2,500 EUR in income (between 1,000 EUR and 6,250 EUR).")
        for sentence in explanation
    )


def test_an_equivalence_of_any_amount_has_no_sentence() -> None:
    """With dozens of features and few answers there would be dozens of them."""
    matrix = alone(income=0.8, employment=0.4)
    explanation = SCHEMA.explain(matrix, ends=lambda d: (np.zeros(len(d)), np.ones(len(d))))
    (same,) = explanation.equivalences
    assert (same.lower, same.upper, same.is_limited) == (0.0, math.inf, False)
    assert not any("counts for as much" in sentence for sentence in explanation.sentences)


def test_two_features_that_act_together_are_reported_both_ways_round() -> None:
    """Full reinforcement one way, full cancelling the other way."""
    matrix = alone(income=0.4, has_guarantor=0.4)
    i, j = SCHEMA.blocks["income"].start, SCHEMA.blocks["has_guarantor"].start
    matrix[i, j] = matrix[j, i] = -math.sqrt(matrix[i, i] * matrix[j, j])
    explanation = SCHEMA.explain(matrix)
    assert explanation.interaction is not None
    assert explanation.interaction.together.value == pytest.approx(0.8)
    assert explanation.interaction.against.value == pytest.approx(0.0, abs=1e-7)
    assert explanation.sentences[-4].startswith(
        "income and has guarantor count together: (0 EUR, yes) against (200,000 EUR, no) makes 0.80, "
        "but (0 EUR, no) against (200,000 EUR, yes) makes "
    )


def test_ends_are_computed_once_and_carried_into_sentences() -> None:
    """Every distance has the ends given for its own difference, the interaction's too; a number's steps have those of
    its whole range, which grow in proportion and are narrower here."""
    matrix, calls = random_matrix(3), []

    def ends(differences: Floats) -> tuple[Floats, Floats]:
        calls.append(differences)
        distances = np.sqrt(np.einsum("mi,ij,mj->m", differences, matrix, differences))
        return 0.5 * distances, 2.0 * distances + 0.02

    explanation = SCHEMA.explain(matrix, ends=ends)
    assert len(calls) == 1
    seen = [(effect.distance, c.distance) for effect in explanation.effects for c in effect.comparisons]
    assert explanation.interaction is not None
    seen += [(one, one) for one in (explanation.interaction.together, explanation.interaction.against)]
    for whole, distance in seen:
        room = 0.02
        if any(
            distance is effect.comparisons[1].distance for effect in (explanation["income"], explanation["employment"])
        ):
            room *= distance.value / whole.value
        assert distance.lower == pytest.approx(0.5 * distance.value)
        assert distance.upper == pytest.approx(2.0 * distance.value + room)
    d = explanation["has_guarantor"].distance.value
    between = f"(between {0.5 * d:.2f} and {2 * d + 0.02:.2f})"
    assert any(s.startswith("has guarantor, yes or no, makes") and between in s for s in explanation.sentences)


def test_what_is_known_of_a_step_is_known_of_the_range() -> None:
    """Whichever of the two has the narrower ends, for its size, both are explanation with them."""
    matrix = alone(income=0.8)

    def ends(differences: Floats) -> tuple[Floats, Floats]:
        distances = np.sqrt(np.einsum("mi,ij,mj->m", differences, matrix, differences))
        is_step = distances < 0.5
        return np.where(is_step, 0.9, 0.0) * distances, np.where(is_step, np.inf, 1.1 * distances)

    whole, step = (comparison.distance for comparison in SCHEMA.explain(matrix, ends=ends)["income"].comparisons)
    for distance in (whole, step):
        assert distance.lower == pytest.approx(0.9 * distance.value)
        assert distance.upper == pytest.approx(1.1 * distance.value)


def test_a_feature_without_effect_carries_its_ends() -> None:
    """No difference so far, and how much is not ruled out."""
    size = SCHEMA.n_features
    explanation = SCHEMA.explain(np.zeros((size, size)), ends=lambda z: (np.zeros(len(z)), np.full(len(z), 0.02)))
    assert explanation["gender"].distance == Distance(0.0, 0.0, 0.02)
    assert explanation.sentences[-1].endswith("get the same probability; its distance is 0 (between 0 and 0.02).")


@pytest.mark.parametrize(
    ("matrix", "options", "sentence"),
    [
        (np.eye(3), {}, "the matrix must have shape (10, 10), got (3, 3)"),
        (np.full((10, 10), np.nan), {}, "the matrix must be finite, got nan in it"),
        (np.triu(np.ones((10, 10))), {}, "the matrix must be symmetric, got an asymmetry of 1"),
        (-np.eye(10), {}, "the matrix must be positive semidefinite, got an eigenvalue of -1"),
        ("G", {}, "the matrix must be a table of numbers, got 'G'"),
        (np.eye(10), {"negligible": 0}, "negligible must be a number > 0 and < 1, got 0"),
        (np.eye(10), {"negligible": "much"}, "negligible must be a number > 0 and < 1, got 'much'"),
        (np.eye(10), {"ends": lambda z: (np.zeros(2), np.ones(2))}, "ends must return shapes (12,), got (2,) and (2,)"),
        (
            np.eye(10),
            {"ends": lambda z: (np.ones(len(z)), np.zeros(len(z)))},
            "ends must be 0 <= lower <= upper, got 1.0 and 0.0",
        ),
        (
            np.eye(10),
            {"ends": lambda z: (np.full(len(z), np.nan),) * 2},
            "ends must be 0 <= lower <= upper, got nan and nan",
        ),
    ],
)
def test_what_cannot_be_explained_is_refused(matrix: Any, options: dict[str, Any], sentence: str) -> None:
    """The message quotes what is wrong and says what is allowed."""
    with pytest.raises(InvalidInput) as caught:
        SCHEMA.explain(matrix, **options)
    assert str(caught.value).startswith(sentence)


def test_what_rounding_leaves_is_accepted() -> None:
    """A matrix that is symmetric and semidefinite but for rounding is explained, distances never below zero."""
    matrix = random_matrix(0, rank=1)
    matrix -= 1e-9 * np.eye(len(matrix))
    matrix[0, 1] += 1e-9
    assert all(c.distance.value >= 0 for e in SCHEMA.explain(matrix).effects for c in e.comparisons)


def test_an_effect_is_found_by_name() -> None:
    """An unknown name is refused with the names there are."""
    explanation = SCHEMA.explain(np.eye(10))
    assert explanation["gender"].name == "gender"
    with pytest.raises(
        InvalidInput, match="unknown feature 'sex'; the schema has income, employment, has_guarantor, gender, purp"
    ):
        explanation["sex"]


def test_the_intercept_makes_no_distance() -> None:
    """Whatever the matrix says of the constant coordinate, nothing changes."""
    matrix = random_matrix(1)
    other = matrix.copy()
    other[-1, -1] += 5.0
    assert SCHEMA.explain(matrix) == SCHEMA.explain(other)


def test_many_levels_are_explained() -> None:
    """Two categories of forty levels each, 780 pairs each, still have their strongest interaction found."""
    levels = tuple(map(str, range(40)))
    schema = Schema([Category("a", levels), Category("b", levels)])
    explanation = schema.explain(random_matrix(2, rank=1, schema=schema))
    assert len(explanation["a"].comparisons) == 780
    assert explanation.interaction is not None
    assert (
        explanation.interaction.first == explanation.effects[0].farthest
    )  # of rank one: the farthest of both reinforce the most
    assert explanation.interaction.second.distance == explanation.effects[1].distance
