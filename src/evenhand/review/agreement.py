"""How reliable judgements are: of one reviewer on a repeated pair, and of two reviewers on the same pair.

Kappa is agreement beyond chance: 1 for full agreement, 0 for chance, None where chance alone always agrees.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from evenhand._internal.intervals import wilson
from evenhand.desk.event_records import ReviewAnswer
from evenhand.records.review_metadata import JUDGEMENTS

PairJudgements = dict[str, str]
"""Each reviewer's judgement of one pair."""


JudgedPair = tuple[tuple[str, str], frozenset[str]]
"""A decision, whose it is, and the two candidates."""


@dataclass(frozen=True)
class Consistency:
    """How often a reviewer gave the same answer to a repeated pair."""

    repeats: int
    same: int
    share: float | None
    low: float | None
    high: float | None
    """95% Wilson interval of the share."""


@dataclass(frozen=True)
class PairAgreement:
    """Agreement of two reviewers on the pairs that both judged."""

    reviewers: tuple[str, str]
    pairs: int
    same: int
    share: float
    kappa: float | None
    """Cohen's kappa."""


@dataclass(frozen=True)
class Agreement:
    """Agreement of all reviewers on the pairs that two or more judged."""

    pairs: int
    judgements: int
    share: float | None
    """The probability that two random judgements of one pair are the same."""
    kappa: float | None
    """Fleiss' kappa, for any number of judgements per pair."""
    between: tuple[PairAgreement, ...]


def consistency(answers: Iterable[ReviewAnswer]) -> Consistency:
    """Compare repeats with the answers they repeat, where both are judgements.

    Only the first answer to a repeat counts: afterwards the reviewer was told that the pair came twice.

    >>> first = ReviewAnswer("rev_1", 1, "", "Kim", "dec_1", frozenset("ab"), "unfair")
    >>> again = ReviewAnswer("rev_2", 2, "", "Kim", "dec_1", frozenset("ab"), "unfair", repeat_of="rev_1")
    >>> consistency([first, again]).share
    1.0
    """
    known = {answer.review: answer for answer in answers}
    compared = [
        known[answer.repeat_of].answer == answer.answer
        for answer in known.values()
        if answer.answer in JUDGEMENTS
        and answer.again_of is None
        and answer.repeat_of in known
        and known[answer.repeat_of].answer in JUDGEMENTS
    ]
    n, same = len(compared), sum(compared)
    if n == 0:
        return Consistency(0, 0, None, None, None)
    return Consistency(n, same, same / n, *wilson(same, n))


def agreement(answers: Iterable[ReviewAnswer], whole: Iterable[ReviewAnswer] = ()) -> Agreement:
    """Agreement on shared pairs, counting each reviewer's latest judgement of a pair once.

    whole: reviews of whole decisions; a complete one judges every pair of its decision.

    >>> kim = ReviewAnswer("rev_1", 1, "", "Kim", "dec_1", frozenset("ab"), "unfair")
    >>> lee = ReviewAnswer("rev_2", 2, "", "Lee", "dec_1", frozenset("ab"), "acceptable")
    >>> agreement([kim, lee]).share
    0.0
    """
    judged: dict[JudgedPair, PairJudgements] = {}
    for answer in answers:
        if answer.answer in JUDGEMENTS and answer.repeat_of is None and answer.reviewer is not None:
            judged.setdefault((answer.treated, answer.pair), {})[answer.reviewer] = answer.answer
    unnamed = _add_complete_reviews(judged, whole)
    shared = [one for one in (*judged.values(), *unnamed) if len(one) >= 2]
    share, kappa = fleiss([Counter(one.values()) for one in shared])
    return Agreement(len(shared), sum(map(len, shared)), share, kappa, _between(shared))


def _add_complete_reviews(
    judged: dict[JudgedPair, PairJudgements], whole: Iterable[ReviewAnswer]
) -> list[PairJudgements]:
    """Add what complete reviews imply for the judged pairs; returns the judgements of pairs that nobody named."""
    complete: dict[tuple[str, str], dict[str, int]] = {}
    for review in whole:
        if review.whole == "complete" and review.reviewer is not None:
            complete.setdefault(review.treated, {})[review.reviewer] = review.pairs
    named = Counter(decision for decision, _ in judged)
    for (decision, _), judgements in judged.items():
        for reviewer in complete.get(decision, ()):
            judgements.setdefault(reviewer, "acceptable")
    return [
        dict.fromkeys(reviewers, "acceptable")
        for decision, reviewers in complete.items()
        if len(reviewers) >= 2
        for _ in range(max(reviewers.values()) - named[decision])
    ]


def _between(shared: Sequence[PairJudgements]) -> tuple[PairAgreement, ...]:
    tables: dict[tuple[str, str], Counter[tuple[str, str]]] = {}
    for judged in shared:
        for one, other in combinations(sorted(judged), 2):
            tables.setdefault((one, other), Counter())[judged[one], judged[other]] += 1
    found = []
    for reviewers, table in sorted(tables.items()):
        n, same = table.total(), sum(number for (a, b), number in table.items() if a == b)
        found.append(PairAgreement(reviewers, n, same, same / n, cohen(table)))
    return tuple(found)


def cohen(table: Mapping[tuple[str, str], int]) -> float | None:
    """Cohen's kappa of two reviewers, from how often they gave each pair of answers.

    >>> cohen({("unfair", "unfair"): 20, ("unfair", "acceptable"): 5, ("acceptable", "unfair"): 10,
    ...        ("acceptable", "acceptable"): 15})
    0.4
    """
    n = sum(table.values())
    if n == 0:
        return None
    first, second = Counter[str](), Counter[str]()
    for (a, b), number in table.items():
        first[a] += number
        second[b] += number
    observed = sum(number for (a, b), number in table.items() if a == b) / n
    return _kappa(observed, sum(first[a] * second[a] for a in first) / n**2)


def fleiss(counts: Sequence[Mapping[str, int]]) -> tuple[float | None, float | None]:
    """The probability that two judgements of one pair agree, and Fleiss' kappa; at least two judgements per pair."""
    if not counts:
        return None, None
    sizes = [sum(count.values()) for count in counts]
    agreeing = [
        sum(number * (number - 1) for number in count.values()) / (size * (size - 1))
        for count, size in zip(counts, sizes, strict=True)
    ]
    observed = math.fsum(agreeing) / len(counts)
    total = Counter[str]()
    for count in counts:
        total.update(count)
    return observed, _kappa(observed, math.fsum((number / sum(sizes)) ** 2 for number in total.values()))


def _kappa(observed: float, by_chance: float) -> float | None:
    return None if by_chance > 1 - 1e-12 else round((observed - by_chance) / (1 - by_chance), 12)
