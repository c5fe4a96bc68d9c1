"""Answers of one person: pairs of candidates, a gap each, and whether the person would flag it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

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
"""The members by name, with what they answered."""


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


class RatedPairs:
    """What one person, who rated candidates, answers on pairs of them, and what the panel does."""

    def __init__(self, study: RatingStudy, person: int, scale: Scale, *, pool: int, n_folds: int, seed: int) -> None:
        self.study, self.person, self.contexts = study, person, study.contexts(scale)
        self.name = study.people[person]
        self.panel_members = members(len(study.people), person, n_folds, seed)
        self._seed = seed
        rng = np.random.default_rng([seed, person])
        everything = np.stack(np.triu_indices(len(self.contexts), 1), axis=1)
        self._pool = everything[rng.permutation(len(everything))[:pool]]
        self._gaps = rng.uniform(*GAPS, len(self._pool))
        self.folds = folds(len(self._pool), n_folds, rng)

    def _asked(self, person: int, rows: Indices, gaps: Floats) -> PersonAnswers:
        differences = self.contexts[rows[:, 0]] - self.contexts[rows[:, 1]]
        return PersonAnswers(rows, differences, gaps, gaps > self.study.distances(person)[rows[:, 0], rows[:, 1]])

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
        return tuple((self.study.people[member], self._answers_of(member)) for member in self.panel_members)

    def _answers_of(self, member: int) -> PersonAnswers:
        rng, n = np.random.default_rng([self._seed, member, 1]), len(self.contexts)
        first = rng.integers(0, n, MEMBER_ANSWERS)
        second = (first + rng.integers(1, n, MEMBER_ANSWERS)) % n
        return self._asked(member, np.stack([first, second], axis=1), rng.uniform(*GAPS, MEMBER_ANSWERS))

    def votes(self, answers: PersonAnswers) -> Floats:
        """The share of the panel that would flag each answer's pair, (n,)."""
        flags = [self._asked(member, answers.rows, answers.gaps).flagged for member in self.panel_members]
        return np.asarray(np.mean(flags, axis=0))


class AnsweredPairs:
    """What one person answered on pairs of their own, and what the panel did."""

    def __init__(self, study: PairStudy, person: int, scale: Scale, *, n_folds: int, seed: int) -> None:
        self.name, self._study, self._differences = study.people[person], study, study.differences(scale)
        self._own = self._of(self.name)
        self.panel_members = members(len(study.people), person, n_folds, seed)
        rng = np.random.default_rng([seed, person])
        self.folds = folds(len(self._own), n_folds, rng)
        self._order = rng.permutation(len(self._own))

    def _of(self, name: str) -> PersonAnswers:
        rows = np.array(self._study.persons) == name
        n = int(rows.sum())
        return PersonAnswers(
            np.zeros((n, 2), np.int64), self._differences[rows], np.full(n, ONE_GAP), self._study.alike[rows]
        )

    def training(self, fold: int) -> PersonAnswers:
        """The answers of other folds, in random order."""
        return self._own.take(self._order[self.folds[self._order] != fold])

    def test(self, fold: int) -> PersonAnswers:
        """The answers of this fold."""
        return self._own.take(self.folds == fold)

    def panel(self) -> Panel:
        """The answers of the others."""
        return tuple((name, self._of(name)) for name in (self._study.people[member] for member in self.panel_members))
