"""What a round, a complete review, a question and opening cost at the size of real tables, with the default learner.

    python -m benchmarks.at_size                       # everything, some twelve minutes on one core
    python -m benchmarks.at_size rounds --features 46 --decisions 200 [--wrong 0.1] [--profile]
    python -m benchmarks.at_size reviews | questions | opening

A round is: decide about fifty candidates with ten places, choose three pairs, learn from their review and from the
outcomes. At 46 columns candidates are mortgage applicants, else uniform in a ball. The metric has four interactions.
Milliseconds are those of the processor, with one thread: median, mean and maximum. Memory is the peak of a process of
its own.
"""

from __future__ import annotations

import argparse
import cProfile
import importlib
import itertools
import math
import multiprocessing
import pstats
import resource
import warnings
from collections.abc import Callable
from functools import partial

import numpy as np
from threadpoolctl import threadpool_limits

import evenhand as eh
from benchmarks.applicants import mortgage_applicants
from benchmarks.structures import in_ball, truth
from benchmarks.timing import clock, timed
from evenhand._internal.arrays import Floats
from evenhand.desk import Desk
from evenhand.metrics import Pairs

FEATURES, REAL, CANDIDATES, CAPACITY, REVIEWED = (10, 46, 100, 200, 500, 1000), 46, 50, 10, 3
KIND, NORM, RANK = "interactions", 1.0, 3
SLOWEST = 3  # Rounds whose profile is shown.
OPENED = ("auto", "BayesPoint", "Ellipsoid", "Score", "ProjectedVolume", "Guarded", "VersionSpace")
STRUCTURES = ("auto", "full", "diagonal")


class World:
    """Candidates, the reviewer's metric and the rewards; the same for the same number of features."""

    def __init__(self, d: int, wrong: float) -> None:
        self.d, self.wrong, self.rng = d, wrong, np.random.default_rng([d, 71])
        self.people = mortgage_applicants() if d == REAL else None
        self.G = truth(KIND, d, NORM, RANK, self.rng)
        theta = self.rng.normal(size=d)
        self.theta = theta / np.linalg.norm(theta)

    def candidates(self) -> Floats:
        """Those of the next decision, (k, d)."""
        if self.people is None:
            return in_ball(self.rng, CANDIDATES, self.d)
        return self.people[self.rng.choice(len(self.people), CANDIDATES, replace=False)]

    def distance(self, difference: Floats) -> float:
        """Of two people, by the reviewer's metric."""
        return math.sqrt(max(float(difference @ self.G @ difference), 0.0))

    def review(self, decision: eh.Decision, shown: list[tuple[int, int]]) -> eh.Review:
        """The reviewer's answers on these pairs; some are wrong."""
        x = decision.contexts
        unfair: list[tuple[int, int]] = []
        fair: list[tuple[int, int]] = []
        for i, j in shown:
            is_unfair = decision.gap(i, j) > self.distance(x[i] - x[j])
            (unfair if is_unfair != (self.rng.random() < self.wrong) else fair).append((i, j))
        return eh.Review.partial(unfair=unfair, fair=fair)

    def outcomes(self, decision: eh.Decision) -> dict[int, float]:
        """Of those chosen."""
        worth = decision.contexts @ self.theta + 0.1 * self.rng.normal(size=len(decision.contexts))
        return {c: float(np.clip(worth[c], -1, 1)) for c in decision.chosen}


def rounds(d: int, decisions: int, wrong: float, *, profile: bool = False) -> None:
    """Print what rounds cost with d features, and, if asked, what the slowest ones did."""
    warnings.filterwarnings("ignore", module="evenhand")
    world, bandit = World(d, wrong), eh.FairBandit(d, capacity=CAPACITY, seed=0)
    times, profiles = np.zeros((decisions, 3)), []
    importlib.import_module("scipy.optimize")  # by the first check of a process, which takes half a second longer
    played(eh.FairBandit(d, capacity=CAPACITY, seed=1), World(d, wrong))  # compiles or loads kernels
    for row in times:
        profiler = cProfile.Profile()
        if profile:
            profiler.enable()
        row[:] = played(bandit, world)
        profiler.disable()
        profiles.append(profiler)
    mean_times = ", ".join(
        f"{name} {_of(part)}" for name, part in zip(("decide", "choose", "learn"), times.T, strict=True)
    )
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{d:5} features  a round {_of(times.sum(axis=1))}  ({mean_times})  {memory:4.0f} MB", flush=True)
    if profile:
        for number in np.argsort(-times.sum(axis=1))[:SLOWEST]:
            print(f"round {number}: decide, choose, learn {(1e3 * times[number]).round(1)} ms")
            pstats.Stats(profiles[number]).sort_stats("cumulative").print_stats(25)


