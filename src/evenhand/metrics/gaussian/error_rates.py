"""Doubt: hear answers that may be wrong, at rates nobody told; what was heard lately is heard again as rates emerge."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from evenhand.metrics.gaussian.belief import Belief
from evenhand.metrics.gaussian.memory import remembered
from evenhand.metrics.half_spaces import HalfSpaces
from evenhand.metrics.reviewer_errors import ReviewerErrors

Floats = NDArray[np.float64]
Mend = Callable[[Belief], Belief]

OPEN_ANSWERS = 1000
MOST_NUMBERS_OPEN = 1_000_000
"""Answers that can still be told again: from this many to twice as many, fewer where each has very many numbers."""

FEWEST_NEW = 8
SHARE_NEW = 0.25
"""Rates are looked at again after so many new answers: the larger of the first and the second times those open."""

CHANGE = math.log(1.5)
"""By so much must the log odds of a reviewer's error change for all open answers to be told again."""

MOST_RETELLINGS = 3
"""So often in a row at most: a rate changes what is believed, and that the rate."""

COIN = 0.5
"""Nobody is heard at a higher error rate than this, at which an answer teaches nothing.

Somebody who is wrong more often than right could be read the other way round, and in panels that halved unfair pairs
(60 in place of 137). But who was found out might turn round as well; and a reviewer who errs while she looks at many
pairs, and reports only the worst, is wrong in most reports without meaning the opposite: read the other way round she
brought some 19,000 unfair pairs in 3,000 rounds, not listened to 700.
"""

HONEST = 0.1
"""The error rate at which somebody who seems to mislead is heard on trial: another metric may explain it better."""

TOO_SURE = (4.0, 16.0, 64.0)
"""What the variance of older beliefs is multiplied by on trial: answers that seem wrong may be right, they too sure.

A burst of lies, told for a metric that is not, was believed for good: 400 of them brought 3,100 unfair pairs in 4,000
rounds, and as many again in the next, the truth being taken for error at a rate of 0.04."""

ERRORS_TO_EXPLAIN = 0.005
"""As long as everybody's rate is below this there is nothing that a wider belief could explain better."""

COARSE = 0.01
"""How finely thresholds, which are squared gaps, are told apart when two explanations are compared."""

BETTER = 20.0
"""By how much, in the logarithm of its likelihood, one explanation must beat another to replace it; and by 1 for each
unknown on top, since with more unknowns more fits by chance."""

TELLING = 3.0
"""An answer further than this many standard deviations from the middle need not be remembered for a larger bound."""


@dataclass(frozen=True, eq=False)
class Answers:
    """Half-spaces, and the rows of those who said them, (n,)."""

    half_spaces: HalfSpaces
    reviewers: NDArray[np.int64]

    @classmethod
    def none(cls, n_unknowns: int) -> Self:
        """No answers."""
        return cls(HalfSpaces.none(n_unknowns), np.zeros(0, dtype=np.int64))

    def __len__(self) -> int:
        return len(self.reviewers)

    def take(self, rows: NDArray[np.bool_] | slice) -> Answers:
        """Some of the answers."""
        return Answers(self.half_spaces.take(rows), self.reviewers[rows])

    def joined(self, half_spaces: HalfSpaces, reviewers: NDArray[np.int64]) -> Answers:
        """These answers, then those."""
        return Answers(self.half_spaces.joined(half_spaces), np.concatenate([self.reviewers, reviewers]))

    def state(self) -> dict[str, Any]:
        """As plain arrays."""
        return {"half_spaces": self.half_spaces.state(), "reviewers": self.reviewers}

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """The answers whose `state` this was."""
        return cls(HalfSpaces.from_state(state["half_spaces"]), state["reviewers"])


