"""Ratings of candidates and comparisons of pairs: how a review records them, and the verdicts they imply.

Ratings: two candidates whose ratings differ by the share s of the scale may be treated differently by s + tolerance, so
a wider gap is unfair. Comparisons: a gap above the tolerance is unfair to two who should be treated alike; one who
comes first may have the higher probability, by any gap. Where the one who comes first has the lower probability, the
pair is reversed: that says nothing about a distance, which is the same in both directions, so it is no verdict.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from evenhand._internal.checks import check_number, check_one_of, is_number, is_whole, refusal
from evenhand.errors import ContradictoryReview, InvalidInput, UnknownPair

Pair = tuple[int, int]
Scale = tuple[float, float]
Preference = Literal["alike", "first", "second"]
"""What a comparison says of a pair: treat the two alike, the first one comes first, or the second one does."""
Scores = tuple[tuple[int, float], ...]
Compared = tuple[tuple[int, int, Preference], ...]

PREFERENCES: tuple[Preference, ...] = get_args(Preference)
OPPOSITE: dict[Preference, Preference] = {"alike": "alike", "first": "second", "second": "first"}
"""The same preference with the pair in the other order."""

SCALE: Scale = (1.0, 5.0)
"""The lowest and the highest rating, unless a review says otherwise."""
TOLERANCE = 0.05
"""The gap that is acceptable between two with the same rating, or who should be treated alike."""
EQUAL = 1e-9
"""A gap is too wide only if it exceeds what is acceptable by more: probabilities are exact to this."""


class ImpliedVerdicts(NamedTuple):
    """What ratings or comparisons say of the pairs of a decision."""

    unfair: tuple[Pair, ...] = ()
    fair: tuple[Pair, ...] = ()
    reversed: tuple[Pair, ...] = ()
    """Pairs in which the one who comes first has the lower probability, that one named first."""


def check_scale(scale: Any) -> Scale:
    """The ends of a scale of ratings.

    >>> check_scale((5, 1))
    Traceback (most recent call last):
    ...
    evenhand.errors.InvalidInput: scale must be two numbers, the lower first, as in (1, 5), got (5, 1)
    """
    ends = tuple(scale) if isinstance(scale, Sequence | np.ndarray) and not isinstance(scale, str) else ()
    if len(ends) != 2 or not all(map(is_number, ends)) or not ends[0] < ends[1]:
        raise refusal("scale", "two numbers, the lower first, as in (1, 5)", scale)
    return float(ends[0]), float(ends[1])


def check_tolerance(tolerance: Any, name: str = "tolerance") -> float:
    """The tolerance as a number from 0 to below 1: with 1 no gap would be unfair."""
    return check_number(name, tolerance, least=0, below=1)


def check_score(score: Any, scale: Scale, name: str = "scores") -> float:
    """A rating on the scale.

    >>> check_score(7, (1, 5))
    Traceback (most recent call last):
    ...
    evenhand.errors.InvalidInput: scores must be within the scale 1 to 5, got 7
    """
    if not is_number(score) or not scale[0] <= score <= scale[1]:
        raise refusal(name, f"within the scale {scale[0]:g} to {scale[1]:g}", score)
    return float(score)


def as_scores(scores: Any, scale: Scale) -> Scores:
    """Candidates with their ratings, sorted, from a dict or from pairs; at least one."""
    entries = list(scores.items()) if isinstance(scores, Mapping) else scores
    if isinstance(entries, str) or not isinstance(entries, Iterable):
        raise refusal("scores", "a dict from candidates' indices to ratings", scores)
    found: dict[int, float] = {}
    for entry in entries:
        try:
            candidate, score = entry
        except (TypeError, ValueError):
            raise refusal("scores", "a dict from candidates' indices to ratings", scores) from None
        if not is_whole(candidate) or candidate < 0:
            raise refusal("a rated candidate", "a whole number >= 0", candidate)
        if int(candidate) in found:
            raise InvalidInput(f"a candidate must be rated once in a review, got candidate {candidate} twice")
        found[int(candidate)] = check_score(score, scale)
    if not found:
        raise InvalidInput("scores must be of at least one candidate, got none")
    return tuple(sorted(found.items()))


def as_compared(comparisons: Any) -> Compared:
    """Pairs with their preference, the smaller index first, sorted; from a dict by pair, or from triples.

    >>> as_compared({(3, 0): "first", (1, 2): "alike"})
    ((0, 3, 'second'), (1, 2, 'alike'))
    """
    found: dict[Pair, Preference] = {}
    for i, j, preference in _triples(comparisons):
        if not is_whole(i) or not is_whole(j):
            raise refusal("a pair", "two whole numbers, as in (0, 3)", (i, j))
        if min(i, j) < 0 or i == j:
            raise UnknownPair(f"a pair must be of two different candidates >= 0, got {(int(i), int(j))}")
        check_one_of(f"the comparison of pair {(int(i), int(j))}", preference, PREFERENCES)
        pair, sorted_preference = ((int(i), int(j)), preference) if i < j else ((int(j), int(i)), OPPOSITE[preference])
        if found.setdefault(pair, sorted_preference) != sorted_preference:
            both = f"{found[pair]!r} and {sorted_preference!r}"
            raise ContradictoryReview(f"pair {pair} must have one comparison, got {both}")
    if not found:
        raise InvalidInput("comparisons must be of at least one pair, got none")
    return tuple((*pair, found[pair]) for pair in sorted(found))


def _triples(comparisons: Any) -> Iterator[tuple[Any, Any, Any]]:
    expected = "a dict from pairs of candidates to 'alike', 'first' or 'second'"
    entries = list(comparisons.items()) if isinstance(comparisons, Mapping) else comparisons
    if isinstance(entries, str) or not isinstance(entries, Iterable):
        raise refusal("comparisons", expected, comparisons)
    for entry in entries:
        try:
            i, j, preference = (*entry[0], entry[1]) if isinstance(comparisons, Mapping) else entry
        except (TypeError, ValueError):
            raise refusal("comparisons", expected, comparisons) from None
        yield i, j, preference


def implied_by_scores(
    scores: Scores, scale: Scale, tolerance: float, probabilities: Sequence[float]
) -> ImpliedVerdicts:
    """The verdicts on all pairs of rated candidates: unfair where the gap exceeds the share of the scale + tolerance.

    >>> implied_by_scores(((0, 5.0), (1, 4.0), (2, 4.0)), (1, 5), 0.05, [0.5, 0.3, 0.2])
    ImpliedVerdicts(unfair=((1, 2),), fair=((0, 1), (0, 2)), reversed=())
    """
    unfair, fair = list[Pair](), list[Pair]()
    for (i, one), (j, other) in combinations(scores, 2):
        acceptable = abs(one - other) / (scale[1] - scale[0]) + tolerance
        exceeds = abs(probabilities[i] - probabilities[j]) > acceptable + EQUAL
        (unfair if exceeds else fair).append((i, j))
    return ImpliedVerdicts(tuple(unfair), tuple(fair))


def implied_by_comparisons(compared: Compared, tolerance: float, probabilities: Sequence[float]) -> ImpliedVerdicts:
    """The verdicts on the pairs compared.

    >>> answers = ((0, 1, "alike"), (0, 2, "first"), (1, 2, "second"))
    >>> implied_by_comparisons(answers, 0.05, [0.5, 0.3, 0.2])
    ImpliedVerdicts(unfair=((0, 1),), fair=((0, 2),), reversed=((2, 1),))
    """
    unfair, fair, turned = list[Pair](), list[Pair](), list[Pair]()
    for i, j, preference in compared:
        ahead = probabilities[i] - probabilities[j]
        if preference == "alike":
            (unfair if abs(ahead) > tolerance + EQUAL else fair).append((i, j))
        elif (ahead if preference == "first" else -ahead) >= -EQUAL:
            fair.append((i, j))
        else:
            turned.append((i, j) if preference == "first" else (j, i))
    return ImpliedVerdicts(tuple(unfair), tuple(fair), tuple(turned))