def played(bandit: eh.FairBandit, world: World) -> tuple[float, float, float]:
    """The seconds of deciding, of choosing pairs and of learning in a round."""
    contexts = world.candidates()
    start = clock()
    decision = bandit.decide(contexts)
    decided = clock()
    shown = [each.pair for each in bandit.pairs_to_review(decision, REVIEWED)]
    chosen = clock()
    review, outcomes = world.review(decision, shown), world.outcomes(decision)
    answered = clock()
    bandit.learn(decision, rewards=outcomes, review=review)
    return decided - start, chosen - decided, clock() - answered


def reviews(decisions: int, complete: int) -> None:
    """Print what learning from complete reviews costs with 46 columns, beside three answers a decision."""
    warnings.filterwarnings("ignore", module="evenhand")
    world, bandit, seconds = World(REAL, 0.0), eh.FairBandit(REAL, capacity=CAPACITY, seed=0), []
    for number in range(decisions):
        decision = bandit.decide(world.candidates())
        is_complete = number % max(decisions // complete, 1) == 0
        pairs = Pairs.of(decision.contexts).names() if is_complete else None
        shown = pairs or [each.pair for each in bandit.pairs_to_review(decision, REVIEWED)]
        review = world.review(decision, shown)
        learned = timed(partial(bandit.learn, decision, review=review))
        seconds += [learned] if is_complete else []
    print(f"   46 features  a complete review of 1,225 pairs {_of(np.array(seconds))}, {len(seconds)} reviews")


def questions(n: int) -> None:
    """Print what the first question to one of the applicants' reviewers costs, and later ones."""
    world, seconds = World(REAL, 0.0), []
    bandit = eh.FairBandit(REAL, capacity=CAPACITY, epsilon=0.05, seed=0)
    start = clock()
    interview = eh.Interview(bandit, mortgage_applicants(), max_questions=n, enough=0.0, seed=0)
    question = interview.question
    while question is not None:
        seconds.append(clock() - start)
        x, y = interview.contexts_of(question)
        start = clock()
        interview.answer("unfair" if question.gap > world.distance(x - y) else "acceptable")
        question = interview.question
    first, later = np.array(seconds[:1]), np.array(seconds[1:])
    print(f"   46 features  the first question {_of(first)}, later ones {_of(later)}, {n} questions")


def opening() -> None:
    """Print how long it takes to open a desk with each learner and structure, and its first decision and review.

    Or why the desk refuses.
    """
    world = World(REAL, 0.0)
    for metric, structure in itertools.product(OPENED, STRUCTURES):
        start = clock()
        try:
            with Desk.open("sqlite://", "desk", n_features=REAL, metric=metric, structure=structure) as desk:
                made = clock()
                people = world.candidates().tolist()
                decision = desk.decide([{"id": str(i), "context": context} for i, context in enumerate(people)])
                desk.review(decision.id, "partial", fair=[("0", "1")])
                print(
                    f"{metric:16}{structure:9} {made - start:5.2f} s, first decision and review {clock() - made:5.2f} s"
                )
        except eh.EvenhandError as error:
            print(f"{metric:16}{structure:9} {clock() - start:5.2f} s: {error}", flush=True)


def _of(seconds: Floats) -> str:
    """Median, mean and maximum in milliseconds."""
    ms = 1e3 * seconds
    return f"{np.median(ms):.1f} / {np.mean(ms):.1f} / {np.max(ms):.0f} ms"


def _run(task: Callable[..., None], *arguments: object) -> None:
    """Run it with one thread of linear algebra, as the service does."""
    with threadpool_limits(limits=1, user_api="blas"):
        task(*arguments)


def _apart(task: Callable[..., None], *arguments: object) -> None:
    """Run it in a process of its own."""
    process = multiprocessing.get_context("spawn").Process(target=_run, args=(task, *arguments))
    process.start()
    process.join()


def main() -> None:
    """Print a line for each size, and for each other part."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parts = ("rounds", "reviews", "questions", "opening")
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(parts)} (all)")
    parser.add_argument("--features", type=int, nargs="+", default=FEATURES)
    parser.add_argument("--decisions", type=int, default=200)
    parser.add_argument("--wrong", type=float, default=0.0, help="share of wrong answers, not known to the learner")
    parser.add_argument("--complete", type=int, default=20, help="complete reviews")
    parser.add_argument("--questions", type=int, default=100)
    parser.add_argument("--profile", action="store_true", help="show what the slowest rounds did")
    options = parser.parse_args()
    chosen = options.parts or parts
    if "rounds" in chosen:
        for d in options.features:
            if options.profile:
                _run(partial(rounds, profile=True), d, options.decisions, options.wrong)
            else:
                _apart(rounds, d, options.decisions, options.wrong)
    if "reviews" in chosen:
        _apart(reviews, options.decisions, options.complete)
    if "questions" in chosen:
        _apart(questions, options.questions)
    if "opening" in chosen:
        _run(opening)


if __name__ == "__main__":
    main()
