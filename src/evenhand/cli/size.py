"""`evenhand size`: what to expect of a desk with this schema, before there is one."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from evenhand.cli._options import at_least, seconds

if TYPE_CHECKING:
    from evenhand.interview.forecast import Forecast
    from evenhand.interview.plan import ReviewPlan
    from evenhand.interview.sizing import Sizing
    from evenhand.schema import Schema

MADE_UP = 500  # People that are made up where no table is passed.
FEWEST_QUESTIONS, QUESTIONS_PER_COLUMN = 20, 2
WORTH = 0.25  # An interview is advised if it saves this share of the unfair pairs.
NAME = 12  # The width of the first column.


def add_size(parser: argparse.ArgumentParser) -> None:
    """The options of `evenhand size`."""
    parser.description = "Simulate desks with this schema, and print the unfair pairs, answers and times to expect."
    parser.add_argument("schema", type=Path, help="the features of a candidate, a JSON file")
    parser.add_argument(
        "--candidates", type=at_least(2, "candidates"), required=True, metavar="K", help="candidates in a decision"
    )
    parser.add_argument(
        "--reviews", type=at_least(0, "reviews"), required=True, metavar="R", help="pairs of a decision reviewed"
    )
    parser.add_argument(
        "--capacity", type=at_least(1, "capacity"), default=1, metavar="N", help="maximum number chosen (%(default)s)"
    )
    parser.add_argument(
        "--people", type=Path, help="people like the candidates: CSV, Parquet or Arrow (made up from the schema)"
    )
    parser.add_argument("--epsilon", type=float, help="unfairness up to this is tolerated (0.05)")
    add_horizon(parser)
    parser.set_defaults(run=run_size)


def add_horizon(parser: argparse.ArgumentParser) -> None:
    """The options that say how far to look ahead, and how long to simulate."""
    parser.add_argument(
        "--decisions-a-week",
        type=at_least(1, "decisions-a-week"),
        default=20,
        metavar="N",
        help="number of decisions a week (%(default)s)",
    )
    parser.add_argument(
        "--weeks", type=at_least(1, "weeks"), default=4, metavar="N", help="number of weeks to look ahead (%(default)s)"
    )
    parser.add_argument(
        "--worlds",
        type=at_least(3, "worlds"),
        default=40,
        metavar="N",
        help="maximum number of simulated worlds (%(default)s)",
    )
    parser.add_argument("--seconds", type=seconds, default=60.0, help="time to take (%(default)g)")
    parser.add_argument("--seed", type=at_least(0, "seed"), default=0, help="seed of the simulation (%(default)s)")


def run_size(options: argparse.Namespace) -> None:
    """Print the advice; progress goes to standard error, if that is a terminal."""
    import numpy as np

    from evenhand.errors import InvalidInput
    from evenhand.interview.bandit_of_schema import bandit_of_schema
    from evenhand.interview.interview import EPSILON_OF_PEOPLE
    from evenhand.interview.made_up_people import made_up_people
    from evenhand.interview.people import load_people, load_schema
    from evenhand.interview.profiles import chosen_differences
    from evenhand.interview.sizing import Budget, size

    schema = load_schema(options.schema)
    plan = plan_of(options.candidates, options.reviews, options.weeks * options.decisions_a_week)
    if options.people is None:
        people = made_up_people(schema, max(MADE_UP, 2 * options.candidates), np.random.default_rng(options.seed))
    else:
        table = load_people(options.people, schema)
        people, schema = table.contexts, table.schema
    if options.candidates > len(people):
        raise InvalidInput(
            f"people must be at least as many as the candidates, {options.candidates}, got {len(people)}"
        )
    epsilon = EPSILON_OF_PEOPLE if options.epsilon is None else options.epsilon
    bandit = bandit_of_schema(schema, capacity=options.capacity, epsilon=epsilon, seed=options.seed)
    result = size(
        bandit,
        people,
        plan,
        epsilon=epsilon,
        questions=max(FEWEST_QUESTIONS, QUESTIONS_PER_COLUMN * schema.n_features),
        differ_in=chosen_differences(None, len(schema.features)),
        features=schema,
        draws=options.worlds,
        budget=Budget(options.seconds, progress()),
        seed=options.seed,
    )
    lines = [
        *_what(options, schema, len(people)),
        "",
        *weekly(options, result.forecast, epsilon),
        "",
        *_advice(options, result),
    ]
    print("\n".join(lines))


def plan_of(candidates: int, reviews: int | None, decisions: int) -> ReviewPlan:
    """The plan, unless a decision has fewer pairs than are to be reviewed; None: all are."""
    from evenhand.errors import InvalidInput
    from evenhand.interview.plan import ReviewPlan

    plan = ReviewPlan(candidates, reviews, decisions)
    if reviews is not None and reviews > plan.all_pairs:
        raise InvalidInput(f"reviews must be <= {plan.all_pairs:,}, the pairs of a decision, got {reviews:,}")
    return plan


def progress() -> Callable[[float], None]:
    """Draws a bar on standard error, and removes it at the end."""
    from evenhand.cli.interview_terminal import BAR, bar

    if not sys.stderr.isatty():
        return lambda share: None

    def draw(share: float) -> None:
        text = f"simulating [{bar(share)}]" if share < 1.0 else " " * (BAR + 13)
        print(f"\r{text}", end="\r" if share >= 1.0 else "", file=sys.stderr, flush=True)

    return draw


def line(name: str, text: str) -> str:
    """A name, and what there is to say of it."""
    return f"{name:{NAME}}{text}"


def _what(options: argparse.Namespace, schema: Schema, n_people: int) -> list[str]:
    """What was simulated: the schema, the structure, the plan, the people."""
    from evenhand.metrics.default import MOST_SAMPLED, structure_for
    from evenhand.metrics.features import MetricSpace

    varying, k = schema.n_features - schema.intercept, options.candidates
    unknowns = MetricSpace(varying, "full").n_unknowns
    reasons = {
        "full": f"full: any two features may interact; at most {MOST_SAMPLED} unknowns are learned soon",
        "auto": f"auto: few features are expected to interact; all {unknowns:,} unknowns would take too many answers",
    }
    made_up = "made up from the schema; pass --people for real ones" if options.people is None else str(options.people)
    return [
        line("features", f"{len(schema.features)} in {varying} columns, {unknowns:,} unknowns of the metric"),
        line("structure", reasons[structure_for(varying, "auto")]),
        line("decisions", f"{k} candidates, at most {options.capacity} chosen; {options.decisions_a_week} a week"),
        line("reviews", f"{options.reviews} of the {k * (k - 1) // 2:,} pairs of a decision"),
        line("people", f"{n_people:,}, {made_up}"),
    ]


def weekly(options: argparse.Namespace, forecast: Forecast, epsilon: float) -> list[str]:
    """A row for each week, with the median and the interval."""
    n, worlds = options.decisions_a_week, len(forecast.counts)
    rows = [(f"week {week + 1}", forecast.between(week * n, (week + 1) * n)) for week in range(options.weeks)]
    rows += [("together", forecast)] if options.weeks > 1 else []
    title = f"Pairs unfair by more than {100 * epsilon:g} points, of {worlds} simulated worlds:"
    lines = [f"{name:{NAME}}{part.expected:10,.0f}   {part.lower:,.0f} to {part.upper:,.0f}" for name, part in rows]
    return [title, f"{'':{NAME}}{'median':>10}   {forecast.coverage:.0%} interval", *lines]


def _advice(options: argparse.Namespace, result: Sizing) -> list[str]:
    """Answers needed, times, and whether to interview first."""
    before, after, n = result.not_interviewed.expected, result.interviewed.expected, options.decisions_a_week
    saved = (before - after) / before if before > 0 else 0.0
    advice = "worth it" if saved >= WORTH else "not worth it"
    worlds = len(result.interviewed.counts)
    return [
        line("answers", answers_needed(options, result.forecast)),
        line("time", f"{1e3 * result.deciding:.0f} ms a decision, {1e3 * result.learning:.0f} ms to learn a review"),
        line(
            "interview",
            f"{advice}: after {result.questions} questions {after:,.0f} unfair pairs instead of {before:,.0f}",
        ),
        line("", f"(medians of the same {worlds} worlds, {n * options.weeks} decisions, exact reviewers)"),
    ]


def answers_needed(options: argparse.Namespace, forecast: Forecast) -> str:
    """How many answers it takes until fewer than one unfair pair a week is expected."""
    n, answers = options.decisions_a_week, options.reviews * options.decisions_a_week
    weekly = [forecast.between(week * n, (week + 1) * n).expected for week in range(options.weeks)]
    few = next((week for week in range(options.weeks) if max(weekly[week:]) < 1.0), None)
    if few == 0:
        return "none: fewer than one unfair pair a week is expected from the start"
    if not answers:
        return "none come: without reviews nothing is learned"
    if few is not None:
        weeks = f"{few} week{'s' * (few > 1)}"
        return f"about {few * answers:,}, in {weeks}, until fewer than one unfair pair a week is expected"
    after = f"{options.weeks} week{'s' * (options.weeks > 1)}"
    return f"more than {options.weeks * answers:,}: in {after} fewer than one unfair pair a week is not to be expected"
