"""An interview in the terminal: a question, a key, the next question; kept in a file after every answer."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

import numpy as np

from evenhand.bandit import FairBandit
from evenhand.errors import InvalidInput
from evenhand.interview.interview import Interview
from evenhand.interview.people import People, load_people, load_schema
from evenhand.interview.question import Said
from evenhand.interview.screen import KEYS, LAST, broken, shown_question
from evenhand.metrics.features import Structure
from evenhand.schema import Schema

ANSWERS: dict[str, Said] = {"u": "unfair", "a": "acceptable", "?": "unsure"}

KEY_OF = {said: key for key, said in ANSWERS.items()} | {"back": "b", "quit": "q", "stop": "q"}
"""Whole words are understood as well."""

EPSILON = 0.05
"""Five percentage points: finer than that few people judge odds."""


@dataclass(frozen=True)
class Wanted:
    """What the command line asks for. The last two end a sitting and name who answers; the others make a desk."""

    schema: Path
    candidates: Path
    desk: Path
    epsilon: float | None = None
    capacity: int | None = None
    structure: Structure | None = None
    seed: int | None = None
    max_unfair_rounds: int | None = None
    target_unfair_share: float | None = None
    max_questions: int | None = None
    reviewer: str | None = None


def interview_in_terminal(wanted: Wanted, answers: TextIO, screen: TextIO) -> Interview:
    """Begin an interview, or go on with the one in the desk's file, until it is over or the reviewer stops."""
    schema = load_schema(wanted.schema)
    people = load_people(wanted.candidates, schema)
    going_on = wanted.desk.exists()
    interview = _taken_up(wanted, people) if going_on else _begun(wanted, people)
    interview.save(wanted.desk)
    if people.passed_over:
        print(f"Not in the schema, and not shown: {', '.join(people.passed_over)}.", file=screen)
    if going_on:
        print(f"Going on with {wanted.desk}, {len(interview.answers)} answers so far.", file=screen)
    try:
        _converse(interview, schema, people, wanted, answers, screen)
    except KeyboardInterrupt:
        print(file=screen)
    _say_goodbye(interview, wanted.desk, screen)
    return interview


def _begun(wanted: Wanted, people: People) -> Interview:
    bandit = FairBandit(
        people.contexts.shape[1],
        capacity=1 if wanted.capacity is None else wanted.capacity,
        epsilon=EPSILON if wanted.epsilon is None else wanted.epsilon,
        structure=wanted.structure or "full",
        seed=wanted.seed,
        reviewer_error=None,  # people err; how often is learned
        max_unfair_rounds=wanted.max_unfair_rounds,
        target_unfair_share=wanted.target_unfair_share,
    )
    return Interview(bandit, people.contexts, max_questions=wanted.max_questions, seed=wanted.seed)


def _taken_up(wanted: Wanted, people: People) -> Interview:
    interview = Interview.load(wanted.desk)
    if not np.array_equal(interview.candidates, people.contexts):
        raise InvalidInput(
            f"{wanted.desk} was begun with other candidates, or another schema, than {wanted.candidates} and "
            f"{wanted.schema} have; give the same files, or begin with another --desk"
        )
    bandit = interview.bandit
    settled = (
        ("epsilon", wanted.epsilon, interview.epsilon),
        ("capacity", wanted.capacity, bandit.capacity),
        ("structure", wanted.structure, bandit.metric.space.structure),
        ("max-unfair-rounds", wanted.max_unfair_rounds, bandit.safeguards.max_unfair_rounds),
        ("target-unfair-share", wanted.target_unfair_share, bandit.safeguards.margin.target),
    )
    for name, asked, settled_at in settled:
        if asked is not None and asked != settled_at:
            raise InvalidInput(f"--{name} is {asked}, but {wanted.desk} was begun with {settled_at}; leave it out")
    interview.max_questions = wanted.max_questions
    return interview


def _converse(
    interview: Interview, schema: Schema, people: People, wanted: Wanted, answers: TextIO, screen: TextIO
) -> None:
    while True:
        question = interview.question
        if question is None:
            title = "The interview is over" if interview.answers else "Nothing needs to be asked"
            said = "\n".join(["", *broken(f"{title}: {interview.ended}."), LAST])
        else:
            said = shown_question(interview, schema, people.rows, question)
        print(said, file=screen)
        key = _key(answers, screen, over=question is None)
        if key == "q":
            return
        if key == "b":
            _take_back(interview, screen)
        elif interview.answer(ANSWERS[key], reviewer=wanted.reviewer).conflicts:
            print("That contradicts what was said before, and was left out.", file=screen)
        interview.save(wanted.desk)


def _key(answers: TextIO, screen: TextIO, *, over: bool) -> str:
    """The next key that means something; the end of the input is a q, and so is an empty line once it is over."""
    while True:
        print("> ", end="", file=screen, flush=True)
        line = answers.readline()
        key = KEY_OF.get(line.strip().lower(), line.strip().lower())
        if not line:
            print(file=screen)
            return "q"
        if key in ("b", "q") or (key in ANSWERS and not over):
            return key
        if over and not key:
            return "q"
        print(f"{key!r} is no answer; {LAST if over else f'the keys are: {KEYS}'}", file=screen)


def _take_back(interview: Interview, screen: TextIO) -> None:
    try:
        interview.undo()
    except InvalidInput as error:
        print(f"Nothing was taken back: {error}.", file=screen)


def _say_goodbye(interview: Interview, desk: Path, screen: TextIO) -> None:
    expected = interview.expected_unfair_pairs
    done = "Nothing more is to be asked." if interview.done else "Not all was asked: the same command goes on here."
    lines = [
        *broken(
            f"Answers: {len(interview.answers)}, all kept in {desk}. Still unknown: {interview.unknown:.0%}. "
            f"Unfair pairs to expect live: {expected:.1f}. {done}"
        ),
        *broken(f"Whoever runs the decisions needs the file {desk} alone, and goes live with it in Python:"),
        f"    bandit = evenhand.Interview.load({str(desk)!r}).bandit",
    ]
    print("\n" + "\n".join(lines), file=screen)
