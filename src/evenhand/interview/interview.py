"""Interview: before a bandit goes live, ask a reviewer about pairs of candidates with made-up probabilities."""

from __future__ import annotations

import copy
import os
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from itertools import compress
from typing import Any, Self

import numpy as np

from evenhand._internal.archive import load_archive, write_archive
from evenhand._internal.arrays import Floats, Mask
from evenhand._internal.checks import check_number, check_whole, check_whole_or_none, refusal
from evenhand._internal.randomness import Seed, as_generator
from evenhand._internal.rounding import ROUNDING, distance_between
from evenhand.bandit import FairBandit
from evenhand.errors import InvalidInput
from evenhand.interview._meter import KNOWN, Meter
from evenhand.interview.forecast import Forecast, forecast_live
from evenhand.interview.plan import ReviewPlan
from evenhand.interview.profiles import Features, PartialProfiles, labels_of
from evenhand.interview.question import (
    Answer,
    Judgement,
    Question,
    check_judgement,
    gap_in_steps,
    most_uncertain,
    probabilities_of,
    sample_pairs,
    steps_in_one,
    uncertainties,
)
from evenhand.metrics import Learned, PerPair
from evenhand.metrics.learner_settings import check_epsilon
from evenhand.metrics.verdicts import Pairs
from evenhand.records.contexts import as_contexts
from evenhand.records.decision import check_reviewer

FORMAT = 2  # The version of the file format, raised whenever an older evenhand could not read the file.
EPSILON = 0.01  # The default epsilon when the metric learner has none.
EPSILON_OF_PEOPLE = 0.05  # The default for people, few of whom judge probabilities to within five percentage points.
N_PAIRS = 2000  # Number of random pairs from which each question is chosen.
METER_PAIRS = 1000  # Sample size of the meter.
DRAWS = 20  # Simulated worlds of a forecast.

QUESTIONS, METER, FORECAST = range(3)
"""Each has a random stream of its own: no question depends on whether a forecast was made."""


