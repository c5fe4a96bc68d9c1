"""Answers of one person: pairs of candidates, a gap each, and whether the person would flag it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from evenhand._internal.arrays import Floats, Indices, Mask
from evenhand.lab.people.study import PairStudy, RatingStudy
from evenhand.metrics import Pairs, Verdicts
from evenhand.metrics.verdicts import Rows
from evenhand.schema.scales import Scale

GAPS = (0.05, 0.8)
"""Gaps of answers to learn from are uniform between these."""
TEST_GAPS = (0.15, 0.4, 0.65)
"""Held-out pairs of rated candidates are judged at each of these gaps."""
ONE_GAP = 0.5
"""The gap of a pair that was judged without one: "alike" means that such a gap would be unfair."""
POOL = 1250
"""Pairs of rated candidates about which a person is asked; four fifths of them to learn from."""
MEMBER_ANSWERS = 250
"""Answers of each member of a panel."""
REVIEW, MEMBER_REVIEW = 5, 50
"""Answers that a learner gets at once: of the person, and of a member of a panel, where only the end counts."""


@dataclass(frozen=True, eq=False)
class PersonAnswers:
    """Pairs with their differences (n, d), gaps (n,), and whether each was flagged (n,)."""

    rows: Indices
    """Which candidates of a study of ratings, (n, 2); both 0 where pairs have no common candidates."""
    differences: Floats
    gaps: Floats
    flagged: Mask

    def __len__(self) -> int:
        return len(self.gaps)

    def take(self, rows: Rows) -> PersonAnswers:
        """Some of the answers."""
        return PersonAnswers(self.rows[rows], self.differences[rows], self.gaps[rows], self.flagged[rows])

    @property
    def pairs(self) -> Pairs:
        """The pairs as learners take them."""
        return Pairs(np.tile([0, 1], (len(self), 1)), self.differences)

    def reviews(self, reviewer: str, size: int = REVIEW) -> Iterator[Verdicts]:
        """The answers as verdicts of this reviewer, so many at a time."""
        for start in range(0, len(self), size):
            part = self.take(slice(start, start + size))
            yield Verdicts(part.pairs, part.gaps, part.flagged, np.ones(len(part), dtype=np.bool_), reviewer)


Panel = tuple[tuple[str, PersonAnswers], ...]
"""The members by name, with what they answered: the same objects for everybody in a fold, so that fits are shared."""


def folds(n: int, n_folds: int, rng: np.random.Generator) -> Indices:
    """The fold of each of n things, (n,): as even as possible, in random order.

    >>> np.bincount(folds(7, 3, np.random.default_rng(0))).tolist()
    [3, 2, 2]
    """
    return rng.permutation(np.arange(n) % n_folds)


def members(n_people: int, person: int, n_folds: int, seed: int) -> list[int]:
    """The panel of a person: everybody in another fold of people. The person is never a member."""
    fold = folds(n_people, min(n_folds, n_people), np.random.default_rng([seed, 17]))
    return [other for other in range(n_people) if fold[other] != fold[person]]


@lru_cache(maxsize=256)
def _rated(study: RatingStudy, member: int, scale: Scale, seed: int) -> PersonAnswers:
    """What a member of a panel answers, on pairs of their own."""
    contexts, rng = study.contexts(scale), np.random.default_rng([seed, member, 1])
    n = len(contexts)
    first = rng.integers(0, n, MEMBER_ANSWERS)
    second = (first + rng.integers(1, n, MEMBER_ANSWERS)) % n
    rows, gaps = np.stack([first, second], axis=1), rng.uniform(*GAPS, MEMBER_ANSWERS)
    return _asked(study, contexts, member, rows, gaps)


def _asked(study: RatingStudy, contexts: Floats, person: int, rows: Indices, gaps: Floats) -> PersonAnswers:
    """What this person's ratings say of pairs of candidates (n, 2) at these gaps (n,)."""
    first, second = rows.T
    unfair = gaps > study.distances(person)[first, second]
    return PersonAnswers(rows, contexts[first] - contexts[second], gaps, unfair)


@lru_cache(maxsize=256)
def _answered(study: PairStudy, name: str, scale: Scale) -> PersonAnswers:
    """What a person answered."""
    rows = np.array(study.persons) == name
    n = int(rows.sum())
    differences = study.differences(scale)[rows]
    return PersonAnswers(np.zeros((n, 2), np.int64), differences, np.full(n, ONE_GAP), study.alike[rows])


class RatedPairs:
    """What one person, who rated candidates, answers on pairs of them, and what the panel does."""

    def __init__(self, study: RatingStudy, person: int, scale: Scale, *, pool: int, n_folds: int, seed: int) -> None:
        self.study, self.person, self.contexts = study, person, study.contexts(scale)
        self.name = study.people[person]
        self.panel_members = members(len(study.people), person, n_folds, seed)
        self._scale, self._seed = scale, seed
        rng = np.random.default_rng([seed, person])
        everything = np.stack(np.triu_indices(len(self.contexts), 1), axis=1)
        self._pool = everything[rng.permutation(len(everything))[:pool]]
        self._gaps = rng.uniform(*GAPS, len(self._pool))
        self.folds = folds(len(self._pool), n_folds, rng)

    def _asked(self, person: int, rows: Indices, gaps: Floats) -> PersonAnswers:
        return _asked(self.study, self.contexts, person, rows, gaps)

    def training(self, fold: int) -> PersonAnswers:
        """The answers on all pairs of other folds, in the order in which they are learned."""
        rows = self.folds != fold
        return self._asked(self.person, self._pool[rows], self._gaps[rows])

    def test(self, fold: int) -> PersonAnswers:
        """The answers on the pairs of this fold, each at every test gap."""
        rows = self._pool[self.folds == fold]
        gaps = np.repeat(TEST_GAPS, len(rows))
        return self._asked(self.person, np.tile(rows, (len(TEST_GAPS), 1)), gaps)

    def panel(self) -> Panel:
        """The answers of the others, on pairs of their own."""
        names = self.study.people
        return tuple((names[one], _rated(self.study, one, self._scale, self._seed)) for one in self.panel_members)

    def votes(self, answers: PersonAnswers) -> Floats:
        """The share of the panel that would flag each answer's pair, (n,)."""
        flags = [self._asked(member, answers.rows, answers.gaps).flagged for member in self.panel_members]
        return np.asarray(np.mean(flags, axis=0))


class AnsweredPairs:
    """What one person answered on pairs of their own, and what the panel did."""

    def __init__(self, study: PairStudy, person: int, scale: Scale, *, n_folds: int, seed: int) -> None:
        self.name, self._study, self._scale = study.people[person], study, scale
        self._own = _answered(study, self.name, scale)
        self.panel_members = members(len(study.people), person, n_folds, seed)
        rng = np.random.default_rng([seed, person])
        self.folds = folds(len(self._own), n_folds, rng)
        self._order = rng.permutation(len(self._own))

    def training(self, fold: int) -> PersonAnswers:
        """The answers of other folds, in random order."""
        return self._own.take(self._order[self.folds[self._order] != fold])

    def test(self, fold: int) -> PersonAnswers:
        """The answers of this fold."""
        return self._own.take(self.folds == fold)

    def panel(self) -> Panel:
        """The answers of the others."""
        names = (self._study.people[member] for member in self.panel_members)
        return tuple((name, _answered(self._study, name, self._scale)) for name in names)
