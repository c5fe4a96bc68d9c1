"""Interview: before a bandit goes live, ask the reviewer about pairs of candidates with made-up odds."""

from __future__ import annotations

import copy
import os
from collections.abc import Iterable, Iterator
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from evenhand._internal.archive import UNREADABLE, read_archive, write_archive
from evenhand._internal.checks import is_number, is_whole
from evenhand._internal.randomness import Seed, as_generator
from evenhand.bandit import FairBandit
from evenhand.errors import DamagedFile, EvenhandError, InvalidInput
from evenhand.interview.choice import doubts, gap_in_steps, least_known, odds_of, pairs_by_lot, steps_in_one
from evenhand.interview.forecast import Forecast, unfair_pairs_live
from evenhand.interview.meter import Meter
from evenhand.interview.question import Answer, Question, Said, check_said
from evenhand.metrics import Learned, PerPair
from evenhand.metrics.accuracy import check_epsilon
from evenhand.records.contexts import as_contexts
from evenhand.records.decision import check_reviewer

Floats = NDArray[np.float64]

FORMAT = 1
"""The version of the file format; raised whenever an older evenhand could not read the file."""

EPSILON = 0.01
"""How finely distances are asked about when the metric learner has no fixed epsilon."""

N_PAIRS = 2000
"""Of so many pairs, drawn by lot for each question, the one known least is asked about."""

METER_PAIRS = 1000
"""So many pairs stand for all when it is measured how much is unknown."""

QUESTIONS, METER, FORECAST = range(3)
"""Each draws from a stream of its own: no question depends on whether a forecast was asked for."""


