"""An interview in the terminal: two people side by side, their probabilities as bars; saved after every answer."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import wrap
from typing import Any, TextIO

import numpy as np

from evenhand._internal.counted import counted
from evenhand.bandit.safeguards import Target
from evenhand.cli.size import plan_of
from evenhand.errors import InvalidInput
from evenhand.interview.bandit_of_schema import bandit_of_schema
from evenhand.interview.interview import EPSILON_OF_PEOPLE, Interview
from evenhand.interview.people import PeopleTable, load_people, load_schema
from evenhand.interview.plan import ReviewPlan
from evenhand.interview.profiles import chosen_differences, rows_of_question
from evenhand.interview.question import Judgement, Question, steps_in_one
from evenhand.metrics import ByEvidence, WithoutIntercept
from evenhand.metrics.default import structure_for
from evenhand.metrics.features import Structure
from evenhand.schema import Number, Schema

BAR = 40
"""The width of a bar for 1."""

WIDTH, NARROWEST = 100, 40
"""The widest and the narrowest text, whatever the width of the terminal."""

HEADINGS = ("first person", "second person")

DIFFERS = "*"
"""Marks rows in which the two differ."""

KEYS = "u unfair   a acceptable   ? unsure   b undo the last answer   q save and stop"

FOLD_KEY = "f all features"

LAST = "b undoes the last answer; Enter or q ends."

INSTRUCTIONS = (
    "One of the two is drawn, with these chances. It does not matter who has the higher chance, nor who deserves it: "
    "only how far apart the chances are. Are the two so alike that a gap this wide would be unfair to one of them, or "
    "are they different enough to make it acceptable?"
)

FITTED = "The schema's open scales were fitted to {0}. Encode candidates with the fitted schema, {1}."

ANSWERS: dict[str, Judgement] = {"u": "unfair", "a": "acceptable", "?": "unsure"}

KEY_OF = {judgement: key for key, judgement in ANSWERS.items()} | {"back": "b", "quit": "q", "stop": "q"}
"""Whole words are accepted as well."""


@dataclass(frozen=True)
class InterviewOptions:
    """The options of the command. All but the last two are fixed when the interview begins.

    round_size, reviews: the candidates of a decision, and how many of its pairs are reviewed, for what is expected.
    """

    schema: Path
    candidates: Path
    desk: Path
    epsilon: float | None = None
    capacity: int | None = None
    structure: Structure | None = None
    metric: str | None = None
    reviewer_error: float | None = None
    seed: int | None = None
    max_unfair_rounds: int | None = None
    target_unfair_share: float | None = None
    target: Target | None = None
    differ_in: int | None = None
    round_size: int | None = None
    reviews: int | None = None
    max_questions: int | None = None
    reviewer: str | None = None


def interview_in_terminal(options: InterviewOptions, answers: TextIO, screen: TextIO) -> Interview:
    """Begin an interview, or continue the one in the file, until it is over or the reviewer stops."""
    schema = load_schema(options.schema)
    people = load_people(options.candidates, schema)
    continues = options.desk.exists()
    interview = _continued(options, people) if continues else _begun(options, people)
    interview.save(options.desk)
    if schema.is_open:
        people.schema.save(fitted := options.desk.with_suffix(".schema.json"))
        print("\n".join(wrapped(FITTED.format(options.candidates, fitted))), file=screen)
    if people.ignored:
        print(f"Not in the schema, and not shown: {', '.join(people.ignored)}.", file=screen)
    if continues:
        print(f"Continuing {options.desk}, {counted(len(interview.answers), 'answer')} so far.", file=screen)
    try:
        _run(interview, people, options, answers, screen)
    except KeyboardInterrupt:
        print(file=screen)
    _summarise(interview, options.desk, screen)
    return interview


def _begun(options: InterviewOptions, people: PeopleTable) -> Interview:
    bandit = bandit_of_schema(
        people.schema,
        capacity=1 if options.capacity is None else options.capacity,
        epsilon=EPSILON_OF_PEOPLE if options.epsilon is None else options.epsilon,
        structure=options.structure or "auto",
        metric=options.metric,
        reviewer_error=options.reviewer_error,
        seed=options.seed,
        max_unfair_rounds=options.max_unfair_rounds,
        target_unfair_share=options.target_unfair_share,
        target=options.target or "flagged",
    )
    return Interview(
        bandit,
        people.contexts,
        max_questions=options.max_questions,
        seed=options.seed,
        differ_in=chosen_differences(options.differ_in, len(people.schema.features)),
        features=people.schema,
        plan=plan_of(options.round_size or ReviewPlan.candidates, options.reviews, ReviewPlan.decisions),
    )


def _continued(options: InterviewOptions, people: PeopleTable) -> Interview:
    interview = Interview.load(options.desk)
    if not np.array_equal(interview.candidates, people.contexts):
        raise InvalidInput(
            f"candidates and schema must be those that {options.desk} was begun with, got {options.candidates} and "
            f"{options.schema}; pass the same files, or begin with another --desk"
        )
    bandit, metric = interview.bandit, interview.bandit.metric
    learner = metric.learner if isinstance(metric, WithoutIntercept) else metric
    last = learner.learners[-1] if isinstance(learner, ByEvidence) else learner
    fixed = (
        ("epsilon", options.epsilon, interview.epsilon),
        ("capacity", options.capacity, bandit.capacity),
        ("structure", options.structure and structure_for(last.n_features, options.structure), last.structure),
        ("round-size", options.round_size, interview.plan.candidates),
        ("reviews", options.reviews, interview.plan.pairs),
        ("differ-in", options.differ_in, interview.differ_in or 0),
        ("metric", options.metric, "auto" if isinstance(learner, ByEvidence) else type(learner).__name__),
        ("reviewer-error", options.reviewer_error, metric.error_rate),
        ("max-unfair-rounds", options.max_unfair_rounds, bandit.safeguards.max_unfair_rounds),
        ("target-unfair-share", options.target_unfair_share, bandit.safeguards.margin.target),
        ("target", options.target, bandit.safeguards.target),
    )
    for name, value, fixed_at in fixed:
        if value is not None and value != fixed_at:
            raise InvalidInput(f"--{name} must be {fixed_at} as in {options.desk}, got {value}; leave it out")
    interview.max_questions = options.max_questions
    return interview


def _run(interview: Interview, people: PeopleTable, options: InterviewOptions, answers: TextIO, screen: TextIO) -> None:
    while True:
        question = interview.question
        if question is None:
            title = "The interview is over" if interview.answers else "No questions are needed"
            text = "\n".join(["", *wrapped(f"{title}: {interview.ended}."), LAST])
        else:
            text = question_text(interview, people.schema, people.rows, question)
        print(text, file=screen)
        key = _key(answers, screen, over=question is None)
        while key == "f" and question is not None:
            print("\n".join(side_by_side(people.schema, *rows_of_question(question, people.rows))), file=screen)
            key = _key(answers, screen, over=False)
        if key == "q":
            return
        if key == "b":
            try:
                interview.undo()
            except InvalidInput as error:
                print(f"Nothing was undone: {error}.", file=screen)
        elif interview.answer(ANSWERS[key], reviewer=options.reviewer).conflicts:
            print("The answer contradicts earlier ones and was left out.", file=screen)
        interview.save(options.desk)


def _key(answers: TextIO, screen: TextIO, *, over: bool) -> str:
    """The next valid key; the end of the input counts as q, and so does an empty line once the interview is over."""
    while True:
        print("> ", end="", file=screen, flush=True)
        line = answers.readline()
        key = KEY_OF.get(line.strip().lower(), line.strip().lower())
        if not line:
            print(file=screen)
            return "q"
        if key in ("b", "q") or (key in ("f", *ANSWERS) and not over):
            return key
        if over and not key:
            return "q"
        print(f"unknown key {key!r}; {LAST if over else f'the keys are: {KEYS}'}", file=screen)


def _summarise(interview: Interview, desk: Path, screen: TextIO) -> None:
    expected, plan = interview.expected_unfair_pairs, interview.plan
    done = "No more questions are needed." if interview.done else "Run the same command again to continue."
    lines = [
        *wrapped(
            f"Answers: {len(interview.answers)}, saved in {desk}. Still unknown: {interview.unknown:.0%}. "
            f"Unfair pairs expected live: {expected:.1f}, in {plan.decisions} decisions with {plan.each}. {done}"
        ),
        *wrapped(interview.bandit.promise or ""),
        *wrapped(f"To go live, only {desk} is needed. In Python:"),
        f"    bandit = evenhand.Interview.load({str(desk)!r}).bandit",
    ]
    print("\n" + "\n".join(lines), file=screen)


def question_text(interview: Interview, schema: Schema, rows: Sequence[Mapping[str, Any]], question: Question) -> str:
    """The whole text of a question; rows are in the same order for every pair. Of partial profiles, what is the same is
    counted only."""
    first, second = rows_of_question(question, rows)
    is_partial = question.replaced is not None
    table = side_by_side(schema, first, second, fold=is_partial)
    lines = ["", *progress_lines(interview, question.number), "", *table, ""]
    lines += [*_bars(question, _digits(interview.epsilon, question)), ""]
    keys = f"{KEYS}   {FOLD_KEY}" if is_partial else KEYS
    return "\n".join([*lines, *wrapped(INSTRUCTIONS), *wrapped(f"Why these two: {question.why}"), *wrapped(keys)])


def wrapped(sentence: str) -> list[str]:
    """A sentence wrapped to the width of the terminal."""
    return wrap(sentence, min(WIDTH, max(NARROWEST, shutil.get_terminal_size().columns)), drop_whitespace=True)


def progress_lines(interview: Interview, number: int) -> list[str]:
    """How much is unknown, the unfair pairs expected, and how many flags can ever come, if that is proved."""
    unknown, left = interview.unknown, interview.flags_left
    expected = f"{interview.expected_unfair_pairs:.1f} unfair pairs expected in {interview.plan.decisions} decisions,"
    lines = [
        f"Question {number}",
        f"  still unknown  [{bar(unknown)}] {unknown:.0%}",
        f"  if live now    {expected}",
        f"                 {interview.plan.each}",
    ]
    return lines if left is None else [*lines, f"  proved         at most {left} decisions can ever be flagged"]


def bar(share: float, *, start: float = 0.0) -> str:
    """A bar of BAR characters, filled from `start` by a share.

    >>> bar(0.25)
    '##########..............................'
    """
    first, last = round(start * BAR), round(min(start + share, 1.0) * BAR)
    return "." * first + "#" * (last - first) + "." * (BAR - last)


def side_by_side(
    schema: Schema, first: Mapping[str, Any], second: Mapping[str, Any], *, fold: bool = False
) -> list[str]:
    """A row for each feature, marked where the two differ; fold: features that do not differ are counted only.

    >>> from evenhand.schema import YesNo
    >>> schema = Schema([Number("income", low=0, high=1e5, unit="EUR"), YesNo("member")])
    >>> people = [{"income": 51_500.0, "member": True}, {"income": 23_000.0, "member": True}]
    >>> print("\\n".join(side_by_side(schema, *people)))
               first person   second person
      * income 51,500 EUR     23,000 EUR
        member yes            yes
    >>> print(side_by_side(schema, *people, fold=True)[-1])
        1 feature alike
    """
    differing = [feature.name for feature in schema.features if first[feature.name] != second[feature.name]]
    shown = [feature for feature in schema.features if not fold or feature.name in differing]
    table = [("", *HEADINGS), *((f.name, _words(f, first[f.name]), _words(f, second[f.name])) for f in shown)]
    name, left = (max(len(row[column]) for row in table) for column in (0, 1))
    marks = ["", *(DIFFERS * (feature.name in differing) for feature in shown)]
    lines = [f"  {mark:1} {row[0]:{name}} {row[1]:{left}}   {row[2]}" for mark, row in zip(marks, table, strict=True)]
    alike = len(schema.features) - len(shown)
    return [*lines, f"    {alike} feature{'s' * (alike != 1)} alike"] if alike else lines


def _words(feature: object, value: Any) -> str:
    """A value with its unit, to six digits."""
    if value is None:
        return "not known"
    if isinstance(feature, Number):
        number = f"{value:,.0f}" if float(value).is_integer() else f"{value:,.6g}"
        return f"{number} {feature.unit}".strip()
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)


def _bars(question: Question, digits: int) -> list[str]:
    width = max(map(len, HEADINGS))
    lines = [
        f"  {heading:{width}}  [{bar(chance)}] {chance:.{digits}%}"
        for heading, chance in zip(HEADINGS, question.probabilities, strict=True)
    ]
    gap = bar(question.gap, start=min(question.probabilities))
    return [*lines, f"  {'the gap':{width}}  [{gap}] {100 * question.gap:.{digits}f} points"]


def _digits(epsilon: float, question: Question) -> int:
    """As many decimals as these percentages have, so that they add up to 100."""
    digits = max(0, len(str(steps_in_one(epsilon))) - 3)
    is_exact = all(abs(100 * p - round(100 * p, digits)) < 1e-9 for p in question.probabilities)
    return digits if is_exact else digits + 1