class Doubt:
    """Error rates of reviewers, the newest answers, and the belief before them: fixed-lag smoothing.

    Moment matching that took early answers for truer than they are stays sure of them for good. So a belief is kept
    (`base`) that has heard only older answers, and the newest are told to it again whenever a rate has changed. Answers
    leave the window into the base, at the rates known by then, never to be told again; memory stays flat.
    """

    def __init__(self, base: Belief) -> None:
        self.errors = ReviewerErrors()
        self.base = base
        self.open = Answers.none(len(base.mean))
        self._memory = Answers.none(len(base.mean))
        self._used = np.zeros(0)
        self._new = 0
        self._may_widen = False

    def heard(
        self, belief: Belief, half_spaces: HalfSpaces, reviewer: str | None, *, blur: float, mend: Mend
    ) -> tuple[Doubt, Belief]:
        """What is doubted and believed after one reviewer's answers; `mend` makes a belief one about metrics."""
        doubt = copy.copy(self)
        doubt.errors = copy.copy(self.errors)
        belief = doubt._hear(belief, half_spaces, reviewer, blur, mend)
        return doubt, belief

    def _hear(self, belief: Belief, half_spaces: HalfSpaces, reviewer: str | None, blur: float, mend: Mend) -> Belief:
        row = self.errors.row(reviewer)
        self.errors.answered(row, len(half_spaces))
        half_spaces = half_spaces.take(_first_of_copies(half_spaces))  # of exact copies of candidates one is news
        n, rates = len(half_spaces), self.errors.rates()
        self._used = np.append(self._used, rates[len(self._used) :])
        belief = mend(belief.told_all(half_spaces, np.full(n, min(rates[row], COIN)), blur=blur).belief)
        self.open = self.open.joined(half_spaces, np.full(n, row))
        self._new += n
        most = min(OPEN_ANSWERS, max(MOST_NUMBERS_OPEN // len(belief.mean), 1))
        if len(self.open) > 2 * most:
            self._settle(belief, len(self.open) - most, blur, mend)
        if self._new >= max(FEWEST_NEW, SHARE_NEW * min(len(self.open), most)):
            belief = self._looked_again(belief, blur, mend)
        return belief

    def _settle(self, belief: Belief, n: int, blur: float, mend: Mend) -> None:
        """Let the oldest n answers go into the base, and into what is remembered for a larger bound."""
        oldest = self.open.take(slice(None, n))
        self.open = self.open.take(slice(n, None))
        scores = _scores(belief, oldest.half_spaces, blur)
        self.errors.settle(_chances(scores), oldest.reviewers)
        self.base = mend(self._told(self.base, oldest, blur))
        self._may_widen = True
        telling = oldest.take(np.abs(scores) < TELLING)
        kept = remembered(self._memory.half_spaces, telling.half_spaces)
        reviewers = np.concatenate([self._memory.reviewers, telling.reviewers])[-len(kept) or len(telling) :]
        self._memory = Answers(kept, reviewers)

    def _looked_again(self, belief: Belief, blur: float, mend: Mend) -> Belief:
        """Learn the rates from all open answers, by what is believed now, and tell them again where a rate changed.

        Then look for better explanations: of somebody who misleads, another metric; of errors, older beliefs too sure.
        """
        self._new = 0
        belief = self._with_rates_of(belief, blur, mend)
        belief = self._acquitted(belief, blur, mend)
        return self._less_sure(belief, blur, mend)

    def _with_rates_of(self, belief: Belief, blur: float, mend: Mend) -> Belief:
        for _ in range(MOST_RETELLINGS):
            chances = _chances(_scores(belief, self.open.half_spaces, blur))
            self.errors.retold(chances, self.open.reviewers)
            rates = self.errors.rates()
            if np.all(np.abs(_log_odds(rates) - _log_odds(self._used)) <= CHANGE):
                break
            self._used = rates
            belief = mend(self._told(self.base, self.open, blur))
        return belief

    def _acquitted(self, belief: Belief, blur: float, mend: Mend) -> Belief:
        """Of each who seems to mislead: what she says at her word, if that explains it better than the opposite does.

        Where a metric is far from what was expected, an honest reviewer contradicts what is believed at every turn.
        """
        rates = self.errors.rates()
        for row in np.flatnonzero(rates > COIN):
            own = np.arange(len(rates)) == row
            heard = np.minimum(rates, COIN)
            honest = mend(self._told_at(self.base, np.where(own, HONEST, heard), blur))
            turned = mend(self._told_at(self.base, np.where(own, rates, heard), blur))
            if self._fit(honest, blur) > self._fit(turned, blur) + self._margin:
                self.errors.forget(int(row))
                belief = self._with_rates_of(honest, blur, mend)
        return belief

    def _less_sure(self, belief: Belief, blur: float, mend: Mend) -> Belief:
        """With the older beliefs widened, if the newest answers then fit better; once for the same answers."""
        if not self._may_widen or np.all(self.errors.rates() < ERRORS_TO_EXPLAIN):
            return belief
        rates, fit = np.minimum(self.errors.rates(), COIN), self._fit(belief, blur)
        bases = [self.base.widened(factor) for factor in TOO_SURE]
        trials = [mend(self._told_at(base, rates, blur)) for base in bases]
        fits = [self._fit(trial, blur) for trial in trials]
        best = int(np.argmax(fits))
        if fits[best] <= fit + self._margin:
            return belief
        self.base, self._may_widen = bases[best], False
        return self._with_rates_of(trials[best], blur, mend)

    @property
    def _margin(self) -> float:
        """By how much one explanation must fit better than another: any two differ by chance, for each unknown."""
        return BETTER + len(self.base.mean)

    def _fit(self, belief: Belief, blur: float) -> float:
        """The log-likelihood of the open answers, everybody's error rate being what fits best.

        Thresholds are told apart only coarsely here: that a belief is off by less does little harm.
        """
        chances = _chances(_scores(belief, self.open.half_spaces, max(blur, COARSE)))
        return self.errors.best_fit(chances, self.open.reviewers)

    def restarted(self, prior: Belief, *, blur: float, mend: Mend) -> tuple[Doubt, Belief]:
        """All that is remembered, and all open answers, told to another prior."""
        doubt = copy.copy(self)
        doubt.base = mend(self._told(prior, self._memory, blur))
        return doubt, mend(self._told(doubt.base, self.open, blur))

    def with_base(self, base: Belief) -> Doubt:
        """The same doubts with another belief about what is older."""
        doubt = copy.copy(self)
        doubt.base = base
        return doubt

    def _told(self, belief: Belief, answers: Answers, blur: float) -> Belief:
        """Answers at the rates that are known."""
        return _one_by_one(belief, answers, np.minimum(self.errors.rates(), COIN), blur)

    def _told_at(self, belief: Belief, rates: Floats, blur: float) -> Belief:
        """The open answers at other rates, (r,)."""
        return _one_by_one(belief, self.open, rates, blur)

    # Saving.

    def state(self) -> dict[str, Any]:
        """All of it, in arrays, numbers and strings."""
        return {
            "errors": self.errors.state(),
            "base": {"mean": self.base.mean, "cov": self.base.cov},
            "open": self.open.state(),
            "memory": self._memory.state(),
            "used": self._used,
            "new": self._new,
            "may_widen": self._may_widen,
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """The same, to the bit."""
        doubt = cls(Belief(state["base"]["mean"].copy(), state["base"]["cov"].copy()))
        doubt.errors = ReviewerErrors.from_state(state["errors"])
        doubt.open, doubt._memory = Answers.from_state(state["open"]), Answers.from_state(state["memory"])
        doubt._used, doubt._new = state["used"].copy(), int(state["new"])
        doubt._may_widen = bool(state["may_widen"])
        return doubt


def _one_by_one(belief: Belief, answers: Answers, rates: Floats, blur: float) -> Belief:
    """Told one after the other. The same words of somebody else, or on another day, are news: they are told apart."""
    for rows in _parts_without_copies(answers.half_spaces):
        part = answers.take(rows)
        belief = belief.told_all(part.half_spaces, rates[part.reviewers], blur=blur).belief
    return belief


def _first_of_copies(half_spaces: HalfSpaces) -> NDArray[np.int64]:
    """The rows that say what no earlier one says, (n,)."""
    first: dict[bytes, int] = {}
    for row, words in enumerate(_words(half_spaces)):
        first.setdefault(words, row)
    return np.array(list(first.values()), dtype=np.int64)


def _parts_without_copies(half_spaces: HalfSpaces) -> list[slice]:
    """All rows, in as few consecutive parts as there can be if no part says the same twice."""
    parts: list[slice] = []
    start, said = 0, set[bytes]()
    for row, words in enumerate(_words(half_spaces)):
        if words in said:
            parts.append(slice(start, row))
            start, said = row, set()
        said.add(words)
    return [*parts, slice(start, len(half_spaces))]


def _words(half_spaces: HalfSpaces) -> list[bytes]:
    """What each row says, to compare; minus zero is zero."""
    table = np.column_stack([half_spaces.normals, half_spaces.thresholds, half_spaces.sides]) + 0.0
    return [row.tobytes() for row in table]


def _scores(belief: Belief, half_spaces: HalfSpaces, blur: float) -> Floats:
    """How many standard deviations inside each half-space the mean lies, (n,)."""
    mean, sd = belief.moments(half_spaces.normals)
    return np.asarray(half_spaces.sides * (mean - half_spaces.thresholds) / np.sqrt(sd**2 + blur**2))


def _chances(scores: Floats) -> Floats:
    """How likely each answer is right, given its score, (n,)."""
    from scipy.special import ndtr  # which takes longer to load than a first decision may take

    return np.asarray(ndtr(scores))


def _log_odds(rates: Floats) -> Floats:
    return np.asarray(np.log(rates / (1.0 - rates)))