class Interview:
    """Asks about the pair of candidates with the most uncertain distance, with the gap at its estimate.

    bandit: learns from every answer; make it with reviewer_error=None for a reviewer who may err. candidates: contexts
    (n, d), an array or a data frame, of people like those to come; n may be thousands. epsilon: unfairness up to this
    does not matter; by default the metric learner's, or 0.01. enough: the interview stops when fewer live unfair pairs
    than this are expected. max_questions: it stops after this many answers in any case; None for no limit. n_pairs:
    the number of random pairs from which each question is chosen. answers: earlier answers that the bandit has learned
    from already; they cannot be undone here. plan: how decisions will be made and reviewed, for what is expected live.

    differ_in: ask about partial profiles: the second person is made up, and differs from the first in at most this many
    features (`PartialProfiles`); None asks about real people, who with many features differ in nearly all. features: a
    Schema, or a label for each column: columns with the same label are one feature, and those with None never differ.
    By default every column is a feature. `contexts_of(question)` has the two people of a question.

    Until it stops (`ended`) there is always a question, the same one until it is answered. The bandit may go live at
    any time. A question costs O((n_pairs + 1,000) m^2), m = d(d+1)/2, for any number of candidates.

    >>> bandit = FairBandit(2, epsilon=0.05, seed=0)
    >>> interview = Interview(bandit, [[1.0, 0.0], [0.8, 0.6], [0.0, 1.0], [-0.6, 0.8]], seed=0)
    >>> for question in interview:
    ...     learned = interview.answer("unfair" if question.gap > 0.3 else "acceptable")
    >>> interview.ended
    'fewer than 0.5 unfair pairs are expected live'
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
        differ_in: int | None = None,
        features: Features = None,
        plan: ReviewPlan | None = None,
    ) -> None:
        self.bandit = _check_bandit(bandit)
        self.candidates = as_contexts(candidates, bandit.n_features)
        if len(self.candidates) < 2:
            raise InvalidInput(f"candidates must be at least 2, got {len(self.candidates)}")
        self.epsilon: float = check_epsilon(epsilon) or getattr(bandit.metric, "epsilon", None) or EPSILON
        self.enough = check_number("enough", enough, least=0)
        self.max_questions = max_questions
        self.plan = _check_plan(plan)
        self._n_pairs = check_whole("n_pairs", n_pairs, least=1)
        self.differ_in = check_whole_or_none("differ_in", differ_in, least=1)
        labels = labels_of(features, bandit.n_features)
        self._profiles = PartialProfiles(self.candidates, labels, self.differ_in or len(labels))
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
        """The interview stops after this many answers; may be changed at any time."""
        return self._max_questions

    @max_questions.setter
    def max_questions(self, value: int | None) -> None:
        self._max_questions = check_whole_or_none("max_questions", value, least=0)

    # Questions.

    @property
    def answers(self) -> tuple[Answer, ...]:
        """All answers, in order."""
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
                raise InvalidInput(f"question {question.number} must be answered before the next; 'unsure' skips it")

    def _ask(self) -> Question:
        metric, number = self.bandit.metric, len(self._answers) + 1
        rng = self._stream(QUESTIONS, number)
        pairs, uncertainty, replaced = self._sample(rng)
        resting = [(a.question.number, self._difference(a.question)) for a in self._answers if not a.taught]
        row = most_uncertain(uncertainty, pairs, resting, number)
        steps = steps_in_one(self.epsilon)
        gap = gap_in_steps(metric, pairs.take(np.array([row])), self.epsilon)
        high, low = probabilities_of(gap, steps)
        first_is_high = bool(rng.integers(2))  # else the first would always have the higher probability
        probabilities = (high, low) if first_is_high else (low, high)
        names = None if replaced is None else tuple(compress(self._profiles.names, replaced[row]))
        why = self._why(len(pairs), gap / steps, is_partial=names is not None)
        return Question(number, pairs.names()[row], probabilities, gap / steps, why, names)

    def _sample(self, rng: np.random.Generator) -> tuple[Pairs, Floats, Mask | None]:
        """Pairs to choose a question from, their uncertainties, and which features were replaced in partial profiles.

        When all partial profiles are known to within epsilon, or there are none, real people are asked about.
        """
        if self.differ_in is not None:
            made_up = self._profiles.sample(self._n_pairs, rng)
            uncertainty = uncertainties(self.bandit.metric, made_up.pairs)
            if KNOWN * np.max(uncertainty, initial=0.0) > self.epsilon:
                return made_up.pairs, uncertainty, made_up.replaced
        pairs = sample_pairs(self.candidates, self._n_pairs, rng)
        return pairs, uncertainties(self.bandit.metric, pairs), None

    def _why(self, n_pairs: int, gap: float, *, is_partial: bool) -> str:
        partial = f" who differ in at most {self.differ_in} features" if is_partial and self.differ_in != 1 else ""
        partial = " who differ in one feature" if is_partial and self.differ_in == 1 else partial
        reason = f"Of {n_pairs:,} pairs{partial}, the distance of these two is the most uncertain"
        if gap == 1.0:
            return f"{reason}; no wider gap is possible."
        if gap < self.epsilon + 1.0 / steps_in_one(self.epsilon):
            return f"{reason}; a smaller gap would make no difference."
        return f"{reason}, and at this gap both answers are about equally informative."

    def contexts_of(self, question: Question) -> Floats:
        """The contexts of the two people of a question, (2, d); the second one of a partial profile is made up."""
        return np.stack([self.candidates[question.pair[0]], self._profiles.second(question)])

    def _difference(self, question: Question) -> Floats:
        first, second = self.contexts_of(question)
        return np.asarray(first - second)

    # Answers.

    def answer(self, judgement: Judgement, reviewer: str | None = None) -> Learned:
        """Answer the question with "unfair", "acceptable" or "unsure".

        Nothing is learned from "unsure", nor from an answer that contradicts earlier ones: the pair and similar ones
        are then not asked about for a while.
        """
        question, judgement = self.question, check_judgement(judgement)
        check_reviewer(reviewer)
        if question is None:
            raise InvalidInput(f"there is no question to answer: {self.ended}")
        learned = self._learn(self.bandit, Answer(question, judgement, reviewer))
        self._answers.append(Answer(question, judgement, reviewer, bool(learned.conflicts)))
        self._question = None
        return learned

    def _learn(self, bandit: FairBandit, answer: Answer) -> Learned:
        if answer.judgement == "unsure":
            return Learned()
        return bandit.learn_pair(**self._pair_of(answer))

    def sources(self) -> list[dict[str, Any]]:
        """The arguments of `bandit.learn_pair` for every answer but "unsure": for `evenhand.certificates.check`."""
        return [self._pair_of(answer) for answer in self._answers if answer.judgement != "unsure"]

    def _pair_of(self, answer: Answer) -> dict[str, Any]:
        (x, y), unfair = self.contexts_of(answer.question).tolist(), answer.judgement == "unfair"
        return {"x": x, "y": y, "gap": answer.question.gap, "unfair": unfair, "reviewer": answer.reviewer}

    def undo(self) -> Question:
        """Undo the last answer and return its question, which is the next one again.

        All earlier answers are learned again from the start: O(number of answers). The bandit must not have decided or
        learned anything else since the interview began.
        """
        if not self._answers:
            raise InvalidInput("there is no answer to undo")
        earlier, last = self._answers[:-1], self._answers[-1]
        bandit = FairBandit.from_state(copy.deepcopy(self._start))
        for answer in earlier:
            self._learn(bandit, answer)
        again = copy.deepcopy(bandit)
        self._learn(again, last)
        # An interview of version 0.1 has no check of its answers; to have one changes no decision.
        if distance_between(*({**bandit.state(), "fit": None} for bandit in (again, self.bandit))) > ROUNDING:
            raise InvalidInput(
                "an answer cannot be undone: the bandit has decided or learned elsewhere since the interview began, or "
                "another version of evenhand began it"
            )
        self.bandit.metric, self.bandit.safeguards = bandit.metric, bandit.safeguards
        self.bandit.conflicts, self.bandit.fit_check = bandit.conflicts, bandit.fit_check
        self._answers, self._question = earlier, last.question
        return last.question

    # Progress.

    @property
    def unknown(self) -> float:
        """The share of the bits at the start that is still to be learned until all pairs are known to within epsilon.

        A pair is known when two standard deviations of its distance make no more than epsilon.
        """
        if self._bits_at_start == 0.0:
            return 0.0
        return min(1.0, self._meter.bits(self.bandit.metric) / self._bits_at_start)

    @property
    def expected_unfair_pairs(self) -> float:
        """The expected number of unfair pairs, by more than epsilon, if the bandit went live now; see `Meter`."""
        return self._meter.unfair_pairs(self.bandit.metric)

    @property
    def flags_left(self) -> int | None:
        """How many live decisions can ever be flagged at most, proved; it falls as answers come in, before going live.

        None if the metric learner has no theorem; `bandit.promise` is a sentence with the conditions.
        """
        return self.bandit.flags_left

    def forecast(self, *, plan: ReviewPlan | None = None, draws: int = DRAWS) -> Forecast:
        """The same by simulation, with an interval: copies of the bandit decide, and are reviewed by the plan.

        plan: by default the interview's own. draws: how many worlds are simulated, each with a reviewer drawn from the
        belief or from metrics of other kinds that explain the answers as well; an interval of 80% needs nine. Takes
        seconds to minutes; the result is reproducible.
        """
        plan = self.plan if plan is None else _check_plan(plan)
        check_whole("draws", draws, least=1)
        check_whole("plan.candidates", plan.candidates, least=1, most=len(self.candidates))
        rng = self._stream(FORECAST, len(self._answers))
        return forecast_live(self.bandit, self.candidates, plan, epsilon=self.epsilon, draws=draws, rng=rng)

    @property
    def done(self) -> bool:
        """Whether the interview has stopped."""
        return self.ended is not None

    @property
    def ended(self) -> str | None:
        """Why the interview has stopped, or None: enough answers, everything known, or few unfair pairs expected.

        Few count from as many answers as there are features: a cautious learner expects few before it knows anything,
        and answers let it be less cautious.
        """
        if self.max_questions is not None and len(self._answers) >= self.max_questions:
            return f"{len(self._answers)} questions were answered, the maximum"
        if self.unknown == 0.0:
            return f"every pair is known to within {self.epsilon:g}"
        if len(self._answers) >= self.bandit.n_features and self.expected_unfair_pairs < self.enough:
            return f"fewer than {self.enough:g} unfair pairs are expected live"
        return None

    def _new_meter(self) -> Meter:
        n_pairs = min(METER_PAIRS, self._n_pairs)
        pairs = sample_pairs(self.candidates, n_pairs, self._stream(METER, 0))
        return Meter(self.bandit.metric, pairs, self.epsilon, self.plan)

    def _stream(self, purpose: int, number: int) -> np.random.Generator:
        return np.random.default_rng([self._root, purpose, number])

    # Saving.

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the interview and its bandit to a file, without pickle, atomically."""
        write_archive(path, kind="Interview", version=FORMAT, content=self.state())

    def state(self) -> dict[str, Any]:
        """Everything the interview consists of, as arrays, numbers, strings and dicts of them."""
        return {
            "bandit": self.bandit.state(),
            "start": self._start,
            "candidates": self.candidates,
            "epsilon": self.epsilon,
            "enough": self.enough,
            "max_questions": self.max_questions,
            "n_pairs": self._n_pairs,
            "differ_in": self.differ_in,
            "features": list(self._profiles.labels),
            "plan": asdict(self.plan),
            "root": self._root,
            "answers": [answer.to_dict() for answer in self._answers],
            "question": None if self._question is None else self._question.to_dict(),
            "bits_at_start": self._bits_at_start,
        }

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """The interview that was saved; it continues as if it had never stopped, to the bit."""
        return load_archive(path, kind="Interview", version=FORMAT, restore=cls.from_state)

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """The interview with this `state`, to the bit, with a bandit of its own."""
        settings = {name: state[name] for name in ("epsilon", "enough", "max_questions", "n_pairs")}
        settings |= {name: state.get(name) for name in ("differ_in", "features")}  # those of 0.1 have neither
        plan = ReviewPlan(**state.get("plan", {}))
        interview = cls(FairBandit.from_state(state["bandit"]), state["candidates"], plan=plan, **settings)
        interview._root = int(state["root"])
        interview._start = copy.deepcopy(state["start"])
        interview._answers = [Answer.from_dict(record) for record in state["answers"]]
        interview._question = None if state["question"] is None else Question.from_dict(state["question"])
        interview._meter = interview._new_meter()
        interview._bits_at_start = float(state["bits_at_start"])
        return interview


def _check_bandit(bandit: object) -> FairBandit:
    if not isinstance(bandit, FairBandit):
        raise refusal("bandit", "a FairBandit", bandit)
    if isinstance(bandit.metric, PerPair):
        raise InvalidInput("the metric of an interview must be shared by all pairs, got PerPair")
    return bandit


def _check_plan(plan: object) -> ReviewPlan:
    if plan is not None and not isinstance(plan, ReviewPlan):
        raise refusal("plan", "a ReviewPlan or None", plan)
    return plan or ReviewPlan()
