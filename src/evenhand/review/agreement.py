"""How steady judgements are: of one person asked twice, and of two people asked about the same pair.

Kappa is the share of agreement beyond what chance would give: 1 for full agreement, 0 for chance, None where chance
alone agrees always and nothing can be said.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any

from evenhand.desk.answers import ReviewAnswer
from evenhand.records.review_metadata import JUDGEMENTS

Said = dict[tuple[str, frozenset[str]], dict[str, str]]
"""Of each pair of a decision, what each person judged."""

Z = 1.959963984540054
"""Of a normal distribution 95% lies within so many standard deviations."""


@dataclass(frozen=True)
class Consistency:
    """How often a person asked a second time answered as before."""

    repeats: int
    same: int
    share: float | None
    low: float | None
    high: float | None
    """Wilson's interval of 95% for the share."""

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers."""
        return asdict(self)


@dataclass(frozen=True)
class PairAgreement:
    """Two people's judgements of the same pairs."""

    reviewers: tuple[str, str]
    pairs: int
    same: int
    share: float
    kappa: float | None
    """Cohen's."""

    def to_dict(self) -> dict[str, Any]:
        """Plain lists and numbers."""
        return {**asdict(self), "reviewers": list(self.reviewers)}


@dataclass(frozen=True)
class Agreement:
    """How far all reviewers agree on the pairs that two or more of them judged."""

    pairs: int
    """Pairs that at least two people judged."""
    judgements: int
    share: float | None
    """Of two judgements of one pair drawn by lot, the chance that they are the same."""
    kappa: float | None
    """Fleiss', for pairs with any number of judgements."""
    between: tuple[PairAgreement, ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain lists and numbers."""
        return {**asdict(self), "between": [two.to_dict() for two in self.between]}


def consistency(answers: Iterable[ReviewAnswer]) -> Consistency:
    """Repeats against the answers they repeat; only where both are judgements.

    The first answer to a repeat counts, not one that was given when it had been told that the pair came twice.

    >>> first = ReviewAnswer("rev_1", 1, "", "Kim", "dec_1", frozenset("ab"), "unfair")
    >>> again = ReviewAnswer("rev_2", 2, "", "Kim", "dec_1", frozenset("ab"), "unfair", repeat_of="rev_1")
    >>> consistency([first, again]).share
    1.0
    """
    known = {given.review: given for given in answers}
    compared = [
        known[given.repeat_of].answer == given.answer
        for given in known.values()
        if given.answer in JUDGEMENTS
        and given.again_of is None
        and given.repeat_of in known
        and known[given.repeat_of].answer in JUDGEMENTS
    ]
    n, same = len(compared), sum(compared)
    low, high = wilson(same, n)
    return Consistency(n, same, same / n if n else None, low, high)


def agreement(answers: Iterable[ReviewAnswer], whole: Iterable[ReviewAnswer] = ()) -> Agreement:
    """Agreement of people on the pairs they have in common. A person's latest judgement of a pair counts, once.

    whole: reviews of whole decisions; whoever gave a complete one has judged every pair of it.

    >>> kim = ReviewAnswer("rev_1", 1, "", "Kim", "dec_1", frozenset("ab"), "unfair")
    >>> lee = ReviewAnswer("rev_2", 2, "", "Lee", "dec_1", frozenset("ab"), "acceptable")
    >>> agreement([kim, lee]).share
    0.0
    """
    said: Said = {}
    for given in answers:
        if given.answer in JUDGEMENTS and given.repeat_of is None and given.reviewer is not None:
            said.setdefault((given.decision, given.pair), {})[given.reviewer] = given.answer
    shared = [judged for judged in (*said.values(), *_judged_whole(said, whole)) if len(judged) >= 2]
    share, kappa = fleiss([Counter(judged.values()) for judged in shared])
    return Agreement(len(shared), sum(map(len, shared)), share, kappa, _between(shared))


def _judged_whole(
    said: dict[tuple[str, frozenset[str]], dict[str, str]], whole: Iterable[ReviewAnswer]
) -> list[dict[str, str]]:
    """Add to what was said of pairs what complete reviews imply; gives the pairs that nobody named."""
    complete: dict[str, dict[str, int]] = {}
    for given in whole:
        if given.whole == "complete" and given.reviewer is not None:
            complete.setdefault(given.decision, {})[given.reviewer] = given.pairs
    named = Counter(decision for decision, _ in said)
    for (decision, _), judged in said.items():
        for reviewer in complete.get(decision, ()):
            judged.setdefault(reviewer, "acceptable")
    return [
        dict.fromkeys(reviewers, "acceptable")
        for decision, reviewers in complete.items()
        if len(reviewers) >= 2
        for _ in range(max(reviewers.values()) - named[decision])
    ]


def _between(shared: Sequence[Mapping[str, str]]) -> tuple[PairAgreement, ...]:
    tables: dict[tuple[str, str], Counter[tuple[str, str]]] = {}
    for judged in shared:
        for one, other in combinations(sorted(judged), 2):
            tables.setdefault((one, other), Counter())[judged[one], judged[other]] += 1
    found = []
    for two, table in sorted(tables.items()):
        n, same = table.total(), sum(number for (a, b), number in table.items() if a == b)
        found.append(PairAgreement(two, n, same, same / n, cohen(table)))
    return tuple(found)


def cohen(table: Mapping[tuple[str, str], int]) -> float | None:
    """Cohen's kappa of two people, from how often they gave each pair of answers.

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
    seen = sum(number for (a, b), number in table.items() if a == b) / n
    return _beyond_chance(seen, sum(first[a] * second[a] for a in first) / n**2)


def fleiss(counts: Sequence[Mapping[str, int]]) -> tuple[float | None, float | None]:
    """The chance that two judgements of one pair agree, and Fleiss' kappa; each pair has two judgements or more."""
    if not counts:
        return None, None
    sizes = [sum(count.values()) for count in counts]
    agreeing = [
        sum(number * (number - 1) for number in count.values()) / (size * (size - 1))
        for count, size in zip(counts, sizes, strict=True)
    ]
    seen = math.fsum(agreeing) / len(counts)
    total = Counter[str]()
    for count in counts:
        total.update(count)
    by_chance = math.fsum((number / sum(sizes)) ** 2 for number in total.values())
    return seen, _beyond_chance(seen, by_chance)


def _beyond_chance(seen: float, by_chance: float) -> float | None:
    return None if by_chance > 1 - 1e-12 else round((seen - by_chance) / (1 - by_chance), 12)


def wilson(successes: int, n: int) -> tuple[float | None, float | None]:
    """Wilson's interval of 95% for a share.

    >>> [round(end, 3) for end in wilson(9, 10)]
    [0.596, 0.982]
    """
    if n == 0:
        return None, None
    share, z2 = successes / n, Z * Z / n
    middle = (share + z2 / 2) / (1 + z2)
    half = Z / (1 + z2) * math.sqrt(share * (1 - share) / n + z2 / (4 * n))
    # Rounding must not put the share itself outside.
    return max(0.0, min(share, middle - half)), min(1.0, max(share, middle + half))