class Interview:
    """Asks about the pair of candidates whose distance is known least, with the gap at what it is taken to be.

    bandit: learns from every answer; for a reviewer who may err make it with reviewer_error=None. candidates: contexts
    (n, d), an array or a data frame, of people like those to come; n may be thousands. epsilon: unfairness up to this
    does not matter; unless told, the metric learner's, or 0.01. enough: it stops when fewer live unfair pairs than this
    are to be expected. max_questions: it stops after so many answers in any case; None for no limit. n_pairs: of how
    many pairs, drawn by lot, each question is the most telling one. answers: what was asked and said before, and what
    the bandit has learned from already; it cannot be undone here.

    It stops by itself, see `ended`; until then there is always a question, and the same one until it is answered. The
    bandit may go live at any time. A question costs O((n_pairs + 1,000) m^2), m = d(d+1)/2, however many candidates.

    >>> bandit = FairBandit(2, epsilon=0.05, seed=0)
    >>> interview = Interview(bandit, [[1.0, 0.0], [0.8, 0.6], [0.0, 1.0], [-0.6, 0.8]], seed=0)
    >>> for question in interview:
    ...     learned = interview.answer("unfair" if question.gap > 0.3 else "acceptable")
    >>> interview.ended
    'fewer than 0.5 unfair pairs are to be expected live'
    """

    def __init__(
        self,
        bandit: FairBandit,
        candidates: Any,
        *,
        epsilon: float | None = None,
        enough: float = 0.5,
        max_questions: int | None = None,
        n_pairs: int = N_PAIRS,
        seed: Seed = None,
        answers: Iterable[Answer] = (),
    ) -> None:
        self.bandit = _check_bandit(bandit)
        self.candidates = as_contexts(candidates, bandit.n_features)
        if len(self.candidates) < 2:
            raise InvalidInput(f"there is {len(self.candidates)} candidate; an interview needs at least 2")
        told = check_epsilon(epsilon)
        self.epsilon: float = told or getattr(bandit.metric, "epsilon", None) or EPSILON
        self.enough = _check_enough(enough)
        self.max_questions = max_questions
        if not is_whole(n_pairs) or n_pairs < 1:
            raise InvalidInput(f"n_pairs is {n_pairs!r}; allowed is a whole number >= 1")
        self._n_pairs = int(n_pairs)
        self._root = int(as_generator(seed).integers(2**63))
        self._answers: list[Answer] = list(answers)
        self._question: Question | None = None
        self._start = copy.deepcopy(bandit.state())
        self._meter = self._new_meter()
        self._bits_at_start = self._meter.bits(bandit.metric)

    def __repr__(self) -> str:
        return f"Interview({len(self.candidates)} candidates, answers={len(self._answers)}, unknown={self.unknown:.0%})"

    @property
    def max_questions(self) -> int | None:
        """After so many answers it stops; may be changed at any time."""
        return self._max_questions

    @max_questions.setter
    def max_questions(self, value: int | None) -> None:
        if value is not None and (not is_whole(value) or value < 0):
            raise InvalidInput(f"max_questions is {value!r}; allowed is a whole number >= 0, or None for no limit")
        self._max_questions = None if value is None else int(value)

    # Asking.

    @property
    def answers(self) -> tuple[Answer, ...]:
        """All that was asked and said, in order."""
        return tuple(self._answers)

    @property
    def question(self) -> Question | None:
        """The next question, the same one until it is answered; None when the interview is over."""
        if self.done:
            return None
        if self._question is None:
            self._question = self._ask()
        return self._question

    def __iter__(self) -> Iterator[Question]:
        """Question after question; each must be answered before the next."""
        while (question := self.question) is not None:
            yield question
            if self._question is question:
                raise InvalidInput(f"question {question.number} was not answered; say 'unsure' to have another one")

    def _ask(self) -> Question:
        metric, number = self.bandit.metric, len(self._answers) + 1
        rng = self._stream(QUESTIONS, number)
        pairs = pairs_by_lot(self.candidates, self._n_pairs, rng)
        resting = [(a.question.number, self._difference(a.question)) for a in self._answers if not a.taught]
        row = least_known(doubts(metric, pairs), pairs, resting, number)
        steps = steps_in_one(self.epsilon)
        gap = gap_in_steps(metric, pairs.take(np.array([row])), self.epsilon)
        high, low = odds_of(gap, steps)
        first_is_high = bool(rng.integers(2))  # else the first of two would always be the one who gets more
        odds = (high, low) if first_is_high else (low, high)
        return Question(number, pairs.names()[row], odds, gap / steps, self._why(len(pairs), gap / steps))

    def _why(self, looked_at: int, gap: float) -> str:
        least = f"Of {looked_at:,} pairs looked at, it is known least how alike these two are"
        if gap == 1.0:
            return f"{least}; no wider gap can be asked about."
        if gap < self.epsilon + 1.0 / steps_in_one(self.epsilon):
            return f"{least}; a smaller gap would make no difference."
        return f"{least}, and at this gap either answer would teach about as much."

    def _difference(self, question: Question) -> Floats:
        i, j = question.pair
        return np.asarray(self.candidates[i] - self.candidates[j])

    # Telling.

    def answer(self, said: Said, reviewer: str | None = None) -> Learned:
        """Take in what was said to the question: "unfair", "acceptable" or "unsure"; by whom, if a name is given.

        "unsure" teaches nothing, and neither does an answer that contradicts what was said before: the pair, and those
        like it, are then left alone for a while.
        """
        question, said = self.question, check_said(said)
        check_reviewer(reviewer)
        if question is None:
            raise InvalidInput(f"there is no question to answer: {self.ended}")
        learned = self._tell(self.bandit, Answer(question, said, reviewer))
        self._answers.append(Answer(question, said, reviewer, bool(learned.conflicts)))
        self._question = None
        return learned

    def _tell(self, bandit: FairBandit, answer: Answer) -> Learned:
        if answer.said == "unsure":
            return Learned()
        return bandit.learn_pair(**self._pair_of(answer))

    def sources(self) -> list[dict[str, Any]]:
        """Every answer that said something, as `bandit.learn_pair` was told it: for `evenhand.certificates.check`."""
        said = [answer for answer in self._answers if answer.said != "unsure"]
        return [self._pair_of(answer) for answer in said]

    def _pair_of(self, answer: Answer) -> dict[str, Any]:
        (i, j), unfair = answer.question.pair, answer.said == "unfair"
        x, y = self.candidates[i].tolist(), self.candidates[j].tolist()
        return {"x": x, "y": y, "gap": answer.question.gap, "unfair": unfair, "reviewer": answer.reviewer}

    def undo(self) -> Question:
        """Take the last answer back, as if it had never been given, and return its question, which is the next again.

        What was said before is heard again from the start: O(number of answers). The bandit must not have decided or
        learned anything else since the interview began.
        """
        if not self._answers:
            raise InvalidInput("there is no answer to take back; none was given")
        earlier, last = self._answers[:-1], self._answers[-1]
        bandit = FairBandit.from_state(copy.deepcopy(self._start))
        for answer in earlier:
            self._tell(bandit, answer)
        again = copy.deepcopy(bandit)
        self._tell(again, last)
        if not _same(again.state(), self.bandit.state()):
            raise InvalidInput(
                "the bandit has decided or learned elsewhere since the interview began, or this is another version of "
                "evenhand; an answer can then not be taken back"
            )
        self.bandit.metric, self.bandit.safeguards = bandit.metric, bandit.safeguards
        self.bandit.conflicts = bandit.conflicts
        self._answers, self._question = earlier, last.question
        return last.question

    # How far it has come.

    @property
    def unknown(self) -> float:
        """The share of what was unknown at the start that is still unknown: bits until all is known to within epsilon.

        A pair is known when two standard deviations of its distance make no more than epsilon.
        """
        if self._bits_at_start == 0.0:
            return 0.0
        return min(1.0, self._meter.bits(self.bandit.metric) / self._bits_at_start)

    @property
    def expected_unfair_pairs(self) -> float:
        """How many live pairs, unfair by more than epsilon, to expect if the bandit went live now; see `Meter`."""
        return self._meter.unfair_pairs(self.bandit.metric)

    def forecast(self, *, rounds: int = 300, draws: int = 5, n_candidates: int = 5) -> Forecast:
        """The same by simulation: copies of the bandit decide so many rounds before reviewers drawn from its belief.

        n_candidates: how many people there will be in a round, drawn from the candidates. Seconds, not milliseconds.
        Asked twice it says the same. A learner without a belief of its own is measured against its own estimate, and
        will find itself faultless.
        """
        for name, value in (("rounds", rounds), ("draws", draws), ("n_candidates", n_candidates)):
            if not is_whole(value) or value < 1:
                raise InvalidInput(f"{name} is {value!r}; allowed is a whole number >= 1")
        if n_candidates > len(self.candidates):
            raise InvalidInput(
                f"n_candidates is {n_candidates}; allowed is up to {len(self.candidates)}, the candidates there are"
            )
        streams = self._stream(FORECAST, len(self._answers)).spawn(draws)
        counts = (
            unfair_pairs_live(
                self.bandit, self.candidates, epsilon=self.epsilon, rounds=rounds, n_candidates=n_candidates, rng=rng
            )
            for rng in streams
        )
        return Forecast(tuple(counts), rounds)

    @property
    def done(self) -> bool:
        """Whether it has stopped by itself."""
        return self.ended is not None

    @property
    def ended(self) -> str | None:
        """Why it has stopped, or None: enough answers, everything known, or little to fear of what is not."""
        if self.max_questions is not None and len(self._answers) >= self.max_questions:
            return f"{len(self._answers)} questions were answered, as many as were wanted"
        if self.unknown == 0.0:
            return f"every pair is known to within {self.epsilon:g}"
        if self.expected_unfair_pairs < self.enough:
            return f"fewer than {self.enough:g} unfair pairs are to be expected live"
        return None

    def _new_meter(self) -> Meter:
        n_pairs = min(METER_PAIRS, self._n_pairs)
        pairs = pairs_by_lot(self.candidates, n_pairs, self._stream(METER, 0))
        return Meter(self.bandit.metric, pairs, self.epsilon)

    def _stream(self, purpose: int, number: int) -> np.random.Generator:
        return np.random.default_rng([self._root, purpose, number])

    # Putting it down and taking it up again.

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write all of the interview, the bandit with it, to a file, without pickle, whole or not at all."""
        write_archive(path, kind="Interview", version=FORMAT, content=self.state())

    def state(self) -> dict[str, Any]:
        """All that the interview is, in arrays, numbers, strings and dicts of them."""
        return {
            "bandit": self.bandit.state(),
            "start": self._start,
            "candidates": self.candidates,
            "epsilon": self.epsilon,
            "enough": self.enough,
            "max_questions": self.max_questions,
            "n_pairs": self._n_pairs,
            "root": self._root,
            "answers": [answer.to_dict() for answer in self._answers],
            "question": None if self._question is None else self._question.to_dict(),
            "bits_at_start": self._bits_at_start,
        }

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """The interview that was saved; it goes on as if it had never been put down, to the bit."""
        content = read_archive(path, kind="Interview", version=FORMAT)
        try:
            return cls.from_state(content)
        except (EvenhandError, *UNREADABLE, AttributeError, IndexError, np.linalg.LinAlgError) as error:
            raise DamagedFile(f"{path} cannot be read as an interview: {error}") from None

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """The interview whose `state` this was, to the bit, with a bandit of its own."""
        settings = {name: state[name] for name in ("epsilon", "enough", "max_questions", "n_pairs")}
        interview = cls(FairBandit.from_state(state["bandit"]), state["candidates"], **settings)
        interview._root = int(state["root"])
        interview._start = copy.deepcopy(state["start"])
        interview._answers = [Answer.from_dict(record) for record in state["answers"]]
        interview._question = None if state["question"] is None else Question.from_dict(state["question"])
        interview._meter = interview._new_meter()
        interview._bits_at_start = float(state["bits_at_start"])
        return interview


def _check_bandit(bandit: object) -> FairBandit:
    if not isinstance(bandit, FairBandit):
        raise InvalidInput(f"bandit is {bandit!r}; allowed is a FairBandit")
    if isinstance(bandit.metric, PerPair):
        raise InvalidInput("PerPair knows pairs by their places in a round; an interview needs a learner shared by all")
    return bandit


def _check_enough(enough: float) -> float:
    if not is_number(enough) or enough < 0:
        raise InvalidInput(f"enough is {enough!r}; allowed is a number of unfair pairs >= 0")
    return float(enough)


def _same(a: Any, b: Any) -> bool:
    """Whether two nested records of arrays and numbers are equal to the bit."""
    if isinstance(a, dict):
        return isinstance(b, dict) and a.keys() == b.keys() and all(_same(a[key], b[key]) for key in a)
    if isinstance(a, (list, tuple)):
        return isinstance(b, (list, tuple)) and len(a) == len(b) and all(map(_same, a, b))
    return bool(np.array_equal(a, b)) if isinstance(a, np.ndarray) else bool(a == b)
